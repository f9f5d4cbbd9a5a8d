# SPDX-License-Identifier: Apache-2.0
"""The kinds of records, in the order in which they are tried. A further kind is one module and one line here."""
from kinds.corridor import CorridorKind
from kinds.map_query import MapQueryKind, UnreachableMapQueryKind
from kinds.stop_turn import StopTurnKind
from kinds.unserved import UNSERVED_KINDS

KINDS = [
    CorridorKind(),
    MapQueryKind(),
    UnreachableMapQueryKind(),
    StopTurnKind(),
    *UNSERVED_KINDS,
]
