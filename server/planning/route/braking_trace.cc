// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/braking_trace.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace arclane {
namespace {

// The fraction of the line at which it leaves a convex counter-clockwise cell, clipped to 1; less
// than `from` when it is outside already by more than the tolerance.
double ExitFraction(std::span<const Vec2> cell, Vec2 a, Vec2 direction, double from,
                    double tolerance) {
  double exit = 1.0;
  for (size_t i = 0; i < cell.size(); ++i) {
    const Vec2 edge = cell[(i + 1) % cell.size()] - cell[i];
    const double edge_length = Norm(edge);
    if (edge_length == 0.0) continue;
    // Signed distance inside: depth + t * rate >= -tolerance.
    const double depth = Cross(edge, a - cell[i]) / edge_length + tolerance;
    const double rate = Cross(edge, direction) / edge_length;
    if (rate < 0.0) {
      exit = std::min(exit, -depth / rate);
    } else if (depth + from * rate < 0.0) {
      return -1.0;
    }
  }
  return exit;
}

// Where the line crosses a portal, as a fraction of it, if it does behind `from`.
std::optional<double> CrossFraction(const Portal& portal, Vec2 a, Vec2 direction, double from,
                                    double tolerance) {
  const Vec2 across = portal.left - portal.right;
  const double denominator = Cross(direction, across);
  const double width = Norm(across);
  if (width == 0.0 || denominator == 0.0) return std::nullopt;
  const double t = Cross(portal.right - a, across) / denominator;
  const double u = Cross(portal.right - a, direction) / denominator;
  const double slack = tolerance / width;
  if (u < -slack || u > 1.0 + slack) return std::nullopt;
  const double t_slack = tolerance / Norm(direction);
  if (t < from - t_slack || t > 1.0) return std::nullopt;
  return std::max(t, from);
}

}  // namespace

BrakingTrace TraceInCorridor(const Corridor& corridor, Vec2 from, Vec2 to,
                             std::vector<PortalCrossing>* crossings) {
  crossings->clear();
  BrakingTrace trace;
  const Vec2 direction = to - from;
  const double length = Norm(direction);
  if (length == 0.0) {
    trace.inside = true;
    return trace;
  }
  double t = 0.0;
  for (size_t k = 0; k < corridor.cell_count(); ++k) {
    const double exit = ExitFraction(corridor.cell(k), from, direction, t, corridor.tolerance);
    t = std::max(t, std::min(exit, 1.0));
    if (exit >= 1.0) {
      trace.inside = true;
      break;
    }
    if (exit < 0.0 || k + 1 == corridor.cell_count()) break;
    const double entered = crossings->empty() ? 0.0 : crossings->back().distance / length;
    const std::optional<double> cross =
        CrossFraction(corridor.portals[k], from, direction, entered, corridor.tolerance);
    if (!cross) break;
    t = *cross;
    crossings->push_back({t * length, from + direction * t});
  }
  trace.inside_distance = trace.inside ? length : t * length;
  return trace;
}

}  // namespace arclane
