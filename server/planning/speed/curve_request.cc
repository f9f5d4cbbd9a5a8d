// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/curve_request.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "server/planning/speed/numeric_range.h"
#include "server/planning/speed/pair.h"

namespace arclane {
namespace {

// Bounds of budget_resolution: below, steps multiply without use; above, the plan is no longer near
// the optimum.
constexpr double kFinestResolution = 1e-6;
constexpr double kCoarsestResolution = 0.1;

PairMask AreOrdinary(Pair values) {
  return (values >= BothOf(kSmallestOrdinaryOnCurves)) &
         (values <= BothOf(kLargestOrdinaryOnCurves));
}

bool IsOrdinaryOrNone(double value) {
  return value == 0.0 || (value >= kSmallestOrdinaryOnCurves && value <= kLargestOrdinaryOnCurves);
}

void AppendColumnViolations(const CurvatureProfileRequest& request,
                            std::vector<SpeedViolation>& violations) {
  const std::size_t n = request.distance.size();
  if (n < 2)
    violations.push_back({"distance", absl::StrCat("must have at least 2 nodes, got ", n)});
  for (std::size_t i = 0; i < n; ++i) {
    const double s = request.distance[i];
    if (std::isfinite(s) && (i == 0 || s > request.distance[i - 1])) continue;
    violations.push_back({absl::StrCat("distance[", i, "]"),
                          absl::StrCat("must be finite and above the one before, got ", s)});
  }
  if (request.curvature.size() != n) {
    violations.push_back({"curvature", absl::StrCat("must have ", n, " values like distance, got ",
                                                    request.curvature.size())});
  }
  for (std::size_t i = 0; i < request.curvature.size(); ++i) {
    if (std::isfinite(request.curvature[i])) continue;
    violations.push_back({absl::StrCat("curvature[", i, "]"),
                          absl::StrCat("must be finite, got ", request.curvature[i])});
  }
  if (!request.speed_cap.empty() && request.speed_cap.size() != n) {
    violations.push_back({"speed_cap", absl::StrCat("must be empty or have ", n, " values, got ",
                                                    request.speed_cap.size())});
  }
  for (std::size_t i = 0; i < request.speed_cap.size(); ++i) {
    if (request.speed_cap[i] >= 0.0) continue;
    violations.push_back({absl::StrCat("speed_cap[", i, "]"),
                          absl::StrCat("must be >= 0, got ", request.speed_cap[i])});
  }
}

void AppendStopViolations(const CurvatureProfileRequest& request,
                          std::vector<SpeedViolation>& violations) {
  const std::size_t n = request.distance.size();
  for (std::size_t k = 0; k < request.stops.size(); ++k) {
    const SpeedStop& stop = request.stops[k];
    if (stop.boundary >= n || (k > 0 && stop.boundary <= request.stops[k - 1].boundary)) {
      violations.push_back({absl::StrCat("stops[", k, "].boundary"),
                            absl::StrCat("must ascend and be a node index, got ", stop.boundary)});
    }
    if (!(stop.dwell_s >= 0.0 && stop.dwell_s < kUnlimited)) {
      violations.push_back({absl::StrCat("stops[", k, "].dwell_s"),
                            absl::StrCat("must be finite and >= 0, got ", stop.dwell_s)});
    }
  }
}

}  // namespace

bool HasOrdinaryColumns(const CurvatureProfileRequest& request) {
  const std::size_t n = request.distance.size();
  if (n < 2 || request.curvature.size() != n) return false;
  if (!request.speed_cap.empty() && request.speed_cap.size() != n) return false;
  // Differences in the range mean finite and ascending distances.
  PairMask all = ~PairMask{};
  std::size_t i = 1;
  for (; i + kPairSize <= n; i += kPairSize) {
    const Pair length = LoadPair(&request.distance[i]) - LoadPair(&request.distance[i - 1]);
    const Pair k = LoadPair(&request.curvature[i]);
    all &= AreOrdinary(length) & (AreOrdinary(Magnitude(k)) | (k == BothOf(0.0)));
  }
  for (; i < n; ++i) {
    const bool fits = AreOrdinary(BothOf(request.distance[i] - request.distance[i - 1]))[0] != 0 &&
                      IsOrdinaryOrNone(std::abs(request.curvature[i]));
    if (!fits) return false;
  }
  if ((all[0] & all[1]) == 0 || !IsOrdinaryOrNone(std::abs(request.curvature[0]))) return false;
  return std::all_of(request.speed_cap.begin(), request.speed_cap.end(),
                     [](double cap) { return cap == kUnlimited || IsOrdinaryOrNone(cap); });
}

bool HasOrdinaryMotion(const CurvatureProfileRequest& request) {
  const SpeedLimits& limits = request.limits;
  const auto ordinary = [](double value) { return value != 0.0 && IsOrdinaryOrNone(value); };
  return ordinary(limits.max_speed) && ordinary(limits.max_acceleration) &&
         ordinary(limits.max_braking) && ordinary(limits.max_lateral_acceleration.value_or(1.0)) &&
         ordinary(limits.max_total_acceleration.value_or(1.0)) &&
         (request.flying_lap ||
          (IsOrdinaryOrNone(request.start_speed) && IsOrdinaryOrNone(request.end_speed)));
}

void AppendCurveViolations(const CurvatureProfileRequest& request, bool columns_are_valid,
                           std::vector<SpeedViolation>& violations) {
  AppendLimitViolations(request.limits, violations);
  if (request.limits.reaction_time_s > 0.0) {
    violations.push_back(
        {"limits.reaction_time_s", "is not offered along curvature profiles; must be 0"});
  }
  if (!columns_are_valid) AppendColumnViolations(request, violations);
  AppendStopViolations(request, violations);
  if (!(request.budget_resolution >= kFinestResolution &&
        request.budget_resolution <= kCoarsestResolution)) {
    violations.push_back({"budget_resolution",
                          absl::StrCat("must be in [", kFinestResolution, ", ", kCoarsestResolution,
                                       "], got ", request.budget_resolution)});
  }
  if (!request.flying_lap) {
    const auto speed = [&violations](double value, const char* field) {
      if (value >= 0.0 && value < kUnlimited) return;
      violations.push_back({field, absl::StrCat("must be finite and >= 0, got ", value)});
    };
    speed(request.start_speed, "start_speed");
    speed(request.end_speed, "end_speed");
    return;
  }
  if (request.curvature.size() >= 2 &&
      std::abs(request.curvature.front()) != std::abs(request.curvature.back())) {
    violations.push_back(
        {"curvature", "a flying lap needs equal magnitudes at its first and last node"});
  }
  if (request.speed_cap.size() >= 2 && request.speed_cap.front() != request.speed_cap.back()) {
    violations.push_back(
        {"speed_cap", "a flying lap needs equal values at its first and last node"});
  }
}

}  // namespace arclane
