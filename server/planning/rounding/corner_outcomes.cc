// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/corner_outcomes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace arclane {
namespace {

// Turns within this of a half turn are hairpins: the trims of an arc would be a million times its
// radius.
constexpr double kHairpin = std::numbers::pi - 1e-6;
// Radii below the smallest wanted that are tried to tell why a corner stops.
constexpr int kProbes = 8;
// A corner is looked for on so many discs beyond the one of the corner before it.
constexpr size_t kLookAhead = 64;

// Stops that are explained by trials; a path with more has more corners than a budget of work
// reaches.
constexpr size_t kExplainedStops = 32;

Vec2 Opposite(Vec2 v) { return -v; }

// Distance of a point to the arc that the string drives on node i, or to its point where there is
// no disc.
double DistanceToArc(const DiscString& string, size_t i, Vec2 p) {
  const DiscString::Node& node = string.node(i);
  const Disc& disc = node.corner.disc;
  if (disc.radius == 0.0) return Distance(p, disc.center);
  const double side = disc.radius < 0.0 ? -1.0 : 1.0;
  const Vec2 to_begin = string.node(i - 1).line.to - disc.center;
  const Vec2 direction = p - disc.center;
  double angle = side * std::atan2(Cross(to_begin, direction), Dot(to_begin, direction));
  if (angle < 0.0) angle += 2.0 * std::numbers::pi;
  if (angle <= node.sweep) return std::abs(Norm(direction) - std::abs(disc.radius));
  return std::min(Distance(p, string.node(i - 1).line.to), Distance(p, node.line.from));
}

// Why node i, a stop, is one: the smaller radii that fit, or how all tried ones failed.
void ExplainStop(const DiscStringContext& context, DiscString& string, size_t i,
                 PacedStopCheck& stop, CornerOutcome& outcome) {
  outcome.kind = CornerKind::kStopped;
  if (std::abs(string.node(i).sweep) > kHairpin) {
    outcome.reason = StopReason::kHairpin;
    return;
  }
  const Vec2 in = string.node(i - 1).line.direction;
  const Vec2 out = string.node(i).line.direction;
  const double side = Cross(in, out) < 0.0 ? -1.0 : 1.0;
  const Vec2 outward = (in - out) * (1.0 / Norm(in - out));
  const Vec2 apex = string.node(i).corner.disc.center;
  const double smallest = context.turning.radius_min > 0.0 ? context.turning.radius_min
                                                           : context.turning.radius_max / 512.0;
  bool slower = false;
  bool too_long = false;
  bool leaves = false;
  double radius = smallest;
  WorkMeter work(std::numeric_limits<uint64_t>::max(), stop);
  for (int probe = 0; probe < kProbes; ++probe, radius *= 0.5) {
    CornerDisc candidate = string.node(i).corner;
    candidate.disc = {apex - radius * outward, side * radius};
    switch (string.Judge(i, i + 1, {&candidate, 1}, work)) {
      case TryResult::kAccepted:
        // What the agent can drive fits after all: the search had not come so far.
        outcome.reason = context.turning.radius_min > 0.0 && probe > 0 ? StopReason::kMinimumRadius
                                                                       : StopReason::kWorkBudget;
        outcome.radius_that_fits = radius;
        return;
      case TryResult::kNotBetter:
        slower = true;
        break;
      case TryResult::kTooLong:
        too_long = true;
        break;
      case TryResult::kLeavesCorridor:
        leaves = true;
        break;
      default:
        break;
    }
  }
  outcome.reason = slower     ? StopReason::kSlower
                   : too_long ? StopReason::kExtraLength
                   : leaves   ? StopReason::kNoRoom
                              : StopReason::kTooShort;
}

}  // namespace

void AppendElements(const DiscString& string, bool reversed, uint32_t cell_count,
                    std::vector<PathElement>& elements) {
  const size_t count = string.size();
  const auto cell_of = [&](const CellRuns& runs) {
    if (runs.empty()) return 0u;
    return reversed ? cell_count - 1 - runs.run[runs.count - 1].last : runs.run[0].first;
  };
  const auto add_arc = [&](size_t i) {
    if (i == 0 || i + 1 == count) return;
    const DiscString::Node& node = string.node(i);
    const DiscString::Node& before = string.node(i - 1);
    const double radius = node.corner.disc.radius;
    PathElement element;
    element.cell = cell_of(reversed ? node.at_end : node.at_begin);
    element.start = reversed ? node.line.from : before.line.to;
    element.direction = reversed ? Opposite(node.line.direction) : before.line.direction;
    if (radius == 0.0) {
      if (!string.IsStop(i)) return;
      element.kind = PathElementKind::kTurn;
      element.turn_rad = reversed ? -node.sweep : node.sweep;
    } else {
      if (!(node.sweep > 0.0)) return;
      element.kind = PathElementKind::kArc;
      element.length = std::abs(radius) * node.sweep;
      element.curvature = (reversed ? -1.0 : 1.0) / radius;
      element.turn_rad = std::copysign(node.sweep, element.curvature);
    }
    elements.push_back(element);
  };
  const auto add_line = [&](size_t i) {
    const Tangent& line = string.node(i).line;
    if (!(line.length > 0.0)) return;
    PathElement element;
    element.kind = PathElementKind::kLine;
    element.start = reversed ? line.to : line.from;
    element.direction = reversed ? Opposite(line.direction) : line.direction;
    element.length = line.length;
    element.cell = cell_of(reversed ? string.node(i + 1).at_begin : string.node(i).at_end);
    elements.push_back(element);
  };
  for (size_t step = 0; step < count; ++step) {
    const size_t i = reversed ? count - 1 - step : step;
    add_arc(i);
    if (reversed ? i > 0 : i + 1 < count) add_line(reversed ? i - 1 : i);
  }
}

std::vector<CornerOutcome> CornerOutcomes(std::span<const Vec2> taut,
                                          const DiscStringContext& context, DiscString& string,
                                          bool reversed, PacedStopCheck& stop) {
  std::vector<CornerOutcome> outcomes;
  std::vector<size_t> owner;
  std::vector<double> distance;
  std::vector<size_t> nearest(string.size(), SIZE_MAX);  // Of the outcomes of each node.
  const size_t count = string.size();
  size_t from = 1;
  for (size_t i = 1; i + 1 < taut.size(); ++i) {
    CornerOutcome outcome;
    outcome.corner = static_cast<uint32_t>(i);
    outcome.position = taut[i];
    if (taut[i] == taut[i - 1]) continue;  // The same corner again.
    size_t after = i + 1;
    while (after + 1 < taut.size() && taut[after] == taut[i]) ++after;
    outcome.turn_rad = TurnAngle(taut[i] - taut[i - 1], taut[after] - taut[i]);
    size_t best = SIZE_MAX;
    double best_distance = std::numeric_limits<double>::infinity();
    if (stop.After(kLookAhead)) return outcomes;
    for (size_t step = from; step + 1 < count && step < from + kLookAhead; ++step) {
      const size_t node = reversed ? count - 1 - step : step;
      const Disc& disc = string.node(node).corner.disc;
      const double radius = disc.radius;
      const double turn = reversed ? -outcome.turn_rad : outcome.turn_rad;
      if (radius * turn < 0.0 || (radius == 0.0 && !string.IsStop(node))) continue;
      // The distance to the whole circle is a bound that needs no angles.
      const double to_circle = std::abs(Distance(taut[i], disc.center) - std::abs(radius));
      if (to_circle >= best_distance) continue;
      const double d = DistanceToArc(string, node, taut[i]);
      if (d < best_distance) {
        best_distance = d;
        best = step;
      }
    }
    if (best != SIZE_MAX) {
      from = best;
      const size_t node = reversed ? count - 1 - best : best;
      if (nearest[node] == SIZE_MAX || best_distance < distance[nearest[node]]) {
        nearest[node] = outcomes.size();
      }
      owner.push_back(node);
    } else {
      owner.push_back(SIZE_MAX);
    }
    distance.push_back(best_distance);
    outcomes.push_back(outcome);
  }
  size_t explained = 0;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    CornerOutcome& outcome = outcomes[i];
    if (std::abs(outcome.turn_rad) <= context.turning.corner_angle_min_rad) {
      outcome.kind = CornerKind::kDrivenThrough;
    } else if (owner[i] == SIZE_MAX) {
      outcome.kind = CornerKind::kMerged;
    } else if (string.IsStop(owner[i])) {
      outcome.kind = CornerKind::kMerged;
      if (nearest[owner[i]] != i) continue;
      if (stop.stopped()) return outcomes;
      if (explained++ < kExplainedStops) {
        ExplainStop(context, string, owner[i], stop, outcome);
      } else {
        outcome.kind = CornerKind::kStopped;
        outcome.reason = StopReason::kWorkBudget;
      }
    } else {
      outcome.kind = nearest[owner[i]] == i ? CornerKind::kRounded : CornerKind::kMerged;
      outcome.radius = std::abs(string.node(owner[i]).corner.disc.radius);
    }
  }
  return outcomes;
}

}  // namespace arclane
