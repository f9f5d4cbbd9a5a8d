# SPDX-License-Identifier: Apache-2.0
"""The follower's stopping laws: no RPC answers with a single law, so these records run through the local program, which
calls the code of the follower."""
import math

from checks import Case, Kind, at_most, equal, near

RELATIVE_TOLERANCE = 1e-9
# A law of a few rounded operations in the record's precision.
FLOAT_TOLERANCE = 1e-6


class DiscreteKind(Kind):
    """One category of discrete_*: its name, and how its answer is judged."""

    def __init__(self, category, judge):
        self.name = f"stopping law ({category})"
        self._category, self._judge_answer = category, judge

    def matches(self, record):
        return record.get("cat") == self._category

    def matches_file(self, file_name):
        return file_name.startswith("discrete")

    def cases(self, record, context):
        yield Case("local", None, {"kind": self._category, "record": record},
                   lambda answer: self._judge_answer(record, answer))


def _speed_near(measured, reference, tolerance):
    return near("v_limit", measured, reference, tolerance * reference if reference > 0.0 else math.ulp(0.0))


def judge_limit(record, answer):
    """The speed limit of the plain law."""
    return [_speed_near(answer["v_limit"], record["expect"]["v_limit"], RELATIVE_TOLERANCE)]


def judge_fp(record, answer):
    """The speed limit, above 0, and a step that does not pass the stop after rounding."""
    tolerance = FLOAT_TOLERANCE if record["precision"] == "float" else RELATIVE_TOLERANCE
    return [_speed_near(answer["v_limit"], record["expect"]["v_limit"], tolerance),
            equal("passes the stop", answer["passes"], False),
            equal("moves", answer["v_limit"] > 0.0, True)]


def judge_loop(record, answer):
    """The loop of the hold integrator, step by step."""
    expect = record["expect"]
    return [equal("steps", answer["steps"], expect["steps"]),
            near("d_final", answer["d_final"], expect["d_final"], RELATIVE_TOLERANCE * record["d0"]),
            near("v_peak", answer["v_peak"], expect["v_peak"], RELATIVE_TOLERANCE * expect["v_peak"]),
            near("max_decel", answer["max_decel"], expect["max_decel"], RELATIVE_TOLERANCE * record["a_brake"])]


def judge_semantics(record, answer):
    """No overshoot, not short of the stop, and no harder braking than allowed."""
    expect = record["expect"]
    return [at_most("overshoot", answer["overshoot"], expect["max_overshoot"]),
            at_most("stop_short", answer["stop_short"], expect["max_stop_short"]),
            at_most("max_decel", answer["max_decel"], record["a_brake"], RELATIVE_TOLERANCE * record["a_brake"])]


DISCRETE_KINDS = [
    DiscreteKind("discrete", judge_limit),
    DiscreteKind("discrete_fp", judge_fp),
    DiscreteKind("discrete_loop", judge_loop),
    DiscreteKind("discrete_semantics", judge_semantics),
]
