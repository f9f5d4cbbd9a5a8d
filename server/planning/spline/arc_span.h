// SPDX-License-Identifier: Apache-2.0
// One span of an arc-length map: a stretch of one piece on which s(t) and t(s) are single
// polynomials.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_ARC_SPAN_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_ARC_SPAN_H_

#include <array>
#include <cstdint>
#include <vector>

#include "server/planning/spline/chebyshev.h"
#include "server/planning/spline/curve.h"

namespace arclane {

// What sampling reads, three cache lines. With z = ((s - base) * rate)^(1 / root) - shift, which
// runs over [-1, 1], the parameter is sum coefficient[k] * z^k. Distances are local.
struct alignas(64) ArcSpan {
  double begin = 0.0;
  double end = 0.0;
  double base = 0.0;  // The slow end (`end` when from_end, else `begin`), or somewhat before it.
  double rate = 0.0;  // Negative when from_end.
  double shift = 1.0;
  double t_begin = 0.0;
  double t_end = 0.0;
  int32_t segment = 0;
  int8_t root = 1;
  int8_t slow_order = 0;  // Order of the zero that the speed has at the slow end.
  bool from_end = false;
  int8_t degree = 0;  // Odd, at most 15: higher coefficients are zero.
  alignas(16) std::array<double, kChebyshevOrder> coefficient{};
};
static_assert(sizeof(ArcSpan) == 192);

// What s(t) reads: the distance from the slow end is middle + x * sum over k of mean_rate[k] * x^k,
// with x running from -1 there to 1.
struct alignas(16) ArcSpanForward {
  std::array<double, kChebyshevOrder> mean_rate{};
  double middle = 0.0;
};

// Errors that the spans of one piece may have, as distances. Both are relative to the piece rather
// than to the curve: convergence is geometric, so this costs little, and curvature inside a short
// piece stays right.
struct ArcSpanBudget {
  double length_error = 0.0;  // Of the piece's length; shared out over its spans by their length.
  double local_error = 0.0;   // Of t(s) within a span.
  double span_error = 0.0;    // Of t(s), relative to the length of a span: binds on short ones.
  double piece_length = 0.0;  // A lower estimate, to share out length_error.
  bool with_inverse = true;
};

struct PieceSpans {
  std::vector<ArcSpan> spans;  // begin = 0 and end = length of the span; the caller places them.
  std::vector<ArcSpanForward> forward;  // One a span.
  std::vector<double> length;           // One a span.
  double length_error = 0.0;            // Sum over the spans.
  double local_error = 0.0;             // Largest within one span.
};

// Appends the spans of one piece, in the order of t. A piece of length zero has none. At most ~20
// spans a speed minimum.
void AppendPieceSpans(const CurvePiece& piece, int dimension, int32_t segment,
                      const ArcSpanBudget& budget, PieceSpans& out);

// Distance from the span's slow end at x in [-1, 1], with its derivative by x.
struct ForwardValue {
  double distance;
  double slope;
};
ForwardValue EvaluateForward(const ArcSpanForward& forward, double x);

// The parameter at a distance from the span's begin, by safeguarded Newton steps on s(t).
double InvertForward(const ArcSpan& span, const ArcSpanForward& forward, double distance);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_ARC_SPAN_H_
