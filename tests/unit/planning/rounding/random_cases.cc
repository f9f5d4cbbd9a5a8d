// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>

#include "server/planning/rounding/inset_path.h"
#include "tests/unit/planning/rounding/rounding_cases.h"

namespace arclane::testing {
namespace {

std::vector<Vec2> HullOf(std::vector<Vec2> points) {
  std::sort(points.begin(), points.end(),
            [](Vec2 a, Vec2 b) { return a.x < b.x || (a.x == b.x && a.y < b.y); });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  if (points.size() < 3) return points;
  std::vector<Vec2> hull;
  for (int pass = 0; pass < 2; ++pass) {
    const size_t base = hull.size();
    for (const Vec2 p : points) {
      while (hull.size() >= base + 2 &&
             Cross(hull.back() - hull[hull.size() - 2], p - hull.back()) <= 0)
        hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back();
    std::reverse(points.begin(), points.end());
  }
  return hull;
}

Vec2 Turned(Vec2 v, double angle) {
  return {v.x * std::cos(angle) - v.y * std::sin(angle),
          v.x * std::sin(angle) + v.y * std::cos(angle)};
}

class CorridorMaker {
 public:
  explicit CorridorMaker(uint32_t seed) : random_(seed) {}

  // Portals ascend in x.
  RoundingCase MakeLane(double inset) {
    double x = 0.0;
    double y = 0.0;
    const int count = 3 + static_cast<int>(random_() % 12);
    for (int i = 0; i < count; ++i) {
      const double half = random_() % 5 == 0 ? 0.1 : 0.3 + 2.0 * Unit();
      portals_.push_back({{x + 0.2 * Unit(), y + half}, {x + 0.2 * Unit(), y - half}});
      x += random_() % 4 == 0 ? 0.45 : 1.0 + 3.0 * Unit();
      y += 3.0 * (2.0 * Unit() - 1.0);
    }
    const Vec2 start = {-1.0, 0.0};
    const Vec2 goal = {x + 1.0, y};
    std::vector<std::vector<Vec2>> polygons;
    polygons.push_back(HullOf({{-2.0, 1.0}, {-2.0, -1.0}, portals_[0].left, portals_[0].right}));
    for (size_t i = 0; i + 1 < portals_.size(); ++i) {
      polygons.push_back(HullOf(
          {portals_[i].left, portals_[i].right, portals_[i + 1].left, portals_[i + 1].right}));
    }
    polygons.push_back(HullOf(
        {{x + 2.0, y + 1.0}, {x + 2.0, y - 1.0}, portals_.back().left, portals_.back().right}));
    RoundingCase result = MakeCase("lane", start, goal, std::move(polygons), portals_);
    result.taut = TautInsetPath(result.corridor, inset, /*reversed=*/false).points;
    result.radius_max = 0.2 + 2.0 * Unit();
    return result;
  }

  RoundingCase Make() {
    const double width = 0.3 + 4.0 * Unit() * Unit();
    Portal portal{{0.0, 0.5 * width}, {0.0, -0.5 * width}};
    portals_.push_back(portal);
    const int steps = 1 + static_cast<int>(random_() % 14);
    for (int i = 0; i < steps; ++i) Step();
    const Portal& first = portals_.front();
    const Portal& last = portals_.back();
    const double room = 0.3 + 3.0 * Unit();
    const Vec2 back = {-room, 0.0};
    const Vec2 ahead = Ahead(last) * room;
    const bool near = random_() % 4 == 0;
    // A start 0.05 from a corner, or anywhere behind the first portal.
    const Vec2 start =
        near ? first.left + Vec2{-0.03, -0.04}
             : Lerp(first.left, first.right, 0.1 + 0.8 * Unit()) + back * (0.2 + 0.7 * Unit());
    const Vec2 goal =
        Lerp(last.left, last.right, 0.1 + 0.8 * Unit()) + ahead * (0.2 + 0.7 * Unit());
    std::vector<std::vector<Vec2>> polygons;
    polygons.push_back(
        HullOf({first.left, first.right, first.left + back, first.right + back, start}));
    for (size_t i = 0; i + 1 < portals_.size(); ++i) {
      polygons.push_back(HullOf(
          {portals_[i].left, portals_[i].right, portals_[i + 1].left, portals_[i + 1].right}));
    }
    polygons.push_back(
        HullOf({last.left, last.right, last.left + ahead, last.right + ahead, goal}));
    RoundingCase result = MakeCase("random", start, goal, std::move(polygons), portals_);
    result.radius_max = 0.2 + 4.0 * Unit() * Unit();
    result.radius_min =
        random_() % 3 == 0 ? 0.0 : result.radius_max * (0.05 + 0.9 * Unit() * Unit());
    return result;
  }

 private:
  double Unit() { return std::uniform_real_distribution<double>(0.0, 1.0)(random_); }

  static Vec2 Ahead(const Portal& portal) {
    const Vec2 across = portal.left - portal.right;
    const double length = Norm(across);
    return length > 0.0 ? Vec2{across.y, -across.x} * (1.0 / length) : Vec2{1.0, 0.0};
  }

  void Step() {
    const Portal at = portals_.back();
    const double width = Distance(at.left, at.right);
    Portal next = at;
    switch (random_() % 8) {
      case 0:
      case 1: {  // Straight on, wider or narrower.
        const Vec2 ahead = Ahead(at) * (0.5 + 6.0 * Unit());
        const Vec2 shrink = (at.right - at.left) * (0.35 * (2.0 * Unit() - 1.0));
        next = {at.left + ahead + shrink, at.right + ahead - shrink};
        break;
      }
      case 2:
      case 3: {  // A bend: a fan round one end, in one to three triangles; thin walls when it goes
                 // far.
        const bool left = random_() % 2 == 0;
        const int parts = 1 + static_cast<int>(random_() % 3);
        for (int i = 0; i < parts; ++i) {
          const Portal from = portals_.back();
          const double angle = 0.3 + 0.9 * Unit();
          Portal turned = from;
          const double stretch = 0.7 + 0.6 * Unit();
          if (left) {
            turned.right = from.left + Turned(from.right - from.left, angle) * stretch;
          } else {
            turned.left = from.right + Turned(from.left - from.right, -angle) * stretch;
          }
          portals_.push_back(turned);
        }
        return;
      }
      case 4: {  // A cluster: several portals whose ends lie within 0.1.
        const Vec2 ahead = Ahead(at);
        const int parts = 2 + static_cast<int>(random_() % 3);
        for (int i = 0; i < parts; ++i) {
          const Portal from = portals_.back();
          const double step = 0.02 + 0.05 * Unit();
          portals_.push_back({from.left + ahead * step + ahead * (0.03 * Unit()) +
                                  (from.right - from.left) * (0.02 * Unit()),
                              from.right + ahead * step + ahead * (0.03 * Unit())});
        }
        return;
      }
      case 5: {  // A hairpin round a thin wall: 90 degrees, the wall's thickness, 90 degrees.
        const bool left = random_() % 2 == 0;
        const double thickness = random_() % 3 == 0 ? 0.0 : 0.1 * Unit();
        const Vec2 pivot = left ? at.left : at.right;
        const Vec2 arm = left ? at.right - at.left : at.left - at.right;
        const double quarter = left ? 1.5707963267948966 : -1.5707963267948966;
        const Vec2 side = Turned(arm, quarter) * (0.8 + 0.8 * Unit());
        const Vec2 shift = Turned(side, quarter) * (thickness / std::max(1e-9, Norm(side)));
        const Vec2 end = pivot + shift;
        const auto make = [left](Vec2 inner, Vec2 outer) {
          return left ? Portal{inner, outer} : Portal{outer, inner};
        };
        portals_.push_back(make(pivot, pivot + side));
        if (thickness > 0.0) portals_.push_back(make(end, end + side));
        portals_.push_back(make(end, end + Turned(side, quarter) * (0.8 + 0.8 * Unit())));
        return;
      }
      case 6: {  // A gate of no length, then wide again; or a gate barely as wide as the radii.
        const Vec2 ahead = Ahead(at) * (1.0 + 3.0 * Unit());
        const Vec2 middle = Lerp(at.left, at.right, 0.2 + 0.6 * Unit()) + ahead;
        const Vec2 half =
            random_() % 3 == 0
                ? Vec2{}
                : (at.left - at.right) * (0.5 * std::min(1.0, 0.4 / std::max(width, 0.1)));
        portals_.push_back({middle + half, middle - half});
        next = {at.left + ahead * 2.0, at.right + ahead * 2.0};
        break;
      }
      default: {  // Ahead, back again, and ahead: polygons visited twice.
        const Vec2 ahead = Ahead(at) * (0.5 + 2.0 * Unit());
        next = {at.left + ahead, at.right + ahead};
        portals_.push_back(next);
        portals_.push_back({next.right, next.left});
        break;
      }
    }
    portals_.push_back(next);
  }

  std::mt19937 random_;
  std::vector<Portal> portals_;
};

}  // namespace

RoundingCase RandomCase(uint32_t seed) {
  RoundingCase result = CorridorMaker(seed).Make();
  result.id = "seed " + std::to_string(seed);
  return result;
}

RoundingCase RandomLane(uint32_t seed, double inset) {
  RoundingCase result = CorridorMaker(seed).MakeLane(inset);
  result.id = "lane of seed " + std::to_string(seed);
  return result;
}

RoundingCase ImageOf(const RoundingCase& original, Image image) {
  const auto map = [image](Vec2 p) -> Vec2 {
    switch (image) {
      case Image::kMirrorX:
        return {-p.x, p.y};
      case Image::kMirrorY:
        return {p.x, -p.y};
      case Image::kSwapAxes:
        return {p.y, p.x};
      case Image::kQuarterTurn:
        return {-p.y, p.x};
      case Image::kReversed:
        return p;
    }
    return p;
  };
  const bool mirrored = image != Image::kQuarterTurn && image != Image::kReversed;
  const Corridor& corridor = original.corridor;
  std::vector<std::vector<Vec2>> polygons;
  for (size_t k = 0; k < corridor.cell_count(); ++k) {
    std::vector<Vec2>& polygon = polygons.emplace_back();
    for (const Vec2 p : corridor.cell(k)) polygon.push_back(map(p));
  }
  std::vector<Portal> portals;
  for (const Portal& portal : corridor.portals) {
    const bool swap = mirrored || image == Image::kReversed;
    portals.push_back(
        {map(swap ? portal.right : portal.left), map(swap ? portal.left : portal.right)});
  }
  Vec2 start = map(corridor.start);
  Vec2 goal = map(corridor.goal);
  std::vector<Vec2> taut;
  for (const Vec2 p : original.taut) taut.push_back(map(p));
  if (image == Image::kReversed) {
    std::reverse(polygons.begin(), polygons.end());
    std::reverse(portals.begin(), portals.end());
    std::reverse(taut.begin(), taut.end());
    std::swap(start, goal);
  }
  RoundingCase result = MakeCase(original.id, start, goal, std::move(polygons), std::move(portals));
  result.taut = std::move(taut);
  result.radius_max = original.radius_max;
  result.radius_min = original.radius_min;
  return result;
}

}  // namespace arclane::testing
