// SPDX-License-Identifier: Apache-2.0
// A parametric curve in the plane or in space, reduced to polynomial or rational pieces of degree
// at most five.
//
// Kinds and their definitions (n = number of control points, all parameters local to a segment run
// over [0, 1]):
//   Bezier       n = 3k + 1; segment i has the controls 3i .. 3i + 3. Closed: the last point
//   repeats the first. Hermite      one tangent a point, d/dt on [0, 1]. n - 1 segments, n when
//   closed. Catmull-Rom  knot step |P[i+1] - P[i]|^alpha (Barry and Goldman 1988; alpha 0 uniform,
//   0.5 centripetal, 1 chordal).
//                Open ends use the mirrored point 2 P[0] - P[1]. For alpha > 0 a coincident pair is
//                a segment of length zero, and a coincident neighbour is replaced by the mirrored
//                point. n - 1 segments, n when closed.
//   B-spline     degree p in 1..5, knot vector u[0 .. n + p], domain [u[p], u[n]], segment = i-th
//   non-empty knot span.
//                Without knots: uniform and clamped, or, for a closed curve, uniform and periodic.
//                A closed periodic curve repeats its first p controls at the end. An interior knot
//                of multiplicity p + 1 is a gap: the curve jumps there and the jump has no length.
//   NURBS        a B-spline with one positive weight a control.
//
// Numbers: coordinates are taken relative to the first control point and divided by a power of two
// near the curve's extent, so neither a far origin (1e7) nor an extreme unit (1e-160 .. 1e149)
// costs accuracy in what follows.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_CURVE_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_CURVE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace arclane {

enum class CurveKind : uint8_t { kBezier, kHermite, kCatmullRom, kBSpline, kNurbs };

// Borrowed coordinate columns of equal length. An empty z makes them planar.
struct CoordinateColumns {
  std::span<const double> x;
  std::span<const double> y;
  std::span<const double> z;
};

// A curve as its sender describes it. Borrowed: the columns must outlive the call that reads them,
// no longer.
struct CurveInput {
  CurveKind kind = CurveKind::kBezier;
  bool closed = false;
  CoordinateColumns control;
  CoordinateColumns tangents;       // Hermite only: one a control point, length units a unit of t.
  double alpha = 0.5;               // Catmull-Rom only: [0, 1].
  int degree = 3;                   // B-spline and NURBS only: 1..5.
  std::span<const double> knots;    // B-spline and NURBS: empty for the uniform vector.
  std::span<const double> weights;  // NURBS only: one a control point, each > 0.
};

struct CurveLimits {
  size_t max_control_points = size_t{1} << 16;
  // Coordinates and tangents beyond this are refused: squares of lengths stay finite in the
  // caller's unit.
  double max_coordinate = 1e150;
  // Weights may differ by this ratio at most; beyond it the local parameter loses its digits.
  double max_weight_ratio = 1e9;
  // More violations than this are counted, not listed.
  size_t max_violations = 100;
};

// One broken rule: the path of the field ("spline.control.x[7]") and the rule ("must be finite, got
// NaN").
struct CurveViolation {
  std::string field;
  std::string description;
};

// Every rule that `input` breaks, in the order of the fields; empty when the curve can be built.
// Linear in the input.
std::vector<CurveViolation> ValidateCurve(const CurveInput& input, const CurveLimits& limits = {},
                                          absl::string_view field_prefix = "spline");

inline constexpr int kMaxCurveDegree = 5;

// One segment in the local frame. Power basis of t in [0, 1] for evaluation, Bernstein form of the
// same polynomial for whatever needs exact end values. Components are x, y, z and the weight. The
// power basis of rational pieces holds homogeneous numerators; their Bernstein form holds control
// points and weights apart, so that control points that coincide have a difference of zero.
struct alignas(64) CurvePiece {
  using Row = std::array<double, kMaxCurveDegree + 1>;
  // In the caller's unit and, for polynomials, with the caller's origin: samples are its values.
  std::array<std::array<double, 4>, kMaxCurveDegree + 1> power{};
  std::array<std::array<double, 4>, kMaxCurveDegree> first_power{};       // Of the derivative.
  std::array<std::array<double, 4>, kMaxCurveDegree - 1> second_power{};  // Of the second one.
  std::array<Row, 3> bernstein{};
  Row weight_bernstein{};
  int degree = 3;
  bool rational = false;
  // |dr/dt| (local units) at or below this is zero up to the rounding of its evaluation.
  double speed_floor = 0.0;
  // Below this, where the speed falls towards a zero, directions and curvatures by the power basis
  // lose digits that EvaluateHodograph (hodograph.h) keeps.
  double imprecise_speed = 0.0;
};

// Position and derivatives by the segment's local parameter, in the caller's unit and frame; z is 0
// for planar curves.
struct CurvePoint {
  std::array<double, 3> position{};
  std::array<double, 3> first{};
  std::array<double, 3> second{};
};

// Immutable and self-contained: nothing borrowed. Safe to share between threads.
class Curve {
 public:
  // INVALID_ARGUMENT with all violations in one text; use ValidateCurve for them as data.
  static absl::StatusOr<Curve> Create(const CurveInput& input, const CurveLimits& limits = {});

  int dimension() const { return dimension_; }
  bool closed() const { return closed_; }
  int segment_count() const { return static_cast<int>(pieces_.size()); }
  // Piece i is the sender's segment i.
  const CurvePiece& piece(int segment) const { return pieces_[segment]; }
  std::span<const CurvePiece> pieces() const { return pieces_; }
  // All that it holds outside of itself, in bytes.
  size_t ByteSize() const { return pieces_.capacity() * sizeof(CurvePiece); }

  // caller's coordinate = origin + scale * local coordinate; scale is a power of two.
  const std::array<double, 3>& origin() const { return origin_; }
  double scale() const { return scale_; }
  double inverse_scale() const { return inverse_scale_; }

  // The two ends, in the caller's unit and frame: the sender's own numbers where the kind goes
  // through its first and last control points; equal for closed curves whose ends differ by
  // rounding only.
  const std::array<double, 3>& start_point() const { return start_point_; }
  const std::array<double, 3>& end_point() const { return end_point_; }

  // Precondition: 0 <= segment < segment_count(), t in [0, 1]. Exact control points at t = 0 and t
  // = 1 where the kind interpolates them.
  CurvePoint Evaluate(int segment, double t) const;

 private:
  friend class CurveReducer;
  std::vector<CurvePiece> pieces_;
  std::array<double, 3> origin_{};
  std::array<double, 3> start_point_{};
  std::array<double, 3> end_point_{};
  double scale_ = 1.0;
  double inverse_scale_ = 1.0;
  int dimension_ = 2;
  bool closed_ = false;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_CURVE_H_
