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

// A path straight back turns to the side of the portal end that it goes round.
void SettleReversals(const Corridor& corridor, bool reversed, StartLine& line) {
  constexpr double kStraightBack = 1e-6;
  for (size_t i = 0; i < line.contact.size(); ++i) {
    const Vec2 in = line.points[i + 1] - line.points[i];
    const Vec2 out = line.points[i + 2] - line.points[i + 1];
    if (Dot(in, out) > 0.0 || std::abs(Cross(in, out)) > kStraightBack * -Dot(in, out)) continue;
    for (const Portal& portal : corridor.portals) {
      const bool at_left = portal.left == line.contact[i];
      if (at_left == (portal.right == line.contact[i])) continue;
      line.side[i] = at_left == reversed ? -1 : 1;
      break;
    }
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
          const DrivingLimits& limits, const RoundingOptions& options)
      : corridor_(corridor),
        taut_(taut),
        options_(options),
        taut_points_(taut.points.begin(), taut.points.end()) {
    taut_points_.erase(std::unique(taut_points_.begin(), taut_points_.end()), taut_points_.end());
    reversed_ = PlanReversed(taut_points_, limits);
    chain_.emplace(corridor, reversed_);
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
    work_.limit = options.work_budget;
    work_.used = kPointWork * (corridor.cell_vertices.size() + 2 * corridor.portals.size());
  }

  DrivenPath Round() {
    DrivenPath path;
    StartLine base = LineOf(
        reversed_ ? std::vector<Vec2>(taut_points_.rbegin(), taut_points_.rend()) : taut_points_);
    // Well within the tolerance of containment.
    const double flat = chain_->tolerance() / 8.0;
    DropStraightPoints(flat, base);
    SettleReversals(corridor_, reversed_, base);
    context_.max_length = std::numeric_limits<double>::infinity();
    if (base.points.size() < 2) return path;
    DiscString best(context_);
    WorkMeter unlimited{0, std::numeric_limits<uint64_t>::max()};
    if (!best.Reset(base.points, unlimited)) {
      base = ContainedLine(best, unlimited);
      SettleReversals(corridor_, reversed_, base);
    }
    if (context_.turning.clearance > 0.0) {
      walls_.emplace(corridor_, base.points, context_.turning.clearance, reversed_);
      context_.walls = &*walls_;
    }
    SetMaxLength(best.length());
    best = DiscString(context_);
    best.Reset(base.points, unlimited);
    work_.used += unlimited.used;
    path.time_stopping_s = best.cost().time_s;
    const double taut_length = best.length();

    Search(base, best, path);
    Emit(best, taut_length, path);
    DescribeCorners(best, path);
    path.work_used = work_.used;
    return path;
  }

 private:
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
  // does not need.
  StartLine ContainedLine(DiscString& string, WorkMeter& work) const {
    StartLine line = LineOf(PathThroughPortals(corridor_, reversed_));
    if (line.points.size() < 2 || !string.Reset(line.points, work)) return line;
    for (size_t i = 1; i + 1 < string.size();) {
      const bool dropped =
          string.Replace(i, i + 1, {}, work, Acceptance::kNotWorse) == TryResult::kAccepted;
      // A point that could not go before may go once its neighbour has.
      i = dropped ? std::max<size_t>(1, i - 1) : i + 1;
    }
    std::vector<Vec2> points;
    for (size_t i = 0; i < string.size(); ++i) points.push_back(string.node(i).corner.disc.center);
    return LineOf(std::move(points));
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

  void DescribeCorners(const DiscString& string, DrivenPath& path) const {
    path.corners = CornerOutcomes(taut_.points, context_, string, reversed_);
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
  WorkMeter work_;
};

}  // namespace

DrivenPath RoundCorners(const Corridor& corridor, const TautPath& taut, const AgentTurning& turning,
                        const DrivingLimits& limits, const RoundingOptions& options) {
  return Rounder(corridor, taut, turning, limits, options).Round();
}

}  // namespace arclane
