# SPDX-License-Identifier: Apache-2.0
"""Corridors by reference against the same corridors sent along: what must be equal bit for bit."""
from checks import equal


def refs_request(stubs, inline, navmesh_id, refs):
    """The request of `inline` with its corridor named by refs."""
    request = stubs.PlanCorridorRequest()
    request.CopyFrom(inline)
    request.ClearField("frame")
    request.corridor.ClearField("source")
    request.corridor.refs.ref.extend(refs)
    request.navmesh.navmesh_id = navmesh_id
    request.include_corridor = True
    return request


def portal_checks(axes, portals, left, right):
    """The portals as planned in are exactly these, heights included."""
    def ends(columns):
        return list(zip(columns.x, columns.y, columns.z))
    del axes
    return [equal("left ends", ends(portals.left), [tuple(p) for p in left]),
            equal("right ends", ends(portals.right), [tuple(p) for p in right])]


def same_route(stubs, axes, by_ref, inline):
    """Outcome, corners in the plane, length and times are those of the corridor that was sent along, bit for bit."""
    a, b = by_ref.route, inline.route
    return [
        equal("outcome", stubs.Outcome.Name(a.outcome), stubs.Outcome.Name(b.outcome)),
        equal("corners", axes.points(a.corners.position), axes.points(b.corners.position)),
        equal("length", a.length, b.length),
        equal("duration", a.duration_s, b.duration_s),
        equal("phase times", list(a.phases.start_time_s), list(b.phases.start_time_s)),
    ]
