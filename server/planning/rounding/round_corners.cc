// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/round_corners.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "server/planning/rounding/cell_chain.h"
#include "server/planning/rounding/corner_optimizer.h"
#include "server/planning/rounding/corner_outcomes.h"
#include "server/planning/rounding/disc_string.h"
#include "server/planning/rounding/inset_path.h"
#include "server/planning/rounding/wall_clearance.h"

namespace arclane {
namespace {

// Insets of the portals for further starts, as fractions of the largest radius.
constexpr double kInsetFractions[] = {0.12, 0.35, 0.8};
// The work of preparing one vertex or portal end of the corridor, in half-plane tests.
constexpr uint64_t kPointWork = 20;
// What the search is left of the budget at least, however large the corridor: preparing it takes
// its time whatever the budget.
constexpr double kSearchShare = 0.75;
// Sweeps that each start gets before the best goes on alone.
constexpr int kProbeSweeps = 3;
constexpr int kFinalSweeps = 60;

// A polyline to start from; contact and side are those of its inner points.
struct StartLine {
  std::vector<Vec2> points;
  std::vector<Vec2> contact;
  std::vector<int8_t> side;
};

std::vector<int8_t> SidesOf(const std::vector<Vec2>& points) {
  std::vector<int8_t> side;
  for (size_t i = 1; i + 1 < points.size(); ++i) {
    const double cross = Cross(points[i] - points[i - 1], points[i + 1] - points[i]);
    side.push_back(cross < 0.0 ? -1 : cross > 0.0 ? 1 : 0);
  }
  return side;
}

StartLine LineOf(std::vector<Vec2> points) {
  points.erase(std::unique(points.begin(), points.end()), points.end());
  StartLine line;
  line.points = std::move(points);
  line.side = SidesOf(line.points);
  if (line.points.size() > 2) line.contact.assign(line.points.begin() + 1, line.points.end() - 1);
  return line;
}

// Drops the inner points that lie on the line between their neighbours, up to `flat`: they turn
// nowhere, and whether they are there depends on rounding.
void DropStraightPoints(double flat, StartLine& line) {
  StartLine kept;
  const size_t count = line.points.size();
  for (size_t i = 0; i < count; ++i) {
    if (i > 0 && i + 1 < count) {
      const Vec2 in = line.points[i] - kept.points.back();
      const Vec2 out = line.points[i + 1] - line.points[i];
      if (Dot(in, out) > 0.0 && std::abs(Cross(in, out)) <= flat * Norm(in + out)) continue;
      kept.contact.push_back(line.contact[i - 1]);
      kept.side.push_back(line.side[i - 1]);
    }
    kept.points.push_back(line.points[i]);
  }
  line = std::move(kept);
}

StartLine LineOf(InsetPath path) {
  return {std::move(path.points), std::move(path.contact), std::move(path.side)};
}

// The ends of the corridor's portals in order of their coordinates, and of the portals where equal.
class PortalEnds {
 public:
  explicit PortalEnds(const Corridor& corridor) {
    for (uint32_t i = 0; i < corridor.portals.size(); ++i) {
      const Portal& portal = corridor.portals[i];
      if (portal.left == portal.right) continue;
      ends_.push_back({portal.left, 2 * i});
      ends_.push_back({portal.right, 2 * i + 1});
    }
    std::sort(ends_.begin(), ends_.end(), Before);
  }

  // The first portal that has the point as its left (+1) or right (-1) end; 0: none.
  int SideOf(Vec2 p) const {
    const auto end = std::lower_bound(ends_.begin(), ends_.end(), End{p, 0}, Before);
    if (end == ends_.end() || !(end->point == p)) return 0;
    return end->index % 2 == 0 ? 1 : -1;
  }

 private:
  struct End {
    Vec2 point;
    uint32_t index;  // Twice that of the portal, and one more for right ends.
  };
  static bool Before(const End& a, const End& b) {
    if (a.point.x != b.point.x) return a.point.x < b.point.x;
    return a.point.y != b.point.y ? a.point.y < b.point.y : a.index < b.index;
  }

  std::vector<End> ends_;
};

// A path straight back turns to the side of the portal end that it goes round.
void SettleReversals(const Corridor& corridor, bool reversed, StartLine& line) {
  constexpr double kStraightBack = 1e-6;
  std::optional<PortalEnds> ends;
  for (size_t i = 0; i < line.contact.size(); ++i) {
    const Vec2 in = line.points[i + 1] - line.points[i];
    const Vec2 out = line.points[i + 2] - line.points[i + 1];
    if (Dot(in, out) > 0.0 || std::abs(Cross(in, out)) > kStraightBack * -Dot(in, out)) continue;
    if (!ends) ends.emplace(corridor);
    const int side = ends->SideOf(line.contact[i]);
    if (side != 0) line.side[i] = static_cast<int8_t>(reversed ? -side : side);
    if (line.side[i] == 0) line.side[i] = 1;
  }
}

// Whether the problem is planned from its goal. A problem and its reverse are planned in the same
// direction, so that they give the same path: the direction is chosen by what both have in common,
// lengths of the taut path from either end, and limits where those are equal.
bool PlanReversed(const std::vector<Vec2>& points, const DrivingLimits& limits) {
  // Lengths that differ by rounding only are equal.
  constexpr double kRelative = 1e-12;
  double total = 0.0;
  for (size_t i = 0; i + 1 < points.size(); ++i) total += Distance(points[i], points[i + 1]);
  for (size_t i = 0, j = points.size() - 1; i < j; ++i, --j) {
    const double front = Distance(points[i], points[i + 1]);
    const double back = Distance(points[j], points[j - 1]);
    if (std::abs(front - back) > kRelative * total) return back < front;
  }
  if (limits.max_acceleration != limits.max_braking) {
    return limits.max_braking < limits.max_acceleration;
  }
  return limits.goal_speed < limits.start_speed;
}

class Rounder {
 public:
  Rounder(const Corridor& corridor, const TautPath& taut, const AgentTurning& turning,
          const DrivingLimits& limits, const RoundingOptions& options, StopCheck stop)
      : corridor_(corridor),
        taut_(taut),
        options_(options),
        taut_points_(taut.points.begin(), taut.points.end()),
        stop_(stop),
        work_(options.work_budget, stop_) {
    taut_points_.erase(std::unique(taut_points_.begin(), taut_points_.end()), taut_points_.end());
    reversed_ = !KeepsFirstLine() && PlanReversed(taut_points_, limits);
    chain_.emplace(corridor, reversed_, &stop_);
    context_.chain = &*chain_;
    context_.turning = turning;
    context_.limits = limits;
    // An agent that cannot turn in place cannot stop at a corner to save time.
    context_.objective =
        turning.can_turn_in_place ? options.objective : RoundingObjective::kFewestStopsThenTime;
    if (reversed_) {
      std::swap(context_.limits.max_acceleration, context_.limits.max_braking);
      std::swap(context_.limits.start_speed, context_.limits.goal_speed);
    }
    context_.turning.radius_max = FiniteRadius(turning, limits);
    work_.used = kPointWork * (corridor.cell_vertices.size() + 2 * corridor.portals.size());
  }

  DrivenPath Round() {
    DrivenPath path = Plan();
    if (stop_.Now()) {
      path = DrivenPath();
      path.status = RoundingStatus::kStopped;
    }
    return path;
  }

 private:
  // Ends early, with anything, once stopped.
  DrivenPath Plan() {
    DrivenPath path;
    if (stop_.Now()) return path;
    StartLine base = LineOf(
        reversed_ ? std::vector<Vec2>(taut_points_.rbegin(), taut_points_.rend()) : taut_points_);
    // Well within the tolerance of containment.
    const double flat = chain_->tolerance() / 8.0;
    DropStraightPoints(flat, base);
    SettleReversals(corridor_, reversed_, base);
    context_.max_length = std::numeric_limits<double>::infinity();
    if (base.points.size() < 2) return path;
    DiscString best(context_);
    WorkMeter unlimited(std::numeric_limits<uint64_t>::max(), stop_);
    if (!best.Reset(base.points, unlimited)) {
      if (stop_.stopped()) return path;
      base = ContainedLine(unlimited);
      SettleReversals(corridor_, reversed_, base);
      best.Reset(base.points, unlimited);
    }
    if (context_.turning.clearance > 0.0) {
      if (stop_.stopped()) return path;
      walls_.emplace(corridor_, TautLines(best), context_.turning.clearance, reversed_, stop_);
      context_.walls = &*walls_;
    }
    if (stop_.stopped()) return path;
    SetMaxLength(best.length());
    best = DiscString(context_);
    best.Reset(base.points, unlimited);
    if (stop_.stopped()) return path;
    const double searching = kSearchShare * static_cast<double>(options_.work_budget);
    preparation_ = work_.used + unlimited.used;
    work_.used = std::min(preparation_, options_.work_budget - static_cast<uint64_t>(searching));
    charged_ = work_.used;
    path.time_stopping_s = best.cost().time_s;
    const double taut_length = best.length();

    Search(base, best, path);
    if (stop_.Now()) return path;
    Emit(best, taut_length, path);
    DescribeCorners(best, path);
    path.work_used = preparation_ + (work_.used - charged_);
    return path;
  }

  // Sets what the path must begin with; false when it may begin anyhow.
  bool KeepsFirstLine() {
    if (!options_.start_direction || taut_points_.size() < 3) return false;
    const Vec2 line = taut_points_[1] - taut_points_[0];
    const FirstLine kept{*options_.start_direction, options_.start_direction_tolerance_rad,
                         line * (1.0 / Norm(line))};
    // A taut path that begins otherwise is no path for this agent at all.
    if (!kept.Allows(kept.taut)) return false;
    context_.first_line = kept;
    return true;
  }

  // Moves the first inner point of a line that begins otherwise than it must onto the taut path's
  // first line, beyond its end.
  void KeepFirstLine(StartLine& line) const {
    if (!context_.first_line || line.points.size() < 3) return;
    const Vec2 start = line.points[0];
    const Vec2 direction = context_.first_line->taut;
    if (context_.first_line->Allows(line.points[1] - start)) return;
    const double taut_length = Distance(taut_points_[0], taut_points_[1]);
    const double along = std::max(Dot(line.points[1] - start, direction), taut_length);
    line.points[1] = start + along * direction;
  }

  double FiniteRadius(const AgentTurning& turning, const DrivingLimits& limits) const {
    double radius = std::min(turning.radius_max,
                             limits.max_speed * limits.max_speed / limits.max_lateral_acceleration);
    if (!(radius > 0.0)) radius = turning.radius_max;  // No lateral limit: every radius is as fast.
    // No arc of a path inside is larger than the corridor.
    Vec2 low = corridor_.start;
    Vec2 high = corridor_.start;
    const auto grow = [&](Vec2 p) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    };
    grow(corridor_.goal);
    for (const Vec2 p : corridor_.cell_vertices) grow(p);
    for (const Portal& portal : corridor_.portals) {
      grow(portal.left);
      grow(portal.right);
    }
    const double extent = Norm(high - low);
    return std::max(std::min(radius, extent), turning.radius_min);
  }

  void SetMaxLength(double taut_length) {
    // The taut length itself errs by rounding.
    constexpr double kRounding = 1e-12;
    context_.max_length =
        taut_length * (1.0 + std::max(options_.max_extra_length_fraction, kRounding));
  }

  // For taut paths that leave the cells: the path through the portals, without the points that it
  // does not need: from each point straight to the furthest one that a line is found to reach, by
  // doubling and halving the step. O(n log n).
  StartLine ContainedLine(WorkMeter& work) const {
    const StartLine all = LineOf(PathThroughPortals(corridor_, reversed_));
    const std::vector<Vec2>& through = all.points;
    if (through.size() < 2) return all;
    // The cells that the path through all points can be in at each; what a line leads to must
    // include them, so that the rest of the path stays contained behind it.
    std::vector<CellRuns> runs = {chain_->RunsAtStart(through[0], work.used)};
    for (size_t i = 0; i + 1 < through.size(); ++i) {
      if (work.stopped()) return all;
      runs.push_back(chain_->AlongLine(runs[i], through[i], through[i + 1], work.used));
      if (runs.back().empty()) return all;
    }
    std::vector<Vec2> points = {through[0]};
    CellRuns at = runs[0];
    for (size_t from = 0; from + 1 < through.size();) {
      CellRuns reached;
      const auto reaches = [&](size_t to) {
        const CellRuns next = chain_->AlongLine(at, through[from], through[to], work.used);
        if (!next.Includes(runs[to])) return false;
        reached = next;
        return true;
      };
      size_t good = from + 1;
      if (!reaches(good)) return all;
      size_t bad = through.size();
      for (size_t step = 2; from + step < bad; step *= 2) {
        if (reaches(from + step)) {
          good = from + step;
        } else {
          bad = from + step;
        }
      }
      while (bad - good > 1) {
        const size_t middle = good + (bad - good) / 2;
        (reaches(middle) ? good : bad) = middle;
      }
      if (work.stopped()) return all;
      points.push_back(through[good]);
      at = reached;
      from = good;
    }
    return LineOf(std::move(points));
  }

  static std::vector<TautLine> TautLines(const DiscString& string) {
    std::vector<TautLine> lines;
    for (size_t i = 0; i + 1 < string.size(); ++i) {
      const CellRuns& from = string.node(i).at_end;
      const CellRuns& to = string.node(i + 1).at_begin;
      if (from.empty() || to.empty()) break;
      const Tangent& line = string.node(i).line;
      lines.push_back({line.from, line.to, from.run[0].first, to.run[to.count - 1].last});
    }
    return lines;
  }

  // Every start gets a few sweeps, the best goes on alone. With work left the other starts are
  // refined to the end as well, and the best of all is explored by trials.
  void Search(const StartLine& base, DiscString& best, DrivenPath& path) {
    std::vector<RejectedArc>* rejected = options_.keep_rejected ? &path.rejected : nullptr;
    std::vector<StartLine> lines = {base};
    std::vector<DiscString> strings = {best};
    size_t best_line = 0;
    const auto work_on = [&](size_t line, int sweeps) {
      CornerOptimizer optimizer(context_, lines[line].contact, lines[line].side,
                                line == 0 && sweeps == kProbeSweeps ? rejected : nullptr);
      DiscString& string = strings[line];
      if (sweeps == kProbeSweeps) {
        optimizer.RoundStops(string, work_);
        optimizer.RoundStubbornStops(string, work_);
      }
      optimizer.Refine(string, sweeps, work_);
      if (string.Better(string.cost(), strings[best_line].cost())) best_line = line;
    };
    if (!base.contact.empty()) work_on(0, kProbeSweeps);
    for (const double fraction : kInsetFractions) {
      if (work_.exhausted() || base.contact.empty()) break;
      StartLine line =
          LineOf(TautInsetPath(corridor_, fraction * context_.turning.radius_max, reversed_));
      KeepFirstLine(line);
      DropStraightPoints(chain_->tolerance() / 8.0, line);
      DiscString string(context_);
      if (!string.Reset(line.points, work_)) continue;
      lines.push_back(std::move(line));
      strings.push_back(std::move(string));
      work_on(lines.size() - 1, kProbeSweeps);
    }
    work_on(best_line, kFinalSweeps);
    const size_t first_finished = best_line;
    for (size_t line = 0; line < lines.size() && !work_.exhausted(); ++line) {
      if (line != first_finished) work_on(line, kFinalSweeps);
    }
    best = std::move(strings[best_line]);
    CornerOptimizer(context_, lines[best_line].contact, lines[best_line].side, nullptr)
        .Explore(best, work_);
  }

  void Emit(const DiscString& string, double taut_length, DrivenPath& path) const {
    AppendElements(string, reversed_, static_cast<uint32_t>(corridor_.cell_count()), path.elements);
    path.length = 0.0;
    for (const PathElement& element : path.elements) path.length += element.length;
    path.extra_length = path.length - taut_length;
    path.time_s = string.cost().time_s;
    path.stop_count = string.cost().stops;
  }

  void DescribeCorners(DiscString& string, DrivenPath& path) {
    path.corners = CornerOutcomes(taut_.points, context_, string, reversed_, stop_);
    for (const CornerOutcome& corner : path.corners) {
      if (corner.kind == CornerKind::kStopped && !context_.turning.can_turn_in_place) {
        path.status = RoundingStatus::kNeedsMotionPlanning;
      }
    }
    if (path.stop_count > 0 && !context_.turning.can_turn_in_place) {
      path.status = RoundingStatus::kNeedsMotionPlanning;
    }
  }

  const Corridor& corridor_;
  const TautPath& taut_;
  const RoundingOptions& options_;
  std::vector<Vec2> taut_points_;
  bool reversed_ = false;
  std::optional<CellChain> chain_;
  std::optional<WallClearance> walls_;
  DiscStringContext context_;
  PacedStopCheck stop_;
  WorkMeter work_;
  uint64_t preparation_ = 0;  // The work before the search,
  uint64_t charged_ = 0;      // and what of it counts.
};

}  // namespace

DrivenPath RoundCorners(const Corridor& corridor, const TautPath& taut, const AgentTurning& turning,
                        const DrivingLimits& limits, const RoundingOptions& options,
                        StopCheck stop) {
  return Rounder(corridor, taut, turning, limits, options, stop).Round();
}

}  // namespace arclane
