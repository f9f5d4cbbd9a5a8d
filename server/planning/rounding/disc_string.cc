// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/disc_string.h"

#include <algorithm>
#include <cmath>

namespace arclane {
namespace {

// The work of forming one candidate's tangents and sweeps, in half-plane tests, by measurement.
constexpr uint64_t kCandidateWork = 40;
constexpr uint64_t kPieceWork = 6;
// The work of moving one node along in memory.
constexpr uint64_t kShiftWork = 4;

}  // namespace

DiscString::DiscString(const DiscStringContext& context)
    : context_(context),
      time_(context.limits.max_acceleration, context.limits.max_braking, context.limits.start_speed,
            context.limits.goal_speed) {}

bool DiscString::IsStop(double radius, double sweep) const {
  return radius == 0.0 && std::abs(sweep) > context_.turning.corner_angle_min_rad;
}

double DiscString::ArcLength(double radius, double sweep) const {
  return radius == 0.0 ? 0.0 : std::abs(radius) * sweep;
}

DrivePiece DiscString::ArcPiece(double radius, double sweep) const {
  const DrivingLimits& limits = context_.limits;
  if (IsStop(radius, sweep)) return {0.0, 0.0, std::abs(sweep) / context_.turning.turn_speed_rad_s};
  if (radius == 0.0) return {0.0, limits.max_speed, 0.0};
  const double cap = std::sqrt(limits.max_lateral_acceleration * std::abs(radius));
  return {std::abs(radius) * sweep, std::min(limits.max_speed, cap), 0.0};
}

bool DiscString::Better(const PathCost& a, const PathCost& b) const {
  // Improvements below this are rounding, or not worth the work of taking them.
  constexpr double kWorthwhile = 1e-9;
  if (a.excess != b.excess) return a.excess < b.excess;
  if (context_.objective == RoundingObjective::kFewestStopsThenTime && a.stops != b.stops) {
    return a.stops < b.stops;
  }
  return a.time_s < b.time_s * (1.0 - kWorthwhile);
}

bool DiscString::AdvanceArc(const CellRuns& from, const Disc& disc, Vec2 in, Vec2 out, double sweep,
                            CellRuns& to, WorkMeter& work) const {
  if (disc.radius == 0.0) {
    to = from;
    return true;
  }
  to = context_.chain->AlongArc(from, disc.center, disc.radius, in, out, sweep, work.used);
  if (to.empty()) return false;
  return context_.walls == nullptr ||
         context_.walls->ArcKeeps(disc.center, disc.radius, in, out, sweep, from.run[0].first,
                                  to.run[to.count - 1].last, work.used);
}

bool DiscString::AdvanceLine(const CellRuns& from, const Tangent& line, CellRuns& to,
                             WorkMeter& work) const {
  to = context_.chain->AlongLine(from, line.from, line.to, work.used);
  if (to.empty()) return false;
  return context_.walls == nullptr ||
         context_.walls->LineKeeps(line.from, line.to, from.run[0].first, to.run[to.count - 1].last,
                                   work.used);
}

bool DiscString::Reset(std::span<const Vec2> points, WorkMeter& work) {
  const size_t count = points.size();
  nodes_.assign(count, Node{});
  tried_pieces_.clear();
  cost_ = {};
  length_ = 0.0;
  for (size_t i = 0; i < count; ++i) {
    Node& node = nodes_[i];
    node.corner.disc.center = points[i];
    if (i > 0 && i + 1 < count) {
      node.corner.corner_first = static_cast<uint32_t>(i - 1);
      node.corner.corner_limit = static_cast<uint32_t>(i);
    }
    if (i + 1 < count) {
      if (!CommonTangent({points[i], 0.0}, {points[i + 1], 0.0}, node.line)) return false;
      length_ += node.line.length;
    }
    if (i > 0 && i + 1 < count) {
      const Vec2 in = nodes_[i - 1].line.direction;
      node.sweep = AngleOf(Cross(in, node.line.direction), Dot(in, node.line.direction));
      if (IsStop(i)) ++cost_.stops;
    }
    tried_pieces_.push_back(ArcPiece(0.0, node.sweep));
    if (i + 1 < count) {
      tried_pieces_.push_back({node.line.length, context_.limits.max_speed, 0.0});
    }
  }
  time_.Reset(tried_pieces_);
  cost_.time_s = time_.current().time_s;
  cost_.excess = time_.current().start_excess + time_.current().goal_excess +
                 std::max(0.0, length_ - context_.max_length);
  nodes_[0].at_begin = nodes_[0].at_end = context_.chain->RunsAtStart(points[0], work.used);
  for (size_t i = 0; i + 1 < count; ++i) {
    Node& next = nodes_[i + 1];
    if (work.stopped()) return false;
    if (!AdvanceLine(nodes_[i].at_end, nodes_[i].line, next.at_begin, work)) return false;
    next.at_end = next.at_begin;
  }
  return context_.chain->EndsInLastCell(nodes_.back().at_end);
}

TryResult DiscString::Replace(size_t first, size_t last, std::span<const CornerDisc> discs,
                              WorkMeter& work, Acceptance acceptance) {
  const TryResult result = Judge(first, last, discs, work, acceptance);
  if (result != TryResult::kAccepted) return result;
  if (last - first != discs.size()) work.used += kShiftWork * (nodes_.size() - first);
  Accept(first, last);
  return result;
}

TryResult DiscString::Judge(size_t first, size_t last, std::span<const CornerDisc> discs,
                            WorkMeter& work, Acceptance acceptance) {
  if (work.exhausted()) return TryResult::kOutOfWork;
  work.used += kCandidateWork;
  const size_t added = discs.size();
  // Nodes before, new, after.
  if (tried_.size() < added + 2) tried_.resize(added + 2);
  const auto copy_node = [](const Node& from, Node& to) {
    to.corner = from.corner;
    to.sweep = from.sweep;
    to.line = from.line;
    to.at_begin = from.at_begin;
  };
  copy_node(nodes_[first - 1], tried_[0]);
  copy_node(nodes_[last], tried_[added + 1]);
  for (size_t i = 0; i < added; ++i) tried_[i + 1].corner = discs[i];
  for (size_t i = 0; i <= added; ++i) {
    if (!CommonTangent(tried_[i].corner.disc, tried_[i + 1].corner.disc, tried_[i].line)) {
      return TryResult::kNoTangent;
    }
  }
  if (first == 1 && context_.first_line && !KeepFirstLine(added)) return TryResult::kNoTangent;
  for (size_t i = 0; i < added + 2; ++i) {
    Node& node = tried_[i];
    const bool at_start = i == 0 && first == 1;
    const bool at_goal = i == added + 1 && last + 1 == nodes_.size();
    if (at_start || at_goal) continue;
    const Vec2 in = i == 0 ? nodes_[first - 2].line.direction : tried_[i - 1].line.direction;
    const double radius = node.corner.disc.radius;
    node.sweep = radius == 0.0
                     ? AngleOf(Cross(in, node.line.direction), Dot(in, node.line.direction))
                     : SweepAngle(radius, in, node.line.direction);
    if (radius != 0.0 && node.sweep < 0.0) return TryResult::kNoTangent;
  }

  double length = length_;
  tried_cost_.stops = cost_.stops;
  for (size_t i = first - 1; i <= last; ++i) {
    length -= ArcLength(nodes_[i].corner.disc.radius, nodes_[i].sweep);
    if (i < last) length -= nodes_[i].line.length;
    if (IsStop(i)) --tried_cost_.stops;
  }
  tried_pieces_.clear();
  for (size_t i = 0; i < added + 2; ++i) {
    const double radius = tried_[i].corner.disc.radius;
    tried_pieces_.push_back(ArcPiece(radius, tried_[i].sweep));
    length += tried_pieces_.back().length;
    if (IsStop(radius, tried_[i].sweep)) ++tried_cost_.stops;
    if (i <= added) {
      tried_pieces_.push_back({tried_[i].line.length, context_.limits.max_speed, 0.0});
      length += tried_[i].line.length;
    }
  }
  tried_length_ = length;

  const DriveTime::Result result = time_.Try(2 * (first - 1), 2 * last + 1, tried_pieces_);
  work.used += kPieceWork * time_.visited();
  tried_cost_.time_s = result.time_s;
  const double overrun = std::max(0.0, length - context_.max_length);
  tried_cost_.excess = result.start_excess + result.goal_excess + overrun;
  if ((acceptance == Acceptance::kBetter && !Better(tried_cost_, cost_)) ||
      (acceptance == Acceptance::kNotWorse && Better(cost_, tried_cost_))) {
    return overrun > 0.0 ? TryResult::kTooLong : TryResult::kNotBetter;
  }
  return Contained(first, last, work) ? TryResult::kAccepted : TryResult::kLeavesCorridor;
}

// Of the tried nodes, whose first is the start. False when there is nothing to move or no line.
bool DiscString::KeepFirstLine(size_t added) {
  const FirstLine& kept = *context_.first_line;
  if (kept.Allows(tried_[0].line.direction)) return true;
  if (added == 0) return false;
  const Vec2 start = tried_[0].corner.disc.center;
  Disc& disc = tried_[1].corner.disc;
  const double along = Dot(disc.center - start, kept.taut);
  if (!(along > 0.0)) return false;
  disc.center = start + along * kept.taut + disc.radius * LeftNormal(kept.taut);
  return CommonTangent(tried_[0].corner.disc, disc, tried_[0].line) &&
         CommonTangent(disc, tried_[2].corner.disc, tried_[1].line);
}

bool DiscString::Contained(size_t first, size_t last, WorkMeter& work) {
  const size_t after = tried_pieces_.size() / 2;  // Index in tried_ of the node after the change.
  Vec2 in = first >= 2 ? nodes_[first - 2].line.direction : Vec2{};
  for (size_t i = 0; i <= after; ++i) {
    Node& node = tried_[i];
    if (i > 0) {
      if (!AdvanceLine(tried_[i - 1].at_end, tried_[i - 1].line, node.at_begin, work)) return false;
      in = tried_[i - 1].line.direction;
    }
    if (!AdvanceArc(node.at_begin, node.corner.disc, in, node.line.direction, node.sweep,
                    node.at_end, work)) {
      return false;
    }
  }
  // Beyond the change the path is the same; go on only while other cells can be reached than
  // before.
  tried_after_.clear();
  CellRuns runs = tried_[after].at_end;
  const CellRuns* before = &nodes_[last].at_end;
  for (size_t i = last; !(runs == *before); ++i) {
    if (i + 1 == nodes_.size()) return context_.chain->EndsInLastCell(runs);
    CellRuns next;
    const Node& node = nodes_[i + 1];
    if (!AdvanceLine(runs, nodes_[i].line, next, work)) return false;
    tried_after_.push_back(next);
    if (next == node.at_begin) break;
    if (!AdvanceArc(next, node.corner.disc, nodes_[i].line.direction, node.line.direction,
                    node.sweep, runs, work)) {
      return false;
    }
    tried_after_.push_back(runs);
    before = &node.at_end;
  }
  return true;
}

void DiscString::Accept(size_t first, size_t last) {
  const size_t added = tried_pieces_.size() / 2 - 1;
  const size_t removed = last - first;
  if (added > removed) {
    nodes_.insert(nodes_.begin() + first, added - removed, Node{});
  } else if (added < removed) {
    nodes_.erase(nodes_.begin() + first, nodes_.begin() + first + (removed - added));
  }
  for (size_t i = 0; i < added + 2; ++i) nodes_[first - 1 + i] = tried_[i];
  size_t node = first + added;
  for (size_t i = 0; i < tried_after_.size(); ++i) {
    if (i % 2 == 0) {
      nodes_[++node].at_begin = tried_after_[i];
    } else {
      nodes_[node].at_end = tried_after_[i];
    }
  }
  time_.Accept();
  cost_ = tried_cost_;
  length_ = tried_length_;
}

}  // namespace arclane
