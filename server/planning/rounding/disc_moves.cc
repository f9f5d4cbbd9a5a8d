// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/disc_moves.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace arclane {
namespace {

// A ladder of radii falls by this factor from the largest to the smallest, over at most so many
// steps.
constexpr double kLadderFactor = 0.5;
constexpr int kLadderSteps = 10;

// Where a turn may go to: distances from a neighbouring disc in radii of the disc.
constexpr double kRelocations[] = {0.5, 1.0, 2.0, 4.0, 8.0};

// Smaller changes of a radius, as a part of it, are none.
constexpr double kSmallestResize = 1e-8;

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

bool Resizes(DiscMove move) {
  switch (move) {
    case DiscMove::kResizeAtRim:
    case DiscMove::kResizeAtCenter:
    case DiscMove::kResizeAtLines:
    case DiscMove::kResizeAtLineBefore:
    case DiscMove::kResizeAtLineAfter:
      return true;
    default:
      return false;
  }
}

// Discs of no radius are moved, too.
bool MovesStops(DiscMove move) {
  return move == DiscMove::kOutward || move == DiscMove::kAlongArc ||
         move == DiscMove::kShiftLineAfter;
}

}  // namespace

DiscMoves::DiscMoves(const DiscStringContext& context, std::span<const Vec2> corners,
                     std::span<const int8_t> side, std::vector<RejectedArc>* rejected)
    : context_(context), corners_(corners), side_(side), rejected_(rejected) {
  const AgentTurning& turning = context_.turning;
  double radius = turning.radius_max;
  for (int i = 0; i < kLadderSteps && radius > turning.radius_min; ++i, radius *= kLadderFactor) {
    ladder_.push_back(radius);
  }
  if (turning.radius_min > 0.0) ladder_.push_back(turning.radius_min);
}

int DiscMoves::SideOf(uint32_t first, uint32_t limit) const {
  int side = 0;
  for (uint32_t i = first; i < limit; ++i) {
    if (side_[i] == 0) continue;  // Straight on.
    if (side != 0 && side_[i] != side) return 0;
    side = side_[i];
  }
  return side;
}

bool DiscMoves::TouchingDisc(uint32_t first, uint32_t limit, double radius, Vec2 outward,
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

bool DiscMoves::TouchingDiscAt(const DiscString& string, size_t node, double radius,
                               CornerDisc& disc) const {
  disc = string.node(node).corner;
  const int side = SideOf(disc.corner_first, disc.corner_limit);
  if (side == 0) return false;
  const Vec2 outward =
      Outward(string.node(node - 1).line.direction, string.node(node).line.direction, side);
  return TouchingDisc(disc.corner_first, disc.corner_limit, radius, outward, disc.disc);
}

bool DiscMoves::TryTouching(DiscString& string, size_t first, size_t last, WorkMeter& work) const {
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

bool DiscMoves::RoundStop(DiscString& string, size_t node, WorkMeter& work) const {
  if (TryTouching(string, node, node + 1, work)) return true;
  const size_t count = string.size();
  if (node + 2 < count && TryTouching(string, node, node + 2, work)) return true;
  if (node >= 2 && TryTouching(string, node - 1, node + 1, work)) return true;
  if (node >= 2 && node + 2 < count && TryTouching(string, node - 1, node + 2, work)) return true;
  return false;
}

bool DiscMoves::Move(DiscString& string, size_t node, DiscMove move, double step, WorkMeter& work,
                     Acceptance acceptance) const {
  const DiscString::Node& current = string.node(node);
  CornerDisc moved[2] = {current.corner, {}};
  Disc& disc = moved[0].disc;
  const double size = std::abs(disc.radius);
  const Vec2 in = string.node(node - 1).line.direction;
  const Vec2 out = current.line.direction;
  const double side = (size > 0.0 ? disc.radius : Cross(in, out)) < 0.0 ? -1.0 : 1.0;
  if (size == 0.0 && !MovesStops(move)) return false;
  if (Resizes(move)) {
    const double resized =
        std::clamp(size + step, context_.turning.radius_min, context_.turning.radius_max);
    step = resized - size;
    if (std::abs(step) < kSmallestResize * size || !(resized > 0.0)) return false;
    disc.radius = side * resized;
  }
  switch (move) {
    case DiscMove::kOutward:
      disc.center = disc.center + step * Outward(in, out, side);
      break;
    case DiscMove::kAlongArc:
      disc.center = disc.center + (side * step) * LeftNormal(Outward(in, out, side));
      break;
    case DiscMove::kResizeAtRim:
      disc.center = disc.center - step * Outward(in, out, side);
      break;
    case DiscMove::kResizeAtCenter:
      break;
    case DiscMove::kResizeAtLines: {
      const double half_cosine = std::sqrt(std::max(0.0, 0.5 * (1.0 + Dot(in, out))));
      if (half_cosine < 0.05) return false;
      disc.center = disc.center - (step / half_cosine) * Outward(in, out, side);
      break;
    }
    case DiscMove::kRotate: {
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
    case DiscMove::kSlideBefore:
      disc.center = disc.center + step * in;
      break;
    case DiscMove::kSlideAfter:
      disc.center = disc.center + step * out;
      break;
    case DiscMove::kResizeAtLineBefore:
      disc.center = disc.center + (side * step) * LeftNormal(in);
      break;
    case DiscMove::kResizeAtLineAfter:
      disc.center = disc.center + (side * step) * LeftNormal(out);
      break;
    case DiscMove::kShiftLineAfter: {
      if (node + 2 >= string.size()) return false;
      moved[1] = string.node(node + 1).corner;
      const Vec2 shift = (side * step) * LeftNormal(out);
      disc.center = disc.center + shift;
      moved[1].disc.center = moved[1].disc.center + shift;
      return string.Replace(node, node + 2, moved, work, acceptance) == TryResult::kAccepted;
    }
  }
  return string.Replace(node, node + 1, {moved, 1}, work, acceptance) == TryResult::kAccepted;
}

bool DiscMoves::SlideTo(DiscString& string, size_t node, bool back, double share, WorkMeter& work,
                        Acceptance acceptance) const {
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

bool DiscMoves::Relocate(DiscString& string, size_t node, WorkMeter& work) const {
  for (const bool back : {true, false}) {
    for (const double share : kRelocations) {
      if (SlideTo(string, node, back, share, work, Acceptance::kBetter)) return true;
    }
  }
  return false;
}

bool DiscMoves::MergeAtApex(DiscString& string, size_t first, size_t last, WorkMeter& work,
                            Acceptance acceptance) const {
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

bool DiscMoves::Split(DiscString& string, size_t node, WorkMeter& work) const {
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

bool DiscMoves::Simplify(DiscString& string, size_t node, WorkMeter& work) const {
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

double DiscMoves::Scale(const DiscString& string, size_t node) const {
  return std::max(std::abs(string.node(node).corner.disc.radius),
                  0.1 * context_.turning.radius_max);
}

}  // namespace arclane
