// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/corner_optimizer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace arclane {
namespace {

// A ladder of radii falls by this factor from the largest to the smallest, over at most so many
// steps.
constexpr double kLadderFactor = 0.5;
constexpr int kLadderSteps = 10;

// First and smallest step of a move, as fractions of the disc's size; growth and shrinking of
// successful and failed ones.
constexpr double kFirstStep = 0.2;
constexpr double kSmallestStep = 1e-4;
constexpr double kStepGrowth = 1.7;
constexpr double kStepShrink = 0.35;

// Where a turn may go to: distances from a neighbouring disc in radii of the disc.
constexpr double kRelocations[] = {0.5, 1.0, 2.0, 4.0, 8.0};

// A trial refines the changed disc and so many on either side, and goes on after each sweep only
// while it may still gain the given fraction of the time.
constexpr size_t kTrialReach = 2;
constexpr int kTrialSweeps = 8;
constexpr double kTrialHopes[kTrialSweeps] = {0.05, 0.03, 0.02, 0.01, 0.01, 0.005, 0.005, 0.005};

constexpr int kStubbornSweeps = 12;

// The work of copying one node of a string, in half-plane tests.
constexpr uint64_t kCopyWork = 5;

Vec2 Rotated(Vec2 v, double tan_half) {
  const double inverse = 1.0 / (1.0 + tan_half * tan_half);
  const double c = (1.0 - tan_half * tan_half) * inverse;
  const double s = 2.0 * tan_half * inverse;
  return {c * v.x - s * v.y, s * v.x + c * v.y};
}

// From a disc's centre to the middle of its arc; the left normal's reverse, turned to the side,
// where the arc is flat.
Vec2 Outward(Vec2 in, Vec2 out, double side) {
  const Vec2 difference = in - out;
  const double norm = Norm(difference);
  return norm > 1e-9 ? difference * (1.0 / norm) : -side * LeftNormal(in);
}

RejectionReason ReasonOf(TryResult result) {
  switch (result) {
    case TryResult::kNoTangent:
      return RejectionReason::kTooShort;
    case TryResult::kTooLong:
      return RejectionReason::kExtraLength;
    case TryResult::kNotBetter:
      return RejectionReason::kSlower;
    default:
      return RejectionReason::kLeavesCorridor;
  }
}

}  // namespace

CornerOptimizer::CornerOptimizer(const DiscStringContext& context, std::span<const Vec2> corners,
                                 std::span<const int8_t> side, std::vector<RejectedArc>* rejected)
    : context_(context), corners_(corners), side_(side), rejected_(rejected), trial_(context) {
  const AgentTurning& turning = context_.turning;
  double radius = turning.radius_max;
  for (int i = 0; i < kLadderSteps && radius > turning.radius_min; ++i, radius *= kLadderFactor) {
    ladder_.push_back(radius);
  }
  if (turning.radius_min > 0.0) ladder_.push_back(turning.radius_min);
}

DiscString& CornerOptimizer::TrialOf(const DiscString& string, WorkMeter& work) {
  work.used += kCopyWork * string.size();
  trial_ = string;
  return trial_;
}

int CornerOptimizer::SideOf(uint32_t first, uint32_t limit) const {
  int side = 0;
  for (uint32_t i = first; i < limit; ++i) {
    if (side_[i] == 0) continue;  // Straight on.
    if (side != 0 && side_[i] != side) return 0;
    side = side_[i];
  }
  return side;
}

bool CornerOptimizer::TouchingDisc(uint32_t first, uint32_t limit, double radius, Vec2 outward,
                                   Disc& disc) const {
  double furthest = -std::numeric_limits<double>::infinity();
  Vec2 touched;
  for (uint32_t i = first; i < limit; ++i) {
    const double reach = Dot(corners_[i], outward);
    if (reach > furthest) {
      furthest = reach;
      touched = corners_[i];
    }
  }
  const Vec2 center = touched - radius * outward;
  double shift = 0.0;
  double shift_limit = 2.0 * radius;
  for (uint32_t i = first; i < limit; ++i) {
    const Vec2 from_center = corners_[i] - center;
    const double along = Dot(from_center, outward);
    const double discriminant = radius * radius - (SquaredNorm(from_center) - along * along);
    if (discriminant < 0.0) return false;
    const double half = std::sqrt(discriminant);
    // The outermost corner itself is touched, up to rounding.
    if (corners_[i] == touched) continue;
    shift = std::max(shift, along - half);
    shift_limit = std::min(shift_limit, along + half);
  }
  if (shift > shift_limit) return false;
  disc.center = center + outward * shift;
  disc.radius = SideOf(first, limit) * radius;
  return true;
}

bool CornerOptimizer::TryTouching(DiscString& string, size_t first, size_t last, WorkMeter& work) {
  const uint32_t corner_first = string.node(first).corner.corner_first;
  const uint32_t corner_limit = string.node(last - 1).corner.corner_limit;
  const int side = SideOf(corner_first, corner_limit);
  if (side == 0) return false;
  const Vec2 in = string.node(first - 1).line.direction;
  const Vec2 out = string.node(last - 1).line.direction;
  const Vec2 outward = Outward(in, out, side);
  const double half_cosine = std::sqrt(std::max(0.0, 0.5 * (1.0 + Dot(in, out))));
  const bool single = last == first + 1;
  const Vec2 apex = string.node(first).corner.disc.center;
  for (const double radius : ladder_) {
    CornerDisc candidate{{}, corner_first, corner_limit};
    TryResult result = TryResult::kNoTangent;
    // Where the first line stays the turn begins at its end: before it lies the wall.
    if (first == 1 && context_.first_line) {
      const Vec2 normal = LeftNormal(context_.first_line->taut);
      candidate.disc = {corners_[corner_first] + (side * radius) * normal, side * radius};
      result = string.Replace(first, last, {&candidate, 1}, work);
      if (result == TryResult::kAccepted) return true;
    }
    if (TouchingDisc(corner_first, corner_limit, radius, outward, candidate.disc)) {
      result = string.Replace(first, last, {&candidate, 1}, work);
      if (result == TryResult::kAccepted) return true;
      if (rejected_ != nullptr && single) {
        rejected_->push_back({corner_first, candidate.disc.center, candidate.disc.radius,
                              string.node(first).sweep, ReasonOf(result)});
      }
    }
    // The fillet of the lines as they are; it helps where they keep off the wall already.
    if (single && half_cosine > 0.05 && !(apex == corners_[corner_first])) {
      candidate.disc = {apex - (radius / half_cosine) * outward, side * radius};
      result = string.Replace(first, last, {&candidate, 1}, work);
      if (result == TryResult::kAccepted) return true;
    }
    if (result == TryResult::kOutOfWork) return false;
  }
  return false;
}

bool CornerOptimizer::RoundStop(DiscString& string, size_t node, WorkMeter& work) {
  if (TryTouching(string, node, node + 1, work)) return true;
  const size_t count = string.size();
  if (node + 2 < count && TryTouching(string, node, node + 2, work)) return true;
  if (node >= 2 && TryTouching(string, node - 1, node + 1, work)) return true;
  if (node >= 2 && node + 2 < count && TryTouching(string, node - 1, node + 2, work)) return true;
  return false;
}

void CornerOptimizer::RoundStops(DiscString& string, WorkMeter& work) {
  for (size_t node = 1; node + 1 < string.size() && !work.exhausted(); ++node) {
    if (string.node(node).corner.disc.radius != 0.0) continue;
    if (RoundStop(string, node, work)) node = node > 2 ? node - 2 : 0;
  }
}

bool CornerOptimizer::Move(DiscString& string, size_t node, int move, double step, WorkMeter& work,
                           Acceptance acceptance) {
  const DiscString::Node& current = string.node(node);
  CornerDisc moved[2] = {current.corner, {}};
  Disc& disc = moved[0].disc;
  const double size = std::abs(disc.radius);
  const Vec2 in = string.node(node - 1).line.direction;
  const Vec2 out = current.line.direction;
  const double side = (size > 0.0 ? disc.radius : Cross(in, out)) < 0.0 ? -1.0 : 1.0;
  if (size == 0.0 && move > 1 && move != 10) return false;
  const bool resizes = move == 2 || move == 3 || move == 4 || move == 8 || move == 9;
  if (resizes) {
    const double resized =
        std::clamp(size + step, context_.turning.radius_min, context_.turning.radius_max);
    step = resized - size;
    if (std::abs(step) < kSmallestStep * kSmallestStep * size || !(resized > 0.0)) return false;
    disc.radius = side * resized;
  }
  switch (move) {
    case 0:  // Outward.
      disc.center = disc.center + step * Outward(in, out, side);
      break;
    case 1:  // Along the middle of the arc.
      disc.center = disc.center + (side * step) * LeftNormal(Outward(in, out, side));
      break;
    case 2:  // Resize; the middle of the arc stays.
      disc.center = disc.center - step * Outward(in, out, side);
      break;
    case 3:  // Resize about the centre.
      break;
    case 4: {  // Resize; both lines stay.
      const double half_cosine = std::sqrt(std::max(0.0, 0.5 * (1.0 + Dot(in, out))));
      if (half_cosine < 0.05) return false;
      disc.center = disc.center - (step / half_cosine) * Outward(in, out, side);
      break;
    }
    case 5: {  // Rotate about the corner nearest to the rim.
      double furthest = -1.0;
      Vec2 pivot = disc.center;
      for (uint32_t i = moved[0].corner_first; i < moved[0].corner_limit; ++i) {
        const double distance = SquaredNorm(corners_[i] - disc.center);
        if (distance > furthest) {
          furthest = distance;
          pivot = corners_[i];
        }
      }
      disc.center = pivot + Rotated(disc.center - pivot, side * 0.5 * step / size);
      break;
    }
    case 6:  // Slide along the line before.
      disc.center = disc.center + step * in;
      break;
    case 7:  // Slide along the line after.
      disc.center = disc.center + step * out;
      break;
    case 8:  // Resize; the line before stays.
      disc.center = disc.center + (side * step) * LeftNormal(in);
      break;
    case 9:  // Resize; the line after stays.
      disc.center = disc.center + (side * step) * LeftNormal(out);
      break;
    case 10: {  // Shift the line to the next disc together with both.
      if (node + 2 >= string.size()) return false;
      moved[1] = string.node(node + 1).corner;
      const Vec2 shift = (side * step) * LeftNormal(out);
      disc.center = disc.center + shift;
      moved[1].disc.center = moved[1].disc.center + shift;
      return string.Replace(node, node + 2, moved, work, acceptance) == TryResult::kAccepted;
    }
    default:
      return false;
  }
  return string.Replace(node, node + 1, {moved, 1}, work, acceptance) == TryResult::kAccepted;
}

// The disc slides along one of its lines, which stays, until it is `share` radii from the disc at
// the end of the other.
bool CornerOptimizer::SlideTo(DiscString& string, size_t node, bool back, double share,
                              WorkMeter& work, Acceptance acceptance) {
  CornerDisc moved = string.node(node).corner;
  const double size = std::abs(moved.disc.radius);
  if (size == 0.0) return false;
  const Vec2 along =
      back ? -string.node(node).line.direction : string.node(node - 1).line.direction;
  const Vec2 target =
      string.node(back ? node - 1 : node + 1).corner.disc.center - moved.disc.center;
  const double slide = Dot(target, along) - share * size;
  if (slide <= size) return false;
  moved.disc.center = moved.disc.center + slide * along;
  return string.Replace(node, node + 1, {&moved, 1}, work, acceptance) == TryResult::kAccepted;
}

// Moves the turn to where the agent is slow anyway. In between the time hardly changes, so that
// small steps do not find it.
bool CornerOptimizer::Relocate(DiscString& string, size_t node, WorkMeter& work) {
  for (const bool back : {true, false}) {
    for (const double share : kRelocations) {
      if (SlideTo(string, node, back, share, work, Acceptance::kBetter)) return true;
    }
  }
  return false;
}

// One disc instead of [first, last), inscribed where the line before them and the line after them
// meet: the agent is slow once instead of several times.
bool CornerOptimizer::MergeAtApex(DiscString& string, size_t first, size_t last, WorkMeter& work,
                                  Acceptance acceptance) {
  const Tangent& before = string.node(first - 1).line;
  const Tangent& after = string.node(last - 1).line;
  const double sine = Cross(before.direction, after.direction);
  const double cosine = Dot(before.direction, after.direction);
  const double half_cosine = std::sqrt(std::max(0.0, 0.5 * (1.0 + cosine)));
  if (half_cosine < 0.05 || std::abs(sine) < 1e-6) return false;
  const double along = Cross(after.from - before.from, after.direction) / sine;
  if (along < 0.0) return false;
  const Vec2 apex = before.from + along * before.direction;
  if (Dot(after.to - apex, after.direction) < 0.0) return false;
  const double side = sine < 0.0 ? -1.0 : 1.0;
  const Vec2 outward = Outward(before.direction, after.direction, side);
  for (int i = 0; i < 3 && i < static_cast<int>(ladder_.size()); ++i) {
    const CornerDisc merged = {{apex - (ladder_[i] / half_cosine) * outward, side * ladder_[i]},
                               string.node(first).corner.corner_first,
                               string.node(last - 1).corner.corner_limit};
    if (string.Replace(first, last, {&merged, 1}, work, acceptance) == TryResult::kAccepted) {
      return true;
    }
  }
  return false;
}

// One touching disc for each corner of a disc that turns for several.
bool CornerOptimizer::Split(DiscString& string, size_t node, WorkMeter& work) {
  const CornerDisc whole = string.node(node).corner;
  if (whole.corner_limit < whole.corner_first + 2) return false;
  const Vec2 outward =
      Outward(string.node(node - 1).line.direction, string.node(node).line.direction,
              whole.disc.radius < 0.0 ? -1.0 : 1.0);
  std::vector<CornerDisc> parts;
  for (uint32_t i = whole.corner_first; i < whole.corner_limit; ++i) {
    if (side_[i] == 0) continue;
    // The smallest radius, so that they fit side by side.
    const double radius = ladder_.back();
    parts.push_back(
        {{corners_[i] - (side_[i] * whole.disc.radius > 0.0 ? radius : -radius) * outward,
          side_[i] * radius},
         i,
         i + 1});
  }
  return string.Replace(node, node + 1, parts, work, Acceptance::kAny) == TryResult::kAccepted;
}

bool CornerOptimizer::Simplify(DiscString& string, size_t node, WorkMeter& work) {
  // Without the disc.
  if (string.Replace(node, node + 1, {}, work) == TryResult::kAccepted) return true;
  if (node + 2 >= string.size()) return false;
  if (MergeAtApex(string, node, node + 2, work)) return true;
  if (node + 3 < string.size() && MergeAtApex(string, node, node + 3, work)) return true;
  const DiscString::Node& a = string.node(node);
  const DiscString::Node& b = string.node(node + 1);
  const int side = SideOf(a.corner.corner_first, b.corner.corner_limit);
  if (side == 0) return false;
  const Vec2 outward =
      Outward(string.node(node - 1).line.direction, b.line.direction, static_cast<double>(side));
  const double larger = std::max(std::abs(a.corner.disc.radius), std::abs(b.corner.disc.radius));
  for (const double radius : {context_.turning.radius_max, larger}) {
    CornerDisc merged{{}, a.corner.corner_first, b.corner.corner_limit};
    if (radius > 0.0 &&
        TouchingDisc(merged.corner_first, merged.corner_limit, radius, outward, merged.disc) &&
        string.Replace(node, node + 2, {&merged, 1}, work) == TryResult::kAccepted) {
      return true;
    }
  }
  return false;
}

double CornerOptimizer::Scale(const DiscString& string, size_t node) const {
  return std::max(std::abs(string.node(node).corner.disc.radius),
                  0.1 * context_.turning.radius_max);
}

void CornerOptimizer::ResetSteps(const DiscString& string, std::vector<Steps>& steps) const {
  steps.assign(string.size(), Steps{});
  for (size_t i = 1; i + 1 < string.size(); ++i) {
    for (double& step : steps[i].step) step = kFirstStep * Scale(string, i);
  }
}

bool CornerOptimizer::Sweep(DiscString& string, size_t first, size_t limit,
                            std::vector<Steps>& steps, WorkMeter& work) {
  bool any = false;
  for (size_t node = first; node < limit; ++node) {
    for (int move = 0; move < kMoveCount; ++move) {
      double& step = steps[node].step[move];
      if (std::abs(step) < kSmallestStep * Scale(string, node)) continue;
      any = true;
      if (Move(string, node, move, step, work)) {
        step *= kStepGrowth;
      } else if (Move(string, node, move, -step, work)) {
        step *= -kStepGrowth;
      } else {
        step *= kStepShrink;
      }
      if (work.exhausted()) return false;
    }
  }
  return any;
}

void CornerOptimizer::Refine(DiscString& string, int max_sweeps, WorkMeter& work) {
  std::vector<Steps> steps;
  for (int sweep = 0; sweep < max_sweeps && !work.exhausted(); ++sweep) {
    if (sweep % 4 == 0) {
      for (size_t node = 1; node + 1 < string.size() && !work.exhausted(); ++node) {
        if (Simplify(string, node, work)) node = node > 1 ? node - 2 : 0;
      }
      RoundStops(string, work);
      for (size_t node = 1; node + 1 < string.size() && !work.exhausted(); ++node) {
        Relocate(string, node, work);
      }
    }
    if (steps.size() != string.size()) ResetSteps(string, steps);
    if (!Sweep(string, 1, string.size() - 1, steps, work)) return;
  }
}

bool CornerOptimizer::StartTrial(DiscString& string, size_t node, int trial, WorkMeter& work) {
  const double size = Scale(string, node);
  constexpr Acceptance kAny = Acceptance::kAny;
  switch (trial) {
    case 0:
    case 1:
      return SlideTo(string, node, trial == 0, 1.0, work, kAny);
    case 2:
      return node + 2 < string.size() && MergeAtApex(string, node, node + 2, work, kAny);
    case 3:
      return string.Replace(node, node + 1, {}, work, kAny) == TryResult::kAccepted;
    case 4:
      return node + 3 < string.size() && MergeAtApex(string, node, node + 3, work, kAny);
    case 5:
    case 6:
      return Move(string, node, 10, trial == 5 ? size : -size, work, kAny);
    case 7:
    case 8:
      return SlideTo(string, node, trial == 7, 6.0, work, kAny);
    case 9:
    case 10:
      return Move(string, node, 1, trial == 9 ? size : -size, work, kAny);
    case 11:
      return Move(string, node, 0, size, work, kAny);
    case 12:
      return Split(string, node, work);
    default:
      return Move(string, node, 2, -0.5 * size, work, kAny);
  }
}

void CornerOptimizer::RoundStubbornStops(DiscString& string, WorkMeter& work) {
  std::vector<Steps> steps;
  for (size_t node = 1; node + 1 < string.size(); ++node) {
    if (!string.IsStop(node)) continue;
    const CornerDisc corner = string.node(node).corner;
    const int side = SideOf(corner.corner_first, corner.corner_limit);
    if (side == 0) continue;
    const Vec2 outward =
        Outward(string.node(node - 1).line.direction, string.node(node).line.direction, side);
    for (const double radius : ladder_) {
      CornerDisc candidate = corner;
      if (!TouchingDisc(corner.corner_first, corner.corner_limit, radius, outward,
                        candidate.disc)) {
        continue;
      }
      if (work.exhausted()) return;
      DiscString& changed = TrialOf(string, work);
      if (changed.Replace(node, node + 1, {&candidate, 1}, work, Acceptance::kAny) !=
          TryResult::kAccepted) {
        continue;
      }
      const size_t first = node > kTrialReach ? node - kTrialReach : 1;
      const size_t limit = std::min(node + kTrialReach + 1, changed.size() - 1);
      ResetSteps(changed, steps);
      for (int sweep = 0; sweep < kStubbornSweeps && changed.cost().excess > string.cost().excess;
           ++sweep) {
        if (!Sweep(changed, first, limit, steps, work)) break;
      }
      if (!string.Better(changed.cost(), string.cost())) continue;
      std::swap(string, changed);
      break;
    }
    if (work.exhausted()) return;
  }
}

void CornerOptimizer::Explore(DiscString& string, WorkMeter& work) {
  std::vector<Steps> steps;
  for (bool found = true; found;) {
    found = false;
    for (int trial = 0; trial < kTrialCount; ++trial) {
      for (size_t node = 1; node + 1 < string.size(); ++node) {
        if (work.exhausted()) return;
        DiscString& changed = TrialOf(string, work);
        if (!StartTrial(changed, node, trial, work)) continue;
        const size_t first = node > kTrialReach ? node - kTrialReach : 1;
        for (int sweep = 0; sweep < kTrialSweeps; ++sweep) {
          if (steps.size() != changed.size() || sweep == 0) ResetSteps(changed, steps);
          const size_t limit = std::min(node + kTrialReach + 1, changed.size() - 1);
          if (first >= limit || !Sweep(changed, first, limit, steps, work)) break;
          // Trials that stay far behind are given up; those that break a bound come back first.
          if (changed.cost().excess > string.cost().excess) continue;
          PathCost hoped = changed.cost();
          hoped.time_s *= 1.0 - kTrialHopes[sweep];
          if (!string.Better(hoped, string.cost())) break;
        }
        if (!string.Better(changed.cost(), string.cost())) continue;
        Refine(changed, 2, work);
        std::swap(string, changed);
        found = true;
      }
    }
  }
}

}  // namespace arclane
