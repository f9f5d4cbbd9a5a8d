# SPDX-License-Identifier: Apache-2.0
"""The kinds of records, in the order in which they are tried. A further kind is one module and one line here."""
from kinds.corner_rounding import CornerRoundingKind
from kinds.corridor import CorridorKind
from kinds.curve_speed import CurveSpeedKind
from kinds.discrete import DiscreteKind
from kinds.fillet import FilletKind
from kinds.map_query import MapQueryKind, UnreachableMapQueryKind
from kinds.speed_plan import SpeedPlanKind
from kinds.spline import SplineKind
from kinds.stop_turn import StopTurnKind
from kinds.unserved import UNSERVED_KINDS

KINDS = [
    CorridorKind(),
    MapQueryKind(),
    UnreachableMapQueryKind(),
    SpeedPlanKind(),
    CurveSpeedKind(),
    SplineKind(),
    CornerRoundingKind(),
    StopTurnKind(),
    FilletKind(),
    DiscreteKind(),
    *UNSERVED_KINDS,
]
