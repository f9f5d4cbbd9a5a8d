// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/fillet_chain.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

namespace arclane {
namespace {

// Alternatives of one conflict run that are compared; a run of more has only its outer ones
// compared.
constexpr size_t kMaxAlternatives = 64;
// Corners that are looked at on either side of a conflict run at first, to see how far its stops
// matter; doubled until far enough.
constexpr size_t kFirstReach = 4;
// A corner's radius depends on its two lines: where two corners beside one another keep their radii
// nothing beyond them changes.
constexpr size_t kSettled = 2;
// Radii that are tried for comparisons, for each corner of the chain and in all, before conflicts
// are decided one after the other.
constexpr size_t kTrialsPerCorner = 32;
constexpr size_t kTrials = size_t{1} << 18;

// Equal up to rounding.
bool SameRadius(double a, double b) {
  constexpr double kSame = 1e-12;
  return std::abs(a - b) <= kSame * std::max(a, b);
}

// A chain with its solution so far.
class ChainSolver {
 public:
  ChainSolver(FilletChain& open, PacedStopCheck& stop)
      : chain_(open.radii), intervals_(open.intervals), begin_(open.begin), stop_(stop) {}

  std::vector<double> Solve() {
    const size_t n = chain_.size();
    chain_.low.assign(n, 0.0);
    chain_.high.assign(n, 0.0);
    chain_.stopped.assign(n, 0);
    radius_.assign(n, 0.0);
    trials_left_ = kTrials + kTrialsPerCorner * n;
    for (size_t i = 0; i < n; ++i) {
      if (Count(i) == 0) chain_.stopped[i] = 1;
    }
    ChooseStops();
    SolveWindow({0, n}, radius_);
    return std::move(radius_);
  }

 private:
  size_t Count(size_t i) const { return begin_[i + 1] - begin_[i]; }
  const RadiusInterval& Interval(size_t i, size_t j) const { return intervals_[begin_[i] + j]; }

  bool Conflict(size_t i) const {  // Between corners i and i + 1.
    if (Count(i) == 0 || Count(i + 1) == 0) return false;
    return LowsConflict(Interval(i, 0).low, chain_.tan_half[i], Interval(i + 1, 0).low,
                        chain_.tan_half[i + 1], chain_.line_length[i + 1]);
  }

  // Corners [first, limit).
  struct Window {
    size_t first;
    size_t limit;
    size_t size() const { return limit - first; }
  };

  // A maximal run of corners whose neighbours conflict: [first, first + edges].
  struct ConflictRun {
    size_t first;
    size_t edges;
    size_t limit() const { return first + edges + 1; }
  };

  // Every smallest cover of a run of an odd number of conflicts: s stops at its odd corners, then
  // at even ones.
  void SetStops(const ConflictRun& run, size_t s) {
    for (size_t v = 0; v <= run.edges; ++v) chain_.stopped[run.first + v] = 0;
    for (size_t j = 0; j < s; ++j) chain_.stopped[run.first + 2 * j + 1] = 1;
    for (size_t v = 2 * s; v < run.edges; v += 2) chain_.stopped[run.first + v] = 1;
  }

  void ChooseStops() {
    std::vector<ConflictRun> open;  // Runs with a choice.
    const size_t n = chain_.size();
    for (size_t i = 0; i + 1 < n; ++i) {
      if (!Conflict(i)) continue;
      ConflictRun run{i, 0};
      while (run.first + run.edges + 1 < n && Conflict(run.first + run.edges)) ++run.edges;
      if (run.edges % 2 == 0) {
        for (size_t v = 1; v < run.edges; v += 2) chain_.stopped[run.first + v] = 1;
      } else {
        SetStops(run, 0);
        open.push_back(run);
      }
      i = run.first + run.edges - 1;
    }
    if (open.empty()) return;
    trial_radius_.assign(n, 0.0);
    SolveWindow({0, n}, radius_);
    // Runs interact where the radii that depend on one touch those that depend on the other.
    std::vector<Window> touched;
    for (const ConflictRun& run : open) touched.push_back(TouchedBy(run));
    for (size_t i = 0; i < open.size() && !stop_.stopped();) {
      Window window = touched[i];
      size_t j = i + 1;
      for (; j < open.size() && touched[j].first < window.limit; ++j) {
        window.limit = std::max(window.limit, touched[j].limit);
      }
      DecideRuns({open.data() + i, j - i}, window);
      i = j;
    }
  }

  std::vector<size_t> Alternatives(const ConflictRun& run) const {
    const size_t last = (run.edges + 1) / 2;
    std::vector<size_t> alternatives;
    if (last < kMaxAlternatives) {
      for (size_t s = 0; s <= last; ++s) alternatives.push_back(s);
    } else {
      alternatives = {0, 1, last - 1, last};
    }
    return alternatives;
  }

  // The corners between the stops on either side, whose radii alone can depend on the window's.
  Window Surroundings(Window window) const {
    while (window.first > 0 && !chain_.stopped[window.first - 1]) --window.first;
    while (window.limit < chain_.size() && !chain_.stopped[window.limit]) ++window.limit;
    return window;
  }

  // Where a radius that lies in a gap between intervals is moved by a search over whole stretches.
  bool HasGaps(Window window) const {
    for (size_t i = window.first; i < window.limit; ++i) {
      if (Count(i) > 1) return true;
    }
    return false;
  }

  // The corners whose radii depend on how the run's conflicts are decided, as the others are
  // decided now, with kSettled more on either side.
  Window TouchedBy(const ConflictRun& run) {
    const Window own{run.first, run.limit()};
    const Window all = Surroundings(own);
    if (HasGaps(all)) return all;
    const std::vector<size_t> alternatives = Alternatives(run);
    for (size_t reach = kFirstReach;; reach *= 2) {
      const Window window = Wider(own, all, reach);
      const size_t cost = alternatives.size() * window.size();
      if (cost > trials_left_ || stop_.stopped()) return all;
      trials_left_ -= cost;
      Window changed = own;
      for (const size_t alternative : alternatives) {
        SetStops(run, alternative);
        SolveWindow(window, trial_radius_);
        for (size_t i = window.first; i < changed.first; ++i) {
          if (!SameRadius(trial_radius_[i], radius_[i])) changed.first = i;
        }
        for (size_t i = window.limit; i-- > changed.limit;) {
          if (!SameRadius(trial_radius_[i], radius_[i])) changed.limit = i + 1;
        }
      }
      SetStops(run, 0);
      const Window touched = Wider(changed, all, kSettled);
      if (touched.first >= window.first && touched.limit <= window.limit) return touched;
    }
  }

  static Window Wider(Window window, Window most, size_t by) {
    return {window.first > most.first + by ? window.first - by : most.first,
            std::min(window.limit + by, most.limit)};
  }

  void DecideRuns(std::span<const ConflictRun> runs, Window window) {
    size_t combinations = 1;
    for (const ConflictRun& run : runs) {
      combinations *= Alternatives(run).size();
      if (combinations > static_cast<size_t>(kMaxIntervalChoices)) break;
    }
    if (combinations <= static_cast<size_t>(kMaxIntervalChoices) &&
        DecideTogether(runs, combinations, window)) {
      return;
    }
    // Too many combinations: one run after the other, with the next as it stands.
    for (const ConflictRun& run : runs) {
      Decide({&run, 1}, Alternatives(run).size(), Surroundings({run.first, run.limit()}));
    }
  }

  // False: that would be too much work. Combinations of stops may matter further away than each
  // run's own.
  bool DecideTogether(std::span<const ConflictRun> runs, size_t combinations, Window window) {
    const Window all = Surroundings(
        {std::min(window.first, runs.front().first), std::max(window.limit, runs.back().limit())});
    if (runs.size() > 1 && HasGaps(all)) window = all;
    for (size_t reach = kFirstReach;; reach *= 2) {
      const size_t cost = combinations * window.size();
      if (cost > trials_left_) return false;
      trials_left_ -= cost;
      if (Decide(runs, combinations, window) || stop_.stopped()) return true;
      window = Wider(window, all, reach);
    }
  }

  // Whether the trial agrees with the present radii next to those outside the window.
  bool SettledAtEnds(Window window) const {
    const auto same = [&](size_t i) { return SameRadius(trial_radius_[i], radius_[i]); };
    const auto inner = [&](size_t i) { return i < chain_.size() && !chain_.stopped[i]; };
    for (size_t d = 0; d < std::min(kSettled, window.size()); ++d) {
      if (window.first > 0 && inner(window.first - 1) && !same(window.first + d)) return false;
      if (inner(window.limit) && !same(window.limit - 1 - d)) return false;
    }
    return true;
  }

  // Combinations are tried with the lowest stop indices first, so that they win among equals: more
  // stops at even corners of the first runs come first. False, with nothing changed, when one
  // matters beyond the window.
  bool Decide(std::span<const ConflictRun> runs, size_t combinations, Window window) {
    std::vector<std::vector<size_t>> alternatives;
    for (const ConflictRun& run : runs) alternatives.push_back(Alternatives(run));
    const auto set = [&](size_t combination) {
      for (size_t r = runs.size(); r-- > 0;) {
        SetStops(runs[r], alternatives[r][combination % alternatives[r].size()]);
        combination /= alternatives[r].size();
      }
    };
    size_t best = 0;
    std::vector<double> best_radii;
    std::vector<double> radii;
    for (size_t c = 0; c < combinations; ++c) {
      set(c);
      SolveWindow(window, trial_radius_);
      if (stop_.stopped()) return true;
      if (!SettledAtEnds(window)) {
        set(0);
        return false;
      }
      radii.clear();
      for (size_t i = window.first; i < window.limit; ++i) {
        if (!chain_.stopped[i]) radii.push_back(trial_radius_[i]);
      }
      std::sort(radii.begin(), radii.end());
      if (c == 0 || CompareSorted(radii, best_radii) > 0) {
        best = c;
        std::swap(best_radii, radii);
      }
    }
    set(best);
    SolveWindow(window, radius_);
    return true;
  }

  // The radii of the window under the present stops, beside those outside as they are in `radius`.
  void SolveWindow(Window window, std::vector<double>& values) {
    const auto trim = [&](size_t i) {
      return i < chain_.size() && !chain_.stopped[i] ? radius_[i] * chain_.tan_half[i] : 0.0;
    };
    double& before = chain_.line_length[window.first];
    double& after = chain_.line_length[window.limit];
    const double before_length = before;
    const double after_length = after;
    if (window.first > 0) before = std::max(0.0, before - trim(window.first - 1));
    after = std::max(0.0, after - trim(window.limit));
    for (size_t first = window.first; first < window.limit;) {
      if (chain_.stopped[first]) {
        values[first++] = 0.0;
        continue;
      }
      size_t limit = first;
      while (limit < window.limit && !chain_.stopped[limit]) ++limit;
      SolveRun(first, limit, values);
      first = limit;
    }
    before = before_length;
    after = after_length;
  }

  // Max-min radii of a run without stops. Where corners have several intervals the relaxation to
  // their hull is solved and branched on until no radius lies in a gap.
  void SolveRun(size_t first, size_t limit, std::vector<double>& values) {
    if (first >= limit) return;
    bool gaps = false;
    for (size_t i = first; i < limit; ++i) {
      chain_.low[i] = Interval(i, 0).low;
      chain_.high[i] = Interval(i, Count(i) - 1).high;
      gaps = gaps || Count(i) > 1;
    }
    if (!gaps) {
      FillMaxMin(chain_, first, limit, stop_, values);
      return;
    }
    std::vector<std::pair<size_t, size_t>> allowed;
    for (size_t i = first; i < limit; ++i) allowed.emplace_back(0, Count(i));
    best_sorted_.clear();
    best_values_.clear();
    choices_left_ = kMaxIntervalChoices;
    Branch(first, limit, allowed, values);
    std::copy(best_values_.begin(), best_values_.end(), values.begin() + first);
  }

  bool LowsFit(size_t first, size_t limit) const {
    for (size_t i = first; i < limit; ++i) {
      const double trim = chain_.low[i] * chain_.tan_half[i];
      const double next = i + 1 < limit ? chain_.low[i + 1] * chain_.tan_half[i + 1] : 0.0;
      if (trim + next > chain_.line_length[i + 1] * (1.0 + kFitRelative)) return false;
      if (i == first && trim > chain_.line_length[i] * (1.0 + kFitRelative)) return false;
    }
    return true;
  }

  void Branch(size_t first, size_t limit, std::vector<std::pair<size_t, size_t>>& allowed,
              std::vector<double>& values) {
    for (size_t i = first; i < limit; ++i) {
      chain_.low[i] = Interval(i, allowed[i - first].first).low;
      chain_.high[i] = Interval(i, allowed[i - first].second - 1).high;
    }
    if (!LowsFit(first, limit)) return;
    if (stop_.stopped()) return;
    FillMaxMin(chain_, first, limit, stop_, values);
    std::vector<double> sorted(values.begin() + first, values.begin() + limit);
    std::sort(sorted.begin(), sorted.end());
    // A relaxation that is no better than the best holds nothing better.
    if (!best_values_.empty() && CompareSorted(sorted, best_sorted_) <= 0) return;
    for (size_t i = first; i < limit; ++i) {
      const std::pair<size_t, size_t> range = allowed[i - first];
      for (size_t gap = range.first; gap + 1 < range.second; ++gap) {
        if (!(values[i] > Interval(i, gap).high && values[i] < Interval(i, gap + 1).low)) continue;
        if (--choices_left_ > 0) {
          allowed[i - first] = {gap + 1, range.second};
          Branch(first, limit, allowed, values);
        }
        allowed[i - first] = {range.first, gap + 1};
        Branch(first, limit, allowed, values);
        allowed[i - first] = range;
        return;
      }
    }
    best_sorted_ = std::move(sorted);
    best_values_.assign(values.begin() + first, values.begin() + limit);
  }

  RadiusChain& chain_;
  const std::vector<RadiusInterval>& intervals_;
  const std::vector<uint32_t>& begin_;
  std::vector<double> radius_;
  PacedStopCheck& stop_;
  std::vector<double> trial_radius_;
  // Limited over the whole chain, so that long chains stay linear.
  size_t trials_left_ = 0;
  std::vector<double> best_sorted_;
  std::vector<double> best_values_;
  int choices_left_ = 0;
};

}  // namespace

int CompareSorted(const std::vector<double>& a, const std::vector<double>& b) {
  constexpr double kSame = 1e-12;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (std::abs(a[i] - b[i]) > kSame * std::max(a[i], b[i])) return a[i] < b[i] ? -1 : 1;
  }
  return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
}

bool LowsConflict(double low, double k, double next_low, double next_k, double length) {
  const double trims = low * k + next_low * next_k;
  if (low == 0.0 || next_low == 0.0) return trims >= length * (1.0 - kFitRelative);
  return trims > length * (1.0 + kFitRelative);
}

std::vector<double> SolveFilletChain(FilletChain& chain, PacedStopCheck& stop) {
  return ChainSolver(chain, stop).Solve();
}

}  // namespace arclane
