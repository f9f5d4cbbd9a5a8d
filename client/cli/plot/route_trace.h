// SPDX-License-Identifier: Apache-2.0
// A route as a picture needs it: in the plane of travel, with speed and accelerations at enough
// points of each phase that straight lines between them cannot be told from the curves.
#ifndef ARCLANE_CLIENT_CLI_PLOT_ROUTE_TRACE_H_
#define ARCLANE_CLIENT_CLI_PLOT_ROUTE_TRACE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "arclane/v1/planner.pb.h"
#include "client/sdk/column_views.h"

namespace arclane {

// A point of the plane of travel: the two axes that are not up, in axis order. Heading grows from
// `first` towards `second`.
struct PlanePoint {
  double first = 0;
  double second = 0;
};

// Which of a message's axes span the plane.
class PlaneAxes {
 public:
  explicit PlaneAxes(v1::UpAxis up_axis) : up_axis_(up_axis) {}
  PlanePoint Project(double x, double y, double z) const;
  PlanePoint Project(const v1::Point& point) const {
    return Project(point.x(), point.y(), point.z());
  }
  PlanePoint Project(const PointsView& points, size_t i) const {
    return Project(points.x(i), points.y(i), points.z(i));
  }
  // "x", "y" or "z".
  const char* first_name() const;
  const char* second_name() const;

 private:
  v1::UpAxis up_axis_;
};

// A piece of the path. What is no arc is drawn straight to its end.
struct TraceSegment {
  int kind = 0;  // v1::SegmentKind.
  PlanePoint start;
  PlanePoint end;
  double start_distance = 0;
  double length = 0;
  double heading_rad = 0;
  double curvature = 0;  // 0 for straight pieces.
};

// The point at `distance` from the segment's start, clamped to the segment. Arcs by chord and half
// angle, exact to a few roundings of the coordinates for any curvature.
PlanePoint PointAlong(const TraceSegment& segment, double distance);

// The motion at one point, with the limits that are in force there (infinite where there are none).
struct TracePoint {
  double distance = 0;
  double time_s = 0;
  double speed = 0;
  double acceleration = 0;
  double curvature = 0;             // Positive to the left.
  double lateral_acceleration = 0;  // Positive to the left.
  double speed_limit = 0;
  double acceleration_limit = 0;
  double braking_limit = 0;  // >= 0.
  double lateral_limit = 0;  // >= 0.
};

// Points of one speed phase, in order; the first and last are its ends.
struct TracePhase {
  int kind = 0;  // v1::PhaseKind.
  uint32_t segment = 0;
  std::vector<TracePoint> points;
};

struct RouteTrace {
  std::vector<TraceSegment> segments;
  std::vector<TracePhase> phases;
  double largest_speed = 0;
};

// kDataLoss when the route's columns do not fit together or hold a number that is not finite.
absl::StatusOr<RouteTrace> TraceRoute(const v1::Route& route, const v1::AgentLimits& limits,
                                      const PlaneAxes& axes);

// The curvature of a curve, linear between nodes.
struct CurvatureNodes {
  std::span<const double> distance;   // Increasing.
  std::span<const double> curvature;  // As many.
};

// The phases of a speed plan along a curve; the result has no segments. kDataLoss as TraceRoute.
absl::StatusOr<RouteTrace> TraceCurveSpeed(const v1::PhaseColumns& phases,
                                           const CurvatureNodes& nodes,
                                           const v1::AgentLimits& limits);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_ROUTE_TRACE_H_
