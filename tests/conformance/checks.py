# SPDX-License-Identifier: Apache-2.0
"""Cases and checks: what a record asks of the service and how the answer is judged."""
import dataclasses
import math
from typing import Any, Callable, Optional


@dataclasses.dataclass
class Check:
    """One judged value. `excess` orders failures and near failures: the error over its tolerance."""
    quantity: str
    measured: Any
    reference: Any
    tolerance: float
    passed: bool
    error: float = 0.0

    @property
    def excess(self):
        """Error over tolerance; infinite for a failure without a measure."""
        if self.passed:
            return self.error / self.tolerance if self.tolerance > 0.0 else 0.0
        if self.tolerance > 0.0 and math.isfinite(self.error):
            return max(self.error / self.tolerance, 1.0)
        return math.inf


def near(quantity, measured, reference, tolerance):
    """The measured number lies within `tolerance` of the reference."""
    error = abs(measured - reference) if math.isfinite(measured) else math.inf
    return Check(quantity, measured, reference, tolerance, error <= tolerance, error)


def at_most(quantity, measured, bound, tolerance=0.0):
    """The measured number exceeds `bound` by at most `tolerance`."""
    error = max(0.0, measured - bound) if math.isfinite(measured) else math.inf
    return Check(quantity, measured, bound, tolerance, error <= tolerance, error)


def equal(quantity, measured, reference):
    """The measured value is the reference."""
    passed = measured == reference
    return Check(quantity, measured, reference, 0.0, passed, 0.0 if passed else math.inf)


@dataclasses.dataclass
class Case:
    """One question to the service: an RPC with a request, or a record for the local program.

    `judge` turns the answer into checks. `method` is None for the local program, which gets the record. `judge_error`
    judges the name of a gRPC status other than OK; without it such a status fails.
    """
    name: str
    method: Optional[str]
    request: Any
    judge: Callable[[Any], list]
    judge_error: Optional[Callable[[str], list]] = None


class Kind:
    """One kind of record. Kinds that nothing serves yet say so in `skip_reason`."""
    name = ""
    skip_reason: Optional[str] = None

    def matches(self, record):
        """Whether the record is of this kind, by its fields."""
        raise NotImplementedError

    def matches_file(self, file_name):
        """Whether a file of this name should hold records of this kind, so that an empty one is noticed."""
        del file_name
        return False

    def cases(self, record, context):
        """The cases of a record; `context` is a conformance.Context."""
        raise NotImplementedError

    def record_id(self, record):
        """The record's name in reports."""
        return str(record.get("id", record.get("name", "?")))

    def end_file(self):
        """What is wrong with a file's records together, as texts; called when all its answers are judged."""
        return []
