// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/cell_chain.h"

#include <cmath>
#include <numbers>
#include <random>

#include "gtest/gtest.h"
#include "tests/unit/planning/rounding/path_judge.h"
#include "tests/unit/planning/rounding/rounding_cases.h"

namespace arclane::testing {
namespace {

// Two unit squares side by side, (0,0)-(2,1), with the portal between them.
RoundingCase TwoSquares() {
  return MakeCase("two squares", {0.5, 0.5}, {1.5, 0.5},
                  {{{0, 0}, {1, 0}, {1, 1}, {0, 1}}, {{1, 0}, {2, 0}, {2, 1}, {1, 1}}},
                  {{{1, 1}, {1, 0}}});
}

TEST(CellChainTest, LineThroughThePortalReachesTheLastCell) {
  const RoundingCase c = TwoSquares();
  const CellChain chain(c.corridor, false);
  uint64_t work = 0;
  const CellRuns start = chain.RunsAtStart(c.corridor.start, work);
  EXPECT_TRUE(chain.EndsInLastCell(chain.AlongLine(start, {0.5, 0.5}, {1.5, 0.5}, work)));
  EXPECT_TRUE(chain.AlongLine(start, {0.5, 0.5}, {1.5, 1.5}, work).empty());
  EXPECT_GT(work, 0u);
}

TEST(CellChainTest, ArcThatBulgesOverTheEdgeIsRefused) {
  const RoundingCase c = TwoSquares();
  const CellChain chain(c.corridor, false);
  uint64_t work = 0;
  const CellRuns start = chain.RunsAtStart(c.corridor.start, work);
  // A half circle from (0.6, 0.5) over the top to (1.4, 0.5): radius 0.4 stays below y = 1, 0.6
  // does not.
  EXPECT_TRUE(chain.EndsInLastCell(
      chain.AlongArc(start, {1.0, 0.5}, -0.4, {0, 1}, {0, -1}, std::numbers::pi, work)));
  EXPECT_TRUE(
      chain.AlongArc(start, {1.0, 0.5}, -0.6, {0, 1}, {0, -1}, std::numbers::pi, work).empty());
  // Touching from inside counts as contained.
  EXPECT_FALSE(
      chain.AlongArc(start, {1.0, 0.5}, -0.5, {0, 1}, {0, -1}, std::numbers::pi, work).empty());
}

// An arc of nearly a full turn round a square block in a ring of four cells. The stretch outside a
// half-plane begins before the arc does, so that its copy a turn later must be cut out as well.
TEST(CellChainTest, LongArcThatCutsABlockIsRefusedWhereverItBegins) {
  const double b = 1.0;
  const double w = 3.0;
  for (int quarter = 0; quarter < 4; ++quarter) {
    const auto turned = [quarter](Vec2 p) {
      for (int i = 0; i < quarter; ++i) p = LeftNormal(p);
      return p;
    };
    // Counter-clockwise from the east: portals on the diagonals from the block's corners to the
    // outer corners.
    std::vector<std::vector<Vec2>> polygons;
    std::vector<Portal> portals;
    for (int i = 0; i < 5; ++i) {
      const auto at = [&](Vec2 p) {
        for (int j = 0; j < i; ++j) p = LeftNormal(p);
        return turned(p);
      };
      polygons.push_back({at({b, -b}), at({w, -w}), at({w, w}), at({b, b})});
      if (i < 4) portals.push_back({at({b, b}), at({w, w})});
    }
    const RoundingCase c = MakeCase("ring", turned({2, 0}), turned({2, 0}), polygons, portals);
    const CellChain chain(c.corridor, false);
    uint64_t work = 0;
    for (const double radius : {1.2, 1.41, 1.42, 2.0, 2.9, 3.1}) {
      for (const double begin : {-0.6, -0.1, 0.0, 0.3, 0.7}) {
        const double sweep = 2.0 * std::numbers::pi - 0.2 - std::max(0.0, begin);
        const auto on_circle = [&](double angle) { return turned(UnitVector(angle)); };
        const Vec2 in = LeftNormal(on_circle(begin));
        const Vec2 out = LeftNormal(on_circle(begin + sweep));
        const bool contained = !chain
                                    .AlongArc(chain.RunsAtStart(radius * on_circle(begin), work),
                                              {0, 0}, radius, in, out, sweep, work)
                                    .empty();
        EXPECT_EQ(contained, radius > std::sqrt(2.0) && radius < w)
            << quarter << " " << radius << " " << begin;
      }
    }
  }
}

TEST(CellChainTest, OverlapIsNoShortCut) {
  // A corridor that goes round a loop of cells and overlaps its own begin: the straight line to the
  // goal lies in the union of the cells but skips them.
  const RoundingCase c = MakeCase("loop", {0.5, 0.5}, {0.5, 0.6},
                                  {{{0, 0}, {3, 0}, {3, 1}, {0, 1}},
                                   {{2, 0}, {3, 0}, {3, 3}, {2, 3}},
                                   {{0, 2}, {3, 2}, {3, 3}, {0, 3}},
                                   {{0, 0}, {1, 0}, {1, 3}, {0, 3}}},
                                  {{{2, 1}, {3, 1}}, {{2, 2}, {2, 3}}, {{1, 2}, {0, 2}}});
  const CellChain chain(c.corridor, false);
  uint64_t work = 0;
  const CellRuns start = chain.RunsAtStart(c.corridor.start, work);
  EXPECT_FALSE(chain.EndsInLastCell(chain.AlongLine(start, {0.5, 0.5}, {0.5, 0.6}, work)));
}

// The chain's answer against the judge's on random lines and arcs that begin at the start.
TEST(CellChainTest, AgreesWithTheJudgeOnRandomArcs) {
  int contained = 0;
  int refused = 0;
  for (uint32_t seed = 1; seed <= 4000; ++seed) {
    SCOPED_TRACE(seed);
    RoundingCase c = RandomCase(seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    const CellChain chain(c.corridor, false);
    uint64_t work = 0;
    const CellRuns start = chain.RunsAtStart(c.corridor.start, work);
    PathElement e;
    e.start = c.corridor.start;
    const double heading = 6.283 * unit(random);
    e.direction = UnitVector(heading);
    const double radius = (0.05 + 3 * unit(random) * unit(random)) * (random() % 2 == 0 ? 1 : -1);
    const double sweep = 6.2 * unit(random);
    CellRuns runs;
    if (seed % 2 == 0) {
      e.kind = PathElementKind::kArc;
      e.curvature = 1.0 / radius;
      e.length = std::abs(radius) * sweep;
      const Vec2 center = e.start + radius * LeftNormal(e.direction);
      runs = chain.AlongArc(start, center, radius, e.direction,
                            UnitVector(heading + std::copysign(sweep, radius)), sweep, work);
    } else {
      e.length = 4 * unit(random);
      runs = chain.AlongLine(start, e.start, e.start + e.direction * e.length, work);
    }
    // The judge asks for the last cell; cut the corridor after the last cell that can be reached.
    if (runs.empty()) {
      for (size_t cells = 1; cells <= c.corridor.cell_count(); ++cells) {
        Corridor cut = c.corridor;
        cut.portals.resize(cells - 1);
        cut.cell_begin.resize(cells + 1);
        cut.goal = cut.cell(cells - 1)[0];
        // A little narrower than the chain's own cells; only paths that step back may be refused.
        EXPECT_NE(JudgeContainment(cut, {e}, -1e-9), "") << "cells " << cells;
      }
      ++refused;
    } else {
      const size_t cells = runs.run[0].first + 1;
      Corridor cut = c.corridor;
      cut.portals.resize(cells - 1);
      cut.cell_begin.resize(cells + 1);
      cut.goal = cut.cell(cells - 1)[0];
      EXPECT_EQ(JudgeContainment(cut, {e}, 1e-9), "");
      ++contained;
    }
  }
  EXPECT_GT(contained, 300);
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace arclane::testing
