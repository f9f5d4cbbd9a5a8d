# SPDX-License-Identifier: Apache-2.0
"""PlanWaypoints requests from plane coordinates, in doubles, for agents whose smallest kink is a corner."""
from corridor_request import Axes


def new_waypoints_request(stubs, up, waypoints):
    """A request along waypoints, without limits and radii."""
    axes = Axes(stubs, up)
    request = stubs.PlanWaypointsRequest()
    request.frame.up_axis = axes.up_axis
    request.frame.source = stubs.COORDINATE_SOURCE_FLOAT64
    axes.extend(request.waypoints, waypoints)
    request.agent.manners.corner_angle_min_rad = 0.0
    return request


def set_containment(stubs, up, request, polygons):
    """The polygons whose union must contain the route."""
    axes = Axes(stubs, up)
    for polygon in polygons:
        axes.extend(request.containment.vertices, polygon)
        request.containment.vertex_count.append(len(polygon))


def stops_of(stubs, route):
    """The inner waypoints, counted from 0, at which the route stops."""
    return [waypoint - 1 for waypoint, kind in zip(route.corners.portal_index, route.corners.kind)
            if kind == stubs.CORNER_KIND_STOP]
