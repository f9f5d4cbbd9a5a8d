# SPDX-License-Identifier: Apache-2.0
"""Stop-and-turn plans over waypoints, computed by the planning code in the local program."""
from checks import Case, Check, Kind, equal, near

RELATIVE_TOLERANCE = 1e-9


def _columns_near(quantity, measured, reference):
    """Equal lengths, and the worst element within the tolerance."""
    if len(measured) != len(reference):
        return equal(f"count of {quantity}", len(measured), len(reference))
    worst = Check(quantity, None, None, RELATIVE_TOLERANCE, True)
    for a, b in zip(measured, reference):
        check = near(quantity, a, b, RELATIVE_TOLERANCE * max(1.0, abs(b)))
        if worst.measured is None or check.excess > worst.excess:
            worst = check
    return worst


class StopTurnKind(Kind):
    """stop_turn_*: in process."""
    name = "stop and turn"

    def matches(self, record):
        return record.get("cat") == "stop_turn"

    def matches_file(self, file_name):
        return file_name.startswith("stop_turn")

    def cases(self, record, context):
        expect = record["expect"]

        def judge(answer):
            checks = [equal("status", answer.get("status"), expect["status"])]
            if checks[0].passed and expect["status"] == "OK":
                checks.append(near("time", answer["time"], expect["time"], RELATIVE_TOLERANCE * max(1.0, expect["time"])))
                checks += [_columns_near(name, answer[name], expect[name])
                           for name in ("turn_angle", "turn_time", "drive_time")]
            return checks

        yield Case("in_process", None, {"kind": "stop_turn", "record": record}, judge)
