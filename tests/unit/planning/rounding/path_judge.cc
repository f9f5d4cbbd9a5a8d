// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/planning/rounding/path_judge.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <sstream>
#include <tuple>

namespace arclane::testing {
namespace {

using Real = long double;
constexpr Real kPi = 3.14159265358979323846264338327950288L;

struct Point {
  Real x;
  Real y;
};

Point At(const PathElement& e, Real s) {
  const Real heading =
      std::atan2(static_cast<Real>(e.direction.y), static_cast<Real>(e.direction.x));
  if (e.kind == PathElementKind::kTurn) return {e.start.x, e.start.y};
  if (e.curvature == 0.0) {
    return {e.start.x + s * std::cos(heading), e.start.y + s * std::sin(heading)};
  }
  const Real k = e.curvature;
  return {e.start.x + (std::sin(heading + k * s) - std::sin(heading)) / k,
          e.start.y - (std::cos(heading + k * s) - std::cos(heading)) / k};
}

Real HeadingAt(const PathElement& e, Real s) {
  const Real heading =
      std::atan2(static_cast<Real>(e.direction.y), static_cast<Real>(e.direction.x));
  return heading +
         (e.kind == PathElementKind::kTurn ? static_cast<Real>(e.turn_rad) : e.curvature * s);
}

// The hull by gift wrapping: quadratic, but plainly another way than the planner's.
std::vector<Point> Hull(const std::vector<Point>& points) {
  std::vector<Point> hull;
  size_t begin = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    if (std::tie(points[i].y, points[i].x) < std::tie(points[begin].y, points[begin].x)) begin = i;
  }
  size_t current = begin;
  do {
    hull.push_back(points[current]);
    size_t next = current;
    for (size_t i = 0; i < points.size(); ++i) {
      const Real dx = points[i].x - points[current].x;
      const Real dy = points[i].y - points[current].y;
      if (dx == 0 && dy == 0) continue;
      const Real nx = points[next].x - points[current].x;
      const Real ny = points[next].y - points[current].y;
      const Real cross = nx * dy - ny * dx;
      if ((nx == 0 && ny == 0) || cross < 0 ||
          (cross == 0 && dx * dx + dy * dy > nx * nx + ny * ny)) {
        next = i;
      }
    }
    if (next == current) break;
    current = next;
  } while ((points[current].x != points[begin].x || points[current].y != points[begin].y) &&
           hull.size() <= points.size());
  return hull;
}

struct Plane {
  Real nx;
  Real ny;
  Real offset;
};

std::vector<Plane> Planes(const std::vector<Point>& hull, Real tolerance) {
  std::vector<Plane> planes;
  const auto add = [&](Real nx, Real ny, Point p) {
    planes.push_back({nx, ny, tolerance - nx * p.x - ny * p.y});
  };
  for (size_t i = 0; i < hull.size(); ++i) {
    const Point a = hull[i];
    const Point b = hull[(i + 1) % hull.size()];
    const Real dx = b.x - a.x;
    const Real dy = b.y - a.y;
    const Real length = std::sqrt(dx * dx + dy * dy);
    if (length == 0) {
      add(1, 0, a), add(-1, 0, a), add(0, 1, a), add(0, -1, a);
      continue;
    }
    add(-dy / length, dx / length, a);
    if (hull.size() == 2) add(dx / length, dy / length, a);
  }
  return planes;
}

struct Stretch {
  size_t cell;
  Real begin;
  Real end;
};

// The stretches of an element, in distances along it, that lie in the cell.
void AddStretches(const PathElement& e, size_t cell, const std::vector<Plane>& planes, Real offset,
                  std::vector<Stretch>& stretches) {
  const Real length = e.length;
  std::vector<Real> cuts = {0, length};
  const Point p = At(e, 0);
  const Real heading = HeadingAt(e, 0);
  for (const Plane& plane : planes) {
    const Real at_start = plane.nx * p.x + plane.ny * p.y + plane.offset;
    if (e.curvature == 0.0) {
      const Real slope = plane.nx * std::cos(heading) + plane.ny * std::sin(heading);
      if (slope != 0) cuts.push_back(-at_start / slope);
      continue;
    }
    // Centre and the angles at which the distance to the plane's border vanishes.
    const Real k = e.curvature;
    const Real radius = 1 / std::abs(k);
    const Real cx = p.x - std::sin(heading) / k;
    const Real cy = p.y + std::cos(heading) / k;
    const Real middle = plane.nx * cx + plane.ny * cy + plane.offset;
    if (std::abs(middle) > radius) continue;
    const Real base = std::atan2(plane.ny, plane.nx);
    const Real half = std::acos(-middle / radius);
    const Real begin_angle = std::atan2(p.y - cy, p.x - cx);
    for (const Real angle : {base + half, base - half}) {
      Real turned = k > 0 ? angle - begin_angle : begin_angle - angle;
      turned -= 2 * kPi * std::floor(turned / (2 * kPi));
      cuts.push_back(turned * radius);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  const auto inside = [&](Real s) {
    const Point q = At(e, s);
    for (const Plane& plane : planes) {
      if (plane.nx * q.x + plane.ny * q.y + plane.offset < 0) return false;
    }
    return true;
  };
  Real open_begin = -1;
  Real last = 0;
  for (size_t i = 0; i < cuts.size(); ++i) {
    if (cuts[i] < 0 || cuts[i] > length) continue;
    if (i + 1 < cuts.size() && cuts[i + 1] <= length && cuts[i + 1] > cuts[i]) {
      const bool in = inside((cuts[i] + cuts[i + 1]) / 2);
      if (in && open_begin < 0) open_begin = cuts[i];
      if (!in && open_begin >= 0) {
        stretches.push_back({cell, offset + open_begin, offset + cuts[i]});
        open_begin = -1;
      }
    }
    last = cuts[i];
  }
  if (open_begin >= 0) stretches.push_back({cell, offset + open_begin, offset + last});
}

}  // namespace

std::string JudgeContainment(const Corridor& corridor, const std::vector<PathElement>& elements,
                             double tolerance) {
  const size_t count = corridor.cell_count();
  std::vector<Stretch> stretches;
  Real length = 0;
  std::vector<Real> offsets;
  for (const PathElement& e : elements) {
    offsets.push_back(length);
    length += e.length;
  }
  for (size_t k = 0; k < count; ++k) {
    std::vector<Point> points;
    const auto add = [&](Vec2 p) { points.push_back({p.x, p.y}); };
    for (const Vec2 p : corridor.cell(k)) add(p);
    for (size_t p = k > 0 ? k - 1 : 0; p < std::min(k + 1, count - 1); ++p) {
      add(corridor.portals[p].left);
      add(corridor.portals[p].right);
    }
    if (k == 0) add(corridor.start);
    if (k + 1 == count) add(corridor.goal);
    const std::vector<Plane> planes = Planes(Hull(points), tolerance);
    for (size_t i = 0; i < elements.size(); ++i) {
      if (!(elements[i].length > 0.0)) continue;
      AddStretches(elements[i], k, planes, offsets[i], stretches);
    }
  }
  if (!(length > 0)) return "";
  // Earliest distance at which a stretch can be entered; stretches of one cell that meet are one.
  const Real slack = 1e-12L * (1 + length);
  std::vector<Real> entry(stretches.size(), -1);
  using Item = std::pair<Real, size_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue;
  for (size_t i = 0; i < stretches.size(); ++i) {
    if (stretches[i].cell == 0 && stretches[i].begin <= slack) queue.emplace(0, i);
  }
  Real furthest = 0;
  while (!queue.empty()) {
    const auto [at, i] = queue.top();
    queue.pop();
    if (entry[i] >= 0) continue;
    entry[i] = at;
    furthest = std::max(furthest, stretches[i].end);
    if (stretches[i].cell + 1 == count && stretches[i].end >= length - slack) return "";
    for (size_t j = 0; j < stretches.size(); ++j) {
      if (entry[j] >= 0) continue;
      const size_t a = stretches[i].cell;
      const size_t b = stretches[j].cell;
      if (a > b + 1 || b > a + 1) continue;
      const Real common = std::max(at, stretches[j].begin);
      if (common <= std::min(stretches[i].end, stretches[j].end) + slack) queue.emplace(common, j);
    }
  }
  std::ostringstream out;
  out << "leaves the chain of cells at distance " << static_cast<double>(furthest) << " of "
      << static_cast<double>(length);
  return out.str();
}

std::string JudgeSmoothness(Vec2 start, Vec2 goal, const std::vector<PathElement>& elements,
                            double radius_min, double gap, double kink_rad) {
  std::ostringstream out;
  out.precision(17);
  Point position = {start.x, start.y};
  Real heading = 0;
  bool first = true;
  for (size_t i = 0; i < elements.size(); ++i) {
    const PathElement& e = elements[i];
    const Real off = std::hypot(e.start.x - position.x, e.start.y - position.y);
    if (off > gap) out << "gap of " << static_cast<double>(off) << " before element " << i << "; ";
    const Real before =
        std::atan2(static_cast<Real>(e.direction.y), static_cast<Real>(e.direction.x));
    const Real kink = std::abs(std::remainder(before - heading, 2 * kPi));
    if (!first && kink > kink_rad) {
      out << "kink of " << static_cast<double>(kink) << " before element " << i << "; ";
    }
    if (!(e.length >= 0.0) || !std::isfinite(e.length)) out << "length of element " << i << "; ";
    if (e.kind == PathElementKind::kArc &&
        !(1.0 / std::abs(e.curvature) >= radius_min * (1.0 - 1e-12))) {
      out << "radius " << 1.0 / std::abs(e.curvature) << " of element " << i << "; ";
    }
    position = At(e, e.length);
    heading = HeadingAt(e, e.length);
    first = false;
  }
  const Real off = std::hypot(goal.x - position.x, goal.y - position.y);
  if (off > gap) out << "ends " << static_cast<double>(off) << " off the goal";
  return out.str();
}

double JudgeTime(const std::vector<PathElement>& elements, const DrivingLimits& limits) {
  struct Step {
    Real length;
    Real cap;
  };
  std::vector<Step> steps;
  for (const PathElement& e : elements) {
    Real cap = limits.max_speed;
    if (e.kind == PathElementKind::kTurn) cap = 0;
    if (e.kind == PathElementKind::kArc) {
      cap = std::min<Real>(cap, std::sqrt(limits.max_lateral_acceleration / std::abs(e.curvature)));
    }
    steps.push_back({e.length, cap * cap});
  }
  std::vector<Real> x(steps.size() + 1);
  for (size_t i = 0; i <= steps.size(); ++i) {
    x[i] = std::min(i > 0 ? steps[i - 1].cap : steps[i].cap,
                    i < steps.size() ? steps[i].cap : steps[i - 1].cap);
  }
  x[0] = std::min<Real>(x[0], limits.start_speed * limits.start_speed);
  x.back() = std::min<Real>(x.back(), limits.goal_speed * limits.goal_speed);
  const Real a = limits.max_acceleration;
  const Real b = limits.max_braking;
  for (size_t i = steps.size(); i-- > 0;) x[i] = std::min(x[i], x[i + 1] + 2 * b * steps[i].length);
  for (size_t i = 0; i < steps.size(); ++i)
    x[i + 1] = std::min(x[i + 1], x[i] + 2 * a * steps[i].length);
  Real time = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (!(steps[i].length > 0)) continue;
    const Real peak =
        std::min(steps[i].cap, (2 * steps[i].length + x[i] / a + x[i + 1] / b) / (1 / a + 1 / b));
    const Real v = std::sqrt(peak);
    const Real up = (peak - x[i]) / (2 * a);
    const Real down = (peak - x[i + 1]) / (2 * b);
    time += (v - std::sqrt(x[i])) / a + (v - std::sqrt(x[i + 1])) / b +
            std::max<Real>(0, steps[i].length - up - down) / v;
  }
  return static_cast<double>(time);
}

double JudgeDistance(const std::vector<PathElement>& elements, Vec2 a, Vec2 b, double spacing) {
  Real nearest = 1e300L;
  for (const PathElement& e : elements) {
    const int steps = 1 + static_cast<int>(e.length / spacing);
    for (int i = 0; i <= steps; ++i) {
      const Point p = At(e, static_cast<Real>(e.length) * i / steps);
      const Real dx = b.x - a.x;
      const Real dy = b.y - a.y;
      const Real squared = dx * dx + dy * dy;
      const Real t =
          squared > 0 ? std::clamp<Real>(((p.x - a.x) * dx + (p.y - a.y) * dy) / squared, 0, 1) : 0;
      nearest = std::min(nearest, std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy));
    }
  }
  return static_cast<double>(nearest);
}

}  // namespace arclane::testing
