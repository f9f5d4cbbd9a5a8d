# SPDX-License-Identifier: Apache-2.0
"""The follower's stopping laws: no RPC answers with a single law, so these records run through the local program, which
calls the code of the follower."""
import math

from checks import Case, Kind, at_most, equal, near

RELATIVE_TOLERANCE = 1e-9
# A law of a few rounded operations in the record's precision.
FLOAT_TOLERANCE = 1e-6


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


JUDGES = {"discrete": judge_limit, "discrete_fp": judge_fp, "discrete_loop": judge_loop,
          "discrete_semantics": judge_semantics}


class DiscreteKind(Kind):
    """discrete_*: each category has a judge of its own."""
    name = "stopping law"

    def matches(self, record):
        return record.get("cat") in JUDGES

    def matches_file(self, file_name):
        return file_name.startswith("discrete")

    def cases(self, record, context):
        category = record["cat"]
        yield Case("local", None, {"kind": category, "record": record},
                   lambda answer: JUDGES[category](record, answer))
