// SPDX-License-Identifier: Apache-2.0
// Prints how well and how fast corners are rounded on the reference corridors, for several work
// budgets.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "server/planning/rounding/round_corners.h"
#include "tests/support/reference_data.h"
#include "tests/unit/planning/rounding/path_judge.h"
#include "tests/unit/planning/rounding/rounding_cases.h"

namespace arclane::testing {
namespace {

double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

void PrintRow(const std::vector<RoundingCase>& cases, double budget_us, double extra,
              bool verbose) {
  std::vector<double> micros;
  std::vector<double> gaps;
  double time = 0.0, best = 0.0, stop_time = 0.0, extra_sum = 0.0, taut_length = 0.0, work = 0.0;
  int stops = 0, failed = 0, within2 = 0, invalid = 0;
  for (const RoundingCase& c : cases) {
    AgentTurning turning;
    turning.radius_max = c.radius_max;
    turning.radius_min = c.radius_min;
    RoundingOptions options;
    options.max_extra_length_fraction = extra;
    options.work_budget = static_cast<uint64_t>(budget_us * kWorkUnitsPerMicrosecond);
    DrivenPath path;
    double fastest = 1e9;
    for (int run = 0; run < 3; ++run) {
      const auto begin = std::chrono::steady_clock::now();
      path = RoundCorners(c.corridor, {c.taut, {}}, turning, ReferenceLimits(), options);
      const std::chrono::duration<double, std::micro> spent =
          std::chrono::steady_clock::now() - begin;
      fastest = std::min(fastest, spent.count());
    }
    micros.push_back(fastest);
    work += static_cast<double>(path.work_used) / fastest;
    int stopped_corners = 0;
    for (const PathElement& e : path.elements) {
      if (e.kind == PathElementKind::kTurn && std::abs(e.turn_rad) > 5.0 / 180.0 * 3.14159265)
        ++stopped_corners;
    }
    const int rounded = c.corners_total - stopped_corners;
    const auto passes = [&](double factor) {
      return (rounded >= c.best_known_rounded_count &&
              path.time_s <= factor * c.best_known_rounded_time) ||
             (path.time_s <= factor * c.best_known_time &&
              static_cast<int>(path.stop_count) <= c.best_known_time_stops);
    };
    const double gap = path.time_s / c.best_known_rounded_time - 1.0;
    gaps.push_back(gap);
    stops += path.stop_count;
    time += path.time_s;
    best += c.best_known_rounded_time;
    stop_time += c.taut_stop_time;
    extra_sum += path.extra_length;
    taut_length += path.length - path.extra_length;
    const std::string judged = JudgeContainment(c.corridor, path.elements, 1e-7);
    if (!judged.empty()) ++invalid;
    if (!passes(1.05)) ++failed;
    if (passes(1.02)) ++within2;
    if (verbose && (!judged.empty() || !passes(1.01))) {
      std::printf("  %-28s Rp %.2f Rmin %.2f stops %u rounded %d/%d gap %+.4f%% %s\n", c.id.c_str(),
                  c.radius_max, c.radius_min, path.stop_count, rounded, c.best_known_rounded_count,
                  100.0 * gap, judged.c_str());
    }
  }
  const double n = static_cast<double>(cases.size());
  std::printf(
      "%8.0f %6d %8.4f %8.3f%% %8.3f%% %8.3f%% %8.3f%% %7.2f%% %8.1f %8.1f %6.0f %5d %5.1f%% %d\n",
      budget_us, stops, time / stop_time, 100 * (time / best - 1), 100 * Quantile(gaps, 0.5),
      100 * Quantile(gaps, 0.95), 100 * Quantile(gaps, 1.0), 100 * extra_sum / taut_length,
      Quantile(micros, 0.5), Quantile(micros, 0.99), work / n, failed, 100.0 * within2 / n,
      invalid);
}

int Main(int argc, char** argv) {
  const auto dir = ReferenceDir();
  if (!dir) {
    std::puts("set ARCLANE_CONFORMANCE_DIR to the folder of the reference data");
    return 1;
  }
  bool verbose = false;
  std::vector<double> budgets;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "-v") == 0) {
      verbose = true;
    } else {
      budgets.push_back(std::atof(argv[i]));
    }
  }
  if (budgets.empty()) budgets = {100, 300, 3000};
  for (const char* file : {"corners_dev.jsonl.gz", "corners_maps_dev.jsonl.gz"}) {
    const std::vector<RoundingCase> cases = ReadCornerCases(*dir, file);
    for (const double extra : {std::numeric_limits<double>::infinity(), 0.05}) {
      std::printf(
          "%s, %s\n  budget  stops time/stop  sum gap   median      p95    worst   extra  us p50   "
          "us p99 unit/us fail <1.02 invalid\n",
          file, extra < 1 ? "extra length at most 5%" : "no bound on extra length");
      for (const double budget : budgets) PrintRow(cases, budget, extra, verbose && extra > 1);
    }
  }
  return 0;
}

}  // namespace
}  // namespace arclane::testing

int main(int argc, char** argv) { return arclane::testing::Main(argc, argv); }
