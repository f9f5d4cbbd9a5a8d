// SPDX-License-Identifier: Apache-2.0
// Corridors for the rounding's tests: from reference records and at random, with their taut paths.
#ifndef ARCLANE_TESTS_UNIT_PLANNING_ROUTE_ROUNDING_CASES_H_
#define ARCLANE_TESTS_UNIT_PLANNING_ROUTE_ROUNDING_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/rounding/round_corners.h"

namespace arclane::testing {

struct RoundingCase {
  std::string id;
  Corridor corridor;
  std::vector<Vec2> taut;
  double radius_max = 0.0;
  double radius_min = 0.0;
  // What the record knows; 0 for random corridors.
  int corners_total = 0;
  double taut_stop_time = 0.0;
  double best_known_time = 0.0;
  int best_known_time_stops = 0;
  int best_known_rounded_count = 0;
  double best_known_rounded_time = 0.0;
  double best_known_time_ext5 = 0.0;
};

// The limits of the reference records: v_max 6, acceleration 3, braking 4, lateral 4, rest to rest.
DrivingLimits ReferenceLimits();

// Every record of a file of corners/, with the corridor that its id names.
std::vector<RoundingCase> ReadCornerCases(const std::string& reference_dir,
                                          const std::string& file);

// The corridor of convex polygons (any winding) and portals between them, and its taut path.
RoundingCase MakeCase(std::string id, Vec2 start, Vec2 goal,
                      std::vector<std::vector<Vec2>> polygons, std::vector<Portal> portals);

// A random corridor of the seed: straight stretches, bends, hairpins round thin walls, clusters of
// vertices within 0.1, widths near twice the radii, portals of no length, polygons visited again,
// overlaps, start and goal close to corners.
RoundingCase RandomCase(uint32_t seed);

// A random corridor of the seed that never overlaps itself: straight stretches, slight bends,
// clusters and narrow gates. Its taut path is that of the portals inset by `inset`.
RoundingCase RandomLane(uint32_t seed, double inset);

// The same problem with x and y negated or exchanged, and from goal to start.
enum class Image { kMirrorX, kMirrorY, kSwapAxes, kQuarterTurn, kReversed };
RoundingCase ImageOf(const RoundingCase& original, Image image);

}  // namespace arclane::testing

#endif  // ARCLANE_TESTS_UNIT_PLANNING_ROUTE_ROUNDING_CASES_H_
