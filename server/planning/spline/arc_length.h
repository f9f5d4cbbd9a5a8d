// SPDX-License-Identifier: Apache-2.0
// The arc-length map of a curve: s(t) and its inverse t(s), with one error bound for the whole
// curve.
//
// Guarantee: for every distance s in [0, length()] the point at LocationAt(s) lies within
//   error_bound() of the curve's true point at arc length s, measured along the curve,
// besides the rounding of the coordinates themselves (one ulp of their size as sent). error_bound()
// is measured after the fact on every span, not derived from a rate of convergence, and covers the
// accumulated length. It is at most relative_error * length() unless the request lies below what
// double can hold for this curve. s = 0 and s = length() map to the exact ends; s never decreases
// with t, nor t with s (up to rounding within a span).
//
// Method: every piece is cut where its squared speed has a small minimum and then (graded towards
// slow ends) until a Chebyshev interpolant of the speed on 16 nodes agrees with the speed at the 17
// interlaced points, ends included, and with 33-point Clenshaw-Curtis quadrature. A factor u^m of
// the speed at a span's end, as at cusps and coincident controls, is divided out exactly, and the
// inverse is then a polynomial in s^(1/(m+1)); where the speed only falls towards a zero, in the
// square root of the distance from there. What leaving out small coefficients costs is part of the
// bound. Background: Guenter and Parent, "Computing the arc length of parametric curves", IEEE CG&A
// 10(3), 1990 (adaptive quadrature with a table); Trefethen, "Approximation Theory and
// Approximation Practice", chapters 8 and 19.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_ARC_LENGTH_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_ARC_LENGTH_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "server/planning/spline/arc_span.h"
#include "server/planning/spline/curve.h"

namespace arclane {

enum class InverseMode : uint8_t {
  kTabulated,  // t(s) stored as polynomials: a few nanoseconds a sample, twice the set-up.
  kDirect,     // only s(t) stored, inverted by safeguarded Newton steps: pays below ~14 samples a
               // segment.
};

struct ArcLengthOptions {
  double relative_error = 1e-9;  // Of the total length; 1e-12 .. 1e-3.
  InverseMode inverse_mode = InverseMode::kTabulated;
};

inline constexpr double kMinRelativeError = 1e-12;
inline constexpr double kMaxRelativeError = 1e-3;

// The cheaper mode for a number of samples that will be taken once.
InverseMode ChooseInverseMode(const Curve& curve, size_t sample_count);

// A place on a curve in the sender's terms.
struct CurveLocation {
  int segment = 0;
  double parameter = 0.0;  // [0, 1] within the segment.
};

// Immutable and self-contained (owns its curve). Safe to share between threads.
class ArcLengthMap {
 public:
  // INVALID_ARGUMENT when relative_error is outside its range or NaN. Linear in the number of
  // segments: a few microseconds each, at most about 20 spans for one with an unresolved near-cusp.
  static absl::StatusOr<ArcLengthMap> Create(Curve curve, const ArcLengthOptions& options = {});

  const Curve& curve() const { return curve_; }
  // Total length in the caller's unit; 0 when all points coincide.
  double length() const { return length_; }
  // Absolute, in the caller's unit; divide by length() for the relative bound.
  double error_bound() const { return error_bound_; }
  // Length of one segment.
  double SegmentLength(int segment) const;
  // Distance of the start of a segment; StartOfSegment(segment_count()) == length().
  double StartOfSegment(int segment) const { return segment_start_[segment] * curve_.scale(); }

  // s(t). Parameters outside [0, 1] are clamped. Precondition: 0 <= segment < segment_count().
  double DistanceAt(int segment, double parameter) const;

  // t(s). s = length() belongs to the last segment of positive length; a distance on a joint
  // belongs to the segment that starts there. Outside [0, length()] an open curve clamps and a
  // closed one wraps; NaN gives the start.
  CurveLocation LocationAt(double distance) const;

  // A distance brought into [0, length()]: wrapped for closed curves, clamped for open ones.
  // length() stays length().
  double Normalize(double distance) const;

  // The same for many; `out` holds as many values and may be `distances` itself.
  void NormalizeAll(std::span<const double> distances, double* out) const;

  // The parts below serve the sampler. Distances in the local unit (caller's / curve().scale()).
  std::span<const ArcSpan> spans() const { return spans_; }
  double local_length() const { return local_length_; }
  // Index of the span that holds a local distance in [0, local_length()]. Constant time for
  // ordinary curves, logarithmic in the spans of a bucket at worst.
  int FindSpan(double local_distance) const;
  // Local distance at which the next span begins; infinite for the last one of positive length.
  double SearchEnd(int span) const { return search_end_[span]; }
  InverseMode inverse_mode() const { return inverse_mode_; }
  std::span<const ArcSpanForward> forward() const { return forward_; }
  // All that it holds outside of itself, in bytes.
  size_t ByteSize() const {
    return curve_.ByteSize() + spans_.capacity() * sizeof(ArcSpan) +
           forward_.capacity() * sizeof(ArcSpanForward) +
           (search_end_.capacity() + segment_start_.capacity()) * sizeof(double) +
           (bucket_first_.capacity() + segment_first_span_.capacity()) * sizeof(int32_t);
  }

 private:
  ArcLengthMap() = default;
  void BuildSpans(double relative_error);
  void PlaceSpans(std::span<const double> lengths);
  void BuildIndex();

  Curve curve_;
  InverseMode inverse_mode_ = InverseMode::kTabulated;
  std::vector<ArcSpan> spans_;
  std::vector<ArcSpanForward> forward_;
  // Ends of the spans, infinite from the last one with a length on.
  std::vector<double> search_end_;
  std::vector<int32_t>
      bucket_first_;  // First span that ends beyond the bucket's start; one sentinel more.
  std::vector<int32_t> segment_first_span_;
  std::vector<double> segment_start_;
  double bucket_scale_ = 0.0;
  double local_length_ = 0.0;
  double length_ = 0.0;
  double error_bound_ = 0.0;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_ARC_LENGTH_H_
