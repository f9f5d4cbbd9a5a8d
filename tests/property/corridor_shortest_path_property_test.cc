// SPDX-License-Identifier: Apache-2.0
// Random corridors: the funnel's line against an independent brute force, its containment, and what
// must not change it: reversing the corridor, splitting a polygon, exchanging left and right,
// mirroring the plane.
//
// A corridor is grown polygon by polygon: a convex polygon is put against an edge of the last one,
// on its far side. Polygons of the chain may overlap one another in the plane, like floors of a
// building.
//
// The brute force shares no idea with the funnel: the shortest polyline with p[i] on portal i
// passes portal ends only, so it is a shortest path over states (portal, end) by dynamic
// programming, with every straight step tested against all portals between.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/corridor/corridor_builder.h"
#include "server/planning/corridor/funnel.h"
#include "server/planning/corridor/verification.h"
#include "server/planning/geometry/distance.h"
#include "tests/unit/planning/corridor/corridor_records.h"

namespace arclane {
namespace {

using testing::CorridorSource;
using testing::LineOf;
using testing::Point3;

constexpr int kCorridors = 10000;

uint64_t Seed() {
  const char* seed = std::getenv("ARCLANE_PROPERTY_SEED");
  return seed != nullptr ? std::strtoull(seed, nullptr, 10) : 20240229;
}

struct Grown {
  Vec2 start, goal;
  std::vector<std::vector<Vec2>> polygons;  // Counter-clockwise.
};

class CorridorGrower {
 public:
  explicit CorridorGrower(uint64_t seed) : random_(seed) {}

  Grown Grow() {
    Grown grown;
    const int count = 1 + static_cast<int>(random_() % 14);
    // Lattice coordinates bring about collinear vertices, shared corners and exact ties.
    lattice_ = random_() % 2 == 0;
    grown.polygons.push_back({{0, 0}, Snap({4.0, Uniform(-1.0, 1.0)}), Snap({4.0, 4.0}), {0, 4}});
    while (static_cast<int>(grown.polygons.size()) < count) {
      std::vector<Vec2> next;
      for (int attempt = 0; attempt < 50 && next.empty(); ++attempt)
        next = Beside(grown.polygons.back());
      if (next.empty()) break;
      grown.polygons.push_back(next);
    }
    grown.start = PointIn(grown.polygons.front());
    grown.goal = PointIn(grown.polygons.back());
    return grown;
  }

 private:
  double Uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  Vec2 Snap(Vec2 p) const {
    return lattice_ ? Vec2{std::round(p.x * 2.0) / 2.0, std::round(p.y * 2.0) / 2.0} : p;
  }

  // A convex polygon with the reversed edge a -> b of `polygon` as its own, on the other side;
  // empty when not convex.
  std::vector<Vec2> Beside(const std::vector<Vec2>& polygon) {
    const size_t n = polygon.size();
    // Edge 0 of all but the first polygon leads back through the portal it came by: now and then.
    const size_t edge = random_() % 16 == 0 ? 0 : 1 + random_() % (n - 1);
    const Vec2 a = polygon[edge];
    const Vec2 b = polygon[(edge + 1) % n];
    const Vec2 along = b - a;
    if (Norm(along) < 0.3) return {};
    const Vec2 out = -LeftNormal(along) * (1.0 / Norm(along));
    std::vector<Vec2> next{b, a};
    const int extra = 1 + static_cast<int>(random_() % 3);
    std::vector<double> places;
    for (int i = 0; i < extra; ++i) places.push_back(Uniform(-0.6, 1.6));
    std::sort(places.begin(), places.end());
    for (const double place : places) {
      next.push_back(Snap(a + along * place + out * Uniform(0.3, 5.0)));
    }
    const size_t m = next.size();
    for (size_t i = 0; i < m; ++i) {
      for (const Vec2 p : next) {
        if (Cross(next[(i + 1) % m] - next[i], p - next[i]) < 0.0) return {};
      }
      // Well-shaped, so that no tolerance comes near: these corridors have one right answer.
      const Vec2 u = next[(i + 1) % m] - next[i];
      const Vec2 v = next[(i + 2) % m] - next[(i + 1) % m];
      if (Norm(u) < 0.05 || Cross(u, v) < 0.02 * Norm(u) * Norm(v)) return {};
    }
    return next;
  }

  Vec2 PointIn(const std::vector<Vec2>& polygon) {
    // A vertex, a point of an edge or a point of the inside.
    switch (random_() % 4) {
      case 0:
        return polygon[random_() % polygon.size()];
      case 1: {
        const size_t i = random_() % polygon.size();
        return Lerp(polygon[i], polygon[(i + 1) % polygon.size()], 0.5);
      }
      default: {
        Vec2 sum;
        double total = 0.0;
        for (const Vec2 p : polygon) {
          const double weight = Uniform(0.01, 1.0);
          sum = sum + p * weight;
          total += weight;
        }
        return sum * (1.0 / total);
      }
    }
  }

  std::mt19937_64 random_;
  bool lattice_ = false;
};

CorridorSource SourceOf(const Grown& grown) {
  CorridorSource source;
  source.SetStart({grown.start.x, grown.start.y, 0.0});
  source.SetGoal({grown.goal.x, grown.goal.y, 0.0});
  for (const std::vector<Vec2>& polygon : grown.polygons) {
    std::vector<Point3> points;
    for (const Vec2 p : polygon) points.push_back({p.x, p.y, 0.0});
    source.AddPolygon(points);
  }
  return source;
}

std::string Describe(const Grown& grown) {
  std::string text = "start (" + std::to_string(grown.start.x) + ", " +
                     std::to_string(grown.start.y) + ") goal (" + std::to_string(grown.goal.x) +
                     ", " + std::to_string(grown.goal.y) + ")";
  char point[80];
  for (const std::vector<Vec2>& polygon : grown.polygons) {
    text += "\n ";
    for (const Vec2 p : polygon) {
      std::snprintf(point, sizeof(point), " (%.17g, %.17g)", p.x, p.y);
      text += point;
    }
  }
  return text;
}

// True when segment pq meets segment lr. Points in the middle of an edge are on it but for
// rounding: within the tolerance.
bool Meets(Vec2 p, Vec2 q, Vec2 l, Vec2 r, double tolerance) {
  return SegmentDistance(p, q, l, r) <= tolerance;
}

// The length of the shortest line that visits the portals in order.
double BruteForceLength(const Corridor& corridor) {
  const std::vector<Portal>& portals = corridor.portals;
  const size_t n = portals.size();
  struct State {
    Vec2 point;
    double length = std::numeric_limits<double>::infinity();
  };
  // State 0 is the start, 1 + 2 i and 2 + 2 i the ends of portal i, the last one the goal.
  std::vector<State> states(2 * n + 2);
  states[0] = {corridor.start, 0.0};
  for (size_t i = 0; i < n; ++i) {
    states[1 + 2 * i].point = portals[i].left;
    states[2 + 2 * i].point = portals[i].right;
  }
  states.back().point = corridor.goal;
  for (size_t s = 0; s < states.size(); ++s) {
    const State from = states[s];
    if (std::isinf(from.length)) continue;
    const size_t next_portal = s == 0 ? 0 : (s - 1) / 2 + 1;
    for (size_t t = 1 + 2 * next_portal; t < states.size(); ++t) {
      const size_t portal_limit = (t - 1) / 2;
      bool meets_all = true;
      for (size_t i = next_portal; i < portal_limit && meets_all; ++i) {
        meets_all = Meets(from.point, states[t].point, portals[i].left, portals[i].right,
                          corridor.tolerance);
      }
      if (!meets_all) continue;
      states[t].length =
          std::min(states[t].length, from.length + Distance(from.point, states[t].point));
    }
  }
  return states.back().length;
}

class ShortestPath {
 public:
  // The corridor's line; a failure when it was refused.
  const CorridorPath& Of(const CorridorSource& source, bool with_polygons, bool with_portals) {
    CorridorInput input = source.input(with_polygons, with_portals);
    input.precision = CoordinatePrecision::Double();
    Violations violations;
    path_.clear();
    EXPECT_TRUE(builder_.Build(input, CorridorLimits{}, &corridor_, &violations))
        << violations.ToString();
    funnel_.FindShortestPath(corridor_, &path_);
    return path_;
  }
  const Corridor& corridor() const { return corridor_; }

 private:
  CorridorBuilder builder_;
  Corridor corridor_;
  Funnel funnel_;
  CorridorPath path_;
};

Grown Reversed(Grown grown) {
  std::reverse(grown.polygons.begin(), grown.polygons.end());
  std::swap(grown.start, grown.goal);
  return grown;
}

// Cuts a middle polygon from its entry edge to its exit edge: the corridor now has a cell more.
bool SplitOnePolygon(const Corridor& corridor, size_t k, Grown* grown) {
  if (k == 0 || k + 1 >= grown->polygons.size()) return false;
  const std::vector<Vec2>& polygon = grown->polygons[k];
  const auto find = [&](Vec2 p) {
    return static_cast<size_t>(std::find(polygon.begin(), polygon.end(), p) - polygon.begin());
  };
  // Along the diagonal from the entry's left to the exit's right end.
  const size_t from = find(corridor.portals[k - 1].left);
  const size_t to = find(corridor.portals[k].right);
  const size_t n = polygon.size();
  if (from == n || to == n || from == to) return false;
  std::vector<Vec2> first, second;
  for (size_t i = from; i != to; i = (i + 1) % n) first.push_back(polygon[i]);
  first.push_back(polygon[to]);
  for (size_t i = to; i != from; i = (i + 1) % n) second.push_back(polygon[i]);
  second.push_back(polygon[from]);
  if (first.size() < 3 || second.size() < 3) return false;
  grown->polygons[k] = first;
  grown->polygons.insert(grown->polygons.begin() + static_cast<ptrdiff_t>(k) + 1, second);
  return true;
}

TEST(CorridorShortestPathProperty, LineIsOptimalContainedAndInvariant) {
  const uint64_t seed = Seed();
  std::printf("seed %llu (set ARCLANE_PROPERTY_SEED to repeat another)\n",
              static_cast<unsigned long long>(seed));
  CorridorGrower grower(seed);
  ShortestPath shortest, other;
  int splits = 0;
  int corners = 0;
  int turns_back = 0;
  for (int i = 0; i < kCorridors && !::testing::Test::HasFailure(); ++i) {
    const Grown grown = grower.Grow();
    SCOPED_TRACE("seed " + std::to_string(seed) + " corridor " + std::to_string(i) + ": " +
                 Describe(grown));
    const CorridorSource source = SourceOf(grown);
    const CorridorPath path = shortest.Of(source, true, false);
    const Corridor& corridor = shortest.corridor();
    corners += static_cast<int>(path.corners.size());
    const double slack = 1e-12 * path.length + corridor.tolerance;

    // Where the corridor turns back the line may touch a portal between its ends, and a straight
    // step may meet portals out of order: the brute force knows neither.
    if (!corridor.turns_back) {
      const double expected = BruteForceLength(corridor);
      EXPECT_LE(path.length, expected * (1.0 + 1e-12) + corridor.tolerance);
      EXPECT_GE(path.length, expected * (1.0 - 1e-12) - corridor.tolerance);
    }
    EXPECT_LE(VerifyLine(corridor, LineOf(path), 2.0 * corridor.tolerance).distance,
              2.0 * corridor.tolerance);
    turns_back += corridor.turns_back;
    EXPECT_NEAR(other.Of(SourceOf(Reversed(grown)), true, false).length, path.length, slack);

    CorridorSource exchanged;
    exchanged.SetStart({grown.start.x, grown.start.y, 0.0});
    exchanged.SetGoal({grown.goal.x, grown.goal.y, 0.0});
    for (const Portal& portal : corridor.portals) {
      exchanged.AddPortal({portal.right.x, portal.right.y, 0.0},
                          {portal.left.x, portal.left.y, 0.0});
    }
    EXPECT_NEAR(other.Of(exchanged, false, true).length, path.length, slack);

    CorridorSource mirrored = source;
    mirrored.Transform([](Vec2 p) { return Vec2{p.x, -p.y}; });
    EXPECT_NEAR(other.Of(mirrored, true, false).length, path.length, slack);

    Grown split = grown;
    if (SplitOnePolygon(corridor, grown.polygons.size() / 2, &split)) {
      ++splits;
      EXPECT_NEAR(other.Of(SourceOf(split), true, false).length, path.length, slack);
    }
  }
  std::printf("%d corridors, %d corners, %d split, %d turn back\n", kCorridors, corners, splits,
              turns_back);
  EXPECT_GT(turns_back, kCorridors / 20);
  EXPECT_GT(splits, kCorridors / 10);
  EXPECT_GT(corners, kCorridors);
}

}  // namespace
}  // namespace arclane
