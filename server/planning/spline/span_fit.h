// SPDX-License-Identifier: Apache-2.0
// s(x) and its inverse on one stretch, fitted to the speed ds/dx at the nodes and measured at the
// check points. x runs over [-1, 1] from the slower end of the stretch, where distances begin.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_SPAN_FIT_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_SPAN_FIT_H_

#include "server/planning/spline/arc_span.h"
#include "server/planning/spline/halved_series.h"
#include "server/planning/spline/speed_model.h"

namespace arclane {

// Neighbouring nodes are at most pi / 16 apart, and the error changes its sign at each: between two
// of them the integral of an error of at most e stays below 2 / pi * pi / 16 * e = e / 8. Doubled,
// for errors that are no sine.
inline constexpr double kLobeArea = 0.25;

// The residual of an inverse is measured half-way between the nodes; its largest value can lie a
// little beside.
inline constexpr double kResidualSafety = 1.5;

class SpanFit {
 public:
  // Reads the speeds at the nodes only. The last coefficients of their series, which tell early
  // that a fit is hopeless.
  double FitSpeed(const SpeedValues& speed);

  // s(x) and its errors. `dropped`: what the speeds lack, as a distance.
  void FitForward(const SpeedValues& speed, double dropped);
  double length() const { return length_; }
  double length_error() const { return length_error_; }
  // Bound of the error of s(x) anywhere.
  double forward_error() const { return forward_error_; }
  const ArcSpanForward& forward() const { return forward_; }

  // t(s) into the span, whose t_begin, t_end, from_end and slow_order are set. Coefficients that
  // add up to less than `trimmed`, as a distance, are left out. False when a sample gets another
  // distance than it asks for by more than `allowed`.
  bool FitInverse(const SpeedValues& speed, double allowed, double trimmed, ArcSpan& span);
  // Bound of the distance between s(t(s)) and s: what was measured, and what was left out, whose
  // waves are too short for the check points.
  double inverse_error() const { return inverse_error_; }

  // Base, rate and shift of a span of this length as its slow order alone gives them.
  static void SetPlainVariable(double length, ArcSpan& span);

 private:
  void ChooseVariable(const SpeedValues& speed, ArcSpan& span);
  SymmetricValues TargetsAt(const SymmetricValues& z) const;
  SymmetricValues StartInverse(const SpeedValues& speed) const;
  SymmetricValues DistancesAt(const SymmetricValues& x) const;

  Halves sums_;           // Of the speeds at the nodes.
  Halves series_;         // Of the speed.
  SymmetricValues area_;  // Integral of the interpolant from x = 0 to the check points.
  double scale_ = 1.0;    // From the interpolant's length to that of the quadrature.
  double fastest_ = 0.0;
  ArcSpanForward forward_;
  double length_ = 0.0;
  double length_error_ = 0.0;
  double forward_error_ = 0.0;
  double inverse_error_ = 0.0;
  // z = ((d + offset) * rate)^(1 / root) - shift of a distance d from the slow end.
  int root_ = 1;
  double offset_ = 0.0;
  double rate_ = 0.0;
  double shift_ = 1.0;
};

// value^(1 / root), for value >= 0.
double RootOf(double value, int root);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_SPAN_FIT_H_
