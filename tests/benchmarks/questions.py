# SPDX-License-Identifier: Apache-2.0
"""What a full run answers: every question with the names of the figures that answer it, as patterns of whole names.

A run lists the questions with the figures it has for each, so that none is lost unnoticed. Some are answered by other programs of
the project, for they need containers, hours or reference data; those name the program instead.
"""
import dataclasses
import re
from typing import Tuple


@dataclasses.dataclass(frozen=True)
class Question:
    """One question. Every pattern must have a figure, unless `answered_by` names another program."""
    topic: str
    text: str
    patterns: Tuple[str, ...] = ()
    answered_by: str = ""


def _sizes(name, sizes, suffix=""):
    return tuple(f"{name}/{size}{suffix}" for size in sizes)


_PORTALS = (8, 32, 128, 512, 10000, 100000)
_SAMPLES = (100, 1000, 10000, 100000)
_CHAINS = ("Chain2D", "Chain3D")

QUESTIONS = [
    Question("funnel", "ns a call and a portal: straight, zigzag, arc",
             sum((_sizes(f"BM_Funnel_{shape}", _PORTALS) + _sizes(f"BM_Funnel_{shape}", _PORTALS, "/ns_per_portal")
                  for shape in ("Straight", "Zigzag", "Arc")), ())),
    Question("funnel", "beside a restarting funnel and a sum over the same bytes",
             (r"BM_RestartingFunnel_(Straight|Zigzag|Arc)/512", r"BM_SumPortals_(Straight|Zigzag|Arc)/512")),
    Question("corridor", "a plan of 32 polygons with 100 samples in process", (r"BM_Plan_Zigzag/32",)),
    Question("corridor", "PlanCorridor against Ping of the same bytes, p50 and p99",
             tuple(rf"(PlanCorridor|Ping_same_bytes)/in_flight:{n}/{q}" for n in (1, 8, 64) for q in ("p50", "p99"))),
    Question("rounding", "work, stops and time over stopping for three work budgets",
             tuple(rf"BM_RoundCorners_Zigzag/32/{budget}.*{what}" for budget in (0, 300, 3000) for what in ("", "stops", "time_over_stopping"))),
    Question("rounding", "gap to the best known routes, extra length, us a corridor, on reference corridors",
             answered_by="tests/conformance/run.sh over corner records"),
    Question("rounding", "fillets: ns a corner, flat", (r"BM_FilletPolyline/\d+/1000/ns_per_corner", r"BM_FilletPolyline/\d+/100000/ns_per_corner")),
    Question("speed", "ns a piece: independent, reserved, coupled", (r"BM_PlanPieces_(Independent|Reserved|Coupled)/1000/ns_per_item",)),
    Question("speed", "ns a node of a curvature profile", (r"BM_PlanCurve_(Independent|Reserved|Coupled)/1000/ns_per_item",)),
    Question("spline", "ns a sample: position, everything, shuffled",
             tuple(f"BM_{what}_{chain}/{n}/ns_per_item" for what in ("Position", "All", "Shuffled") for chain in _CHAINS for n in _SAMPLES)),
    Question("spline", "beside a table and Newton's method in floats", (r"BM_Article_Chain(2D|3D)/10000/ns_per_item", r"BM_Table_Chain(2D|3D)/10000/ns_per_item")),
    Question("spline", "set-up a segment: ordinary, cusps, near-cusps", (r"BM_SetUp_Chain(2D|3D)/ns_per_item", r"BM_SetUp_Cusps/ns_per_item", r"BM_SetUp_NearCusps/\d/ns_per_item")),
    Question("cache", "hit, miss and Ping of the same bytes, p50 and p99",
             tuple(rf"{series}/in_flight:{n}/{q}" for series in ("Hit", "Miss", "Ping_cache_bytes") for n in (1, 8, 64) for q in ("p50", "p99"))),
    Question("cache", "hit ratio, bytes an entry, resident memory on a Zipf load of 1 GB",
             tuple(rf"BM_Cache_Zipf/MB:1024/scans:0.*/{what}" for what in ("hit_ratio", "bytes_per_entry", "accounted_MB", "resident_MB"))),
    Question("cache", "a gate's change with many entries present", (r"BM_Cache_GateChange",)),
    Question("navmesh", "durable publication of 20,000 polygons", (r"BM_Publish_Durable/20000.*",)),
    Question("navmesh", "bytes a world", (r"BM_Worlds/.*/bytes_untouched",)),
    Question("follow", "ns a step with 1, 1,000 and 100,000 agents", tuple(rf"BM_FollowStep_\w+/{n}/ns_per_item" for n in (1, 1000, 100000))),
    Question("follow", "agents a second over one stream, and a tick against PingStream",
             (r"BM_FollowStream/1000/real_time/ns_per_item", r"BM_FollowStream/1000/real_time", r"BM_PingStreamOfTheSameBytes/1000/real_time")),
    Question("operation", "metrics a call, a scrape's time and bytes", (r"BM_Metrics_PlannedCall/real_time/threads:1", r"BM_Metrics_Scrape", r"BM_Metrics_Scrape/bytes")),
    Question("operation", "plans a second of a core by portals", (r"BM_Capacity_(Stops|Rounded)/\d+/items_per_second",)),
    Question("operation", "overload", answered_by=".ci/run overload"),
    Question("operation", "rolling restarts, image size, start to first plan", answered_by="tests/deployment/rolling.sh, tests/deployment/container.sh"),
    Question("batch", "plans a second, and the server's CPU a plan over planning in process",
             tuple(rf"BM_Batch_Server/{source}/{samples}/real_time/{what}" for source in (0, 1) for samples in (0, 32)
                   for what in ("items_per_second", "server_over_in_process", "server_over_in_process_on_busy_cores"))),
    Question("batch", "the same where agents walk on in corridors that the server has prepared",
             tuple(rf"BM_Batch_ServerKeepingCorridors/0/{samples}/real_time/{what}" for samples in (0, 32)
                   for what in ("items_per_second", "server_over_in_process", "server_over_in_process_on_busy_cores"))),
    Question("batch", "bytes of an answer with columns of doubles and of floats",
             (r"BM_Batch_Pipeline/0/32/answer_bytes", r"BM_Batch_PipelineFloats/0/32/answer_bytes")),
    Question("batch", "the same under load from another process",
             tuple(rf"Load_Batch_{source}/samples:{samples}/{what}" for source in ("Refs", "Polygons") for samples in (0, 32)
                   for what in ("plans_per_s", "server_cpu_a_plan"))),
    Question("stream", "single plans on a stream against PingStream", tuple(rf"Load_Stream/in_flight:{n}/(ping_)?{q}" for n in (1, 8, 64) for q in ("p50", "p99"))),
    Question("scaling", "planning on 1, 2, 4, 8 threads: contended locks, allocations, CPU a plan",
             tuple(rf"BM_Scaling_(Stops|Rounded)/real_time/threads:{n}/{what}" for n in (1, 2, 4, 8)
                   for what in ("items_per_second", "waits_a_plan", "allocations_a_plan", "cpu_ns_a_plan"))),
    Question("scaling", "growth of the heap under a steady load", answered_by="tests/benchmarks/heap_growth.py"),
    Question("stages", "share of CPU by stage", answered_by="tests/benchmarks/cpu_share.sh"),
]


def answers(figures):
    """For every question: {topic, question, figures (names), lacking (patterns without a figure), answered_by}."""
    names = sorted({figure["name"] for figure in figures})
    result = []
    for question in QUESTIONS:
        found, lacking = [], []
        for pattern in question.patterns:
            matching = [name for name in names if re.fullmatch(pattern, name)]
            found += matching
            if not matching:
                lacking.append(pattern)
        result.append({"topic": question.topic, "question": question.text, "figures": sorted(set(found)), "lacking": lacking,
                       "answered_by": question.answered_by})
    return result
