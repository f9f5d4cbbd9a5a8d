# SPDX-License-Identifier: Apache-2.0
"""Kinds of records that the service does not answer yet, so that a run says what it left out and why."""
from checks import Kind


class UnservedKind(Kind):
    """Recognised and counted, not run."""

    def __init__(self, name, matches, reason="not served yet"):
        self.name = name
        self.skip_reason = reason
        self._matches = matches

    def matches(self, record):
        return self._matches(record)


UNSERVED_KINDS = [
    UnservedKind("navmesh query", lambda r: "start_poly" in r and "path" in r,
                 "equal cost is not demanded of another search"),
]
