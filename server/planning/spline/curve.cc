// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/curve.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/planning/spline/bernstein.h"
#include "server/planning/spline/curve_reduction.h"

namespace arclane {
namespace {

// Value, first and second derivative of a Bernstein polynomial. The end coefficients come back
// exactly.
std::array<double, 3> Derivatives(const double* b, int degree, double t) {
  double work[kMaxBernsteinDegree + 1];
  for (int j = 0; j <= degree; ++j) work[j] = b[j];
  std::array<double, 3> result{0.0, 0.0, 0.0};
  for (int r = 1; r <= degree; ++r) {
    const int left = degree - r + 1;  // Degree of what `work` holds now.
    if (left == 2) result[2] = degree * (degree - 1) * (work[2] - 2.0 * work[1] + work[0]);
    if (left == 1) result[1] = degree * (work[1] - work[0]);
    for (int j = 0; j <= degree - r; ++j) {
      work[j] = t == 1.0 ? work[j + 1] : work[j] + (work[j + 1] - work[j]) * t;
    }
  }
  result[0] = work[0];
  return result;
}

}  // namespace

absl::StatusOr<Curve> Curve::Create(const CurveInput& input, const CurveLimits& limits) {
  const std::vector<CurveViolation> violations = ValidateCurve(input, limits);
  if (!violations.empty()) {
    std::string text;
    for (const CurveViolation& violation : violations) {
      absl::StrAppend(&text, text.empty() ? "" : "; ", violation.field, ": ",
                      violation.description);
    }
    return absl::InvalidArgumentError(text);
  }
  return CurveReducer::Reduce(input);
}

CurvePoint Curve::Evaluate(int segment, double t) const {
  const CurvePiece& piece = pieces_[segment];
  std::array<double, 3> w{1.0, 0.0, 0.0};
  if (piece.rational) w = Derivatives(piece.weight_bernstein.data(), piece.degree, t);
  CurvePoint point;
  for (int c = 0; c < dimension_; ++c) {
    CurvePiece::Row b = piece.bernstein[c];
    for (int j = 0; piece.rational && j <= piece.degree; ++j) b[j] *= piece.weight_bernstein[j];
    std::array<double, 3> r = Derivatives(b.data(), piece.degree, t);
    if (piece.rational) {
      r[0] /= w[0];
      r[1] = (r[1] - r[0] * w[1]) / w[0];
      r[2] = (r[2] - 2.0 * r[1] * w[1] - r[0] * w[2]) / w[0];
    }
    point.position[c] = origin_[c] + scale_ * r[0];
    point.first[c] = scale_ * r[1];
    point.second[c] = scale_ * r[2];
  }
  return point;
}

}  // namespace arclane
