// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/coupled_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace arclane {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Two squared speeds this close are one.
constexpr double kSame = 1e-12;
// The excess allowed at the three inner points that are checked, of the squared budget: a quarter
// of the promise, which leaves the rest for the points between.
constexpr double kCheckedExcess = 0.5 * kBudgetExcess;
// A rejected step is cut to this part; one that is accepted at once lets the next grow by the
// inverse.
constexpr double kCut = 0.5;
// Shares of an interval that are not worth a part: curvature and caps are off by twice as much.
constexpr double kSliver = 1e-9;
// Steps are not cut below this part of their stretch: there the speed is kept constant instead.
constexpr double kSmallestPart = 1.0 / 4096;

// Accelerations (magnitudes) at both ends of a step, and the one with which the next step starts.
struct StepEnds {
  double a0;
  double a1;
  double next;
};

// The admissible set of one direction and the choice of steps along its edge.
class Edge {
 public:
  Edge(double limit, const CoupledBudget& budget)
      : limit_(limit),
        total_(budget.motion.total),
        resolution_(budget.resolution),
        total2_(total_ * total_),
        deepest_(2.0 * resolution_ * total2_),
        tolerance_(kCheckedExcess * total2_) {}

  double total() const { return total_; }
  double total2() const { return total2_; }

  // The largest |a_t| at squared speed x.
  double At(double k, double x) const {
    const double y = k * x;
    // On the top up to rounding nothing is left; a remainder of 1e-6 A would carry a long step over
    // it.
    return y < total_ * (1.0 - kSame) ? std::min(limit_, std::sqrt((total_ - y) * (total_ + y)))
                                      : 0.0;
  }

  // A step of length d from (x0, a0) to curvature k1; false: take a shorter one.
  bool Step(double x0, double a0, double k0, double k1, double d, StepEnds& ends) const {
    return Trapezoid(x0, a0, k0, k1, d, deepest_, ends) || Ride(x0, a0, k0, k1, d, ends);
  }

  // The last resort of the smallest steps: as deep inside as it happens to be, such as across the
  // corner of circle and limit.
  bool DeepStep(double x0, double a0, double k0, double k1, double d, StepEnds& ends) const {
    return Trapezoid(x0, a0, k0, k1, d, total2_, ends);
  }

  // The length to try after a step of length d was refused: a part of it, or what just reaches the
  // circle's top, which shorter steps would only approach.
  double Shorter(double x0, double a0, double k0, double k1, double d) const {
    const double k_slope = (k1 - k0) / d;
    const double gap = total_ - k0 * x0;
    const double b = k0 * a0 + k_slope * x0;
    const double root = b * b + 4.0 * k_slope * a0 * gap;
    const double sum = root >= 0.0 ? b + std::sqrt(root) : 0.0;
    const double top = sum > 0.0 ? 2.0 * gap / sum : 0.0;
    return top < d && top > d * kCut ? top : d * kCut;
  }

  // Whether constant acceleration a (signed) from x0 over d keeps the budget between its ends.
  bool Keeps(double x0, double a, double k0, double k1, double d) const {
    return ShapeOf(x0, a, a, k0, k1, d).excess <= tolerance_;
  }

 private:
  struct Shape {
    double excess;  // bound of a^2 + y^2 - A^2 over the step
    double middle;  // its value half-way
  };

  // h(t) = a^2 + y^2 - A^2 along the step is its linear interpolation plus t (1 - t) (p + r t) with
  // p and r from the end slopes; what that cubic misses is measured half-way.
  Shape ShapeOf(double x0, double a0, double a1, double k0, double k1, double d) const {
    const double x1 = x0 + d * (a0 + a1);
    const double y0 = k0 * x0;
    const double y1 = k1 * x1;
    const double h0 = a0 * a0 + y0 * y0 - total2_;
    const double h1 = a1 * a1 + y1 * y1 - total2_;
    const double da = a1 - a0;
    const double dk = k1 - k0;
    const double slope0 = 2.0 * (a0 * da + y0 * (dk * x0 + 2.0 * k0 * a0 * d));
    const double slope1 = 2.0 * (a1 * da + y1 * (dk * x1 + 2.0 * k1 * a1 * d));
    const double p = slope0 - (h1 - h0);
    const double w = (h1 - h0) - slope1;
    const double am = 0.5 * (a0 + a1);
    const double ym = (x0 + 0.25 * d * (3.0 * a0 + a1)) * 0.5 * (k0 + k1);
    const double hm = am * am + ym * ym - total2_;
    const double missed = std::abs(hm - 0.5 * (h0 + h1) - 0.125 * (p + w));
    const double high = std::max(p, w);
    const double low = std::min(p, w);
    double bump = 0.0;
    if (high > 0.0) bump = low >= 0.0 ? 0.25 * high : 0.25 * high * high / (high - low);
    return {std::max(h0, h1) + bump + 2.0 * missed, hm};
  }

  // Both ends on the edge; an excess between them is taken off the accelerations.
  bool Trapezoid(double x0, double a0, double k0, double k1, double d, double deepest,
                 StepEnds& ends) const {
    double y = k1 * (x0 + d * a0);
    if (y > total_ * (1.0 + kSame)) return false;
    y = std::min(y, total_);  // on the top of an arc's circle, up to rounding
    const double kd = k1 * d;
    const double root = std::sqrt(total2_ * (1.0 + kd * kd) - y * y);
    const double a1 = std::min(limit_, (total_ - y) * (total_ + y) / (kd * y + root));
    const Shape shape = ShapeOf(x0, a0, a1, k0, k1, d);
    if (shape.middle < -deepest && 0.5 * (a0 + a1) < limit_ * (1.0 - resolution_)) return false;
    ends = {a0, a1, a1};
    if (shape.excess <= tolerance_) return true;
    if (shape.excess > 0.5 * deepest_) return false;
    // Off every a(t) between: max over t of 4 E t (1 - t) / (2 a(t)) <= 2 E / (a0 + a1 + 2 min(a0,
    // a1)).
    const double smaller = std::min(a0, a1);
    const double off = 2.0 * shape.excess / (a0 + a1 + 2.0 * smaller) * kSecondOrder;
    if (off > kLargestCorrection * smaller) return false;
    ends.a0 -= off;
    ends.a1 -= off;
    return true;
  }

  // Near the circle's top the edge is stiff: lateral acceleration relaxes within a distance of a /
  // (2 k A) to the level at which speed changes just as the curvature asks, a_t = x |k'| / 2k.
  // There the step rides that level, `resolution` inside the circle: y^2 (1 + q^2) = A^2 (1 -
  // resolution) with a_t = q y.
  bool Ride(double x0, double a_edge, double k0, double k1, double d, StepEnds& ends) const {
    if (!(k1 < k0)) return false;
    const double relative = 0.5 * (k0 - k1) / d;
    const double q0 = relative / (k0 * k0);
    const double q1 = relative / (k1 * k1);
    const double level2 = total2_ - 0.5 * deepest_;
    const double y0 = k0 * x0;
    if (std::abs(y0 * y0 * (1.0 + q0 * q0) - level2) > deepest_) return false;
    const double x1 = std::sqrt(level2 / (1.0 + q1 * q1)) / k1;
    const double a0 = std::min(q0 * y0, a_edge);
    const double a1 = (x1 - x0) / d - a0;
    if (!(a1 >= 0.0) || std::max(a0, a1) > limit_) return false;
    const Shape shape = ShapeOf(x0, a0, a1, k0, k1, d);
    if (shape.excess > tolerance_ || shape.middle < -2.0 * deepest_) return false;
    ends = {a0, a1, At(k1, x1)};
    return true;
  }

  // (a - off)^2 <= a^2 - 2 a off + off^2 with off <= a / 10: the square costs at most a twentieth.
  static constexpr double kLargestCorrection = 0.1;
  static constexpr double kSecondOrder = 1.06;

  const double limit_;
  const double total_;
  const double resolution_;
  const double total2_;
  const double deepest_;
  const double tolerance_;
};

// Cuts interval j into parts, in driving order.
class PartCutter {
 public:
  PartCutter(const CurveOrder& order, const CoupledBudget& budget, std::vector<CurvePart>& parts)
      : order_(order),
        level_(budget.motion.squared_max_speed),
        lateral_(budget.motion.lateral < budget.motion.total ? budget.lateral : kInfinity),
        resolution_(budget.resolution),
        parts_(parts) {
    // (rho - 1)^2 / (4 rho) = resolution.
    const double rho = 1.0 + 2.0 * resolution_ + 2.0 * std::sqrt(resolution_ * (1.0 + resolution_));
    log_ratio_ = std::log(rho);
  }

  void Cut(std::size_t j) {
    parts_.clear();
    const std::size_t i = order_.RequestInterval(j);
    const double length = order_.distance[i + 1] - order_.distance[i];
    const double k0 = order_.curvature[j];
    const double k1 = order_.curvature[j + 1];
    double line0 = level_;
    double line1 = level_;
    if (!order_.speed_cap.empty()) {
      line0 = order_.speed_cap[j] * order_.speed_cap[j];
      line1 = order_.speed_cap[j + 1] * order_.speed_cap[j + 1];
      if (!(line0 < kInfinity) || !(line1 < kInfinity)) line0 = line1 = level_;
    }
    std::array<double, 4> cuts = {0.0, length, length, length};
    int count = 1;
    const auto cut = [&](double part) {
      if (part > kSliver && part < 1.0 - kSliver) cuts[count++] = part * length;
    };
    if (k0 * k1 < 0.0) cut(k0 / (k0 - k1));
    if ((line0 - level_) * (line1 - level_) < 0.0) cut((level_ - line0) / (line1 - line0));
    cuts[count] = length;
    if (count == 3 && cuts[1] > cuts[2]) std::swap(cuts[1], cuts[2]);
    for (int c = 0; c < count; ++c) {
      if (!(cuts[c + 1] > cuts[c])) continue;
      const auto k = [&](double d) {
        return d >= length ? std::abs(k1) : std::abs(k0 + (k1 - k0) * (d / length));
      };
      const auto line = [&](double d) {
        return std::min(level_, d >= length ? line1 : line0 + (line1 - line0) * (d / length));
      };
      CurvePart part = {cuts[c], cuts[c + 1], k(cuts[c]), k(cuts[c + 1]), line(cuts[c]), line(cuts[c + 1]), 0.0, 0.0};
      part.SetSlopes();
      AddPart(part);
    }
  }

 private:
  void AddPart(const CurvePart& part) {
    const double k_high = std::max(part.k_from, part.k_to);
    const double line = std::max(part.cap_from, part.cap_to);
    if (!(k_high * line > lateral_)) {
      parts_.push_back(part);
      return;
    }
    const auto cap = [&](double k, double under) {
      return k * under > lateral_ ? lateral_ / k : under;
    };
    // Below k_low the lateral limit does not bind.
    const double k_low = std::clamp(lateral_ / line, std::min(part.k_from, part.k_to), k_high);
    const int count = 1 + static_cast<int>(std::log(k_high / k_low) / log_ratio_);
    const bool rises = part.k_to > part.k_from;
    CurvePart next = part;
    next.cap_from = cap(part.k_from, part.cap_from);
    for (int i = 0; i <= count; ++i) {
      const double share = static_cast<double>(rises ? i : count - i) / count;
      const double k = k_low * std::pow(k_high / k_low, share);
      const double at =
          part.k_to != part.k_from ? (k - part.k_from) / (part.k_to - part.k_from) : 1.0;
      AddUpTo(part, at, cap, next);
    }
    AddUpTo(part, 1.0, cap, next);
  }

  template <typename Cap>
  void AddUpTo(const CurvePart& part, double share, const Cap& cap, CurvePart& next) {
    next.to = share >= 1.0 ? part.to : part.from + share * (part.to - part.from);
    if (!(next.to > next.from)) return;
    next.k_to = part.K(next.to);
    next.cap_to = cap(next.k_to, part.Cap(next.to));
    next.SetSlopes();
    parts_.push_back(next);
    next.from = next.to;
    next.k_from = next.k_to;
    next.cap_from = next.cap_to;
  }

  const CurveOrder& order_;
  const double level_;
  const double lateral_;
  const double resolution_;
  std::vector<CurvePart>& parts_;
  double log_ratio_ = 0.0;
};

// Whether p + q t + r t^2, p <= 0, exceeds 0 somewhere in (0, d].
bool Exceeds(double p, double q, double r, double d) {
  if (p + d * (q + r * d) > 0.0) return true;
  const double peak = -0.5 * q / r;
  return r < 0.0 && peak > 0.0 && peak < d && p + 0.5 * q * peak > 0.0;
}

// The first t in (0, d] where it does; d if nowhere.
double FirstExcess(double p, double q, double r, double d) {
  if (!Exceeds(p, q, r, d)) return d;
  const double root = std::sqrt(std::max(0.0, q * q - 4.0 * r * p));
  const double sum = q + root;
  return sum > 0.0 ? std::clamp(-2.0 * p / sum, 0.0, d) : d;
}

class BackwardPass {
 public:
  BackwardPass(const CurveOrder& order, const CoupledBudget& budget, std::vector<CurvePart>& parts,
               std::vector<BrakeStep>& steps)
      : order_(order),
        edge_(budget.motion.brake.limit, budget),
        cutter_(order, budget, parts),
        parts_(parts),
        steps_(steps) {}

  double Run(double x_end) {
    steps_.clear();
    const std::size_t n = order_.interval_count();
    x_ = order_.StopsAt(n) ? 0.0 : x_end;
    for (std::size_t j = n; j-- > 0;) {
      cutter_.Cut(j);
      interval_ = static_cast<std::uint32_t>(order_.RequestInterval(j));
      node_ = static_cast<std::uint32_t>(j);
      start_ = order_.distance[interval_];
      for (std::size_t p = parts_.size(); p-- > 0;) Through(parts_[p]);
      steps_.back().first = true;
      if (order_.StopsAt(j)) x_ = 0.0;
    }
    return x_;
  }

 private:
  double Bound(double k, double cap) const {
    return k * cap > edge_.total() ? edge_.total() / k : cap;
  }

  void Push(const CurvePart& part, double from, double to, bool binds, double f_to, double f_from) {
    const double length = to - from;
    steps_.push_back({start_ + from, length, part.K(from), part.K(to), part.k_slope,
                      part.Cap(from), part.Cap(to), part.cap_slope, x_, f_to, f_from,
                      (f_from - f_to) / length, interval_, node_, false, binds});
  }

  void Through(const CurvePart& part) {
    double position = part.to;
    x_ = std::min(x_, Bound(part.k_to, part.cap_to));
    double f = edge_.At(part.k_to, x_);
    const double smallest = kSmallestPart * (part.to - part.from);
    while (position > part.from) {
      const double k_here = part.K(position);
      const double cap_here = part.Cap(position);
      const bool at_line = x_ >= cap_here * (1.0 - kSame) && part.cap_from <= cap_here;
      const bool at_circle =
          k_here * x_ >= edge_.total() * (1.0 - kSame) && part.k_from > part.k_to;
      if (at_line || at_circle) {
        // The cap falls backward: every speed under it can brake to here.
        Push(part, part.from, position, false, 0.0, 0.0);
        x_ = Bound(part.k_from, part.cap_from);
        return;
      }
      double d = position - part.from;
      if (try_ < 0.75 * d) d = try_;
      bool rejected = false;
      for (;;) {
        const double from = d < position - part.from ? position - d : part.from;
        const double k_from = part.K(from);
        StepEnds ends;
        if (edge_.Step(x_, f, k_here, k_from, d, ends) &&
            FollowsCap(part, from, cap_here, d, ends)) {
          f = Accept(part, from, position, ends, cap_here);
        } else if (d > smallest) {
          d = std::max(smallest, edge_.Shorter(x_, f, k_here, k_from, d));
          rejected = true;
          continue;
        } else if (edge_.DeepStep(x_, f, k_here, k_from, d, ends)) {
          f = Accept(part, from, position, ends, cap_here);
        } else {
          Push(part, from, position, true, 0.0, 0.0);
          x_ = std::min(x_, Bound(k_from, part.Cap(from)));
          f = edge_.At(k_from, x_);
        }
        position = from;
        try_ = rejected ? d : std::max(try_, d / kCut);
        break;
      }
    }
  }

  // Under a falling cap: a step that ends below it must not bulge over it before, and where the
  // step meets the cap the budget must allow following it.
  bool FollowsCap(const CurvePart& part, double from, double cap_here, double d,
                  const StepEnds& ends) const {
    const double cap = part.Cap(from);
    if (cap <= cap_here) return true;
    const double slope = (cap - cap_here) / d;
    if (x_ + d * (ends.a0 + ends.a1) > cap) {
      return d <= kSmallestPart * (part.to - part.from) ||
             edge_.Keeps(cap_here, 0.5 * slope, part.K(from + d), part.K(from), d) ||
             0.5 * slope > edge_.At(part.K(from), cap);
    }
    const double tiny = kSame * cap;
    return !Exceeds(x_ - cap_here - tiny, 2.0 * ends.a0 - slope, (ends.a1 - ends.a0) / d, d);
  }

  // Returns the braking with which the next step starts.
  double Accept(const CurvePart& part, double from, double to, const StepEnds& ends,
                double cap_here) {
    const double d = to - from;
    const double k = part.K(from);
    const double cap = part.Cap(from);
    const double raw = x_ + d * (ends.a0 + ends.a1);
    if (raw <= cap) {
      Push(part, from, to, true, ends.a0, ends.a1);
      x_ = raw;
      return ends.next;
    }
    double x = cap;
    const double slope = (cap - cap_here) / (2.0 * d);
    if (slope > 0.0 && slope > edge_.At(k, cap)) {
      // Following the falling cap needs more braking than the circle leaves at its faster end.
      x = slope < edge_.total() ? std::sqrt(edge_.total2() - slope * slope) / k : 0.0;
      x = std::max(std::min(x, cap), std::min(x_, cap));
      const double even = (x - x_) / (2.0 * d);
      Push(part, from, to, true, even, even);
    } else {
      Push(part, from, to, true, ends.a0, ends.a1);
    }
    x_ = x;
    return edge_.At(k, x);
  }

  const CurveOrder& order_;
  const Edge edge_;
  PartCutter cutter_;
  const std::vector<CurvePart>& parts_;
  std::vector<BrakeStep>& steps_;
  std::uint32_t interval_ = 0;
  std::uint32_t node_ = 0;
  double start_ = 0.0;
  double x_ = 0.0;
  double try_ = kInfinity;
};

class ForwardPass {
 public:
  ForwardPass(double v_start, double x_start, const CoupledBudget& budget, CurvePhaseWriter& writer)
      : edge_(budget.motion.accelerate.limit, budget), writer_(writer), x_(x_start), v_(v_start) {}

  double x() const { return x_; }
  double v() const { return v_; }

  void Through(const BrakeStep& step) {
    double t = 0.0;
    while (t < step.length) {
      const double rest = step.length - t;
      if (step.binds && x_ >= BrakeCurve(step, t) * (1.0 - kSame)) return FollowBraking(step, rest);
      const double k = K(step, t);
      const double cap = Cap(step, t);
      double moved = x_ >= cap * (1.0 - kSame) ? FollowCap(step, t, k) : 0.0;
      if (!(moved > 0.0)) moved = Accelerate(step, t, k);
      if (!(moved > kSmallestPart * kSmallestPart * step.length)) moved += Creep(step, t + moved);
      t += moved;
      if (step.length - t <= kRounding * step.length) t = step.length;
    }
  }

 private:
  static constexpr double kRounding = 1e-14;

  static double K(const BrakeStep& s, double t) {
    return t >= s.length ? s.k_to : s.k_from + s.k_slope * t;
  }
  static double Cap(const BrakeStep& s, double t) {
    return t >= s.length ? s.cap_to : s.cap_from + s.cap_slope * t;
  }
  static double BrakeCurve(const BrakeStep& s, double t) {
    const double e = s.length - t;
    return s.x_to + e * (2.0 * s.f_to + s.f_slope * e);
  }
  static double Braking(const BrakeStep& s, double t) {
    return s.f_from - s.f_slope * t;
  }

  void Become(double x) {
    x_ = x;
    v_ = std::sqrt(x);
  }

  // From here to the step's end along the braking curve.
  void FollowBraking(const BrakeStep& step, double rest) {
    const double v1 = std::sqrt(step.x_to);
    const double f = Braking(step, step.length - rest);
    if (f == 0.0 && step.f_to == 0.0) {
      writer_.Constant(SpeedPhaseKind::kCruise, rest, v_, v1, 0.0);
    } else {
      writer_.Linear(SpeedPhaseKind::kBrake, rest, v_, v1, -f, -step.f_to);
    }
    x_ = step.x_to;
    v_ = v1;
    next_ = -1.0;
  }

  // Along the linear cap if the budget allows; returns the distance moved, 0 if it does not.
  double FollowCap(const BrakeStep& step, double t, double k) {
    double d = step.length - t;
    const double slope = (step.cap_to - x_) / d;
    const double a = 0.5 * slope;
    if (a > 0.0) {
      if (a > edge_.At(k, x_)) return 0.0;
      // As far as the edge allows: where curvature rises with the cap it leaves less and less.
      const double smallest = kSmallestPart * step.length;
      while (a > edge_.At(K(step, t + d), x_ + slope * d) ||
             !edge_.Keeps(x_, a, k, K(step, t + d), d)) {
        d *= kCut;
        if (d < smallest) return 0.0;
      }
    } else if (step.k_to * step.cap_to > edge_.total() * (1.0 + kSame)) {
      return 0.0;
    }
    if (step.binds) {
      // The cap against the braking curve from t on.
      const double over = std::min(0.0, x_ - BrakeCurve(step, t));
      d = FirstExcess(over - kSame * x_, slope + 2.0 * Braking(step, t),
                      -step.f_slope, d);
    }
    const double x1 = x_ + slope * d;
    if (!(d > 0.0)) return 0.0;
    next_ = -1.0;
    const double v1 = slope == 0.0 ? v_ : std::sqrt(x1);
    writer_.Constant(slope == 0.0 ? SpeedPhaseKind::kCruise : SpeedPhaseKind::kFollowCap, d, v_, v1,
                     a);
    x_ = x1;
    v_ = v1;
    return d;
  }

  // One step up, cut where it meets the braking curve or the cap; returns the distance moved.
  double Accelerate(const BrakeStep& step, double t, double k) {
    const double rest = step.length - t;
    const double smallest = kSmallestPart * step.length;
    double a0 = next_ >= 0.0 ? next_ : edge_.At(k, x_);
    next_ = -1.0;
    double d = try_ < 0.75 * rest ? try_ : rest;
    StepEnds ends;
    bool rejected = false;
    while (!edge_.Step(x_, a0, k, K(step, t + d), d, ends)) {
      if (d <= smallest) {
        d = std::min(d, rest);
        if (edge_.DeepStep(x_, a0, k, K(step, t + d), d, ends)) break;
        try_ = d / kCut;
        return Level(step, t, d);
      }
      d = std::max(smallest, edge_.Shorter(x_, a0, k, K(step, t + d), d));
      rejected = true;
    }
    try_ = rejected ? d : std::max(try_, d / kCut);
    a0 = ends.a0;
    double x1 = x_ + d * (ends.a0 + ends.a1);
    const double c = (ends.a1 - ends.a0) / d;
    double moved = d;
    const double cap_slope = step.cap_slope;
    moved = FirstExcess(std::min(0.0, x_ - Cap(step, t)), 2.0 * a0 - cap_slope, c, d);
    if (moved < d) x1 = Cap(step, t + moved);
    if (step.binds && x1 > BrakeCurve(step, t + moved)) {
      const double f = Braking(step, t);
      const double brake_c = step.f_slope;
      moved = FirstExcess(x_ - BrakeCurve(step, t), 2.0 * (a0 + f), c - brake_c, moved);
      x1 = BrakeCurve(step, t + moved);
    }
    const double v1 = std::sqrt(x1);
    if (ends.a0 == 0.0 && ends.a1 == 0.0) {
      if (moved > 0.0) writer_.Constant(SpeedPhaseKind::kCruise, moved, v_, v1, 0.0);
    } else if (moved > 0.0) {
      writer_.Linear(SpeedPhaseKind::kAccelerate, moved, v_, v1, a0, a0 + c * moved);
    }
    if (moved == d) next_ = ends.next;
    x_ = x1;
    v_ = v1;
    return moved;
  }

  // The smallest step at constant speed, or lower where the cap or the braking curve asks; progress
  // at corners of both.
  double Creep(const BrakeStep& step, double t) {
    const double d = std::min(kSmallestPart * step.length, step.length - t);
    if (!(d > 0.0)) return 0.0;
    double x1 = std::min(x_, Cap(step, t + d));
    if (step.binds) x1 = std::min(x1, BrakeCurve(step, t + d));
    const double v1 = x1 < x_ ? std::sqrt(x1) : v_;
    writer_.Constant(x1 < x_ ? SpeedPhaseKind::kBrake : SpeedPhaseKind::kCruise, d, v_, v1,
                     0.5 * (x1 - x_) / d);
    x_ = x1;
    v_ = v1;
    next_ = -1.0;
    return d;
  }

  // Constant speed over d, where not even the smallest step fits.
  double Level(const BrakeStep& step, double t, double d) {
    double moved = d;
    if (step.binds && x_ > BrakeCurve(step, t + d)) {
      const double f = Braking(step, t);
      moved = FirstExcess(x_ - BrakeCurve(step, t), 2.0 * f,
                          -step.f_slope, d);
    }
    if (moved > 0.0) writer_.Constant(SpeedPhaseKind::kCruise, moved, v_, v_, 0.0);
    next_ = -1.0;
    return moved;
  }

  const Edge edge_;
  CurvePhaseWriter& writer_;
  double x_;
  double v_;
  double next_ =
      -1.0;  // the acceleration at which the next step may start; negative: take it from the speed
  double try_ = kInfinity;
};

}  // namespace

double PassBackwardCoupled(const CurveOrder& order, double x_end, const CoupledBudget& budget,
                           std::vector<CurvePart>& parts, std::vector<BrakeStep>& steps) {
  return BackwardPass(order, budget, parts, steps).Run(x_end);
}

double WriteCoupledPhases(const std::vector<BrakeStep>& steps, const CurveOrder& order,
                          double v_start, double x_start, const CoupledBudget& budget,
                          std::vector<double>& node_speed, CurvePhaseWriter& writer) {
  ForwardPass pass(v_start, x_start, budget, writer);
  for (std::size_t i = steps.size(); i-- > 0;) {
    const BrakeStep& step = steps[i];
    writer.MoveTo(step.interval, step.start);
    if (step.first) {
      node_speed[step.node] = pass.v();
      if (order.StopsAt(step.node)) writer.Dwell(order.dwell[step.node]);
    }
    pass.Through(step);
  }
  const std::size_t n = order.interval_count();
  node_speed[n] = pass.v();
  if (order.StopsAt(n)) {
    writer.MoveTo(steps.front().interval, steps.front().start + steps.front().length);
    writer.Dwell(order.dwell[n]);
  }
  return pass.x();
}

}  // namespace arclane
