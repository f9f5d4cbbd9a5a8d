// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/fillet.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "server/planning/rounding/fillet_chain.h"
#include "server/planning/rounding/max_min_radii.h"

namespace arclane {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Appends the intervals of corner i that leave room on both lines, each alone.
void AppendClipped(const FilletProblem& problem, size_t i, std::vector<RadiusInterval>& clipped) {
  const double k = problem.tan_half[i];
  if (!std::isfinite(k)) return;
  const size_t n = problem.tan_half.size();
  const double after = problem.line_length[problem.closed ? (i + 1) % n : i + 1];
  double fit = k > 0.0 ? std::min(problem.line_length[i], after) / k : kInfinity;
  if (problem.closed && n == 1 && k > 0.0) fit *= 0.5;
  for (uint32_t j = problem.begin[i]; j < problem.begin[i + 1]; ++j) {
    RadiusInterval interval = problem.intervals[j];
    if (interval.low > fit * (1.0 + kFitRelative)) break;
    interval.high = std::min(interval.high, fit);
    interval.low = std::min(interval.low, interval.high);
    if (interval.high > 0.0) clipped.push_back(interval);
  }
}

// The corners of the problem from `first` on, `count` of them, as an open chain.
FilletChain OpenChain(const FilletProblem& problem, size_t first, size_t count) {
  const size_t n = problem.tan_half.size();
  FilletChain open;
  open.radii.tan_half.reserve(count);
  open.radii.line_length.reserve(count + 1);
  open.begin.reserve(count + 1);
  open.intervals.reserve(problem.intervals.size());
  for (size_t j = 0; j < count; ++j) {
    const size_t i = (first + j) % n;
    open.radii.tan_half.push_back(problem.tan_half[i]);
    open.radii.line_length.push_back(problem.line_length[i]);
    AppendClipped(problem, i, open.intervals);
    open.begin.push_back(static_cast<uint32_t>(open.intervals.size()));
  }
  const size_t last = problem.closed ? (first + count) % n : first + count;
  open.radii.line_length.push_back(problem.line_length[last]);
  return open;
}

// The corners of the problem from `first` on, `count` of them, solved as an open chain; the others
// stop.
FilletRadii SolveOpen(const FilletProblem& problem, size_t first, size_t count,
                      PacedStopCheck& stop) {
  const size_t n = problem.tan_half.size();
  FilletChain open = OpenChain(problem, first, count);
  std::vector<double> radius = SolveFilletChain(open, stop);
  FilletRadii result;
  if (first == 0 && count == n) {
    result.radius = std::move(radius);
  } else {
    result.radius.assign(n, 0.0);
    for (size_t j = 0; j < count; ++j) result.radius[(first + j) % n] = radius[j];
  }
  for (size_t i = 0; i < n; ++i) {
    if (result.radius[i] == 0.0) result.stops.push_back(static_cast<uint32_t>(i));
  }
  return result;
}

bool BetterThan(const FilletRadii& a, const FilletRadii& b) {
  if (a.stops.size() != b.stops.size()) return a.stops.size() < b.stops.size();
  std::vector<double> x = a.radius;
  std::vector<double> y = b.radius;
  std::sort(x.begin(), x.end());
  std::sort(y.begin(), y.end());
  const int order = CompareSorted(x, y);
  return order != 0 ? order > 0 : a.stops < b.stops;
}

// A loop: cut at a corner that stops anyway, or at either corner of a conflict; without both
// nothing stops.
FilletRadii ChooseOnLoop(const FilletProblem& problem, PacedStopCheck& stop) {
  const size_t n = problem.tan_half.size();
  std::vector<std::vector<RadiusInterval>> intervals;
  for (size_t i = 0; i < n; ++i) AppendClipped(problem, i, intervals.emplace_back());
  const auto solve_cut_at = [&](size_t corner) {
    return SolveOpen(problem, (corner + 1) % n, n - 1, stop);
  };
  for (size_t i = 0; i < n; ++i) {
    if (intervals[i].empty()) return solve_cut_at(i);
  }
  for (size_t i = 0; n > 1 && i < n; ++i) {
    const size_t next = (i + 1) % n;
    if (!LowsConflict(intervals[i].front().low, problem.tan_half[i], intervals[next].front().low,
                      problem.tan_half[next], problem.line_length[next])) {
      continue;
    }
    FilletRadii a = solve_cut_at(i);
    FilletRadii b = solve_cut_at(next);
    return BetterThan(b, a) ? b : a;
  }
  RadiusChain chain;
  chain.closed = true;
  chain.tan_half.assign(problem.tan_half.begin(), problem.tan_half.end());
  chain.line_length.assign(problem.line_length.begin(), problem.line_length.end());
  chain.stopped.assign(n, 0);
  for (size_t i = 0; i < n; ++i) {
    chain.low.push_back(intervals[i].front().low);
    chain.high.push_back(intervals[i].back().high);
  }
  FilletRadii result;
  result.radius.assign(n, 0.0);
  // Radii that fall into a gap between intervals go to the lower one, until none does.
  for (bool again = true; again;) {
    FillMaxMin(chain, 0, n, stop, result.radius);
    if (stop.stopped()) return result;
    again = false;
    for (size_t i = 0; i < n; ++i) {
      for (size_t gap = 0; gap + 1 < intervals[i].size(); ++gap) {
        if (result.radius[i] > intervals[i][gap].high &&
            result.radius[i] < intervals[i][gap + 1].low) {
          chain.high[i] = intervals[i][gap].high;
          again = true;
        }
      }
    }
  }
  return result;
}

}  // namespace

FilletRadii ChooseFilletRadii(const FilletProblem& problem, PacedStopCheck& stop) {
  const size_t n = problem.tan_half.size();
  if (n == 0) return {};
  return problem.closed ? ChooseOnLoop(problem, stop) : SolveOpen(problem, 0, n, stop);
}

}  // namespace arclane
