// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/polygon_union.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace arclane {
namespace {

// Points of cuts and mid-points err by a few units in the last place of the largest coordinate or
// radius.
constexpr double kToleranceUlps = 64.0;

double SquaredDistance(Vec2 p, Vec2 a, Vec2 b) {
  const Vec2 along = b - a;
  const double squared = SquaredNorm(along);
  const double t = squared > 0.0 ? std::clamp(Dot(p - a, along) / squared, 0.0, 1.0) : 0.0;
  return SquaredNorm(p - (a + along * t));
}

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

bool PolygonUnion::Box::Meets(const Box& other) const {
  return low.x <= other.high.x && other.low.x <= high.x && low.y <= other.high.y &&
         other.low.y <= high.y;
}

PolygonUnion::PolygonUnion(std::span<const Vec2> vertices, std::span<const uint32_t> begin)
    : begin_(begin.begin(), begin.end()) {
  double largest = 0.0;
  for (const Vec2 p : vertices) largest = std::max({largest, std::abs(p.x), std::abs(p.y)});
  tolerance_ = kToleranceUlps * std::numeric_limits<double>::epsilon() * largest;
  const Vec2 margin = {tolerance_, tolerance_};
  for (size_t k = 0; k + 1 < begin.size(); ++k) {
    Box box{{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()},
            {-std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}};
    for (uint32_t i = begin[k]; i < begin[k + 1]; ++i) {
      const Vec2 p = vertices[i];
      edges_.push_back({p, vertices[i + 1 < begin[k + 1] ? i + 1 : begin[k]]});
      box.low = {std::min(box.low.x, p.x), std::min(box.low.y, p.y)};
      box.high = {std::max(box.high.x, p.x), std::max(box.high.y, p.y)};
    }
    boxes_.push_back({box.low - margin, box.high + margin});
  }
}

bool PolygonUnion::ContainsPoint(Vec2 p) const {
  const double squared_tolerance = tolerance_ * tolerance_;
  for (size_t k = 0; k < boxes_.size(); ++k) {
    if (!boxes_[k].Meets({p, p})) continue;
    bool odd = false;
    for (uint32_t i = begin_[k]; i < begin_[k + 1]; ++i) {
      const auto& [a, b] = edges_[i];
      if (SquaredDistance(p, a, b) <= squared_tolerance) return true;
      if ((a.y > p.y) != (b.y > p.y) && (Cross(b - a, p - a) > 0.0) == (b.y > a.y)) odd = !odd;
    }
    if (odd) return true;
  }
  return false;
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
  const Box box = {{std::min(from.x, to.x), std::min(from.y, to.y)},
                   {std::max(from.x, to.x), std::max(from.y, to.y)}};
  const Vec2 along = to - from;
  std::vector<double> cuts = {0.0, 1.0};
  for (size_t k = 0; k < boxes_.size(); ++k) {
    if (!boxes_[k].Meets(box)) continue;
    for (uint32_t i = begin_[k]; i < begin_[k + 1]; ++i) {
      const Vec2 edge = edges_[i].b - edges_[i].a;
      const double across = Cross(along, edge);
      const Vec2 to_edge = edges_[i].a - from;
      // A parallel edge cuts nothing by itself; the ends of edges cut lines that run along them.
      if (across != 0.0) {
        const double t = Cross(to_edge, edge) / across;
        if (t > 0.0 && t < 1.0) cuts.push_back(t);
      }
      const double t = Dot(to_edge, along) / SquaredNorm(along);
      if (t > 0.0 && t < 1.0) cuts.push_back(t);
    }
  }
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
  const Vec2 reach = {size + tolerance_, size + tolerance_};
  const Box box = {center - reach, center + reach};
  std::vector<double> cuts = {0.0, sweep};
  for (size_t k = 0; k < boxes_.size(); ++k) {
    if (!boxes_[k].Meets(box)) continue;
    for (uint32_t i = begin_[k]; i < begin_[k + 1]; ++i) {
      const Vec2 edge = edges_[i].b - edges_[i].a;
      const Vec2 from_center = edges_[i].a - center;
      SolveQuadratic(SquaredNorm(edge), 2.0 * Dot(edge, from_center),
                     SquaredNorm(from_center) - size * size, [&](double t) {
                       // Crossings of the edge's line just beyond its ends cut as well: more cuts
                       // do no harm.
                       if (t < -0.5 || t > 1.5) return;
                       const Vec2 direction = from_center + edge * t;
                       double angle =
                           side * std::atan2(Cross(to_begin, direction), Dot(to_begin, direction));
                       if (angle < 0.0) angle += 2.0 * std::numbers::pi;
                       if (angle > 0.0 && angle < sweep) cuts.push_back(angle);
                     });
    }
  }
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
  const Vec2 margin = {tolerance_, tolerance_};
  const Box box = {
      Vec2{std::min({apex.x, begin_end.x, end_end.x}), std::min({apex.y, begin_end.y, end_end.y})} -
          margin,
      Vec2{std::max({apex.x, begin_end.x, end_end.x}), std::max({apex.y, begin_end.y, end_end.y})} +
          margin};
  std::vector<Edge> near;
  for (size_t k = 0; k < boxes_.size(); ++k) {
    if (!boxes_[k].Meets(box)) continue;
    for (uint32_t i = begin_[k]; i < begin_[k + 1]; ++i) {
      const auto& [a, b] = edges_[i];
      const Box edge_box = {{std::min(a.x, b.x), std::min(a.y, b.y)},
                            {std::max(a.x, b.x), std::max(a.y, b.y)}};
      if (edge_box.Meets(box)) near.push_back(edges_[i]);
    }
  }
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
