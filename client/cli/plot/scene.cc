// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/scene.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

// Twice the area of a, b, c; a picture's hull needs no robust predicate.
double Cross(PlanePoint a, PlanePoint b, PlanePoint c) {
  return (b.first - a.first) * (c.second - a.second) - (b.second - a.second) * (c.first - a.first);
}

// Convex hull of a few points (Andrew's monotone chain), counter-clockwise.
std::vector<PlanePoint> Hull(std::vector<PlanePoint> points) {
  std::sort(points.begin(), points.end(), [](PlanePoint a, PlanePoint b) {
    return std::pair(a.first, a.second) < std::pair(b.first, b.second);
  });
  std::vector<PlanePoint> hull;
  for (int pass = 0; pass < 2; ++pass) {
    const size_t base = hull.size();
    for (const PlanePoint point : points) {
      while (hull.size() >= base + 2 &&
             Cross(hull[hull.size() - 2], hull[hull.size() - 1], point) <= 0) {
        hull.pop_back();
      }
      hull.push_back(point);
    }
    hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull;
}

absl::Status ReadPortals(const v1::Portals& portals, Scene& scene) {
  const auto left = PointsView::Of(portals.left(), "portals.left");
  if (!left.ok()) return AsArgumentError(left.status());
  const auto right = PointsView::Of(portals.right(), "portals.right");
  if (!right.ok()) return AsArgumentError(right.status());
  if (left->size() != right->size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("portals: left has ", left->size(), " points, right has ", right->size()));
  }
  for (size_t i = 0; i < left->size(); ++i) {
    scene.portals.push_back({scene.axes.Project(*left, i), scene.axes.Project(*right, i), false});
  }
  return absl::OkStatus();
}

void AddPortalHulls(const v1::Portals& portals, Scene& scene) {
  const auto is_link = [&](size_t i) {
    const auto& entries = portals.link_entry();
    return std::find(entries.begin(), entries.end(), static_cast<uint32_t>(i)) != entries.end();
  };
  if (scene.portals.empty()) return;
  const ScenePortal& first = scene.portals.front();
  scene.cells.push_back(Hull({*scene.start, first.left, first.right}));
  for (size_t i = 0; i + 1 < scene.portals.size(); ++i) {
    const ScenePortal& a = scene.portals[i];
    const ScenePortal& b = scene.portals[i + 1];
    if (!is_link(i)) scene.cells.push_back(Hull({a.left, a.right, b.left, b.right}));
  }
  const ScenePortal& last = scene.portals.back();
  scene.cells.push_back(Hull({*scene.goal, last.left, last.right}));
}

absl::Status ReadCorridor(const v1::PlanCorridorRequest& request, const v1::Route& route,
                          Scene& scene) {
  const v1::Corridor& corridor = request.corridor();
  const bool has_portals = route.has_portals() || corridor.has_portals();
  const v1::Portals& portals = route.has_portals() ? route.portals() : corridor.portals();
  if (has_portals) {
    if (absl::Status status = ReadPortals(portals, scene); !status.ok()) return status;
  }
  if (corridor.has_polygons()) {
    return AddPolygons(corridor.polygons(), "corridor.polygons", scene);
  }
  if (route.has_cells()) return AddPolygons(route.cells(), "route.cells", scene);
  AddPortalHulls(portals, scene);
  return absl::OkStatus();
}

void MarkBlocked(const v1::Blocked& blocked, Scene& scene) {
  if (blocked.has_corner_index() && blocked.corner_index() < scene.corners.size()) {
    SceneCorner& corner = scene.corners[blocked.corner_index()];
    corner.blocked = true;
    corner.reason = blocked.reason();
  } else if (blocked.portal_index() < scene.portals.size()) {
    scene.portals[blocked.portal_index()].blocked = true;
  }
}

// Grows around points, and remembers whether all were finite.
class ExtentBuilder {
 public:
  void Add(PlanePoint point) {
    finite_ = finite_ && std::isfinite(point.first) && std::isfinite(point.second);
    extent_.low = {std::min(extent_.low.first, point.first),
                   std::min(extent_.low.second, point.second)};
    extent_.high = {std::max(extent_.high.first, point.first),
                    std::max(extent_.high.second, point.second)};
  }
  bool finite() const { return finite_; }
  const Extent& extent() const { return extent_; }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Extent extent_{{kInfinity, kInfinity}, {-kInfinity, -kInfinity}};
  bool finite_ = true;
};

// What every route has: its trace, stops, corners and samples, and the agent's body.
absl::Status AddRoute(const v1::Route& route, const v1::AgentProfile& agent, Scene& scene) {
  const double radius = agent.body().radius();
  scene.body_radius = radius > 0 && std::isfinite(radius) ? radius : 0;
  auto trace = TraceRoute(route, agent.limits(), scene.axes);
  if (!trace.ok()) return AsArgumentError(trace.status());
  scene.trace = *std::move(trace);
  scene.stops = FindStops(scene.trace);
  for (const auto add : {AddCorners, AddSamples}) {
    if (absl::Status status = add(route, scene); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AsArgumentError(const absl::Status& status) {
  return absl::InvalidArgumentError(status.message());
}

absl::Status AddPolygons(const v1::Polygons& polygons, const char* name, Scene& scene) {
  const auto vertices = PointsView::Of(polygons.vertices(), name);
  if (!vertices.ok()) return AsArgumentError(vertices.status());
  size_t next = 0;
  for (const uint32_t count : polygons.vertex_count()) {
    if (count > vertices->size() - next) {
      return absl::InvalidArgumentError(absl::StrCat(name, ": vertex_count asks for more than the ",
                                                     vertices->size(), " vertices that are there"));
    }
    std::vector<PlanePoint> cell;
    for (size_t i = next; i < next + count; ++i) cell.push_back(scene.axes.Project(*vertices, i));
    next += count;
    if (cell.size() == 2) {
      scene.links.emplace_back(cell[0], cell[1]);
    } else if (!cell.empty()) {
      scene.cells.push_back(std::move(cell));
    }
  }
  return absl::OkStatus();
}

absl::Status AddCorners(const v1::Route& route, Scene& scene) {
  const auto corners = CornerView::Of(route);
  if (!corners.ok()) return AsArgumentError(corners.status());
  for (size_t i = 0; i < corners->size; ++i) {
    scene.corners.push_back(
        {scene.axes.Project(corners->position, i), corners->kind[i], corners->reason[i], false});
  }
  return absl::OkStatus();
}

absl::Status AddSamples(const v1::Route& route, Scene& scene) {
  const auto samples = SampleView::Of(route);
  if (!samples.ok()) return AsArgumentError(samples.status());
  for (size_t i = 0; i < samples->position.size(); ++i) {
    scene.samples.push_back(scene.axes.Project(samples->position, i));
  }
  return absl::OkStatus();
}

std::vector<SceneStop> FindStops(const RouteTrace& trace) {
  std::vector<SceneStop> stops;
  for (size_t i = 0; i < trace.phases.size(); ++i) {
    const TracePhase& phase = trace.phases[i];
    const TracePoint& from = phase.points.front();
    const TracePoint& to = phase.points.back();
    if (phase.kind == v1::PHASE_KIND_TURN) {
      stops.push_back({from.distance, from.time_s, to.time_s - from.time_s});
    } else if (i > 0 && from.speed == 0 && trace.phases[i - 1].kind != v1::PHASE_KIND_TURN) {
      stops.push_back({from.distance, from.time_s, 0});
    }
  }
  return stops;
}

absl::Status MeasureExtent(Scene& scene) {
  // An eighth of a turn between points of an arc leaves out at most 8% of its radius.
  constexpr double kArcStepRad = 0.4;
  ExtentBuilder builder;
  if (scene.start) builder.Add(*scene.start);
  if (scene.goal) builder.Add(*scene.goal);
  for (const PlanePoint point : scene.control) builder.Add(point);
  for (const PlanePoint point : scene.guide) builder.Add(point);
  if (scene.rest) builder.Add(*scene.rest);
  for (const auto& cell : scene.cells) {
    for (const PlanePoint point : cell) builder.Add(point);
  }
  for (const auto& [from, to] : scene.links) builder.Add(from), builder.Add(to);
  for (const ScenePortal& portal : scene.portals)
    builder.Add(portal.left), builder.Add(portal.right);
  for (const SceneCorner& corner : scene.corners) builder.Add(corner.position);
  for (const PlanePoint point : scene.samples) builder.Add(point);
  for (const TraceSegment& segment : scene.trace.segments) {
    const double angle = std::abs(segment.curvature) * segment.length;
    const int steps = 1 + static_cast<int>(std::min(angle / kArcStepRad, 1000.0));
    for (int k = 0; k <= steps; ++k) builder.Add(PointAlong(segment, segment.length * k / steps));
  }
  if (!builder.finite()) {
    return absl::InvalidArgumentError("a coordinate is not finite: there is nothing to draw");
  }
  scene.extent = builder.extent();
  return absl::OkStatus();
}

bool Scene::HasArcs() const {
  return std::any_of(trace.segments.begin(), trace.segments.end(),
                     [](const TraceSegment& segment) { return segment.curvature != 0; });
}

absl::StatusOr<Scene> BuildScene(const v1::PlanCorridorRequest& request,
                                 const v1::PlanCorridorResponse& response) {
  const v1::Route& route = response.route();
  Scene scene;
  scene.axes = PlaneAxes(request.frame().up_axis());
  scene.start = scene.axes.Project(request.start());
  scene.goal = scene.axes.Project(request.goal());
  if (absl::Status status = AddRoute(route, request.agent(), scene); !status.ok()) return status;
  scene.guide_name = "shortest line";
  scene.guide.push_back(*scene.start);
  for (const SceneCorner& corner : scene.corners) scene.guide.push_back(corner.position);
  scene.guide.push_back(*scene.goal);
  if (absl::Status status = ReadCorridor(request, route, scene); !status.ok()) return status;
  if (route.has_blocked()) MarkBlocked(route.blocked(), scene);
  if (route.has_braking()) scene.rest = scene.axes.Project(route.braking().rest_position());
  if (absl::Status status = MeasureExtent(scene); !status.ok()) return status;
  return scene;
}

absl::StatusOr<Scene> BuildScene(const v1::PlanWaypointsRequest& request,
                                 const v1::PlanWaypointsResponse& response) {
  const v1::Route& route = response.route();
  Scene scene;
  scene.axes = PlaneAxes(request.frame().up_axis());
  const auto waypoints = PointsView::Of(request.waypoints(), "waypoints");
  if (!waypoints.ok()) return AsArgumentError(waypoints.status());
  if (waypoints->empty()) return absl::InvalidArgumentError("waypoints: there are none to draw");
  for (size_t i = 0; i < waypoints->size(); ++i) {
    scene.guide.push_back(scene.axes.Project(*waypoints, i));
  }
  scene.guide_name = "waypoints";
  scene.start = scene.guide.front();
  scene.goal = scene.guide.back();
  scene.is_loop = request.closed();
  if (scene.is_loop) scene.guide.push_back(*scene.start);
  if (absl::Status status = AddRoute(route, request.agent(), scene); !status.ok()) return status;
  // A closed route starts behind the arc of its first corner.
  if (scene.is_loop && !scene.trace.segments.empty()) {
    scene.start = scene.trace.segments.front().start;
  }
  if (absl::Status status = AddPolygons(request.containment(), "containment", scene);
      !status.ok()) {
    return status;
  }
  if (route.has_blocked()) MarkBlocked(route.blocked(), scene);
  if (route.has_braking()) scene.rest = scene.axes.Project(route.braking().rest_position());
  if (absl::Status status = MeasureExtent(scene); !status.ok()) return status;
  return scene;
}

}  // namespace arclane
