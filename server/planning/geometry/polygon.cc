// SPDX-License-Identifier: Apache-2.0
#include "server/planning/geometry/polygon.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/planning/geometry/distance.h"
#include "server/planning/geometry/predicates.h"

namespace arclane {
namespace {

// A polygon whose width is below one unit in the last place of its coordinates has none. The
// tolerance is at least kFloat32SeamUlps = 6 such units.
constexpr double kWidthPerTolerance = 1.0 / 6.0;

// Walks `polygon` along its hull, which it must follow once, in hull order, `step` = 1 or n - 1
// (backwards).
class HullWalk {
 public:
  HullWalk(std::span<const Vec2> polygon, std::span<const uint32_t> hull, size_t step,
           double tolerance)
      : polygon_(polygon), hull_(hull), step_(step), tolerance_(tolerance) {}

  PolygonShape Classify(size_t* offending) {
    const size_t n = polygon_.size();
    size_t vertex = hull_[0];
    for (size_t i = 1; i < n; ++i) {
      vertex = (vertex + step_) % n;
      if (Accept(vertex)) continue;
      *offending = vertex;
      return Depth(polygon_[vertex]) > tolerance_ ? PolygonShape::kNotConvex
                                                  : PolygonShape::kSelfCrossing;
    }
    if (reached_ + 1 == hull_.size()) return PolygonShape::kConvex;
    *offending = hull_[reached_ + 1];
    return PolygonShape::kSelfCrossing;
  }

 private:
  Vec2 HullPoint(size_t i) const { return polygon_[hull_[i % hull_.size()]]; }

  // True when the vertex is the next hull vertex, or lies on the current hull edge, not behind the
  // last one.
  bool Accept(size_t vertex) {
    const Vec2 p = polygon_[vertex];
    if (reached_ + 1 < hull_.size() && p == HullPoint(reached_ + 1)) {
      ++reached_;
      along_ = 0.0;
      return true;
    }
    const Vec2 from = HullPoint(reached_);
    const Vec2 to = HullPoint(reached_ + 1);
    if (DistanceToSegment(p, from, to) > tolerance_) return false;
    const double along = Dot(p - from, to - from) / Norm(to - from);
    if (along < along_ - tolerance_) return false;
    along_ = std::max(along_, along);
    return true;
  }

  // The distance from p, inside the hull, to the hull's boundary.
  double Depth(Vec2 p) const {
    double depth = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < hull_.size(); ++i) {
      depth = std::min(depth, DistanceToSegment(p, HullPoint(i), HullPoint(i + 1)));
    }
    return depth;
  }

  std::span<const Vec2> polygon_;
  std::span<const uint32_t> hull_;
  size_t step_;
  double tolerance_;
  size_t reached_ = 0;
  double along_ = 0.0;
};

// Whether no two parallel lines as near as `width` hold the hull: the smallest distance is attained
// along a hull edge. O(h) by calipers.
bool IsWiderThan(double width, std::span<const Vec2> points, std::span<const uint32_t> hull) {
  const size_t h = hull.size();
  size_t far = 1;
  for (size_t i = 0; i < h; ++i) {
    const Vec2 a = points[hull[i]];
    const Vec2 b = points[hull[(i + 1) % h]];
    const auto distance = [&](size_t j) { return SignedLineDistance(points[hull[j % h]], a, b); };
    far = std::max(far, i + 1);
    // Vertices on the edge's own line up to rounding come in no order.
    while (far + 1 < i + h && (distance(far) <= width || distance(far + 1) > distance(far))) ++far;
    if (distance(far) <= width) return false;
  }
  return true;
}

}  // namespace

void ConvexHull(std::span<const Vec2> points, std::vector<uint32_t>* hull) {
  const size_t n = points.size();
  hull->clear();
  if (n == 0) return;
  // The sorted order lives behind the hull in the same buffer: the hull has at most n + 1 entries
  // while it grows.
  hull->resize(2 * n + 2);
  uint32_t* const order = hull->data() + n + 2;
  for (size_t i = 0; i < n; ++i) order[i] = static_cast<uint32_t>(i);
  std::sort(order, order + n, [points](uint32_t i, uint32_t j) {
    const Vec2 a = points[i];
    const Vec2 b = points[j];
    if (a.x != b.x) return a.x < b.x;
    if (a.y != b.y) return a.y < b.y;
    return i < j;
  });
  uint32_t* const out = hull->data();
  size_t size = 0;
  const auto add = [&](uint32_t index, size_t keep) {
    if (size > 0 && points[out[size - 1]] == points[index]) return;
    while (size > keep &&
           Orient2D(points[out[size - 2]], points[out[size - 1]], points[index]) <= 0) {
      --size;
    }
    out[size++] = index;
  };
  for (size_t i = 0; i < n; ++i) add(order[i], 1);
  const size_t lower = size;
  for (size_t i = n - 1; i > 0; --i) add(order[i - 1], lower);
  if (size > 1) --size;  // The first point again.
  hull->resize(size);
}

double TwiceSignedArea(std::span<const Vec2> polygon) {
  double area = 0.0;
  for (size_t i = 2; i < polygon.size(); ++i) {
    area += Cross(polygon[i - 1] - polygon[0], polygon[i] - polygon[0]);
  }
  return area;
}

PolygonShape ClassifyPolygon(std::span<const Vec2> polygon, double tolerance,
                             PolygonShapeWorkspace* workspace, size_t* offending) {
  *offending = 0;
  ConvexHull(polygon, &workspace->hull);
  const std::vector<uint32_t>& hull = workspace->hull;
  if (hull.size() < 3 || !IsWiderThan(tolerance * kWidthPerTolerance, polygon, hull)) {
    return PolygonShape::kDegenerate;
  }
  const size_t n = polygon.size();
  const size_t forwards = TwiceSignedArea(polygon) >= 0.0 ? 1 : n - 1;
  return HullWalk(polygon, hull, forwards, tolerance).Classify(offending);
}

bool ConvexContains(std::span<const Vec2> polygon, Vec2 p) {
  const size_t n = polygon.size();
  if (n == 0) return false;
  if (n == 1) return p == polygon[0];
  if (n == 2) {
    const Vec2 a = polygon[0];
    const Vec2 b = polygon[1];
    return Orient2D(a, b, p) == 0 && p.x >= std::min(a.x, b.x) && p.x <= std::max(a.x, b.x) &&
           p.y >= std::min(a.y, b.y) && p.y <= std::max(a.y, b.y);
  }
  // A vertex, most often: the predicate would be in doubt at both its edges.
  for (const Vec2 vertex : polygon) {
    if (vertex == p) return true;
  }
  Vec2 a = polygon[n - 1];
  for (const Vec2 b : polygon) {
    if (Orient2D(a, b, p) < 0) return false;
    a = b;
  }
  return true;
}

Vec2 ClosestPointInConvex(std::span<const Vec2> polygon, Vec2 p) {
  if (polygon.size() > 2 && ConvexContains(polygon, p)) return p;
  double best = std::numeric_limits<double>::infinity();
  Vec2 closest = p;
  Vec2 a = polygon.empty() ? p : polygon.back();
  for (const Vec2 b : polygon) {
    const Vec2 q = ClosestPointOnSegment(p, a, b);
    const double squared = SquaredNorm(q - p);
    if (squared < best) {
      best = squared;
      closest = q;
    }
    a = b;
  }
  return closest;
}

double DistanceToConvex(std::span<const Vec2> polygon, Vec2 p) {
  const size_t n = polygon.size();
  if (n > 2) {
    bool inside = true;
    Vec2 a = polygon[n - 1];
    for (const Vec2 b : polygon) {
      inside &= Cross(b - a, p - a) >= 0.0;
      a = b;
    }
    if (inside) return 0.0;
  }
  return Distance(p, ClosestPointInConvex(polygon, p));
}

double ConvexSurfaceHeight(std::span<const Vec2> polygon, std::span<const double> heights, Vec2 p) {
  const size_t n = polygon.size();
  if (n == 0) return 0.0;
  if (n == 1) return heights[0];
  if (n > 2) p = ClosestPointInConvex(polygon, p);
  if (n == 2) {
    const double t = ClosestParameterOnSegment(p, polygon[0], polygon[1]);
    return heights[0] + (heights[1] - heights[0]) * t;
  }
  // The fan triangle (0, i, i + 1) that p lies in, or lies least outside of.
  double best_outside = std::numeric_limits<double>::infinity();
  double height = heights[0];
  const Vec2 origin = polygon[0];
  for (size_t i = 1; i + 1 < n; ++i) {
    const Vec2 u = polygon[i] - origin;
    const Vec2 v = polygon[i + 1] - origin;
    const double area = Cross(u, v);
    if (!(area > 0.0)) continue;
    const double wu = Cross(p - origin, v) / area;
    const double wv = Cross(u, p - origin) / area;
    const double outside = -std::min({wu, wv, 1.0 - wu - wv});
    if (outside >= best_outside) continue;
    best_outside = outside;
    height = heights[0] + wu * (heights[i] - heights[0]) + wv * (heights[i + 1] - heights[0]);
    if (outside <= 0.0) break;
  }
  return height;
}

}  // namespace arclane
