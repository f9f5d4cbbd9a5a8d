// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/corridor_walls.h"

#include <algorithm>
#include <cmath>

#include "server/planning/geometry/nearness.h"

namespace arclane {
namespace {

// The part of edge ab that lies on the portal, when the two run along one line within `tolerance`.
// The longer of the two decides the line: the direction of a short one says little.
ParameterInterval CoveredPart(Vec2 a, Vec2 b, const Portal& portal, double tolerance) {
  const Vec2 edge = b - a;
  const Vec2 across = portal.right - portal.left;
  const double edge_length = Norm(edge);
  const double width = Norm(across);
  if (!(width > 0.0) || !(edge_length > 0.0)) return {};
  if (edge_length >= width) {
    if (std::abs(Cross(edge, portal.left - a)) > tolerance * edge_length ||
        std::abs(Cross(edge, portal.right - a)) > tolerance * edge_length) {
      return {};
    }
    const double left = Dot(portal.left - a, edge) / (edge_length * edge_length);
    const double right = Dot(portal.right - a, edge) / (edge_length * edge_length);
    return Intersect({std::min(left, right), std::max(left, right)}, {0.0, 1.0});
  }
  if (std::abs(Cross(across, a - portal.left)) > tolerance * width ||
      std::abs(Cross(across, b - portal.left)) > tolerance * width) {
    return {};
  }
  const double at_a = Dot(a - portal.left, across) / (width * width);
  const double at_b = Dot(b - portal.left, across) / (width * width);
  if (at_a == at_b) return {};
  const double zero = (0.0 - at_a) / (at_b - at_a);
  const double one = (1.0 - at_a) / (at_b - at_a);
  return Intersect({std::min(zero, one), std::max(zero, one)}, {0.0, 1.0});
}

Vec2 Middle(const Portal& portal) { return 0.5 * (portal.left + portal.right); }

}  // namespace

void CorridorWalls::Collect(const Corridor& corridor) {
  walls_.clear();
  begin_.assign(1, 0);
  const size_t count = corridor.cell_count();
  for (size_t k = 0; k < count; ++k) {
    const bool is_link = (k > 0 && corridor.portals[k - 1].kind == PortalKind::kLinkEntry) ||
                         (k + 1 < count && corridor.portals[k].kind == PortalKind::kLinkExit);
    if (!is_link) {
      if (corridor.has_polygons) {
        AddPolygonWalls(corridor, k);
      } else {
        AddPortalWalls(corridor, k);
      }
      if (k > 0) AddPortalEnds(corridor.portals[k - 1]);
      if (k + 1 < count) AddPortalEnds(corridor.portals[k]);
    }
    begin_.push_back(static_cast<uint32_t>(walls_.size()));
  }
}

void CorridorWalls::AddPolygonWalls(const Corridor& corridor, size_t k) {
  const std::span<const Vec2> cell = corridor.cell(k);
  if (cell.size() < 3) return;
  // A copy of a vertex and a portal drawn between the other copies may both be off by the
  // tolerance.
  const double tolerance = 2.0 * corridor.tolerance;
  const bool has_entry = k > 0;
  const bool has_exit = k < corridor.portals.size();
  const Vec2 from = has_entry ? Middle(corridor.portals[k - 1]) : corridor.start;
  const Vec2 to = has_exit ? Middle(corridor.portals[k]) : corridor.goal;
  const auto add = [&](Vec2 a, Vec2 b, double low, double high) {
    if ((high - low) * Distance(a, b) <= tolerance) return;
    const Vec2 begin = Lerp(a, b, low);
    const Vec2 end = high >= 1.0 ? b : Lerp(a, b, high);
    walls_.push_back({begin, end, Cross(to - from, 0.5 * (begin + end) - from) > 0.0});
  };
  Vec2 a = cell.back();
  for (const Vec2 b : cell) {
    ParameterInterval one;
    ParameterInterval two;
    if (has_entry) one = CoveredPart(a, b, corridor.portals[k - 1], tolerance);
    if (has_exit) two = CoveredPart(a, b, corridor.portals[k], tolerance);
    if (one.empty() || (!two.empty() && two.low < one.low)) std::swap(one, two);
    // What is left of [0, 1] before, between and after the two.
    double open = 0.0;
    for (const ParameterInterval covered : {one, two}) {
      if (covered.empty()) continue;
      add(a, b, open, covered.low);
      open = std::max(open, covered.high);
    }
    add(a, b, open, 1.0);
    a = b;
  }
}

void CorridorWalls::AddPortalWalls(const Corridor& corridor, size_t k) {
  if (k == 0 || k == corridor.portals.size()) return;
  const Portal& entry = corridor.portals[k - 1];
  const Portal& exit = corridor.portals[k];
  if (entry.kind != PortalKind::kEdge || exit.kind != PortalKind::kEdge) return;
  walls_.push_back({entry.left, exit.left, true});
  walls_.push_back({entry.right, exit.right, false});
}

void CorridorWalls::AddPortalEnds(const Portal& portal) {
  if (portal.kind != PortalKind::kEdge) return;
  walls_.push_back({portal.left, portal.left, true});
  walls_.push_back({portal.right, portal.right, false});
}

}  // namespace arclane
