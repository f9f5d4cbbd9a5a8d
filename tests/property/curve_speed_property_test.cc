// SPDX-License-Identifier: Apache-2.0
// The speed plan of a curve keeps its limits on the curve itself, not only at the nodes of the
// profile it was made on, and is as fast as a plan on a far finer profile. Curvatures are those of
// a second, finer map, inverted by Newton steps: they share nothing with the profile but the curve.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/planning/route/curve_speed.h"
#include "server/planning/speed/curvature_profile.h"
#include "server/planning/speed/speed_phase.h"
#include "server/planning/spline/arc_length.h"
#include "tests/support/reference_data.h"
#include "tests/unit/planning/spline/curve_record.h"

namespace arclane {
namespace {

using testing::OwnedCurve;

// What a plan may exceed a limit by, relative.
constexpr double kExcess = 1e-6;

struct Drive {
  CurveSpeedRequest request;
  std::string Text() const {
    const SpeedLimits& limits = request.agent.limits;
    std::ostringstream text;
    text.precision(17);
    text << "max_speed " << limits.max_speed << " acceleration " << limits.max_acceleration
         << " braking " << limits.max_braking << " lateral "
         << limits.max_lateral_acceleration.value_or(-1) << " total "
         << limits.max_total_acceleration.value_or(-1) << " mode "
         << static_cast<int>(limits.budget_mode) << " flying " << request.flying_lap;
    return text.str();
  }
};

// Limits from those that the curvature alone binds to those that never reach it: each is log
// uniform over three decades around the length.
Drive RandomDrive(std::mt19937_64& random, double length, bool closed) {
  std::uniform_real_distribution<double> decades(-1.0, 2.0);
  const auto draw = [&] { return length * std::pow(10.0, decades(random)); };
  Drive drive;
  SpeedLimits& limits = drive.request.agent.limits;
  limits.max_speed = draw();
  limits.max_acceleration = draw();
  limits.max_braking = draw();
  limits.max_lateral_acceleration = draw();
  drive.request.flying_lap = closed && random() % 2 == 0;
  const uint64_t mode = random() % 4;
  if (mode == 2) {
    limits.budget_mode = BudgetMode::kReserved;
    limits.max_total_acceleration =
        1.0001 * std::hypot(std::max(limits.max_acceleration, limits.max_braking),
                            *limits.max_lateral_acceleration);
  } else if (mode == 3) {
    limits.budget_mode = BudgetMode::kCoupled;
    limits.max_total_acceleration = *limits.max_lateral_acceleration;
    if (random() % 2 == 0) limits.max_lateral_acceleration.reset();
  }
  return drive;
}

double CurvatureAt(const ArcLengthMap& map, double s) {
  const CurveLocation at = map.LocationAt(s);
  const CurvePoint p = map.curve().Evaluate(at.segment, at.parameter);
  const auto& d = p.first;
  const auto& e = p.second;
  const double x = d[1] * e[2] - d[2] * e[1];
  const double y = d[2] * e[0] - d[0] * e[2];
  const double z = d[0] * e[1] - d[1] * e[0];
  const double speed = std::hypot(d[0], d[1], d[2]);
  return std::hypot(x, y, z) / speed / speed / speed;
}

// The curve on its map and on the one that judges.
struct Maps {
  explicit Maps(const OwnedCurve& owned)
      : curve(*Curve::Create(owned.Input())),
        planned(*ArcLengthMap::Create(curve)),
        exact(*ArcLengthMap::Create(curve, {1e-12, InverseMode::kDirect})) {}

  Curve curve;
  ArcLengthMap planned;
  ArcLengthMap exact;
};

const SpeedPhase& PhaseAt(const std::vector<SpeedPhase>& phases, double s, size_t& hint) {
  while (hint + 1 < phases.size() && (phases[hint].kind == SpeedPhaseKind::kDwell ||
                                      phases[hint].start_distance + phases[hint].length < s)) {
    ++hint;
  }
  return phases[hint];
}

struct Worst {
  double lateral = 0.0;  // Over the lateral limit, relative.
  double total = 0.0;    // Over the total, relative.
  double at = 0.0;
};

// Where the point at s is known to a distance only, so is its curvature: `doubt` is tried both
// ways.
Worst ExcessAt(const Maps& maps, const SpeedLimits& limits, const SpeedPhase& phase, double s,
               double doubt) {
  const double into = s - phase.start_distance;
  const double v = SpeedAt(phase, into);
  double kappa = CurvatureAt(maps.exact, s);
  if (doubt > 0.0) {
    kappa =
        std::min({kappa, CurvatureAt(maps.exact, s - doubt), CurvatureAt(maps.exact, s + doubt)});
  }
  const double lateral = v * v * kappa;
  Worst excess;
  excess.at = s;
  if (limits.max_lateral_acceleration) {
    excess.lateral = lateral / *limits.max_lateral_acceleration - 1.0;
  }
  if (limits.max_total_acceleration && limits.budget_mode == BudgetMode::kCoupled) {
    excess.total =
        std::hypot(lateral, AccelerationAt(phase, into)) / *limits.max_total_acceleration - 1.0;
  }
  return excess;
}

Worst WorstExcess(const Maps& maps, const SpeedLimits& limits, const CurveSpeed& speed,
                  std::mt19937_64& random) {
  constexpr int kProbes = 10000;
  const double length = std::min(maps.planned.length(), maps.exact.length());
  std::uniform_real_distribution<double> along(0.0, length);
  std::vector<double> places(kProbes);
  for (double& s : places) s = along(random);
  std::sort(places.begin(), places.end());
  const double doubt = maps.planned.error_bound() + maps.exact.error_bound();
  Worst worst;
  size_t hint = 0;
  for (const double s : places) {
    const SpeedPhase& phase = PhaseAt(speed.plan.phases, s, hint);
    Worst excess = ExcessAt(maps, limits, phase, s, 0.0);
    if (std::max(excess.lateral, excess.total) > kExcess) {
      excess = ExcessAt(maps, limits, phase, s, doubt);
    }
    if (std::max(excess.lateral, excess.total) > std::max(worst.lateral, worst.total)) {
      worst = excess;
    }
  }
  return worst;
}

struct Count {
  int planned = 0;
  size_t nodes = 0;
};

void ExpectLimitsHold(const OwnedCurve& owned, int drives, uint64_t seed, Count& count) {
  const Maps maps(owned);
  if (!(maps.planned.length() > 0.0)) return;
  CurvatureWorkspace workspace;
  CurveSpeed speed;
  std::mt19937_64 random(seed);
  for (int i = 0; i < drives; ++i) {
    const Drive drive = RandomDrive(random, maps.planned.length(), owned.closed);
    SCOPED_TRACE(drive.Text());
    ASSERT_TRUE(RefineProfile(maps.planned, drive.request, speed).ok());
    PlanCurveSpeed(maps.planned, drive.request, workspace, speed);
    ASSERT_EQ(speed.plan.status, SpeedPlanStatus::kOk);
    const Worst worst = WorstExcess(maps, drive.request.agent.limits, speed, random);
    EXPECT_LE(worst.lateral, kExcess) << "at " << worst.at << " of " << maps.planned.length();
    EXPECT_LE(worst.total, kExcess) << "at " << worst.at << " of " << maps.planned.length();
    ++count.planned;
    count.nodes += speed.distance.size();
  }
}

TEST(CurveSpeedPropertyTest, ReferenceCurvesKeepTheirLimitsBetweenNodes) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  Count count;
  uint64_t seed = 1;
  for (const auto& record : testing::ReadRecords(dir + "/spline/splines_dev.jsonl.gz")) {
    if (record["category"] == "extreme_scale") continue;
    SCOPED_TRACE(record["id"].get<std::string>() + " seed " + std::to_string(seed));
    ExpectLimitsHold(testing::CurveOf(record), 4, seed++, count);
  }
  EXPECT_GT(count.planned, 500);
  RecordProperty("nodes_a_plan", static_cast<int>(count.nodes / std::max(1, count.planned)));
}

// Beziers that are gentle, wild, or have a near-cusp, and closed B-splines.
OwnedCurve RandomCurve(std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-100.0, 100.0);
  const uint64_t shape = random() % 4;
  OwnedCurve curve;
  const bool spatial = random() % 3 == 0;
  for (int i = 0; i < 7; ++i) {
    curve.control.x.push_back(shape == 0 ? 60.0 * i + 0.3 * uniform(random) : uniform(random));
    curve.control.y.push_back(shape == 0 ? 0.5 * uniform(random) : uniform(random));
    if (spatial) curve.control.z.push_back(0.2 * uniform(random));
  }
  if (shape == 2) {
    const double gap = std::pow(10.0, -static_cast<double>(random() % 6));
    const double x[4] = {0.0, 1.0 + gap, 0.0, 1.0}, y[4] = {0.0, 1.0, 1.0, 0.0};
    for (int i = 0; i < 4; ++i) {
      curve.control.x[i] = x[i];
      curve.control.y[i] = y[i];
    }
  } else if (shape == 3) {
    curve.kind = CurveKind::kBSpline;
    curve.closed = true;
    for (int i = 0; i < 3; ++i) {
      curve.control.x.push_back(curve.control.x[i]);
      curve.control.y.push_back(curve.control.y[i]);
      if (spatial) curve.control.z.push_back(curve.control.z[i]);
    }
  }
  return curve;
}

TEST(CurveSpeedPropertyTest, RandomCurvesKeepTheirLimitsBetweenNodes) {
  Count count;
  for (uint64_t seed = 1; seed <= 120; ++seed) {
    std::mt19937_64 random(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    ExpectLimitsHold(RandomCurve(random), 3, seed + 1000, count);
  }
  EXPECT_EQ(count.planned, 360);
}

// The plan on the curvature itself, read at even steps so fine that lines between them are it.
TEST(CurveSpeedPropertyTest, IsAsFastAsAPlanOnAFarFinerProfile) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    OwnedCurve owned;
    std::uniform_real_distribution<double> uniform(-20.0, 20.0);
    for (int i = 0; i < 4; ++i) {
      owned.control.x.push_back(60.0 * i + uniform(random));
      owned.control.y.push_back(2.0 * uniform(random));
    }
    const Maps maps(owned);
    Drive drive = RandomDrive(random, maps.planned.length(), false);
    if (drive.request.agent.limits.budget_mode == BudgetMode::kCoupled) continue;
    SCOPED_TRACE("seed " + std::to_string(seed) + " " + drive.Text());
    CurvatureWorkspace workspace;
    CurveSpeed speed;
    ASSERT_TRUE(RefineProfile(maps.planned, drive.request, speed).ok());
    PlanCurveSpeed(maps.planned, drive.request, workspace, speed);
    ASSERT_EQ(speed.plan.status, SpeedPlanStatus::kOk);
    ASSERT_TRUE(speed.stops.empty());

    constexpr int kNodes = 40001;
    std::vector<double> distance, curvature;
    for (int i = 0; i < kNodes; ++i) {
      distance.push_back(maps.planned.length() * i / (kNodes - 1));
      curvature.push_back(CurvatureAt(maps.exact, distance.back()));
    }
    CurvatureProfileRequest fine;
    fine.distance = distance;
    fine.curvature = curvature;
    fine.limits = drive.request.agent.limits;
    CurvatureSpeedPlan plan;
    PlanSpeedAlongCurve(fine, workspace, plan);
    ASSERT_EQ(plan.status, SpeedPlanStatus::kOk);
    // The steps' own error: a curvature that changes over a hundredth of the length is off by 1e-6
    // of itself in between.
    constexpr double kOfTheSteps = 1e-8;
    EXPECT_GE(speed.plan.duration_s, plan.duration_s * (1.0 - kOfTheSteps));
    EXPECT_LE(speed.plan.duration_s, plan.duration_s * (1.0 + kCurveTimeShare + kOfTheSteps));
    EXPECT_LT(speed.distance.size(), 4000u);
  }
}

}  // namespace
}  // namespace arclane
