// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/curve_reduction.h"

#include <algorithm>
#include <cmath>

#include "server/planning/spline/bernstein.h"
#include "server/planning/spline/hodograph.h"

namespace arclane {
namespace {

// Rounding unit of double.
constexpr double kUnitRoundoff = 0x1p-53;

// Exponents of the frame's scale: far from overflow of scale and its inverse, wide enough for any
// input in range.
constexpr int kMinScaleExponent = -1000;
constexpr int kMaxScaleExponent = 1000;

// Of the extent: ends of a closed curve that are no farther apart are one point. Each is a mean of
// at most 2^p controls of local coordinates up to 1.
constexpr double kEndRoundings = 64.0;

double Component(const CoordinateColumns& columns, int axis, size_t i) {
  const std::span<const double> column = axis == 0 ? columns.x : axis == 1 ? columns.y : columns.z;
  return column.empty() ? 0.0 : column[i];
}

double Norm3(const std::array<double, 3>& v) {
  return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

std::array<double, 3> Difference(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}

// dr/dt at the middle of three points with knot steps h0, h1, times h1 or h0: `chord` is the
// difference on the side of the wanted segment, `other` the one on the far side, steps likewise
// (Barry and Goldman 1988, in differences).
std::array<double, 3> CatmullRomTangent(const std::array<double, 3>& chord, double step,
                                        const std::array<double, 3>& other, double other_step) {
  std::array<double, 3> m;
  for (int c = 0; c < 3; ++c) {
    m[c] = chord[c] + step * (other[c] / other_step - (other[c] + chord[c]) / (other_step + step));
  }
  return m;
}

double MaxAbs(const CurvePiece::Row& row, int degree) {
  double max = 0.0;
  for (int j = 0; j <= degree; ++j) max = std::max(max, std::abs(row[j]));
  return max;
}

// Of a component's numerator: the control values times the weights, which are 1 for polynomials.
CurvePiece::Row NumeratorBernstein(const CurvePiece& piece, int c) {
  CurvePiece::Row row = piece.bernstein[c];
  for (int j = 0; piece.rational && j <= piece.degree; ++j) row[j] *= piece.weight_bernstein[j];
  return row;
}

// Sets the floor, below which speeds cannot be told from zero: the rounding of the controls, and of
// the hodograph's evaluation.
void SetSpeedFloors(CurvePiece& piece) {
  constexpr double kControlRoundings = 8.0, kEvaluationRoundings = 32.0;
  // Of the largest speed. The power basis errs by roundings of that; where the speed is v of it the
  // direction errs by u / v, and at a double zero, r'' being about sqrt(v), the curvature by
  // u / v^(3/2), here 1e-10.
  constexpr double kPreciseShare = 0x1p-13;
  // Second derivatives of rational pieces are differences of the numerators' and of the weight's,
  // off by their roundings beside the least weight; curvature is off by that over v^2, which shall
  // stay below this, in radians over the extent.
  constexpr double kPreciseTurn = 1e-4;
  HodographRows rows;
  const int degree = HodographBernstein(piece, 3, rows);
  double speed = 0.0, control = 0.0;
  for (int c = 0; c < 3; ++c) {
    for (int j = 0; j <= degree; ++j) speed = std::max(speed, std::abs(rows[c][j]));
    control = std::max(control, MaxAbs(NumeratorBernstein(piece, c), piece.degree));
  }
  double weight = 1.0;
  if (piece.rational) weight = MaxAbs(piece.weight_bernstein, piece.degree);
  double largest = speed / (weight * weight);
  piece.speed_floor = kUnitRoundoff * (kEvaluationRoundings * largest +
                                       kControlRoundings * piece.degree * control / weight);
  if (!piece.rational) {
    piece.imprecise_speed = std::max(kPreciseShare * largest, piece.speed_floor);
    return;
  }
  // Weights that differ make the bound above a poor estimate of the largest speed.
  const auto& weights = piece.weight_bernstein;
  const double least = *std::min_element(weights.begin(), weights.begin() + piece.degree + 1);
  largest = 0.0;
  for (const double t : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    largest = std::max(largest, SpeedOf(EvaluateHodograph(piece, 3, t)));
  }
  const double second = kUnitRoundoff * kControlRoundings * piece.degree * control / least;
  piece.imprecise_speed =
      std::max({kPreciseShare * largest, piece.speed_floor, std::sqrt(second / kPreciseTurn)});
}

}  // namespace

Curve CurveReducer::Reduce(const CurveInput& input) {
  CurveReducer reducer(input);
  reducer.PlaceFrame();
  switch (input.kind) {
    case CurveKind::kBezier:
      reducer.ReduceBezier();
      break;
    case CurveKind::kHermite:
      reducer.ReduceHermite();
      break;
    case CurveKind::kCatmullRom:
      reducer.ReduceCatmullRom();
      break;
    case CurveKind::kBSpline:
    case CurveKind::kNurbs:
      reducer.ReduceBSpline();
      break;
  }
  reducer.PlaceEnds();
  return std::move(reducer.curve_);
}

void CurveReducer::PlaceFrame() {
  curve_.dimension_ = input_.control.z.empty() ? 2 : 3;
  curve_.closed_ = input_.closed;
  double extent = 0.0;
  const bool hermite = input_.kind == CurveKind::kHermite;
  for (int axis = 0; axis < 3; ++axis) {
    curve_.origin_[axis] = Component(input_.control, axis, 0);
    for (size_t i = 0; i < input_.control.x.size(); ++i) {
      extent =
          std::max(extent, std::abs(Component(input_.control, axis, i) - curve_.origin_[axis]));
      if (hermite) extent = std::max(extent, std::abs(Component(input_.tangents, axis, i)));
    }
  }
  if (extent == 0.0) return;
  int exponent = 0;
  std::frexp(extent, &exponent);
  exponent = std::clamp(exponent, kMinScaleExponent, kMaxScaleExponent);
  curve_.scale_ = std::ldexp(1.0, exponent);
  curve_.inverse_scale_ = std::ldexp(1.0, -exponent);
}

CurveReducer::Point CurveReducer::LocalControl(size_t i) const {
  Point p;
  for (int axis = 0; axis < 3; ++axis) {
    p[axis] = (Component(input_.control, axis, i) - curve_.origin_[axis]) * curve_.inverse_scale_;
  }
  return p;
}

CurveReducer::Point CurveReducer::LocalTangent(size_t i) const {
  Point p;
  for (int axis = 0; axis < 3; ++axis) {
    p[axis] = Component(input_.tangents, axis, i) * curve_.inverse_scale_;
  }
  return p;
}

void CurveReducer::ReduceBezier() {
  const size_t segments = (input_.control.x.size() - 1) / 3;
  curve_.pieces_.reserve(segments);
  for (size_t i = 0; i < segments; ++i) {
    CurvePiece piece;
    for (int j = 0; j < 4; ++j) {
      const Point p = LocalControl(3 * i + j);
      for (int c = 0; c < 3; ++c) piece.bernstein[c][j] = p[c];
    }
    AddPiece(piece);
  }
}

void CurveReducer::ReduceHermite() {
  const size_t count = input_.control.x.size();
  const size_t segments = input_.closed ? count : count - 1;
  curve_.pieces_.reserve(segments);
  for (size_t i = 0; i < segments; ++i) {
    const size_t next = (i + 1) % count;
    AddHermitePiece(LocalControl(i), LocalControl(next), LocalTangent(i), LocalTangent(next));
  }
}

void CurveReducer::ReduceCatmullRom() {
  const size_t count = input_.control.x.size();
  const size_t segments = input_.closed ? count : count - 1;
  curve_.pieces_.reserve(segments);
  const auto step_of = [alpha = input_.alpha](const Point& chord) {
    return alpha == 0.0 ? 1.0 : std::pow(Norm3(chord), alpha);
  };
  for (size_t i = 0; i < segments; ++i) {
    const Point p1 = LocalControl(i), p2 = LocalControl((i + 1) % count);
    const Point chord = Difference(p2, p1);
    const double step = step_of(chord);
    if (step == 0.0) {
      AddConstantPiece(p1);
      continue;
    }
    // The mirrored point 2 P1 - P2 makes the far difference and step those of the segment itself.
    Point before = chord, after = chord;
    if (i > 0 || input_.closed) before = Difference(p1, LocalControl((i + count - 1) % count));
    if (i + 2 < count || input_.closed) after = Difference(LocalControl((i + 2) % count), p2);
    double step_before = step_of(before), step_after = step_of(after);
    if (step_before == 0.0) before = chord, step_before = step;
    if (step_after == 0.0) after = chord, step_after = step;
    AddHermitePiece(p1, p2, CatmullRomTangent(chord, step, before, step_before),
                    CatmullRomTangent(chord, step, after, step_after));
  }
}

void CurveReducer::ReduceBSpline() {
  const size_t count = input_.control.x.size();
  const int p = input_.degree;
  const bool rational = input_.kind == CurveKind::kNurbs;
  std::vector<double> uniform;
  std::span<const double> u = input_.knots;
  if (u.empty()) {
    uniform = UniformKnots(count, p, input_.closed);
    u = uniform;
  }
  // A power of two near the largest weight: divided out, it changes no bit of the curve.
  double weight_scale = 1.0;
  if (rational) {
    int exponent = 0;
    std::frexp(*std::max_element(input_.weights.begin(), input_.weights.end()), &exponent);
    weight_scale = std::ldexp(1.0, -std::clamp(exponent, kMinScaleExponent, kMaxScaleExponent));
  }
  curve_.pieces_.reserve(count - p);
  for (size_t k = p; k < count; ++k) {
    if (!(u[k] < u[k + 1])) continue;
    // The p + 1 controls that act on the span, each with its weight.
    std::array<std::array<double, 4>, kMaxCurveDegree + 1> active;
    for (int j = 0; j <= p; ++j) {
      const Point q = LocalControl(k - p + j);
      const double w = rational ? input_.weights[k - p + j] * weight_scale : 1.0;
      active[j] = {q[0], q[1], q[2], w};
    }
    CurvePiece piece;
    piece.degree = p;
    piece.rational = rational;
    // Bernstein control j is the blossom at (p - j times u[k], j times u[k + 1]): Ramshaw,
    // "Blossoms are polar forms", CAGD 6 (1989), section 5. Rational ones are formed of points in
    // the share of their weights, which are positive, rather than of homogeneous controls: between
    // equal points lies exactly that point.
    for (int j = 0; j <= p; ++j) {
      auto d = active;
      for (int r = 1; r <= p; ++r) {
        const double argument = r <= p - j ? u[k] : u[k + 1];
        for (int i = p; i >= r; --i) {
          const double low = u[k - p + i], high = u[k + 1 + i - r];
          const double a = (argument - low) / (high - low);
          if (a == 1.0) continue;
          const double weight = d[i - 1][3] + a * (d[i][3] - d[i - 1][3]);
          const double share = rational ? a * d[i][3] / weight : a;
          for (int c = 0; c < 3; ++c) d[i][c] = d[i - 1][c] + share * (d[i][c] - d[i - 1][c]);
          d[i][3] = weight;
        }
      }
      for (int c = 0; c < 3; ++c) piece.bernstein[c][j] = d[p][c];
      piece.weight_bernstein[j] = d[p][3];
    }
    AddPiece(piece);
  }
}

void CurveReducer::AddHermitePiece(const Point& p0, const Point& p1, const Point& m0,
                                   const Point& m1) {
  CurvePiece piece;
  for (int c = 0; c < 3; ++c) {
    piece.bernstein[c] = {p0[c], p0[c] + m0[c] / 3.0, p1[c] - m1[c] / 3.0, p1[c]};
  }
  AddPiece(piece);
}

void CurveReducer::AddConstantPiece(const Point& p) { AddHermitePiece(p, p, Point{}, Point{}); }

void CurveReducer::AddPiece(CurvePiece& piece) {
  if (!piece.rational) piece.weight_bernstein.fill(1.0);
  for (int c = 0; c < 4; ++c) {
    const CurvePiece::Row b = c < 3 ? NumeratorBernstein(piece, c) : piece.weight_bernstein;
    double power[kMaxBernsteinDegree + 1];
    BernsteinToPower(b.data(), piece.degree, power);
    const double unit = c < 3 ? curve_.scale_ : 1.0;
    for (int j = 0; j <= piece.degree; ++j) piece.power[j][c] = unit * power[j];
    if (c < 3 && !piece.rational) piece.power[0][c] += curve_.origin_[c];
    for (int j = 1; j <= piece.degree; ++j) piece.first_power[j - 1][c] = j * power[j];
    for (int j = 2; j <= piece.degree; ++j) piece.second_power[j - 2][c] = j * (j - 1) * power[j];
  }
  SetSpeedFloors(piece);
  curve_.pieces_.push_back(piece);
}

bool CurveReducer::StartsAtControl() const {
  if (input_.kind != CurveKind::kBSpline && input_.kind != CurveKind::kNurbs) return true;
  const auto& u = input_.knots;
  if (u.empty()) return !input_.closed;
  return u[1] == u[input_.degree] && u[input_.degree] < u[input_.degree + 1];
}

bool CurveReducer::EndsAtControl() const {
  if (input_.kind != CurveKind::kBSpline && input_.kind != CurveKind::kNurbs) return true;
  const auto& u = input_.knots;
  if (u.empty()) return !input_.closed;
  const size_t count = input_.control.x.size();
  return u[count] == u[count + input_.degree - 1] && u[count - 1] < u[count];
}

void CurveReducer::PlaceEnds() {
  const size_t count = input_.control.x.size();
  const CurvePiece& first = curve_.pieces_.front();
  const CurvePiece& last = curve_.pieces_.back();
  // The segment that closes these kinds ends at their first point.
  const bool returns = input_.closed && (input_.kind == CurveKind::kHermite ||
                                         input_.kind == CurveKind::kCatmullRom);
  bool is_closed = true;
  for (int axis = 0; axis < 3; ++axis) {
    const auto place = [&](double local) { return curve_.origin_[axis] + curve_.scale_ * local; };
    const double start = first.bernstein[axis][0];
    const double end = last.bernstein[axis][last.degree];
    curve_.start_point_[axis] =
        StartsAtControl() ? Component(input_.control, axis, 0) : place(start);
    curve_.end_point_[axis] =
        EndsAtControl() ? Component(input_.control, axis, returns ? 0 : count - 1) : place(end);
    is_closed &= std::abs(start - end) <= kEndRoundings * kUnitRoundoff;
  }
  if (input_.closed && is_closed && !EndsAtControl()) curve_.end_point_ = curve_.start_point_;
}

std::vector<double> UniformKnots(size_t control_count, int degree, bool closed) {
  std::vector<double> knots(control_count + degree + 1);
  const double last = static_cast<double>(control_count - degree);
  for (size_t i = 0; i < knots.size(); ++i) {
    const double value = static_cast<double>(i) - degree;
    knots[i] = closed ? value : std::clamp(value, 0.0, last);
  }
  return knots;
}

int HodographBernstein(const CurvePiece& piece, int dimension, HodographRows& rows) {
  const int p = piece.degree;
  if (!piece.rational) {
    for (int c = 0; c < dimension; ++c) {
      BernsteinDerivative(piece.bernstein[c].data(), p, rows[c].data());
    }
    for (int c = dimension; c < 3; ++c) rows[c].fill(0.0);
    return p - 1;
  }
  // N' w - N w' has the formal degree 2 p - 1, but its leading coefficients cancel: of degree 2 p -
  // 2 (Floater, "Derivatives of rational Bezier curves", CAGD 9 (1992)), with coefficients from the
  // differences w_i w_j (P_j - P_i).
  const int degree = 2 * p - 2;
  for (int c = 0; c < 3; ++c) {
    rows[c].fill(0.0);
    if (c >= dimension) continue;
    const auto& point = piece.bernstein[c];
    const auto& w = piece.weight_bernstein;
    for (int i = 0; i < p; ++i) {
      for (int j = i + 1; j <= p; ++j) {
        const double cross = w[i] * w[j] * (point[j] - point[i]);
        const double factor =
            (j - i) * kBinomial[p][i] * kBinomial[p][j] / kBinomial[degree][i + j - 1];
        rows[c][i + j - 1] += factor * cross;
      }
    }
  }
  return degree;
}

double ClosureGap(const Curve& curve) {
  const CurvePoint first = curve.Evaluate(0, 0.0);
  const CurvePoint last = curve.Evaluate(curve.segment_count() - 1, 1.0);
  return Norm3(Difference(first.position, last.position)) * curve.inverse_scale();
}

}  // namespace arclane
