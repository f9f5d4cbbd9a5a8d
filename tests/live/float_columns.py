# SPDX-License-Identifier: Apache-2.0
"""Reads answers whose columns of samples and corners are floats as if they were doubles."""

_POINTS = "FloatPointColumns"


def _widen_points(floats, doubles):
    for axis in ("x", "y", "z"):
        origin = getattr(floats.origin, axis)
        getattr(doubles, axis).extend(origin + value for value in getattr(floats, axis))


def _widen_table(table):
    if not table.HasField("floats"):
        return
    for field, value in table.floats.ListFields():
        if field.message_type is not None and field.message_type.name == _POINTS:
            _widen_points(value, getattr(table, field.name))
        else:
            getattr(table, field.name).extend(value)
    table.ClearField("floats")


def widen_columns(message):
    """Fills the columns of doubles of a Route, a CurvePlan or an answer that holds one from its `floats`, which are then unset. Nothing
    happens where there are none. Returns the message."""
    for field, value in message.ListFields():
        if field.name in ("samples", "corners"):
            _widen_table(value)
        elif field.name in ("route", "plan", "corridor", "waypoints", "spline") and field.message_type is not None:
            widen_columns(value)
    return message
