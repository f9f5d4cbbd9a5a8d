// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/decoupled_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "server/planning/speed/lateral_cap_curve.h"
#include "server/planning/speed/motion_tolerance.h"
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

void AddCorner(const CurveOrder& order, std::size_t j, const MotionBudget& budget,
               DecoupledCurveScratch& scratch) {
  const std::size_t first = scratch.segments.size();
  CutIntervalIntoCapSegments(order, j, budget, scratch.segments);
  const std::span<const CapSegment<double>> segments(scratch.segments.data() + first,
                                                     scratch.segments.size() - first);
  scratch.corners.push_back(
      {j, first, LargestAtStart(segments, segments.back().cap1, 2.0 * budget.brake.limit),
       LargestAtEnd(segments, segments.front().cap0, 2.0 * budget.accelerate.limit)});
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
      StorePair(Smaller(BothOf(rates.level), 1.0 / shape.k_start), &cap[i]);
      if ((shape.corner[0] | shape.corner[1]) == 0) continue;
      if (shape.corner[0] != 0) AddCorner(order, first + i, budget, scratch);
      if (shape.corner[1] != 0 && i + 1 < count) AddCorner(order, first + i + 1, budget, scratch);
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
  NodeColumn v;
  NodeColumn k;
  Column seconds;
  Column acceleration;
  Column first;
  Column second;
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
             double v_start, std::vector<double>& node_speed, std::vector<SpeedPhase>& phases)
      : order_(order),
        budget_(budget),
        rates_(budget),
        scratch_(scratch),
        node_speed_(node_speed),
        phases_(phases),
        x_(std::min(v_start * v_start, scratch.bound[0])) {
    node_speed[0] = v_start;
  }

  double x() const { return x_; }
  double time_s() const { return time_; }

  // `count` intervals from `first` on, which are the request's from `request_first` on.
  void Through(std::size_t first, std::size_t count, std::size_t request_first) {
    const double* length = scratch_.length.data() + first;
    const double* bound = scratch_.bound.data() + first + 1;
    block_.x[0] = x_;
    for (std::size_t i = 0; i < count; ++i) {
      x_ = std::min(bound[i], x_ + rates_.twice_a * length[i]);
      block_.x[i + 1] = x_;
    }
    block_.x[count + 1] = x_;
    ScaleInto(order_.curvature.subspan(first, count + 1), rates_.per_lateral, block_.k.data());
    block_.v[0] = node_speed_[first];
    for (std::size_t i = 0; i < count; i += kPairSize) {
      StorePair(SquareRoot(LoadPair(&block_.x[i + 1])), &block_.v[i + 1]);
    }
    std::copy_n(block_.v.data() + 1, count, node_speed_.data() + first + 1);
    for (std::size_t i = 0; i < count; i += kPairSize) FindMotions(first, i);
    WritePhases(first, count, request_first);
  }

  void Finish() { phases_.resize(used_); }

 private:
  void FindMotions(std::size_t first, std::size_t i) {
    const Pair length = LoadPair(&scratch_.length[first + i]);
    const Pair x0 = LoadPair(&block_.x[i]);
    const Pair x1 = LoadPair(&block_.x[i + 1]);
    const Pair v0 = LoadPair(&block_.v[i]);
    const Pair v1 = LoadPair(&block_.v[i + 1]);
    const CapShape shape(rates_, LoadPair(&block_.k[i]), LoadPair(&block_.k[i + 1]), length);
    const PairMask on_cap = shape.follows & (x0 >= kOnCap * LoadPair(&scratch_.cap[first + i])) &
                            (x1 >= kOnCap * LoadPair(&scratch_.cap[first + i + 1]));
    const PairMask bends = on_cap & shape.bends;
    const PairMask rises = x1 >= kOnCap * (x0 + rates_.twice_a * length);
    const PairMask falls = x0 >= kOnCap * (x1 + rates_.twice_b * length);
    // Uniform acceleration takes 2 l / (v0 + v1); a speed 1 / sqrt(k0 + k1 d) takes
    // (2/3) l (w0^2 + w0 w1 + w1^2) / (w0 + w1) with w = 1 / v. One quotient serves time and slope.
    const Pair sum = v0 + v1;
    const Pair product = v0 * v1;
    const Pair over = Select(bends, x0 + product + x1, BothOf(2.0));
    const Pair under = Select(bends, 1.5 * product * sum, sum);
    const Pair inverse = 1.0 / (under * length);
    const Pair slope = Where(bends, shape.signed_change * (under * inverse));
    StorePair(length * length * (over * inverse), &block_.seconds[i]);
    StorePair(Where(bends, shape.k_start), &block_.first[i]);
    StorePair(slope, &block_.second[i]);
    const Pair uniform = Select(rises, BothOf(rates_.acceleration), BothOf(-rates_.braking));
    StorePair(Select(on_cap, -0.5 * slope * (x0 * x0), uniform), &block_.acceleration[i]);
    const PairMask motion =
        Either(bends, kFollows,
               Either(on_cap, kLevels,
                      Either(rises, kRises, Either(falls, kFalls, PairMask{kSeveral, kSeveral}))));
    std::memcpy(&block_.motion[i], &motion, sizeof(motion));
  }

  void WritePhases(std::size_t first, std::size_t count, std::size_t request_first) {
    static constexpr std::array<SpeedPhaseKind, 4> kKinds = {
        SpeedPhaseKind::kAccelerate, SpeedPhaseKind::kCruise, SpeedPhaseKind::kBrake,
        SpeedPhaseKind::kFollowCap};
    static constexpr std::array<SpeedLaw, 4> kLaws = {
        SpeedLaw::kConstantAcceleration, SpeedLaw::kConstantAcceleration,
        SpeedLaw::kConstantAcceleration, SpeedLaw::kLateralCap};
    MakeRoom(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto motion = static_cast<std::size_t>(block_.motion[i]);
      if (motion == kSeveral) {
        WriteSeveral(first + i, i, static_cast<std::uint32_t>(request_first + i));
        MakeRoom(count - i);
        continue;
      }
      const double seconds = block_.seconds[i];
      SpeedPhase& phase = phases_[used_++];
      phase.piece = static_cast<std::uint32_t>(request_first + i);
      phase.kind = kKinds[motion];
      phase.law = kLaws[motion];
      phase.start_distance = order_.distance[request_first + i];
      phase.start_time_s = time_;
      phase.length = scratch_.length[first + i];
      phase.duration_s = seconds;
      phase.start_speed = block_.v[i];
      phase.end_speed = block_.v[i + 1];
      phase.acceleration = block_.acceleration[i];
      phase.first = block_.first[i];
      phase.second = block_.second[i];
      time_ += seconds;
    }
  }

  // Interval j of the curve, the block's i-th, with several motions.
  void WriteSeveral(std::size_t j, std::size_t i, std::uint32_t request_interval) {
    const std::vector<CapCorner>& corners = scratch_.corners;
    while (corner_ < corners.size() && corners[corner_].interval < j) ++corner_;
    scratch_.phases.clear();
    CurvePhaseWriter<double> writer(scratch_.phases, time_);
    const auto write = [&](std::span<const CapSegment<double>> segments) {
      WriteUnderSegments(segments, block_.x[i], block_.v[i], block_.x[i + 1], block_.v[i + 1],
                         budget_, writer);
    };
    if (corner_ < corners.size() && corners[corner_].interval == j) {
      const std::size_t from = corners[corner_].first_segment;
      const std::size_t to = corner_ + 1 < corners.size() ? corners[corner_ + 1].first_segment
                                                          : scratch_.segments.size();
      write({scratch_.segments.data() + from, to - from});
    } else {
      const double k0 = std::abs(block_.k[i]);
      const double k1 = std::abs(block_.k[i + 1]);
      CapSegment<double> segment = {order_.distance[request_interval],
                                    scratch_.length[j],
                                    scratch_.cap[j],
                                    scratch_.cap[j + 1],
                                    0.0,
                                    0.0,
                                    request_interval,
                                    static_cast<std::uint32_t>(j)};
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
  std::vector<double>& node_speed_;
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
    while (j > node) {
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
  CurveDrive drive(order, budget, scratch, v_start, node_speed, phases);
  const std::size_t n = order.interval_count();
  const std::size_t wrap = n - order.first;
  for (std::size_t j = 0; j < n;) {
    const std::size_t count = std::min(kBlockSize, (j < wrap ? wrap : n) - j);
    drive.Through(j, count, order.RequestInterval(j));
    j += count;
  }
  drive.Finish();
  return {drive.x(), drive.time_s()};
}

}  // namespace arclane
