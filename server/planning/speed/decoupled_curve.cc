// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/decoupled_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "server/planning/speed/lateral_cap_curve.h"
#include "server/planning/speed/motion_tolerance.h"
#include "server/planning/speed/numeric_range.h"
#include "server/planning/speed/pair.h"

namespace arclane {
namespace {

constexpr std::size_t kBlockSize = 32;
// Intervals are worked on in pairs: behind an odd last one lies a leftover whose results are not
// used.
using Column = std::array<double, kBlockSize>;
using NodeColumn = std::array<double, kBlockSize + kPairSize>;

// Constants of the motion and of the caps.
struct Rates {
  explicit Rates(const MotionBudget& budget)
      : acceleration(budget.accelerate.limit),
        braking(budget.brake.limit),
        twice_a(2.0 * acceleration),
        twice_b(2.0 * braking),
        level(budget.squared_max_speed),
        per_lateral(1.0 / budget.lateral) {}

  double acceleration;
  double braking;
  double twice_a;
  double twice_b;
  double level;
  double per_lateral;  // 0 without a lateral limit
};

// What the caps of two intervals are; k is curvature over the lateral limit, so that the lateral
// cap is 1 / k.
struct CapShape {
  CapShape(const Rates& rates, Pair k0, Pair k1, Pair length) {
    const Pair m0 = Magnitude(k0);
    const Pair m1 = Magnitude(k1);
    const Pair low = Smaller(m0, m1);
    const Pair high = Larger(m0, m1);
    const Pair change = high - low;
    const Pair reach = Select(m1 > m0, BothOf(rates.twice_b), BothOf(rates.twice_a)) * length;
    const PairMask level = high * rates.level <= BothOf(1.0);
    const PairMask lateral = (low * rates.level >= BothOf(1.0)) & (k0 * k1 > BothOf(0.0));
    // The slope of the cap, change / (length k^2), against what the motion can do.
    const PairMask gentle = change <= reach * (low * low);
    const PairMask steep = change >= reach * (high * high);
    follows = level | (lateral & gentle);
    corner = ~(level | (lateral & (gentle | steep)));
    bends = lateral & gentle & (change > BothOf(0.0));
    signed_change = m1 - m0;
    k_start = m0;
  }

  PairMask follows;  // the cap can be followed all along
  PairMask corner;
  PairMask bends;  // follows, and the cap is a hyperbola, not level
  Pair signed_change;
  Pair k_start;
};

// Copies `count` values times `factor` and one more of the last.
void ScaleInto(std::span<const double> values, double factor, double* scaled) {
  for (std::size_t i = 0; i < values.size(); ++i) scaled[i] = values[i] * factor;
  scaled[values.size()] = scaled[values.size() - 1];
}

// Cuts interval j, in which caps meet or which needs care otherwise. The usual cases are told here:
// the lateral cap alone, and one that meets the level cap once.
void CutCorner(const CurveOrder& order, std::size_t j, const Rates& rates,
               const MotionBudget& budget, DecoupledCurveScratch& scratch) {
  const double k0 = order.curvature[j] * rates.per_lateral;
  const double k1 = order.curvature[j + 1] * rates.per_lateral;
  const double m0 = std::abs(k0);
  const double m1 = std::abs(k1);
  const double length = scratch.length[j];
  const double at = length * ((1.0 / rates.level - m0) / (m1 - m0));
  const bool lateral = std::min(m0, m1) * rates.level >= 1.0;
  if (!(k0 * k1 > 0.0) || m0 == m1 || !(lateral || (at > 0.0 && at < length))) {
    return CutIntervalIntoCapSegments(order, j, budget, scratch.segments);
  }
  const std::size_t i = order.RequestInterval(j);
  const auto interval = static_cast<std::uint32_t>(i);
  const auto node = static_cast<std::uint32_t>(j);
  const double start = order.distance[i];
  const double slope = (m1 - m0) / length;
  const double cap0 = std::min(rates.level, 1.0 / m0);
  const double cap1 = std::min(rates.level, 1.0 / m1);
  std::vector<CapSegment<double>>& segments = scratch.segments;
  if (lateral) {
    segments.push_back({start, length, cap0, cap1, m0, slope, interval, node});
  } else if (m1 > m0) {
    segments.push_back({start, at, cap0, rates.level, 0.0, 0.0, interval, node});
    segments.push_back(
        {start + at, length - at, rates.level, cap1, 1.0 / rates.level, slope, interval, node});
  } else {
    segments.push_back({start, at, cap0, rates.level, m0, slope, interval, node});
    segments.push_back({start + at, length - at, rates.level, cap1, 0.0, 0.0, interval, node});
  }
}

void AddCorner(const CurveOrder& order, std::size_t j, const Rates& rates,
               const MotionBudget& budget, DecoupledCurveScratch& scratch) {
  const std::size_t first = scratch.segments.size();
  CutCorner(order, j, rates, budget, scratch);
  const std::span<const CapSegment<double>> segments(scratch.segments.data() + first,
                                                     scratch.segments.size() - first);
  scratch.corners.push_back({j, first,
                             LargestAtStart(segments, segments.back().cap1, rates.twice_b),
                             LargestAtEnd(segments, segments.front().cap0, rates.twice_a)});
}

void FindCaps(const CurveOrder& order, const MotionBudget& budget, DecoupledCurveScratch& scratch) {
  const Rates rates(budget);
  const std::size_t n = order.interval_count();
  NodeColumn k;
  for (std::size_t first = 0; first < n; first += kBlockSize) {
    const std::size_t count = std::min(kBlockSize, n - first);
    ScaleInto(order.curvature.subspan(first, count + 1), rates.per_lateral, k.data());
    const double* length = scratch.length.data() + first;
    double* cap = scratch.cap.data() + first;
    for (std::size_t i = 0; i < count; i += kPairSize) {
      const Pair k0 = LoadPair(&k[i]);
      const CapShape shape(rates, k0, LoadPair(&k[i + 1]), LoadPair(&length[i]));
      const Pair cap0 = Smaller(BothOf(rates.level), 1.0 / shape.k_start);
      StorePair(cap0, &cap[i]);
      StorePair(Select(shape.follows, kOnCap * cap0, BothOf(kUnlimited)),
                &scratch.follow_from[first + i]);
      StorePair(Where(shape.bends, shape.k_start), &scratch.k[first + i]);
      StorePair(Where(shape.bends, shape.signed_change), &scratch.change[first + i]);
      if ((shape.corner[0] | shape.corner[1]) == 0) continue;
      if (shape.corner[0] != 0) AddCorner(order, first + i, rates, budget, scratch);
      if (shape.corner[1] != 0 && i + 1 < count)
        AddCorner(order, first + i + 1, rates, budget, scratch);
    }
  }
  scratch.cap[n] = std::min(rates.level, 1.0 / (std::abs(order.curvature[n]) * rates.per_lateral));
}

// Lengths of intervals in driving order, and one more of the last.
void FindLengths(const CurveOrder& order, std::vector<double>& lengths) {
  const std::size_t n = order.interval_count();
  const double* s = order.distance.data();
  double* out = lengths.data();
  const std::size_t wrap = n - order.first;
  for (std::size_t j = 0; j < wrap; ++j) out[j] = s[j + order.first + 1] - s[j + order.first];
  for (std::size_t j = wrap; j < n; ++j) out[j] = s[j - wrap + 1] - s[j - wrap];
  out[n] = out[n - 1];
}

// The work columns of a block of intervals.
struct Block {
  NodeColumn x;
  Column seconds;
  Column acceleration;
  Column slope;
  std::array<std::int64_t, kBlockSize> motion;
};

// One motion all along an interval, or more.
enum Motion : std::int64_t { kRises, kLevels, kFalls, kFollows, kSeveral };

PairMask Either(PairMask mask, Motion motion, PairMask other) {
  return (mask & PairMask{motion, motion}) | (~mask & other);
}

// Drives over the curve block by block and writes what it finds.
class CurveDrive {
 public:
  CurveDrive(const CurveOrder& order, const MotionBudget& budget, DecoupledCurveScratch& scratch,
             double v_start, std::vector<SpeedPhase>& phases)
      : order_(order),
        budget_(budget),
        rates_(budget),
        scratch_(scratch),
        phases_(phases),
        x_(std::min(v_start * v_start, scratch.bound[0])) {
    scratch.speed[0] = v_start;
  }

  double x() const { return x_; }
  double time_s() const { return time_; }

  // `count` intervals from `first` on, which are the request's from `request_first` on.
  void Through(std::size_t first, std::size_t count, std::size_t request_first) {
    const double* length = scratch_.length.data() + first;
    const double* bound = scratch_.bound.data() + first + 1;
    block_.x[0] = x_;
    // Two intervals at a time: what leads to the first of them does not delay the second.
    const double twice_a = rates_.twice_a;
    double x = x_;
    std::size_t done = 0;
    for (; done + 2 <= count; done += 2) {
      const double near = twice_a * length[done];
      const double far = twice_a * length[done + 1];
      const double under = std::min(bound[done + 1], bound[done] + far);
      block_.x[done + 1] = std::min(bound[done], x + near);
      x = std::min(under, x + (near + far));
      block_.x[done + 2] = x;
    }
    if (done < count) {
      x = std::min(bound[done], x + twice_a * length[done]);
      block_.x[done + 1] = x;
    }
    block_.x[count + 1] = x;
    x_ = x;
    double* v = scratch_.speed.data() + first + 1;
    for (std::size_t i = 0; i < count; i += kPairSize) {
      StorePair(SquareRoot(LoadPair(&block_.x[i + 1])), &v[i]);
    }
    FindMotions(first, count);
    WritePhases(first, count, request_first);
  }

  void Finish() { phases_.resize(used_); }

 private:
  // Local copies of constants and addresses: stores of pairs might change any other.
  void FindMotions(std::size_t first, std::size_t count) {
    const double* const lengths = scratch_.length.data() + first;
    const double* const speeds = scratch_.speed.data() + first;
    const double* const changes = scratch_.change.data() + first;
    const double* const follow_from = scratch_.follow_from.data() + first;
    const double* const caps = scratch_.cap.data() + first;
    const Pair twice_a = BothOf(rates_.twice_a);
    const Pair twice_b = BothOf(rates_.twice_b);
    const Pair acceleration = BothOf(rates_.acceleration);
    const Pair deceleration = BothOf(-rates_.braking);
    for (std::size_t i = 0; i < count; i += kPairSize) {
      const Pair length = LoadPair(&lengths[i]);
      const Pair x0 = LoadPair(&block_.x[i]);
      const Pair x1 = LoadPair(&block_.x[i + 1]);
      const Pair v0 = LoadPair(&speeds[i]);
      const Pair v1 = LoadPair(&speeds[i + 1]);
      const Pair change = LoadPair(&changes[i]);
      const PairMask on_cap =
          (x0 >= LoadPair(&follow_from[i])) & (x1 >= kOnCap * LoadPair(&caps[i + 1]));
      const PairMask bends = on_cap & (change != BothOf(0.0));
      const PairMask rises = x1 >= kOnCap * (x0 + twice_a * length);
      const PairMask falls = x0 >= kOnCap * (x1 + twice_b * length);
      // Uniform acceleration takes 2 l / (v0 + v1); a speed 1 / sqrt(k0 + k1 d) takes
      // (2/3) l (w0^2 + w0 w1 + w1^2) / (w0 + w1) with w = 1 / v. One quotient serves time and
      // slope.
      const Pair sum = v0 + v1;
      const Pair product = v0 * v1;
      const Pair over = Select(bends, x0 + product + x1, BothOf(2.0));
      const Pair under = Select(bends, 1.5 * product * sum, sum);
      const Pair inverse = 1.0 / (under * length);
      const Pair slope = Where(bends, change * (under * inverse));
      StorePair(length * length * (over * inverse), &block_.seconds[i]);
      StorePair(slope, &block_.slope[i]);
      const Pair uniform = Select(rises, acceleration, deceleration);
      StorePair(Select(on_cap, -0.5 * slope * (x0 * x0), uniform), &block_.acceleration[i]);
      const PairMask motion = Either(
          bends, kFollows,
          Either(on_cap, kLevels,
                 Either(rises, kRises, Either(falls, kFalls, PairMask{kSeveral, kSeveral}))));
      std::memcpy(&block_.motion[i], &motion, sizeof(motion));
    }
  }

  void WritePhases(std::size_t first, std::size_t count, std::size_t request_first) {
    static constexpr std::array<SpeedPhaseKind, 4> kKinds = {
        SpeedPhaseKind::kAccelerate, SpeedPhaseKind::kCruise, SpeedPhaseKind::kBrake,
        SpeedPhaseKind::kFollowCap};
    static constexpr std::array<SpeedLaw, 4> kLaws = {
        SpeedLaw::kConstantAcceleration, SpeedLaw::kConstantAcceleration,
        SpeedLaw::kConstantAcceleration, SpeedLaw::kLateralCap};
    const double* const v = scratch_.speed.data() + first;
    const double* const length = scratch_.length.data() + first;
    const double* const k = scratch_.k.data() + first;
    const double* const start = order_.distance.data() + request_first;
    MakeRoom(count);
    SpeedPhase* next = phases_.data() + used_;
    double time = time_;
    for (std::size_t i = 0; i < count; ++i) {
      const auto motion = static_cast<std::size_t>(block_.motion[i]);
      const auto interval = static_cast<std::uint32_t>(request_first + i);
      if (motion == kSeveral) {
        used_ = static_cast<std::size_t>(next - phases_.data());
        time_ = time;
        WriteSeveral(first + i, i, interval);
        MakeRoom(count - i);
        next = phases_.data() + used_;
        time = time_;
        continue;
      }
      const double seconds = block_.seconds[i];
      next->piece = interval;
      next->kind = kKinds[motion];
      next->law = kLaws[motion];
      next->start_distance = start[i];
      next->start_time_s = time;
      next->length = length[i];
      next->duration_s = seconds;
      next->start_speed = v[i];
      next->end_speed = v[i + 1];
      next->acceleration = block_.acceleration[i];
      next->first = motion == kFollows ? k[i] : 0.0;
      next->second = block_.slope[i];
      ++next;
      time += seconds;
    }
    used_ = static_cast<std::size_t>(next - phases_.data());
    time_ = time;
  }

  // Interval j of the curve, the block's i-th, with several motions.
  void WriteSeveral(std::size_t j, std::size_t i, std::uint32_t request_interval) {
    const std::vector<CapCorner>& corners = scratch_.corners;
    while (corner_ < corners.size() && corners[corner_].interval < j) ++corner_;
    const double* v = scratch_.speed.data() + (j - i);
    scratch_.phases.clear();
    CurvePhaseWriter<double> writer(scratch_.phases, time_);
    const auto write = [&](std::span<const CapSegment<double>> segments) {
      WriteUnderSegments(segments, block_.x[i], v[i], block_.x[i + 1], v[i + 1], budget_, writer);
    };
    if (corner_ < corners.size() && corners[corner_].interval == j) {
      const std::size_t from = corners[corner_].first_segment;
      const std::size_t to = corner_ + 1 < corners.size() ? corners[corner_ + 1].first_segment
                                                          : scratch_.segments.size();
      write({scratch_.segments.data() + from, to - from});
    } else {
      CapSegment<double> segment = {order_.distance[request_interval],
                                    scratch_.length[j],
                                    scratch_.cap[j],
                                    scratch_.cap[j + 1],
                                    0.0,
                                    0.0,
                                    request_interval,
                                    static_cast<std::uint32_t>(j)};
      const double k0 = std::abs(order_.curvature[j]) * rates_.per_lateral;
      const double k1 = std::abs(order_.curvature[j + 1]) * rates_.per_lateral;
      if (std::max(k0, k1) * rates_.level > 1.0 && k0 != k1) {
        segment.k0 = k0;
        segment.k1 = (k1 - k0) / segment.length;
      }
      write({&segment, 1});
    }
    time_ = writer.time_s();
    MakeRoom(scratch_.phases.size());
    std::copy(scratch_.phases.begin(), scratch_.phases.end(),
              phases_.begin() + static_cast<std::ptrdiff_t>(used_));
    used_ += scratch_.phases.size();
  }

  // Makes sure that `count` more phases can be written. Phases of earlier plans are overwritten.
  void MakeRoom(std::size_t count) {
    if (phases_.size() - used_ < count) phases_.resize(used_ + count + kBlockSize);
  }

  const CurveOrder& order_;
  const MotionBudget& budget_;
  const Rates rates_;
  DecoupledCurveScratch& scratch_;
  std::vector<SpeedPhase>& phases_;
  double x_;
  double time_ = 0.0;
  std::size_t used_ = 0;
  std::size_t corner_ = 0;
  Block block_;
};

}  // namespace

void PassBackwardDecoupledCurve(const CurveOrder& order, double x_end, const MotionBudget& budget,
                                DecoupledCurveScratch& scratch) {
  const std::size_t n = order.interval_count();
  scratch.length.resize(n + kPairSize);
  scratch.cap.resize(n + kPairSize);
  scratch.bound.resize(n + 1);
  scratch.follow_from.resize(n + kPairSize);
  scratch.k.resize(n + kPairSize);
  scratch.change.resize(n + kPairSize);
  scratch.corners.clear();
  scratch.segments.clear();
  FindLengths(order, scratch.length);
  FindCaps(order, budget, scratch);

  const double twice_b = 2.0 * budget.brake.limit;
  const double* const length = scratch.length.data();
  const double* const cap = scratch.cap.data();
  double* const bound = scratch.bound.data();
  double x = std::min(x_end, cap[n]);
  bound[n] = x;
  std::size_t j = n;
  const auto back_to = [&](std::size_t node) {
    for (; j >= node + 2; j -= 2) {
      const double near = twice_b * length[j - 1];
      const double far = twice_b * length[j - 2];
      const double under = std::min(cap[j - 2], cap[j - 1] + far);
      bound[j - 1] = std::min(cap[j - 1], x + near);
      x = std::min(under, x + (near + far));
      bound[j - 2] = x;
    }
    if (j > node) {
      --j;
      x = std::min(cap[j], x + twice_b * length[j]);
      bound[j] = x;
    }
  };
  for (std::size_t c = scratch.corners.size(); c-- > 0;) {
    const CapCorner& corner = scratch.corners[c];
    back_to(corner.interval);
    x = std::min(x, corner.largest_start);
    bound[j] = x;
  }
  back_to(0);
}

DecoupledCurveEnd WriteDecoupledCurve(const CurveOrder& order, double v_start,
                                      const MotionBudget& budget, DecoupledCurveScratch& scratch,
                                      std::vector<double>& node_speed,
                                      std::vector<SpeedPhase>& phases) {
  // Below both bounds nothing else is in the way: what a corner allows to accelerate to is at least
  // what braking ahead of it asks for.
  for (const CapCorner& corner : scratch.corners) {
    double& bound = scratch.bound[corner.interval + 1];
    bound = std::min(bound, corner.largest_end);
  }
  scratch.speed.resize(order.distance.size() + kPairSize);
  CurveDrive drive(order, budget, scratch, v_start, phases);
  const std::size_t n = order.interval_count();
  const std::size_t wrap = n - order.first;
  for (std::size_t j = 0; j < n;) {
    const std::size_t count = std::min(kBlockSize, (j < wrap ? wrap : n) - j);
    drive.Through(j, count, order.RequestInterval(j));
    j += count;
  }
  drive.Finish();
  std::copy_n(scratch.speed.begin(), n + 1, node_speed.begin());
  return {drive.x(), drive.time_s()};
}

}  // namespace arclane
