# SPDX-License-Identifier: Apache-2.0
"""What each figure is compared with and what is asked of it.

A rule's pattern matches whole names of figures; `baseline` names the figure of the same run that it is compared with, made from
the pattern's groups. `ratio` is value over baseline. The quoted numbers are those of the implementations that game servers
commonly use, measured by their users on a machine like the reference one: they are shown, and compared as a baseline where a rule says so.
"""
import dataclasses
import re
from typing import Optional


@dataclasses.dataclass(frozen=True)
class Goal:
    """One rule. Exactly one of the bounds, or none: then the figure is shown with its baseline only."""
    pattern: str
    baseline: Optional[str] = None
    quoted: Optional[dict] = None  # Group 1 of the pattern -> number, in the figure's unit.
    ratio_at_most: Optional[float] = None
    ratio_within: Optional[float] = None  # |ratio - 1| at most this.
    value_at_most: Optional[float] = None
    # The rule's name where several rules are about one figure.
    label: str = ""


END_TO_END = [
    Goal(r"PlanCorridor/in_flight:(\d+)/p50", r"Ping_same_bytes/in_flight:\1/p50", ratio_at_most=1.25),
    Goal(r"PlanCorridor/in_flight:(\d+)/p99", r"Ping_same_bytes/in_flight:\1/p99"),
    Goal(r"Hit/in_flight:(\d+)/p50", r"Ping_cache_bytes/in_flight:\1/p50", ratio_at_most=1.1),
    Goal(r"Hit/in_flight:(\d+)/p99", r"Ping_cache_bytes/in_flight:\1/p99"),
    Goal(r"Miss/in_flight:(\d+)/p50", r"Hit/in_flight:\1/p50"),
    Goal(r"Ping_(same_bytes|small)/in_flight:(\d+)/p50", r"Echo_\1/in_flight:\2/p50", ratio_at_most=1.10),
    Goal(r"Ping_(same_bytes|small)/in_flight:(\d+)/p99", r"Echo_\1/in_flight:\2/p99"),
]

# The in-process cost of one plan.
PLAN = [
    Goal(r"BM_Plan_Zigzag/32", value_at_most=10_000),
]

# What keeping corridors and curves from plan to plan saves.
PREPARED = [
    Goal(r"BM_Plan(ByReference|WithClearance)_NewStart_Prepared/(\d+)", r"BM_Plan\1_NewStart/\2", ratio_at_most=1.0),
    Goal(r"BM_PlanCurve_Prepared/(\d+)", r"BM_PlanCurve/\1", ratio_at_most=1.0),
]

# ns a call of the common implementation, by number of polygons.
COMMON_FUNNEL_ZIGZAG_NS = {"8": 243, "32": 795, "128": 3173, "512": 12806}
COMMON_FUNNEL_ARC_NS = {"8": 569, "32": 5865, "128": 85013, "512": 683376}

FUNNEL = [
    # The restarting funnel takes minutes on the longest arc; it is not run there.
    Goal(r"BM_Funnel_(?!Arc/100000)(\w+)/(\d+)", r"BM_RestartingFunnel_\1/\2", ratio_at_most=1.0, label="faster than restarting"),
    Goal(r"BM_Funnel_Arc/512", r"BM_RestartingFunnel_Arc/512", ratio_at_most=1 / 50, label="50 times as fast"),
    Goal(r"BM_Funnel_Zigzag/(8|32|128|512)", quoted=COMMON_FUNNEL_ZIGZAG_NS, ratio_at_most=1.0, label="faster than the common one"),
    Goal(r"BM_Funnel_Arc/(8|32|128|512)", quoted=COMMON_FUNNEL_ARC_NS, ratio_at_most=1.0, label="faster than the common one"),
    Goal(r"BM_Funnel_(\w+)/(\d+)", r"BM_SumPortals_\1/\2"),
    Goal(r"BM_Funnel_(\w+)/(512|10000|100000)/ns_per_portal", r"BM_Funnel_\1/128/ns_per_portal", ratio_at_most=1.5, label="flat"),
    # The baseline is written here; this shows how near it is to the quoted one.
    Goal(r"BM_RestartingFunnel_Zigzag/(8|32|128|512)", quoted=COMMON_FUNNEL_ZIGZAG_NS),
    Goal(r"BM_RestartingFunnel_Arc/(8|32|128|512)", quoted=COMMON_FUNNEL_ARC_NS),
]

SPEED = [
    Goal(r"BM_Plan(Pieces|Curve)_(Independent|Reserved)/1000/ns_per_item", value_at_most=10),
    Goal(r"BM_Plan(Pieces|Curve)_Coupled/1000/ns_per_item", value_at_most=60),
]

# Position and everything by a sample, ns; set-up by a segment.
SPLINE = [
    Goal(r"BM_Position_(\w+)/(10000|100000)/ns_per_item", value_at_most=4),
    Goal(r"BM_All_(\w+)/(10000|100000)/ns_per_item", value_at_most=9),
    Goal(r"BM_Shuffled_(\w+)/(10000|100000)/ns_per_item", value_at_most=12),
    Goal(r"BM_Position_(\w+)/(10000|100000)/ns_per_item", r"BM_Article_\1/\2/ns_per_item", ratio_at_most=1 / 20,
         label="20 times as fast as the article"),
    Goal(r"BM_Position_(\w+)/(\d+)/ns_per_item", r"BM_Table_\1/\2/ns_per_item"),
    Goal(r"BM_SetUp_(Chain2D|Chain3D)/ns_per_item", value_at_most=2500),
    # Control points drawn at random make loops and near-cusps: no ordinary curves.
    Goal(r"BM_SetUp_(?:RandomBeziers|Cusps|NearCusps/\d+)/ns_per_item", value_at_most=20000),
]

_ANY = r"(?:/\w+(?::\w+)?)*"  # Suffixes that Google Benchmark adds: /real_time, /iterations:1.

ROUNDING = [
    # Fillets of many waypoints cost the same a corner as those of few.
    Goal(r"BM_FilletPolyline/(\d+)/100000/ns_per_corner", r"BM_FilletPolyline/\1/1000/ns_per_corner", ratio_at_most=2.0, label="flat"),
]

NAVMESH = [
    Goal(r"BM_Publish_Durable/20000(?:/\w+:\d+)?/real_time", value_at_most=300),  # Milliseconds.
    Goal(r"BM_Cache_GateChange", value_at_most=1000),  # Microseconds.
    Goal(rf"(BM_Cache_Zipf/MB:1024/scans:0{_ANY})/resident_MB", r"\1/accounted_MB", ratio_at_most=1.15),
    Goal(rf"BM_Worlds/\d+{_ANY}/bytes_untouched", value_at_most=1024),
]

FOLLOW = [
    Goal(r"BM_FollowStep_(\w+)/(\d+)/ns_per_item", value_at_most=150),
    Goal(r"BM_FollowStream/1000/real_time/ns_per_item", value_at_most=1000),
    Goal(r"BM_FollowStream/(\d+)/real_time", r"BM_PingStreamOfTheSameBytes/\1/real_time", ratio_at_most=2.0),
]

OPERATION = [
    Goal(r"BM_Metrics_PlannedCall/real_time/threads:\d+", value_at_most=1000),
    Goal(r"BM_Metrics_CachedCall", value_at_most=1000),
]

# The server's CPU time for a plan of a batch, over that of the same plan in process. 0: by reference.
BATCH = [
    Goal(r"BM_Batch_Server/0/0/real_time/server_over_in_process", value_at_most=1.5),
    Goal(r"BM_Batch_Server/0/32/real_time/server_over_in_process", value_at_most=1.3),
    Goal(r"BM_Batch_ServerKeepingCorridors/0/0/real_time/server_over_in_process", value_at_most=1.5),
    Goal(r"BM_Batch_ServerKeepingCorridors/0/32/real_time/server_over_in_process", value_at_most=1.3),
    Goal(r"BM_Batch_PipelineFloats/0/32/answer_bytes", r"BM_Batch_Pipeline/0/32/answer_bytes"),
    Goal(r"BM_Batch_Pipeline/(\d+)/(\d+)/ns_per_item", r"BM_Batch_InProcess/\1/\2/ns_per_item"),
]

SCALING = [
    Goal(r"BM_Scaling_(\w+)/real_time/threads:(\d+)/cpu_ns_a_plan", r"BM_Scaling_\1/real_time/threads:1/cpu_ns_a_plan"),
]

LOAD = [
    Goal(r"Load_Stream/in_flight:(\d+)/p50", r"Load_Stream/in_flight:\1/ping_p50", ratio_at_most=1.3),
    Goal(r"Load_(?!Stream)(.+)/p50", r"Load_\1/ping_p50"),
    Goal(r"Load_(.+)/p99", r"Load_\1/ping_p99"),
    Goal(r"Load_(.+)/server_cpu_a_plan", r"Load_\1/server_cpu_a_ping"),
]

GOALS = [*END_TO_END, *PLAN, *PREPARED, *FUNNEL, *ROUNDING, *SPEED, *SPLINE, *NAVMESH, *FOLLOW, *OPERATION, *BATCH, *SCALING, *LOAD]


def evaluate(figures):
    """Adds baseline, ratio, goal and met to figures (a list of {name, value, unit}); one entry for each rule that matches, and one for
    each figure that no rule matches."""
    values = {figure["name"]: figure for figure in figures}
    result = []
    for figure in figures:
        matched = False
        for goal in GOALS:
            match = re.fullmatch(goal.pattern, figure["name"])
            if match:
                matched = True
                result.append(_judged(figure, goal, match, values))
        if not matched:
            result.append({**figure, "baseline": None, "ratio": None, "goal": None, "met": None})
    return result


def _judged(figure, goal, match, values):
    baseline = None
    if goal.baseline is not None:
        name = match.expand(goal.baseline)
        if name in values:
            baseline = {"name": name, "value": values[name]["value"]}
    elif goal.quoted is not None and match.group(1) in goal.quoted:
        baseline = {"name": "quoted", "value": goal.quoted[match.group(1)]}
    ratio = figure["value"] / baseline["value"] if baseline and baseline["value"] else None
    text, met = None, None
    if goal.ratio_at_most is not None:
        text = f"ratio <= {goal.ratio_at_most:g}"
        met = ratio is not None and ratio <= goal.ratio_at_most
    elif goal.ratio_within is not None:
        text = f"ratio within {goal.ratio_within:.0%} of 1"
        met = ratio is not None and abs(ratio - 1.0) <= goal.ratio_within
    elif goal.value_at_most is not None:
        text = f"<= {goal.value_at_most:g} {figure['unit']}"
        met = figure["value"] <= goal.value_at_most
    if text and goal.label:
        text = f"{goal.label}: {text}"
    return {**figure, "baseline": baseline, "ratio": ratio, "goal": text, "met": met}
