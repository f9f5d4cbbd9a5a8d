// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/reaction_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "server/planning/speed/motion_tolerance.h"

namespace arclane {
namespace {

// Squared speeds this close are equal: they come from one rise and one fall over the same length.
constexpr double kSameSpeed = 1e-14;

// The braking curve B of the backward pass, and where its windows end.
template <typename Real>
class BrakingCurve {
 public:
  BrakingCurve(const SpeedColumns<Real>& columns, const BasicMotionBudget<Real>& budget)
      : w_(columns), budget_(budget) {}

  std::size_t size() const { return w_.length.size(); }
  Real PieceStart(std::size_t i) const { return w_.start[i]; }
  Real AtBoundary(std::size_t i) const { return w_.backward[i]; }

  // B at distance `s` inside piece i.
  Real At(std::size_t i, Real s) const {
    const Real to_end = std::clamp(w_.start[i + 1] - s, Real{0}, w_.length[i]);
    return std::min(w_.cap[i],
                    Rise(w_.backward[i + 1], to_end, budget_.brake, w_.radius[i], budget_.total));
  }

  // Where B falls to x inside piece i; x in [backward[i + 1], cap].
  Real WhereFallsTo(std::size_t i, Real x) const {
    const Real to_end = RiseLength(w_.backward[i + 1], std::max(x, w_.backward[i + 1]),
                                   budget_.brake, w_.radius[i], budget_.total);
    return w_.start[i + 1] - std::min(to_end, w_.length[i]);
  }

  // Whether x stays below B on [s, s + sqrt(x) * reaction_s]; s lies in piece i.
  bool Holds(std::size_t i, Real s, Real x, Real reaction_s) const {
    const Real allowed = x * (1.0 - kSameSpeed);
    const Real end = s + std::sqrt(x) * reaction_s;
    std::size_t j = i;
    for (; j < size() && end >= w_.start[j + 1]; ++j) {
      if (w_.backward[j + 1] < allowed) return false;
    }
    return j == size() || At(j, end) >= allowed;
  }

 private:
  const SpeedColumns<Real>& w_;
  const BasicMotionBudget<Real>& budget_;
};

// One run of the simulation: position, speed, and the look-ahead window (position, position + v *
// reaction].
template <typename Real>
class ReactiveDrive {
 public:
  ReactiveDrive(Real reaction_s, const BasicMotionBudget<Real>& budget, SpeedColumns<Real>& columns,
                PhaseWriter<Real>& writer)
      : reaction_(reaction_s),
        budget_(budget),
        w_(columns),
        writer_(writer),
        curve_(columns, budget) {}

  Real Run(Real start_speed) {
    v_ = start_speed;
    x_ = std::min(v_ * v_, w_.backward[0]);
    WriteDwellHere();
    OpenWindow();
    while (piece_ < w_.length.size()) {
      if (x_ < Ceiling() * (1.0 - kSameSpeed)) {
        Accelerate();
      } else {
        Hold();
      }
    }
    return x_;
  }

 private:
  Real Position() const { return position_; }

  Stretch<Real> Ahead(Real length) const {
    return {w_.index[piece_], position_, length, w_.radius[piece_]};
  }

  void WriteDwellHere() {
    if (w_.dwell.empty() || !(w_.dwell[piece_] > Real{0})) return;
    const std::size_t named = std::min(piece_, w_.index.size() - 1);
    writer_.Dwell(w_.index.empty() ? 0 : w_.index[named], position_, w_.dwell[piece_]);
  }

  // Puts the far pointer behind the window's end and lists the boundaries in the window whose B
  // binds.
  void OpenWindow() {
    head_ = 0;
    w_.minima.clear();
    far_ = piece_;
    const Real end = position_ + v_ * reaction_;
    while (far_ < curve_.size() && curve_.PieceStart(far_ + 1) <= end) PushFarBoundary();
  }

  void PushFarBoundary() {
    const auto boundary = static_cast<std::uint32_t>(++far_);
    const Real value = curve_.AtBoundary(boundary);
    while (w_.minima.size() > head_ && curve_.AtBoundary(w_.minima.back()) >= value)
      w_.minima.pop_back();
    w_.minima.push_back(boundary);
  }

  // The largest squared speed that the caps here and the boundaries in the window allow.
  Real Ceiling() const {
    const Real cap = w_.cap[piece_];
    return head_ < w_.minima.size() ? std::min(cap, curve_.AtBoundary(w_.minima[head_])) : cap;
  }

  // Moves to the next piece when the position is at this piece's end.
  void EnterNextPiece() {
    ++piece_;
    position_ = w_.start[piece_];
    if (far_ < piece_) far_ = piece_;
    while (head_ < w_.minima.size() && w_.minima[head_] <= piece_) ++head_;
  }

  void SetSpeed(Real x) {
    x_ = x;
    v_ = std::sqrt(x);
  }

  // Accelerates to the first event: the piece's end, the ceiling, the window reaching a boundary,
  // or the braking curve coming into force at the window's end.
  void Accelerate() {
    const BasicPush<Real>& push = budget_.accelerate;
    const Real radius = w_.radius[piece_];
    const auto risen = [&](Real d) { return Rise(x_, d, push, radius, budget_.total); };
    const Real to_end = w_.start[piece_ + 1] - position_;
    Real d = to_end;
    const Real ceiling = Ceiling();
    const Real to_ceiling = RiseLength(x_, ceiling, push, radius, budget_.total);
    const bool at_ceiling = to_ceiling <= d;
    if (at_ceiling) d = to_ceiling;
    Real x1 = at_ceiling ? ceiling : risen(d);
    bool at_boundary = false;
    if (far_ < curve_.size()) {
      const Real gap = curve_.PieceStart(far_ + 1) - position_;
      if (d + std::sqrt(x1) * reaction_ >= gap) {
        at_boundary = true;
        d = DistanceToSee(gap, d);
        x1 = std::min(x1, risen(d));
      }
      const Real seen =
          at_boundary ? curve_.PieceStart(far_ + 1) : position_ + d + std::sqrt(x1) * reaction_;
      if (x1 > curve_.At(far_, seen)) {
        d = DistanceToBind(d);
        x1 = risen(d);
        Move(d, x1);
        return Commit();
      }
    }
    const bool piece_done = d >= to_end;
    Move(d, x1);
    if (at_boundary) PushFarBoundary();
    if (piece_done) EnterNextPiece();
  }

  void Move(Real d, Real x1) {
    const Real v1 = std::sqrt(x1);
    if (d > Real{0}) writer_.Accelerate(Ahead(d), x_, v_, x1, v1);
    position_ += d;
    x_ = x1;
    v_ = v1;
  }

  // The distance after which d + v(d) * reaction = gap.
  Real DistanceToSee(Real gap, Real limit) const {
    const Real radius = w_.radius[piece_];
    return FindRoot(Real{0}, limit, [&](Real d) {
      return gap - d -
             std::sqrt(Rise(x_, d, budget_.accelerate, radius, budget_.total)) * reaction_;
    });
  }

  // The distance after which the speed equals the braking curve at the window's end.
  Real DistanceToBind(Real limit) const {
    const Real radius = w_.radius[piece_];
    if (IsStraight(radius) && IsStraight(w_.radius[far_])) {
      // (v^2 - x)/2a + v tr + (v^2 - e)/2b = gap, if B is braking there and not on its cap.
      const Real a = budget_.accelerate.limit;
      const Real b = budget_.brake.limit;
      const Real e = curve_.AtBoundary(far_ + 1);
      const Real q = 1 / (2 * a) + 1 / (2 * b);
      const Real gap =
          curve_.PieceStart(far_ + 1) - position_ + x_ * (1 / (2 * a)) + e * (1 / (2 * b));
      const Real v = 2.0 * gap / (reaction_ + std::sqrt(reaction_ * reaction_ + 4.0 * q * gap));
      return std::clamp((v * v - x_) / (2.0 * a), Real{0}, limit);
    }
    return FindRoot(Real{0}, limit, [&](Real d) {
      const Real x = Rise(x_, d, budget_.accelerate, radius, budget_.total);
      return curve_.At(far_, position_ + d + std::sqrt(x) * reaction_) - x;
    });
  }

  // Keeps the speed until the window meets the falling braking curve or a boundary, or the piece
  // ends.
  void Hold() {
    const Real to_end = w_.start[piece_ + 1] - position_;
    Real d = to_end;
    if (far_ < curve_.size()) {
      const Real seen = position_ + v_ * reaction_;
      if (curve_.AtBoundary(far_ + 1) < x_ * (1.0 - kSameSpeed)) {
        if (curve_.WhereFallsTo(far_, x_) - seen <= to_end) return Commit();
      } else if (curve_.PieceStart(far_ + 1) - seen <= to_end) {
        Cruise(std::max(Real{0}, curve_.PieceStart(far_ + 1) - seen));
        return PushFarBoundary();
      }
    }
    Cruise(d);
    EnterNextPiece();
  }

  void Cruise(Real d) {
    if (!(d > Real{0})) return;
    writer_.Cruise(Ahead(d), v_);
    position_ += d;
  }

  // Holds until the braking curve of piece far_ falls to this speed, then brakes for the whole run.
  void Commit() {
    const Real where = std::max(curve_.WhereFallsTo(far_, x_), position_);
    while (piece_ < far_) {
      Cruise(w_.start[piece_ + 1] - position_);
      EnterNextPiece();
    }
    Cruise(where - position_);
    BrakeAlongCurve();
  }

  void BrakeAlongCurve() {
    for (;;) {
      BrakeTo(w_.backward[piece_ + 1], w_.start[piece_ + 1] - position_);
      EnterBraking();
      if (piece_ == curve_.size()) return;
      if (x_ > Real{0} && FallsOn()) continue;
      if (!curve_.Holds(piece_, position_, x_, reaction_)) BrakeBelowCurve();
      return OpenWindow();
    }
  }

  // Whether the braking curve goes on falling over the whole piece that begins here.
  bool FallsOn() const {
    const Real low = w_.backward[piece_ + 1];
    const Real length = w_.length[piece_];
    const Real radius = w_.radius[piece_];
    if (Rise(low, length, budget_.brake, radius, budget_.total) > x_ * (1.0 + kSameSpeed))
      return false;
    // Level at the cap, or at the top of the grip circle, only the length of the fall tells.
    const Real cap = w_.cap[piece_];
    const Real high = x_ >= kLevel * cap ? std::max(x_, cap) : x_;
    return high < cap ||
           RiseLength(low, high, budget_.brake, radius, budget_.total) >= length * kWholePiece;
  }

  void BrakeTo(Real x1, Real d) {
    const Real v1 = std::sqrt(x1);
    if (d > Real{0}) writer_.Brake(Ahead(d), x_, v_, x1, v1);
    position_ += d;
    x_ = x1;
    v_ = v1;
  }

  void EnterBraking() {
    EnterNextPiece();
    if (!w_.dwell.empty() && w_.dwell[piece_] >= Real{0}) WriteDwellHere();
  }

  // The plateau here is too short to hold: brakes on at the full rate to the largest speed (to the
  // last bit, found by halving) that can be held where it is reached.
  void BrakeBelowCurve() {
    Real low = Real{0};
    Real high = x_;
    for (int i = 0; i < 64; ++i) {
      const Real mid = low + (high - low) / 2;
      if (!(mid > low && mid < high)) break;
      (HoldsAfterBraking(mid) ? low : high) = mid;
    }
    while (x_ > low) {
      const Real radius = w_.radius[piece_];
      const Real to_end = w_.start[piece_ + 1] - position_;
      const Real needed = RiseLength(low, x_, budget_.brake, radius, budget_.total);
      if (needed < to_end) {
        BrakeTo(low, needed);
        return;
      }
      BrakeTo(std::max(low, Fall(x_, to_end, budget_.brake, radius, budget_.total)), to_end);
      EnterBraking();
      if (piece_ == curve_.size()) return;
    }
  }

  bool HoldsAfterBraking(Real x) const {
    std::size_t i = piece_;
    Real s = position_;
    Real from = x_;
    for (; i < curve_.size(); ++i) {
      const Real radius = w_.radius[i];
      const Real needed = RiseLength(x, from, budget_.brake, radius, budget_.total);
      const Real to_end = w_.start[i + 1] - s;
      if (needed < to_end) return curve_.Holds(i, s + needed, x, reaction_);
      from = std::max(x, Fall(from, to_end, budget_.brake, radius, budget_.total));
      s = w_.start[i + 1];
      if (!w_.dwell.empty() && w_.dwell[i + 1] >= Real{0}) return x == Real{0};
    }
    return true;
  }

  const Real reaction_;
  const BasicMotionBudget<Real>& budget_;
  SpeedColumns<Real>& w_;
  PhaseWriter<Real>& writer_;
  BrakingCurve<Real> curve_;
  std::size_t piece_ = 0;
  std::size_t far_ = 0;   // the piece that holds the window's end
  std::size_t head_ = 0;  // first live entry of w_.minima
  Real position_ = Real{0};
  Real x_ = Real{0};
  Real v_ = Real{0};
};

}  // namespace

template <typename Real>
Real LargestReactiveStart(const SpeedColumns<Real>& columns, const BasicMotionBudget<Real>& budget,
                          Real reaction_s) {
  const BrakingCurve<Real> curve(columns, budget);
  Real bound = curve.AtBoundary(0);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    // The window's end lies in piece i for v in [start_i, start_(i+1)] / reaction.
    const Real v_high = curve.PieceStart(i + 1) / reaction_s;
    const Real next = std::min(bound, curve.AtBoundary(i + 1));
    if (v_high * v_high <= next) {
      bound = next;
      continue;
    }
    const Real v_low = curve.PieceStart(i) / reaction_s;
    const Real e = curve.AtBoundary(i + 1);
    const Real b = budget.brake.limit;
    Real v = Real{0};
    if (!IsStraight(columns.radius[i])) {
      v = FindRoot(v_low, v_high, [&](Real u) { return curve.At(i, u * reaction_s) - u * u; });
    } else {
      // v^2 = e + 2 b (end - v tr), or the cap.
      const Real sum = e + 2.0 * b * curve.PieceStart(i + 1);
      v = sum / (b * reaction_s + std::sqrt(b * reaction_s * (b * reaction_s) + sum));
    }
    return std::min(v, std::sqrt(std::min(bound, columns.cap[i])));
  }
  return std::sqrt(bound);
}

template <typename Real>
Real WriteReactivePhases(Real start_speed, Real reaction_s, const BasicMotionBudget<Real>& budget,
                         SpeedColumns<Real>& columns, PhaseWriter<Real>& writer) {
  return ReactiveDrive<Real>(reaction_s, budget, columns, writer).Run(start_speed);
}

template double LargestReactiveStart(const SpeedColumns<double>&, const BasicMotionBudget<double>&,
                                     double);
template long double LargestReactiveStart(const SpeedColumns<long double>&,
                                          const BasicMotionBudget<long double>&, long double);
template double WriteReactivePhases(double, double, const BasicMotionBudget<double>&,
                                    SpeedColumns<double>&, PhaseWriter<double>&);
template long double WriteReactivePhases(long double, long double,
                                         const BasicMotionBudget<long double>&,
                                         SpeedColumns<long double>&, PhaseWriter<long double>&);

}  // namespace arclane
