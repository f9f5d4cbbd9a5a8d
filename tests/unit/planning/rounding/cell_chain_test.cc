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
  return MakeCase("two squares", {0.5, 0.5}, {1.5, 0.5}, {{{0, 0}, {1, 0}, {1, 1}, {0, 1}}, {{1, 0}, {2, 0}, {2, 1}, {1, 1}}},
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
  // A half circle from (0.6, 0.5) over the top to (1.4, 0.5): radius 0.4 stays below y = 1, 0.6 does not.
  EXPECT_TRUE(chain.EndsInLastCell(chain.AlongArc(start, {1.0, 0.5}, -0.4, {0, 1}, {0, -1}, std::numbers::pi, work)));
  EXPECT_TRUE(chain.AlongArc(start, {1.0, 0.5}, -0.6, {0, 1}, {0, -1}, std::numbers::pi, work).empty());
  // Touching from inside counts as contained.
  EXPECT_FALSE(chain.AlongArc(start, {1.0, 0.5}, -0.5, {0, 1}, {0, -1}, std::numbers::pi, work).empty());
}

TEST(CellChainTest, OverlapIsNoShortCut) {
  // A corridor that goes round a loop of cells and overlaps its own begin: the straight line to the goal lies in the union
  // of the cells but skips them.
  const RoundingCase c = MakeCase(
      "loop", {0.5, 0.5}, {0.5, 0.6},
      {{{0, 0}, {3, 0}, {3, 1}, {0, 1}}, {{2, 0}, {3, 0}, {3, 3}, {2, 3}}, {{0, 2}, {3, 2}, {3, 3}, {0, 3}}, {{0, 0}, {1, 0}, {1, 3}, {0, 3}}},
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
      runs = chain.AlongArc(start, center, radius, e.direction, UnitVector(heading + std::copysign(sweep, radius)), sweep, work);
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
