// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/polygon_union.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "server/planning/geometry/distance.h"

namespace arclane {
namespace {

// Points of cuts and mid-points err by a few units in the last place of the largest coordinate or
// radius.
constexpr double kPointUlps = 64.0;

// Polygons of more edges keep them in a tree.
constexpr size_t kManyEdges = 16;

// Calls use(x) for the real solutions of a x^2 + b x + c = 0.
template <typename Use>
void SolveQuadratic(double a, double b, double c, const Use& use) {
  if (a == 0.0) {
    if (b != 0.0) use(-c / b);
    return;
  }
  const double discriminant = b * b - 4.0 * a * c;
  if (discriminant < 0.0) return;
  const double q = -0.5 * (b + std::copysign(std::sqrt(discriminant), b));
  use(q / a);
  if (q != 0.0) use(c / q);
}

}  // namespace

PolygonUnion::PolygonUnion(std::span<const Vec2> vertices, std::span<const uint32_t> begin,
                           PacedStopCheck& stop)
    : begin_(begin.begin(), begin.end()), stop_(stop) {
  double largest = 0.0;
  for (const Vec2 p : vertices) largest = std::max({largest, std::abs(p.x), std::abs(p.y)});
  tolerance_ = kPointUlps * std::numeric_limits<double>::epsilon() * largest;
  const size_t count = begin.size() - 1;
  std::vector<Box> boxes(count);
  edges_.reserve(vertices.size());
  for (size_t k = 0; k < count; ++k) {
    std::vector<Box> edge_boxes;
    for (uint32_t i = begin[k]; i < begin[k + 1]; ++i) {
      const Vec2 p = vertices[i];
      edges_.push_back({p, vertices[i + 1 < begin[k + 1] ? i + 1 : begin[k]]});
      boxes[k].Cover(p);
      edge_boxes.push_back(BoxOf(edges_.back().a, edges_.back().b));
      edge_boxes.back().Grow(tolerance_);
    }
    boxes[k].Grow(tolerance_);
    edge_tree_.push_back(kNoTree);
    if (edge_boxes.size() > kManyEdges) {
      edge_tree_[k] = static_cast<uint32_t>(edge_trees_.size());
      edge_trees_.emplace_back(std::move(edge_boxes));
    }
    if (stop_.After(4 * (begin[k + 1] - begin[k]))) return;
  }
  // By x, then in strips of as many polygons as there are strips by y.
  std::vector<Vec2> middle(count);
  for (size_t k = 0; k < count; ++k) middle[k] = 0.5 * (boxes[k].low + boxes[k].high);
  for (uint32_t k = 0; k < count; ++k) order_.push_back(k);
  std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    return middle[a].x != middle[b].x ? middle[a].x < middle[b].x : a < b;
  });
  const auto strip = static_cast<size_t>(std::ceil(std::sqrt(static_cast<double>(count))));
  for (size_t first = 0; first < count; first += strip) {
    std::sort(order_.begin() + first, order_.begin() + std::min(first + strip, count),
              [&](uint32_t a, uint32_t b) {
                return middle[a].y != middle[b].y ? middle[a].y < middle[b].y : a < b;
              });
  }
  std::vector<Box> ordered;
  for (const uint32_t k : order_) ordered.push_back(boxes[k]);
  polygons_ = BoxTree(std::move(ordered));
}

template <typename Meets, typename Visit>
bool PolygonUnion::ForEachEdgeOf(size_t polygon, const Meets& meets, const Visit& visit) const {
  if (edge_tree_[polygon] == kNoTree) {
    for (uint32_t i = begin_[polygon]; i < begin_[polygon + 1]; ++i) {
      if (!visit(edges_[i])) return false;
    }
    return !stop_.After(begin_[polygon + 1] - begin_[polygon]);
  }
  uint64_t steps = 0;
  const bool all = edge_trees_[edge_tree_[polygon]].ForEach(
      meets, [&](size_t i) { return visit(edges_[begin_[polygon] + i]); }, steps);
  return !stop_.After(steps) && all;
}

template <typename Meets, typename Visit>
void PolygonUnion::ForEachEdge(const Meets& meets, const Visit& visit) const {
  uint64_t steps = 0;
  polygons_.ForEach(
      meets,
      [&](size_t i) {
        return ForEachEdgeOf(order_[i], meets, [&](const Edge& edge) {
          visit(edge);
          return true;
        });
      },
      steps);
  stop_.After(steps);
}

// An even number of edges on the ray from p towards larger x: outside, unless an edge is near.
bool PolygonUnion::PolygonContains(size_t polygon, Vec2 p) const {
  const double squared_tolerance = tolerance_ * tolerance_;
  const Box ray{p, {std::numeric_limits<double>::infinity(), p.y}};
  bool odd = false;
  bool near = false;
  ForEachEdgeOf(
      polygon, [&ray](const Box& box) { return box.Meets(ray); },
      [&](const Edge& edge) {
        const auto& [a, b] = edge;
        near = SquaredDistanceToSegment(p, a, b) <= squared_tolerance;
        if (near) return false;
        if ((a.y > p.y) != (b.y > p.y) && (Cross(b - a, p - a) > 0.0) == (b.y > a.y)) odd = !odd;
        return true;
      });
  return near || odd;
}

bool PolygonUnion::ContainsPoint(Vec2 p) const {
  const Box at{p, p};
  uint64_t steps = 0;
  const bool outside =
      polygons_.ForEach([&at](const Box& box) { return box.Meets(at); },
                        [&](size_t i) { return !PolygonContains(order_[i], p); }, steps);
  stop_.After(steps);
  return !outside;
}

template <typename At>
bool PolygonUnion::MidPointsInside(std::vector<double>& cuts, const At& at) const {
  std::sort(cuts.begin(), cuts.end());
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    if (cuts[i] < cuts[i + 1] && !ContainsPoint(at(0.5 * (cuts[i] + cuts[i + 1])))) return false;
  }
  return true;
}

bool PolygonUnion::ContainsLine(Vec2 from, Vec2 to) const {
  if (!ContainsPoint(from) || !ContainsPoint(to)) return false;
  const Vec2 along = to - from;
  std::vector<double> cuts = {0.0, 1.0};
  ForEachEdge(LineBand(from, to, tolerance_), [&](const Edge& at) {
    const Vec2 edge = at.b - at.a;
    const double across = Cross(along, edge);
    const Vec2 to_edge = at.a - from;
    // A parallel edge cuts nothing by itself; the ends of edges cut lines that run along them.
    if (across != 0.0) {
      const double t = Cross(to_edge, edge) / across;
      if (t > 0.0 && t < 1.0) cuts.push_back(t);
    }
    const double t = Dot(to_edge, along) / SquaredNorm(along);
    if (t > 0.0 && t < 1.0) cuts.push_back(t);
  });
  return MidPointsInside(cuts, [&](double t) { return from + along * t; });
}

bool PolygonUnion::ContainsArc(Vec2 center, double radius, Vec2 in, double sweep) const {
  const double side = radius < 0.0 ? -1.0 : 1.0;
  const double size = std::abs(radius);
  const Vec2 to_begin = -side * LeftNormal(in);
  const auto at = [&](double angle) {
    const Vec2 rotation = UnitVector(side * angle);
    return center + size * Vec2{to_begin.x * rotation.x - to_begin.y * rotation.y,
                                to_begin.x * rotation.y + to_begin.y * rotation.x};
  };
  if (!ContainsPoint(at(0.0)) || !ContainsPoint(at(sweep))) return false;
  // The arc lies no further from its chord than its middle does.
  Box box = BoxOf(at(0.0), at(sweep));
  box.Grow(size * (1.0 - std::cos(0.5 * sweep)) + tolerance_);
  std::vector<double> cuts = {0.0, sweep};
  ForEachEdge([&box](const Box& other) { return other.Meets(box); },
              [&](const Edge& edge_at) {
                const Vec2 edge = edge_at.b - edge_at.a;
                const Vec2 from_center = edge_at.a - center;
                SolveQuadratic(SquaredNorm(edge), 2.0 * Dot(edge, from_center),
                               SquaredNorm(from_center) - size * size, [&](double t) {
                                 // Crossings of the edge's line just beyond its ends cut as well:
                                 // more cuts do no harm.
                                 if (t < -0.5 || t > 1.5) return;
                                 const Vec2 direction = from_center + edge * t;
                                 double angle = side * std::atan2(Cross(to_begin, direction),
                                                                  Dot(to_begin, direction));
                                 if (angle < 0.0) angle += 2.0 * std::numbers::pi;
                                 if (angle > 0.0 && angle < sweep) cuts.push_back(angle);
                               });
              });
  return MidPointsInside(cuts, at);
}

std::vector<RadiusInterval> PolygonUnion::FilletRadii(Vec2 apex, Vec2 in, Vec2 out,
                                                      double radius_max) const {
  const double turn = TurnAngle(in, out);
  const double side = turn < 0.0 ? -1.0 : 1.0;
  const double tan_half = std::tan(0.5 * std::abs(turn));
  // The centre of radius R is apex + R * toward.
  const Vec2 toward = side * LeftNormal(in) - tan_half * in;
  const Vec2 begin_end = apex - (radius_max * tan_half) * in;
  const Vec2 end_end = apex + (radius_max * tan_half) * out;
  // All arcs lie in the triangle of the apex and the two furthest trims.
  Box box = BoxOf(begin_end, end_end);
  box.Cover(apex);
  box.Grow(tolerance_);
  const auto outside = [&](Vec2 a, Vec2 b,
                           const Edge& edge) {  // Of the triangle's side from a to b.
    const Vec2 along = side * (b - a);
    const double slack = -tolerance_ * Norm(along);
    return Cross(along, edge.a - a) < slack && Cross(along, edge.b - a) < slack;
  };
  std::vector<Edge> near;
  ForEachEdge([&box](const Box& other) { return other.Meets(box); },
              [&](const Edge& edge) {
                if (BoxOf(edge.a, edge.b).Meets(box) && !outside(begin_end, apex, edge) &&
                    !outside(apex, end_end, edge) && !outside(end_end, begin_end, edge)) {
                  near.push_back(edge);
                }
              });
  std::vector<double> critical = {0.0, radius_max};
  const auto add = [&](double radius) {
    if (radius > 0.0 && radius < radius_max) critical.push_back(radius);
  };
  const auto add_point = [&](Vec2 p) {
    const Vec2 offset = apex - p;
    SolveQuadratic(tan_half * tan_half, 2.0 * Dot(offset, toward), SquaredNorm(offset), add);
  };
  for (size_t i = 0; i < near.size(); ++i) {
    const Vec2 edge = near[i].b - near[i].a;
    const double length = Norm(edge);
    if (!(length > 0.0)) continue;
    const Vec2 normal = LeftNormal(edge) * (1.0 / length);
    const double height = Dot(normal, apex - near[i].a);
    const double slope = Dot(normal, toward);
    for (const double sign : {1.0, -1.0}) {
      if (slope != sign) add(height / (sign - slope));
    }
    const double begin_slope = tan_half * Dot(normal, in);
    const double end_slope = tan_half * Dot(normal, out);
    if (begin_slope != 0.0) add(height / begin_slope);
    if (end_slope != 0.0) add(-height / end_slope);
    add_point(near[i].a);
    add_point(near[i].b);
    if (stop_.After(near.size() - i)) return {};
    for (size_t j = i + 1; j < near.size(); ++j) {
      const Vec2 other = near[j].b - near[j].a;
      const double across = Cross(edge, other);
      if (across == 0.0) continue;
      const Vec2 between = near[j].a - near[i].a;
      const double t = Cross(between, other) / across;
      const double u = Cross(between, edge) / across;
      if (t > 0.0 && t < 1.0 && u > 0.0 && u < 1.0) add_point(near[i].a + edge * t);
    }
  }
  std::sort(critical.begin(), critical.end());
  std::vector<RadiusInterval> intervals;
  for (size_t i = 0; i + 1 < critical.size(); ++i) {
    const double low = critical[i];
    const double high = critical[i + 1];
    // Critical radii of one event differ by rounding; nothing lies between them.
    if (stop_.After(1)) return {};
    if (high - low <= 4.0 * std::numeric_limits<double>::epsilon() * high) continue;
    const double radius = 0.5 * (low + high);
    if (!ContainsArc(apex + radius * toward, side * radius, in, std::abs(turn))) continue;
    if (!intervals.empty() &&
        low - intervals.back().high <= 4.0 * std::numeric_limits<double>::epsilon() * high) {
      intervals.back().high = high;
    } else {
      intervals.push_back({low, high});
    }
  }
  return intervals;
}

}  // namespace arclane
