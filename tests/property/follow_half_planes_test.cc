// SPDX-License-Identifier: Apache-2.0
// The half-planes of a step, checked without the code that made them: the polygon that they cut out
// of a large box lies in the corridor, and holds the agent and the step that it is asked for.
// Agents stand anywhere in the cells, and beside vertices and walls by all distances down to the
// roundings. A failure prints the route's id and the agent.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/geometry/polygon.h"
#include "tests/support/reference_data.h"
#include "tests/unit/planning/follow/follow_world.h"

namespace arclane::testing {
namespace {

constexpr size_t kRoutes = 300;
constexpr int kAgents = 60;
// Of the largest coordinate: what the clipping, the distances and the half-planes are wrong by at
// the corners of a set. The worst seen are 49.
constexpr double kRoundings = 256.0;
// By how many the agent and its step may lie outside of the half-planes.
constexpr double kOwnRoundings = 32.0;
// The share of the sets in corridors of float32 coordinates that may reach out by more; seen: 0.14
// %.
constexpr double kMostInGaps = 5e-3;
// How many cells before and behind that of the agent may hold it.
constexpr size_t kCellsRound = 4;

using Corridors = std::vector<std::pair<std::string, CorridorSource>>;

// The cells with the portals on their edges: what the corridor is said to be.
std::vector<std::vector<Vec2>> CellsWithPortals(const Corridor& corridor) {
  std::vector<std::vector<Vec2>> cells;
  for (size_t k = 0; k < corridor.cell_count(); ++k) {
    std::vector<Vec2> points(corridor.cell(k).begin(), corridor.cell(k).end());
    for (const size_t portal : {k - 1, k}) {
      if (portal >= corridor.portals.size()) continue;
      points.push_back(corridor.portals[portal].left);
      points.push_back(corridor.portals[portal].right);
    }
    std::vector<uint32_t> hull;
    ConvexHull(points, &hull);
    std::vector<Vec2>& cell = cells.emplace_back();
    for (const uint32_t i : hull) cell.push_back(points[i]);
  }
  return cells;
}

// How far p lies behind an edge of the cell at most, as walls are told: at a sharp corner the
// distance from the cell is more than that.
double BehindEdges(std::span<const Vec2> cell, Vec2 p) {
  if (cell.size() < 3) return DistanceToConvex(cell, p);
  double behind = 0.0;
  for (size_t i = 0; i < cell.size(); ++i) {
    const Vec2 a = cell[i], along = cell[(i + 1) % cell.size()] - a;
    behind = std::max(behind, -Cross(along, p - a) / Norm(along));
  }
  return behind;
}

double Outside(std::span<const std::vector<Vec2>> cells, Vec2 p) {
  double nearest = std::numeric_limits<double>::infinity();
  for (const auto& cell : cells) nearest = std::min(nearest, BehindEdges(cell, p));
  return nearest;
}

// A box about p, cut by the half-planes.
std::vector<Vec2> PolygonOf(std::span<const HalfPlane> planes, Vec2 p, double half) {
  std::vector<Vec2> polygon = {p + Vec2{-half, -half}, p + Vec2{half, -half}, p + Vec2{half, half},
                               p + Vec2{-half, half}};
  for (const HalfPlane& plane : planes) {
    std::vector<Vec2> cut;
    for (size_t i = 0; i < polygon.size(); ++i) {
      const Vec2 a = polygon[i], b = polygon[(i + 1) % polygon.size()];
      const double at_a = Dot(plane.normal, a) - plane.offset;
      const double at_b = Dot(plane.normal, b) - plane.offset;
      if (at_a <= 0.0) cut.push_back(a);
      if ((at_a < 0.0 && at_b > 0.0) || (at_a > 0.0 && at_b < 0.0)) {
        cut.push_back(Lerp(a, b, at_a / (at_a - at_b)));
      }
    }
    polygon = std::move(cut);
  }
  return polygon;
}

// How far the set, within the box about p, reaches out of the cells.
double OutsideOfSet(std::span<const HalfPlane> planes, Vec2 p,
                    std::span<const std::vector<Vec2>> cells) {
  const std::vector<Vec2> polygon = PolygonOf(planes, p, 100.0);
  double outside = 0.0;
  for (size_t i = 0; i < polygon.size(); ++i) {
    for (const double t : {0.0, 0.25, 0.5, 0.75}) {
      const Vec2 at = Lerp(polygon[i], polygon[(i + 1) % polygon.size()], t);
      outside = std::max(outside, Outside(cells, at));
    }
  }
  return outside;
}

struct Count {
  int agents = 0;
  int asked = 0;            // Their step was to lie in the set.
  int through_portals = 0;  // Sets that are not one cell's edges.
  int in_gaps = 0;          // See kMostInGaps.
  double worst_outside = 0.0;
};

// A place in or beside a cell: anywhere, at a vertex or at an edge, nearer and nearer.
Vec2 PlaceIn(const Corridor& corridor, size_t k, double tolerance, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const std::span<const Vec2> cell = corridor.cell(k);
  const size_t i = random() % cell.size();
  const Vec2 vertex = cell[i], next = cell[(i + 1) % cell.size()];
  Vec2 inside;
  double sum = 0.0;
  for (const Vec2 v : cell) {
    const double weight = 1e-3 + uniform(random);
    inside = inside + v * weight;
    sum += weight;
  }
  inside = inside * (1.0 / sum);
  const double near = std::pow(10.0, -14.0 * uniform(random));
  const Vec2 aside = UnitVector(6.3 * uniform(random)) * (tolerance * uniform(random));
  switch (random() % 5) {
    case 0:
      return inside;
    case 1:
      return Lerp(vertex, inside, near);
    case 2:
      return Lerp(Lerp(vertex, next, uniform(random)), inside, near);
    case 3:
      return vertex + aside;
    default:
      return Lerp(vertex, next, uniform(random)) + aside;
  }
}

void CheckAgent(const PlannedRoute& planned, const std::vector<std::vector<Vec2>>& cells,
                bool is_float32, std::mt19937& random, Count& count) {
  const FollowRoute& route = planned.follow;
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  // Where the route comes by, or anywhere in a cell.
  const size_t k = random() % planned.corridor.cell_count();
  const double behind = k == 0 ? 0.0 : route.portal_distance[k - 1];
  const double ahead = k < route.portal_distance.size() ? route.portal_distance[k] : route.length;
  const double distance = std::min(route.length, behind + (ahead - behind) * uniform(random));
  const Vec2 p = PlaceIn(planned.corridor, k, route.tolerance, random);
  FollowerOptions options;
  options.integrator = static_cast<Integrator>(random() % 3);
  FollowerState state = StartFollowing(route, 0.0, p, distance);
  FollowInput input;
  input.report.position = p;
  // A step is short, or passes many cells.
  input.report.dt = random() % 4 == 0 ? 0.5 : 1.0 / 60.0;
  if (random() % 4 != 0) {
    input.report.velocity = UnitVector(6.3 * uniform(random)) * (6.0 * uniform(random));
  }
  state.command = input.report.velocity;
  MotionRequest request;
  FollowStep(route, options, input, state, request);
  if (!request.inside_corridor || request.half_planes().empty()) return;
  if (planned.corridor.cell(state.cell).size() < 3) return;  // A link's line has no area.

  Vec2 step = request.preferred_velocity * input.report.dt;
  if (options.integrator == Integrator::kRamp) {
    step = (input.report.velocity + request.preferred_velocity) * (0.5 * input.report.dt);
  }
  if (options.integrator == Integrator::kDelay) step = input.report.velocity * input.report.dt;
  const std::span<const HalfPlane> planes = request.half_planes();
  double roundoff = 0.0;
  for (const Vec2 v : planned.corridor.cell_vertices) {
    roundoff = std::max({roundoff, std::abs(v.x), std::abs(v.y)});
  }
  roundoff *= std::numeric_limits<double>::epsilon();
  ++count.agents;
  count.through_portals += request.cell_planes == nullptr;
  double agent_out = 0.0, step_out = 0.0;
  for (const HalfPlane& plane : planes) {
    agent_out = std::max(agent_out, Dot(plane.normal, p) - plane.offset);
    step_out = std::max(step_out, Dot(plane.normal, p + step) - plane.offset);
  }
  const bool asked = request.feasible && options.integrator != Integrator::kDelay;
  count.asked += asked;
  // The corridor may pass the place again, in cells that the agent is not in.
  const size_t first = state.cell - std::min<size_t>(state.cell, kCellsRound);
  const size_t limit = std::min(cells.size(), state.cell + kCellsRound + 1);
  double beyond = Outside(std::span(cells).subspan(first, limit - first), p);
  if (step_out <= kOwnRoundings * roundoff) {
    // The route may touch a corner by the corridor's tolerance on its wrong side.
    for (int n = 1; n <= 16; ++n) {
      const double at = Outside(cells, p + step * (n / 16.0));
      beyond = std::max(beyond, std::min(at, 3.0 * route.tolerance));
    }
  }
  const double outside = std::max(0.0, OutsideOfSet(planes, p, cells) - beyond);
  count.worst_outside = std::max(count.worst_outside, outside / roundoff);
  const auto agent = ::testing::Message()
                     << planned.id << " integrator " << static_cast<int>(options.integrator)
                     << " agent " << ::testing::PrintToString(p.x) << ", "
                     << ::testing::PrintToString(p.y) << " in cell " << state.cell << " step "
                     << step.x << ", " << step.y << " planes " << planes.size() << " single "
                     << (request.cell_planes != nullptr) << " beyond " << beyond << " tolerance "
                     << route.tolerance;
  EXPECT_LE(agent_out, kOwnRoundings * roundoff) << agent;
  if (asked) {
    EXPECT_LE(step_out, kOwnRoundings * roundoff) << agent;
  }
  // Cells of float32 coordinates miss one another, and agents beside a vertex lie in the gap: there
  // a set may reach out by as much.
  if (is_float32) {
    EXPECT_LE(outside, route.tolerance) << agent;
    count.in_gaps += outside > kRoundings * roundoff;
  } else {
    EXPECT_LE(outside, kRoundings * roundoff) << agent;
  }
}

void CheckRoutes(const Corridors& corridors, bool float32) {
  const size_t stride = std::max<size_t>(1, corridors.size() / kRoutes);
  Count count;
  for (size_t i = 0; i < corridors.size(); i += stride) {
    PlannedRoute planned;
    const FollowAgent agent = i % 2 == 0 ? WalkingAgent() : RoundingAgent();
    if (!PlanRoute(corridors[i].first, corridors[i].second, float32, agent, {}, &planned)) continue;
    if (planned.plan.outcome != RouteOutcome::kComplete) continue;
    if (planned.plan.route.segments.empty()) continue;
    const std::vector<std::vector<Vec2>> cells = CellsWithPortals(planned.corridor);
    std::mt19937 random(static_cast<uint32_t>(i));
    for (int n = 0; n < kAgents; ++n) CheckAgent(planned, cells, float32, random, count);
    if (::testing::Test::HasFailure()) break;
  }
  ::testing::Test::RecordProperty("agents", count.agents);
  ::testing::Test::RecordProperty("worst_outside_roundings", std::to_string(count.worst_outside));
  EXPECT_LE(count.in_gaps, kMostInGaps * count.agents);
  EXPECT_GT(count.through_portals, count.agents / 10);
  EXPECT_GT(count.asked, count.agents / 3);
  EXPECT_GT(count.agents, 1000);
}

TEST(FollowHalfPlanesTest, SetsLieInRandomCorridors) {
  Corridors corridors;
  for (uint32_t seed = 1; seed <= kRoutes; ++seed) {
    corridors.emplace_back("random " + std::to_string(seed), RandomCorridor(seed));
  }
  CheckRoutes(corridors, false);
}

TEST(FollowHalfPlanesTest, SetsLieInDetourCorridors) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  CheckRoutes(DetourCorridors(dir), true);
}

TEST(FollowHalfPlanesTest, SetsLieInMapCorridors) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  CheckRoutes(MapCorridors(dir), false);
}

struct NoisyDrive {
  Integrator integrator;
  uint32_t seed;
  bool clamp;
  int steps;
};

// c09410 turns round a corner of 90 degrees, where three cells meet. Noise carries the agent, or
// the end of its step, behind the wall of the last of them by a tolerance, in the first one or
// beside it: walls are not moved out for that.
TEST(FollowHalfPlanesTest, NoiseRoundACornerOpensNoWall) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  const Corridors corridors = DetourCorridors(dir);
  const auto it = std::find_if(corridors.begin(), corridors.end(),
                               [](const auto& corridor) { return corridor.first == "c09410"; });
  ASSERT_NE(it, corridors.end());
  PlannedRoute planned;
  ASSERT_TRUE(PlanRoute(it->first, it->second, /*float32=*/true, WalkingAgent(), {}, &planned));
  const std::vector<std::vector<Vec2>> cells = CellsWithPortals(planned.corridor);
  for (const NoisyDrive& noisy : {NoisyDrive{Integrator::kDelay, 7, false, 440},
                                  NoisyDrive{Integrator::kRamp, 11, true, 240}}) {
    Drive::Setup setup;
    setup.options.integrator = noisy.integrator;
    setup.dt = 0.1;
    setup.position_noise = 0.01;
    setup.seed = noisy.seed;
    setup.clamp_to_half_planes = noisy.clamp;
    FollowReport report;
    setup.before = [&](int, FollowInput& input) { report = input.report; };
    setup.after = [&](int step, const Drive& drive) {
      const MotionRequest& request = drive.request();
      if (!request.inside_corridor) return;
      Vec2 end = report.position + drive.position() - drive.before();
      if (noisy.integrator == Integrator::kRamp) {
        end = report.position + (report.velocity + request.preferred_velocity) * (0.5 * setup.dt);
      }
      double beyond = Outside(cells, report.position), agent_out = 0.0, end_out = 0.0;
      for (const HalfPlane& plane : request.half_planes()) {
        agent_out = std::max(agent_out, Dot(plane.normal, report.position) - plane.offset);
        end_out = std::max(end_out, Dot(plane.normal, end) - plane.offset);
      }
      if (end_out <= planned.follow.plane_roundoff) beyond = std::max(beyond, Outside(cells, end));
      EXPECT_LE(agent_out, planned.follow.plane_roundoff)
          << "seed " << noisy.seed << " step " << step;
      EXPECT_LE(OutsideOfSet(request.half_planes(), report.position, cells) - beyond,
                planned.follow.tolerance)
          << "seed " << noisy.seed << " step " << step;
    };
    Drive drive(planned.follow, setup);
    while (drive.steps() < noisy.steps) drive.Step();
  }
}

}  // namespace
}  // namespace arclane::testing
