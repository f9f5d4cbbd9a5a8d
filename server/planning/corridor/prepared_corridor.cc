// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/prepared_corridor.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace arclane {
namespace {

// A cell depends on its polygon, its portals and whether one of them belongs to a link, which its
// neighbours tell.
constexpr size_t kEndPolygons = 3;

double Largest(std::span<const double> values) {
  double largest = 0.0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}
double Largest(const PointColumns& points) {
  return std::max({Largest(points.a), Largest(points.b), Largest(points.height)});
}

bool EndsWithin(const CorridorInput& input, double magnitude) {
  return std::max({std::abs(input.start.x), std::abs(input.start.y), std::abs(input.goal.x),
                   std::abs(input.goal.y)}) <= magnitude;
}

PointColumns Part(const PointColumns& points, size_t begin, size_t count) {
  PointColumns part{points.a.subspan(begin, count), points.b.subspan(begin, count), {}};
  if (points.has_height()) part.height = points.height.subspan(begin, count);
  return part;
}

// Whether the part has read its portals as the whole has: which end is left may be seen on other
// portals alone.
bool SamePortals(const Corridor& part, const Corridor& whole, size_t first) {
  for (size_t i = 0; i < part.portals.size(); ++i) {
    const Portal& a = part.portals[i];
    const Portal& b = whole.portals[first + i];
    if (a.left != b.left || a.right != b.right || a.kind != b.kind) return false;
  }
  return true;
}

void AppendCell(const Corridor& from, size_t k, Corridor& to) {
  const size_t begin = from.cell_begin[k], end = from.cell_begin[k + 1];
  to.cell_vertices.insert(to.cell_vertices.end(), from.cell_vertices.begin() + begin,
                          from.cell_vertices.begin() + end);
  to.cell_heights.insert(to.cell_heights.end(), from.cell_heights.begin() + begin,
                         from.cell_heights.begin() + end);
}

}  // namespace

size_t PreparedCorridor::ByteSize() const {
  return corridor.portals.capacity() * sizeof(Portal) +
         corridor.cell_vertices.capacity() * sizeof(Vec2) +
         corridor.cell_heights.capacity() * sizeof(double) +
         corridor.cell_begin.capacity() * sizeof(uint32_t) +
         sections.open.capacity() * sizeof(PortalSections::Open);
}

std::optional<PreparedCorridor> PrepareCorridor(const CorridorInput& input, const Corridor& built) {
  const size_t polygons = input.polygons.vertex_count.size();
  if (!input.has_polygons || !input.has_portals || polygons < kLeastPreparedPolygons)
    return std::nullopt;
  PreparedCorridor prepared;
  prepared.magnitude = std::max({Largest(input.polygons.vertices), Largest(input.portals.left),
                                 Largest(input.portals.right)});
  if (!EndsWithin(input, prepared.magnitude)) return std::nullopt;
  prepared.corridor = built;
  prepared.corridor.portals.shrink_to_fit();
  prepared.corridor.cell_vertices.shrink_to_fit();
  prepared.corridor.cell_heights.shrink_to_fit();
  prepared.corridor.cell_begin.shrink_to_fit();
  return prepared;
}

bool PreparedCorridorBuilder::BuildEnd(const CorridorInput& input, double tolerance, size_t first,
                                       size_t first_vertex, const CorridorLimits& limits,
                                       Corridor* end) {
  CorridorInput part = input;
  const auto counts = input.polygons.vertex_count.subspan(first, kEndPolygons);
  const size_t vertices = std::accumulate(counts.begin(), counts.end(), size_t{0});
  part.polygons.vertex_count = counts;
  part.polygons.vertices = Part(input.polygons.vertices, first_vertex, vertices);
  part.portals.left = Part(input.portals.left, first, kEndPolygons - 1);
  part.portals.right = Part(input.portals.right, first, kEndPolygons - 1);
  link_entries_.clear();
  for (const uint32_t entry : input.portals.link_entries) {
    if (entry >= first && entry < first + kEndPolygons - 1)
      link_entries_.push_back(entry - static_cast<uint32_t>(first));
  }
  part.portals.link_entries = link_entries_;
  part.precision = CoordinatePrecision::Length(tolerance);
  // The end that is not wanted lies on a vertex of its polygon.
  if (first == 0) {
    part.goal = part.polygons.vertices.point(vertices - 1);
  } else {
    part.start = part.polygons.vertices.point(0);
  }
  Violations violations(0);
  return builder_.Build(part, limits, end, &violations) && end->tolerance == tolerance;
}

bool PreparedCorridorBuilder::Build(const PreparedCorridor& prepared, const CorridorInput& input,
                                    Corridor* corridor) {
  const Corridor& known = prepared.corridor;
  if (!EndsWithin(input, prepared.magnitude)) return false;
  const auto counts = input.polygons.vertex_count;
  const size_t last = counts.size() - kEndPolygons;
  size_t behind = input.polygons.vertices.size();
  for (size_t k = last; k < counts.size(); ++k) behind -= counts[k];
  const CorridorLimits unlimited;
  if (!BuildEnd(input, known.tolerance, 0, 0, unlimited, &start_) ||
      !BuildEnd(input, known.tolerance, last, behind, unlimited, &goal_) ||
      !SamePortals(start_, known, 0) || !SamePortals(goal_, known, last)) {
    return false;
  }
  corridor->start = start_.start;
  corridor->start_height = start_.start_height;
  corridor->start_shift = start_.start_shift;
  corridor->goal = goal_.goal;
  corridor->goal_height = goal_.goal_height;
  corridor->goal_shift = goal_.goal_shift;
  corridor->portals = known.portals;
  corridor->has_polygons = known.has_polygons;
  corridor->turns_back = known.turns_back;
  corridor->tolerance = known.tolerance;
  // The first cell anew, those between as they are, the last one anew.
  const size_t cells = known.cell_count();
  corridor->cell_vertices.clear();
  corridor->cell_heights.clear();
  AppendCell(start_, 0, *corridor);
  const auto begin = static_cast<ptrdiff_t>(known.cell_begin[1]);
  const auto end = static_cast<ptrdiff_t>(known.cell_begin[cells - 1]);
  const ptrdiff_t moved = static_cast<ptrdiff_t>(corridor->cell_vertices.size()) - begin;
  corridor->cell_vertices.insert(corridor->cell_vertices.end(), known.cell_vertices.begin() + begin,
                                 known.cell_vertices.begin() + end);
  corridor->cell_heights.insert(corridor->cell_heights.end(), known.cell_heights.begin() + begin,
                                known.cell_heights.begin() + end);
  corridor->cell_begin.resize(cells + 1);
  corridor->cell_begin[0] = 0;
  for (size_t k = 1; k < cells; ++k) {
    corridor->cell_begin[k] = static_cast<uint32_t>(known.cell_begin[k] + moved);
  }
  AppendCell(goal_, kEndPolygons - 1, *corridor);
  corridor->cell_begin[cells] = static_cast<uint32_t>(corridor->cell_vertices.size());
  return true;
}

}  // namespace arclane
