// SPDX-License-Identifier: Apache-2.0
// The speed |dr/dt| on a stretch of a piece, ready to be evaluated at the Chebyshev points, with a
// zero at one end divided out.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_SPEED_MODEL_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_SPEED_MODEL_H_

#include <array>

#include "server/planning/spline/bernstein.h"
#include "server/planning/spline/curve.h"
#include "server/planning/spline/curve_reduction.h"
#include "server/planning/spline/halved_series.h"

namespace arclane {

// Bounds of a stretch's length from the Bernstein coefficients of its hodograph (mean of norms,
// norm of the mean), the norms themselves, and the speeds at its ends.
struct StretchSize {
  double lower;
  double upper;
  double speed_begin;
  double speed_end;
  double least_weight_squared;
  std::array<double, kMaxHodographDegree + 1> norm;
  double largest_norm;
};
StretchSize MeasureStretch(const HodographRows& hodograph, const CurvePiece::Row& weight,
                           int dimension, int degree, int weight_degree, double width);

// Parameters in (0, 1), ascending, at which |H| has a local minimum below ratio * max |H|; `out`
// holds 2 * degree values. Returns their number.
int SlowPoints(const HodographRows& hodograph, int dimension, int degree, double ratio,
               double* out);

// Speeds at the nodes and check points of an interpolation.
struct SpeedValues {
  SymmetricValues node;
  SymmetricValues check;
  double zero;  // The check point in the middle.
  double unused;
};

// speed(x) = half width * ((1 + x) / 2)^m * |G(x)| / w(x)^2 with x = -1 at the slow end, x = 1 at
// the other.
//
// m counts the leading Bernstein coefficients of the hodograph that are zero within the allowed
// error; with their removal the division by u^m is exact. A minimum of the squared speed q with a
// tiny but honest value q0 is treated as a zero too where that costs less than allowed: q~ = q - q0
// - q1 u, and
//   integral over [0, 1] of sqrt(q) - sqrt(q~) <= (q0 (1 + ln(2 a / sqrt(q0))) + |q1|) / (2 a),  a
//   = sqrt(min q~ / u^2),
// from sqrt(q) - sqrt(q~) = (q - q~) / (sqrt(q) + sqrt(q~)).
class SpeedModel {
 public:
  static constexpr int kPoints = 2 * kChebyshevOrder + 2;
  static_assert(sizeof(SpeedValues) == kPoints * sizeof(double));

  // weight_degree 0: polynomial. allowed_drop: a distance.
  SpeedModel(const HodographRows& hodograph, const CurvePiece::Row& weight, const StretchSize& size,
             int dimension, int degree, int weight_degree, double width, double allowed_drop);

  // Before this only what follows about the ends is known; the hodograph and the weights must
  // still be there.
  void Prepare();

  bool slow_at_both_ends() const { return slow_at_both_ends_; }
  int slow_order() const { return slow_order_; }
  bool from_end() const { return from_end_; }
  // Bound of what the removal changed in any distance.
  double dropped() const { return dropped_; }

  // ds/dx at the interpolation nodes, and at the check points.
  void EvaluateNodes(SpeedValues& speed) const;
  void EvaluateChecks(SpeedValues& speed) const;

 private:
  using CentredRow = std::array<double, kMaxBernsteinDegree + 1>;

  int LeadingZeros(const StretchSize& size, double allowed, bool from_end, double& dropped) const;
  double Oriented(int c, int j) const { return hodograph_[c][from_end_ ? degree_ - j : j]; }
  bool DivideSquaredSpeed(const StretchSize& size, double allowed);
  template <int kFirst, int kLimit>
  void Evaluate(double* speed) const;

  const HodographRows& hodograph_;
  const CurvePiece::Row& weight_;
  int dimension_;
  int degree_;
  int weight_degree_;
  double half_width_;
  double coefficient_drop_ =
      0.0;  // Distance that one unit of a dropped Bernstein coefficient costs at most.
  int slow_order_ = 0;
  bool from_end_ = false;
  bool slow_at_both_ends_ = false;
  bool squared_ = false;  // rows_[0] holds q~ / u^2 instead of G.
  int row_degree_ = 0;
  double dropped_ = 0.0;
  std::array<CentredRow, 3> rows_;
  CentredRow weight_row_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_SPEED_MODEL_H_
