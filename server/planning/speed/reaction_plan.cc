// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/reaction_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace arclane {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Squared speeds this close are equal: they come from one rise and one fall over the same length.
constexpr double kSameSpeed = 1e-14;
// A fall that covers this much of its piece starts at the piece's start.
constexpr double kWholePiece = 1.0 - 1e-9;

// The braking curve B of the backward pass, and where its windows end.
class BrakingCurve {
 public:
  BrakingCurve(const SpeedWorkspace& workspace, const MotionBudget& budget)
      : w_(workspace), budget_(budget) {}

  std::size_t size() const { return w_.length.size(); }
  double PieceStart(std::size_t i) const { return w_.start[i]; }
  double AtBoundary(std::size_t i) const { return w_.backward[i]; }

  // B at distance `s` inside piece i.
  double At(std::size_t i, double s) const {
    const double to_end = std::clamp(w_.start[i + 1] - s, 0.0, w_.length[i]);
    return std::min(w_.cap[i],
                    Rise(w_.backward[i + 1], to_end, budget_.brake, w_.radius[i], budget_.total));
  }

  // Where B falls to x inside piece i; x in [backward[i + 1], cap].
  double WhereFallsTo(std::size_t i, double x) const {
    const double to_end = RiseLength(w_.backward[i + 1], std::max(x, w_.backward[i + 1]),
                                     budget_.brake, w_.radius[i], budget_.total);
    return w_.start[i + 1] - std::min(to_end, w_.length[i]);
  }

  // Whether x stays below B on [s, s + sqrt(x) * reaction_s]; s lies in piece i.
  bool Holds(std::size_t i, double s, double x, double reaction_s) const {
    const double allowed = x * (1.0 - kSameSpeed);
    const double end = s + std::sqrt(x) * reaction_s;
    std::size_t j = i;
    for (; j < size() && end >= w_.start[j + 1]; ++j) {
      if (w_.backward[j + 1] < allowed) return false;
    }
    return j == size() || At(j, end) >= allowed;
  }

 private:
  const SpeedWorkspace& w_;
  const MotionBudget& budget_;
};

// One run of the simulation: position, speed, and the look-ahead window (position, position + v *
// reaction].
class ReactiveDrive {
 public:
  ReactiveDrive(double reaction_s, const MotionBudget& budget, SpeedWorkspace& workspace,
                PhaseWriter& writer)
      : reaction_(reaction_s),
        budget_(budget),
        w_(workspace),
        writer_(writer),
        curve_(workspace, budget) {}

  double Run(double start_speed) {
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
  double Position() const { return position_; }

  Stretch Ahead(double length) const {
    return {w_.index[piece_], position_, length, w_.radius[piece_]};
  }

  void WriteDwellHere() {
    if (w_.dwell.empty() || !(w_.dwell[piece_] > 0.0)) return;
    const std::size_t named = std::min(piece_, w_.index.size() - 1);
    writer_.Dwell(w_.index.empty() ? 0 : w_.index[named], position_, w_.dwell[piece_]);
  }

  // Puts the far pointer behind the window's end and lists the boundaries in the window whose B
  // binds.
  void OpenWindow() {
    head_ = 0;
    w_.minima.clear();
    far_ = piece_;
    const double end = position_ + v_ * reaction_;
    while (far_ < curve_.size() && curve_.PieceStart(far_ + 1) <= end) PushFarBoundary();
  }

  void PushFarBoundary() {
    const auto boundary = static_cast<std::uint32_t>(++far_);
    const double value = curve_.AtBoundary(boundary);
    while (w_.minima.size() > head_ && curve_.AtBoundary(w_.minima.back()) >= value)
      w_.minima.pop_back();
    w_.minima.push_back(boundary);
  }

  // The largest squared speed that the caps here and the boundaries in the window allow.
  double Ceiling() const {
    const double cap = w_.cap[piece_];
    return head_ < w_.minima.size() ? std::min(cap, curve_.AtBoundary(w_.minima[head_])) : cap;
  }

  // Moves to the next piece when the position is at this piece's end.
  void EnterNextPiece() {
    ++piece_;
    position_ = w_.start[piece_];
    if (far_ < piece_) far_ = piece_;
    while (head_ < w_.minima.size() && w_.minima[head_] <= piece_) ++head_;
  }

  void SetSpeed(double x) {
    x_ = x;
    v_ = std::sqrt(x);
  }

  // Accelerates to the first event: the piece's end, the ceiling, the window reaching a boundary,
  // or the braking curve coming into force at the window's end.
  void Accelerate() {
    const Push& push = budget_.accelerate;
    const double radius = w_.radius[piece_];
    const auto risen = [&](double d) { return Rise(x_, d, push, radius, budget_.total); };
    const double to_end = w_.start[piece_ + 1] - position_;
    double d = to_end;
    const double ceiling = Ceiling();
    const double to_ceiling = RiseLength(x_, ceiling, push, radius, budget_.total);
    const bool at_ceiling = to_ceiling <= d;
    if (at_ceiling) d = to_ceiling;
    double x1 = at_ceiling ? ceiling : risen(d);
    bool at_boundary = false;
    if (far_ < curve_.size()) {
      const double gap = curve_.PieceStart(far_ + 1) - position_;
      if (d + std::sqrt(x1) * reaction_ >= gap) {
        at_boundary = true;
        d = DistanceToSee(gap, d);
        x1 = std::min(x1, risen(d));
      }
      const double seen =
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

  void Move(double d, double x1) {
    const double v1 = std::sqrt(x1);
    if (d > 0.0) writer_.Accelerate(Ahead(d), x_, v_, x1, v1);
    position_ += d;
    x_ = x1;
    v_ = v1;
  }

  // The distance after which d + v(d) * reaction = gap.
  double DistanceToSee(double gap, double limit) const {
    const double radius = w_.radius[piece_];
    return FindRoot(0.0, limit, [&](double d) {
      return gap - d -
             std::sqrt(Rise(x_, d, budget_.accelerate, radius, budget_.total)) * reaction_;
    });
  }

  // The distance after which the speed equals the braking curve at the window's end.
  double DistanceToBind(double limit) const {
    const double radius = w_.radius[piece_];
    if (!(radius < kInfinity) && !(w_.radius[far_] < kInfinity)) {
      // (v^2 - x)/2a + v tr + (v^2 - e)/2b = gap, if B is braking there and not on its cap.
      const double a = budget_.accelerate.limit;
      const double b = budget_.brake.limit;
      const double e = curve_.AtBoundary(far_ + 1);
      const double q = 0.5 / a + 0.5 / b;
      const double gap = curve_.PieceStart(far_ + 1) - position_ + x_ * (0.5 / a) + e * (0.5 / b);
      const double v = 2.0 * gap / (reaction_ + std::sqrt(reaction_ * reaction_ + 4.0 * q * gap));
      return std::clamp((v * v - x_) / (2.0 * a), 0.0, limit);
    }
    return FindRoot(0.0, limit, [&](double d) {
      const double x = Rise(x_, d, budget_.accelerate, radius, budget_.total);
      return curve_.At(far_, position_ + d + std::sqrt(x) * reaction_) - x;
    });
  }

  // Keeps the speed until the window meets the falling braking curve or a boundary, or the piece
  // ends.
  void Hold() {
    const double to_end = w_.start[piece_ + 1] - position_;
    double d = to_end;
    if (far_ < curve_.size()) {
      const double seen = position_ + v_ * reaction_;
      if (curve_.AtBoundary(far_ + 1) < x_ * (1.0 - kSameSpeed)) {
        if (curve_.WhereFallsTo(far_, x_) - seen <= to_end) return Commit();
      } else if (curve_.PieceStart(far_ + 1) - seen <= to_end) {
        Cruise(std::max(0.0, curve_.PieceStart(far_ + 1) - seen));
        return PushFarBoundary();
      }
    }
    Cruise(d);
    EnterNextPiece();
  }

  void Cruise(double d) {
    if (!(d > 0.0)) return;
    writer_.Cruise(Ahead(d), v_);
    position_ += d;
  }

  // Holds until the braking curve of piece far_ falls to this speed, then brakes for the whole run.
  void Commit() {
    const double where = std::max(curve_.WhereFallsTo(far_, x_), position_);
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
      if (x_ > 0.0 && FallsOn()) continue;
      if (!curve_.Holds(piece_, position_, x_, reaction_)) BrakeBelowCurve();
      return OpenWindow();
    }
  }

  // Whether the braking curve goes on falling over the whole piece that begins here.
  bool FallsOn() const {
    const double low = w_.backward[piece_ + 1];
    const double length = w_.length[piece_];
    const double radius = w_.radius[piece_];
    if (Rise(low, length, budget_.brake, radius, budget_.total) > x_ * (1.0 + kSameSpeed))
      return false;
    // At its top the grip circle saturates: there only the length of the fall tells.
    return x_ < w_.cap[piece_] ||
           RiseLength(low, x_, budget_.brake, radius, budget_.total) >= length * kWholePiece;
  }

  void BrakeTo(double x1, double d) {
    const double v1 = std::sqrt(x1);
    if (d > 0.0) writer_.Brake(Ahead(d), x_, v_, x1, v1);
    position_ += d;
    x_ = x1;
    v_ = v1;
  }

  void EnterBraking() {
    EnterNextPiece();
    if (!w_.dwell.empty() && w_.dwell[piece_] >= 0.0) WriteDwellHere();
  }

  // The plateau here is too short to hold: brakes on at the full rate to the largest speed (to the
  // last bit, found by halving) that can be held where it is reached.
  void BrakeBelowCurve() {
    double low = 0.0;
    double high = x_;
    for (int i = 0; i < 64; ++i) {
      const double mid = low + 0.5 * (high - low);
      if (!(mid > low && mid < high)) break;
      (HoldsAfterBraking(mid) ? low : high) = mid;
    }
    while (x_ > low) {
      const double radius = w_.radius[piece_];
      const double to_end = w_.start[piece_ + 1] - position_;
      const double needed = RiseLength(low, x_, budget_.brake, radius, budget_.total);
      if (needed < to_end) {
        BrakeTo(low, needed);
        return;
      }
      BrakeTo(std::max(low, Fall(x_, to_end, budget_.brake, radius, budget_.total)), to_end);
      EnterBraking();
      if (piece_ == curve_.size()) return;
    }
  }

  bool HoldsAfterBraking(double x) const {
    std::size_t i = piece_;
    double s = position_;
    double from = x_;
    for (; i < curve_.size(); ++i) {
      const double radius = w_.radius[i];
      const double needed = RiseLength(x, from, budget_.brake, radius, budget_.total);
      const double to_end = w_.start[i + 1] - s;
      if (needed < to_end) return curve_.Holds(i, s + needed, x, reaction_);
      from = std::max(x, Fall(from, to_end, budget_.brake, radius, budget_.total));
      s = w_.start[i + 1];
      if (!w_.dwell.empty() && w_.dwell[i + 1] >= 0.0) return x == 0.0;
    }
    return true;
  }

  const double reaction_;
  const MotionBudget& budget_;
  SpeedWorkspace& w_;
  PhaseWriter& writer_;
  BrakingCurve curve_;
  std::size_t piece_ = 0;
  std::size_t far_ = 0;   // the piece that holds the window's end
  std::size_t head_ = 0;  // first live entry of w_.minima
  double position_ = 0.0;
  double x_ = 0.0;
  double v_ = 0.0;
};

}  // namespace

double LargestReactiveStart(const SpeedWorkspace& workspace, const MotionBudget& budget,
                            double reaction_s) {
  const BrakingCurve curve(workspace, budget);
  double bound = curve.AtBoundary(0);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    // The window's end lies in piece i for v in [start_i, start_(i+1)] / reaction.
    const double v_high = curve.PieceStart(i + 1) / reaction_s;
    const double next = std::min(bound, curve.AtBoundary(i + 1));
    if (v_high * v_high <= next) {
      bound = next;
      continue;
    }
    const double v_low = curve.PieceStart(i) / reaction_s;
    const double e = curve.AtBoundary(i + 1);
    const double b = budget.brake.limit;
    double v = 0.0;
    if (workspace.radius[i] < kInfinity) {
      v = FindRoot(v_low, v_high, [&](double u) { return curve.At(i, u * reaction_s) - u * u; });
    } else {
      // v^2 = e + 2 b (end - v tr), or the cap.
      const double sum = e + 2.0 * b * curve.PieceStart(i + 1);
      v = sum / (b * reaction_s + std::sqrt(b * reaction_s * (b * reaction_s) + sum));
    }
    return std::min(v, std::sqrt(std::min(bound, workspace.cap[i])));
  }
  return std::sqrt(bound);
}

double WriteReactivePhases(double start_speed, double reaction_s, const MotionBudget& budget,
                           SpeedWorkspace& workspace, PhaseWriter& writer) {
  return ReactiveDrive(reaction_s, budget, workspace, writer).Run(start_speed);
}

}  // namespace arclane
