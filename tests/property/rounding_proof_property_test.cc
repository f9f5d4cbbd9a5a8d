// SPDX-License-Identifier: Apache-2.0
// What the rounding takes for contained its independent proof takes for contained, on random
// corridors that wind, overlap and visit polygons twice. A failure prints the seed;
// RandomCase(seed) is the input.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/rounding/round_corners.h"
#include "server/planning/route/corridor_planner.h"
#include "server/planning/route/route_assembly.h"
#include "server/planning/route/route_verification.h"
#include "tests/unit/planning/rounding/rounding_cases.h"

namespace arclane::testing {
namespace {

TEST(RoundingProofPropertyTest, TheProofAgreesWithTheRounding) {
  int disagreements = 0;
  RouteVerifier verifier;
  for (uint32_t seed = 1; seed <= 4000; ++seed) {
    const RoundingCase c = RandomCase(seed);
    AgentTurning turning;
    turning.radius_max = c.radius_max;
    turning.radius_min = c.radius_min;
    turning.corner_angle_min_rad = 1e-9;
    RoundingOptions options;
    options.max_extra_length_fraction =
        seed % 2 == 0 ? 0.05 : std::numeric_limits<double>::infinity();
    const DrivenPath path =
        RoundCorners(c.corridor, {c.taut, {}}, turning, ReferenceLimits(), options);
    std::vector<Segment> segments;
    AppendElements(path, c.corridor.goal, segments);
    LayOutSegments(segments);
    double size = 0.0;
    for (const Segment& segment : segments) {
      size = std::max({size, segment.length, std::abs(segment.start.x), std::abs(segment.start.y)});
    }
    const double tolerance = kDeviationTolerances * c.corridor.tolerance + kArcRoundoff * size;
    std::vector<PortalCrossing> crossings;
    const Deviation deviation = verifier.Verify(c.corridor, segments, tolerance, &crossings);
    EXPECT_LE(deviation.distance, tolerance)
        << c.id << " seed " << seed << " cell " << deviation.index;
    if (deviation.distance > tolerance) {
      ++disagreements;
      continue;
    }
    for (size_t i = 1; i < crossings.size(); ++i) {
      EXPECT_LE(crossings[i - 1].distance, crossings[i].distance) << "seed " << seed;
    }
  }
  EXPECT_EQ(disagreements, 0);
}

}  // namespace
}  // namespace arclane::testing
