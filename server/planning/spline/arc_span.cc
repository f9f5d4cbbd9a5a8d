// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/arc_span.h"

#include <algorithm>
#include <cmath>

#include "server/planning/spline/bernstein.h"
#include "server/planning/spline/curve_reduction.h"
#include "server/planning/spline/lanes.h"
#include "server/planning/spline/speed_model.h"

namespace arclane {
namespace {

constexpr int kN = kChebyshevOrder;

// A piece is cut at minima of the speed below this part of its largest speed: nearer ones dominate
// convergence.
constexpr double kSlowSpeedRatio = 0.1;

// A stretch that converges badly is cut here, counted from its slow end, when that end is slower
// than kSlowEndRatio times the other. A branch point at distance 0 from one end of [h/4, h] leaves
// a convergence rate of 3 a node.
constexpr double kGradedCut = 0.25;
constexpr double kSlowEndRatio = 0.2;

// Neighbouring nodes are at most pi / 16 apart, and the error changes its sign at each: between two
// of them the integral of an error of at most e stays below 2 / pi * pi / 16 * e = e / 8. Doubled,
// for errors that are no sine.
constexpr double kLobeArea = 0.25;

// The residual of t(s) is measured half-way between the nodes; its largest value can lie a little
// beside.
constexpr double kResidualSafety = 1.5;

// Cutting ends here, whatever the wanted error: spans this short in t, or this many a piece, are
// taken as they are and their measured error is reported.
constexpr int kMaxDepth = 48;
constexpr size_t kMaxSpansOfPiece = 400;

// Rounding of a sum of 16 products and of the evaluation below it.
constexpr double kRoundingFloor = 32 * 0x1p-53;
// Of a parameter in [0, 1], evaluated as a polynomial.
constexpr double kParameterRounding = 16 * 0x1p-53;

// From guesses with about four digits.
constexpr int kNewtonSteps = 2;

// A last coefficient of the speed this many times too large for the wanted error is not worth a
// check.
constexpr double kHopeless = 3.0;

// A part of the piece, with its hodograph restricted to it.
struct Stretch {
  double t_begin;
  double t_end;
  int depth;
  HodographRows hodograph;
  CurvePiece::Row weight;
};

// Clenshaw's scheme for sum of coefficient[j] T_j, j < kCount, at all nodes; half of them at a time
// in registers.
// Even and odd powers apart, as the samplers do.
inline Lanes ParameterPolynomial(const double* coefficient, Lanes z) {
  const Lanes w = z * z;
  Lanes even = SplatLanes(coefficient[kN - 2]), odd = SplatLanes(coefficient[kN - 1]);
  for (int j = kN - 4; j >= 0; j -= 2) {
    even = even * w + SplatLanes(coefficient[j]);
    odd = odd * w + SplatLanes(coefficient[j + 1]);
  }
  return even + z * odd;
}

template <int kCount>
void EvaluateSeries(const double* coefficient, const ChebyshevValues& x, ChebyshevValues& value) {
  constexpr int kHalf = kN / (2 * kLaneCount);
  for (int first = 0; first < kN; first += kN / 2) {
    Lanes twice[kHalf], b1[kHalf], b2[kHalf];
    for (int u = 0; u < kHalf; ++u) {
      const Lanes at = LoadLanes(&x[first + kLaneCount * u]);
      twice[u] = at + at;
      b1[u] = b2[u] = SplatLanes(0.0);
    }
    for (int j = kCount - 1; j >= 1; --j) {
      const Lanes c = SplatLanes(coefficient[j]);
      for (int u = 0; u < kHalf; ++u) {
        const Lanes b0 = (c - b2[u]) + twice[u] * b1[u];
        b2[u] = b1[u];
        b1[u] = b0;
      }
    }
    for (int u = 0; u < kHalf; ++u) {
      const Lanes at = LoadLanes(&x[first + kLaneCount * u]);
      StoreLanes(&value[first + kLaneCount * u], (SplatLanes(coefficient[0]) - b2[u]) + at * b1[u]);
    }
  }
}

// result[i] = sum over k of matrix[k][i] * value[k]; kWidth is even.
template <int kWidth>
void MultiplyColumns(const std::array<std::array<double, kWidth>, kN>& matrix, const double* value,
                     double* result) {
  constexpr int kPairs = kWidth / kLaneCount;
  Lanes sum[kPairs];
  for (int i = 0; i < kPairs; ++i) sum[i] = SplatLanes(0.0);
  for (int k = 0; k < kN; ++k) {
    const Lanes v = SplatLanes(value[k]);
    for (int i = 0; i < kPairs; ++i) sum[i] += LoadLanes(&matrix[k][kLaneCount * i]) * v;
  }
  for (int i = 0; i < kPairs; ++i) StoreLanes(result + kLaneCount * i, sum[i]);
}

ChebyshevValues SeriesOf(const double* value) {
  ChebyshevValues coefficient;
  MultiplyColumns<kN>(kChebyshev.to_coefficient, value, coefficient.data());
  return coefficient;
}

double Root(double value, int root) {
  switch (root) {
    case 1:
      return value;
    case 2:
      return std::sqrt(value);
    case 3:
      return std::cbrt(value);
    default:
      return std::pow(value, 1.0 / root);
  }
}

double Power(double value, int exponent) {
  double result = 1.0;
  for (int i = 0; i < exponent; ++i) result *= value;
  return result;
}

class PieceBuilder {
 public:
  PieceBuilder(const CurvePiece& piece, int dimension, int32_t segment, const ArcSpanBudget& budget,
               PieceSpans& out)
      : piece_(piece), dimension_(dimension), segment_(segment), budget_(budget), out_(out) {}

  void Run() {
    Stretch whole{0.0, 1.0, 0, {}, piece_.weight_bernstein};
    degree_ = HodographBernstein(piece_, dimension_, whole.hodograph);
    double largest = 0.0;
    for (int c = 0; c < dimension_; ++c) {
      for (int j = 0; j <= degree_; ++j) {
        largest = std::max(largest, std::abs(whole.hodograph[c][j]));
      }
    }
    if (largest == 0.0) return;
    first_span_ = out_.spans.size();
    std::vector<Stretch>& stack = stack_;
    CutAtSlowPoints(whole, stack);
    while (!stack.empty()) {
      const Stretch stretch = stack.back();
      stack.pop_back();
      double cut = 0.5;
      if (TryStretch(stretch, cut)) continue;
      const size_t top = stack.size();
      stack.resize(top + 2);
      Split(stretch, cut, stack[top + 1], stack[top]);
    }
  }

 private:
  void Split(const Stretch& stretch, double cut, Stretch& left, Stretch& right) const {
    const double middle = stretch.t_begin + cut * (stretch.t_end - stretch.t_begin);
    left.t_begin = stretch.t_begin;
    left.t_end = right.t_begin = middle;
    right.t_end = stretch.t_end;
    left.depth = right.depth = stretch.depth + 1;
    for (int c = 0; c < dimension_; ++c) {
      BernsteinSplit(stretch.hodograph[c].data(), degree_, cut, left.hodograph[c].data(),
                     right.hodograph[c].data());
    }
    if (piece_.rational) {
      BernsteinSplit(stretch.weight.data(), piece_.degree, cut, left.weight.data(),
                     right.weight.data());
    }
  }

  // Leaves the stretches between small minima of the squared speed on the stack, the first on top.
  void CutAtSlowPoints(const Stretch& whole, std::vector<Stretch>& stack) const {
    double cuts[2 * kMaxHodographDegree];
    const int count = SlowPoints(whole.hodograph, dimension_, degree_, kSlowSpeedRatio, cuts);
    Stretch rest = whole;
    for (int i = 0; i < count; ++i) {
      Stretch left, right;
      Split(rest, (cuts[i] - rest.t_begin) / (rest.t_end - rest.t_begin), left, right);
      left.t_end = right.t_begin = cuts[i];
      left.depth = right.depth = 0;
      stack.push_back(left);
      rest = right;
    }
    stack.push_back(rest);
    std::reverse(stack.begin(), stack.end());
  }

  // Appends the stretch as one span and returns true, or says where to cut it.
  bool TryStretch(const Stretch& stretch, double& cut) {
    const StretchSize size =
        MeasureStretch(stretch.hodograph, stretch.weight, dimension_, degree_,
                       piece_.rational ? piece_.degree : 0, stretch.t_end - stretch.t_begin);
    if (size.upper <= budget_.local_error) {
      AppendStraight(stretch, size);
      return true;
    }
    // No finer than the distance that a few ulps of t make.
    const double fastest = size.largest_norm / size.least_weight_squared;
    local_error_ = std::max(std::min(budget_.local_error, budget_.span_error * size.upper),
                            kParameterRounding * fastest);
    const bool forced =
        stretch.depth >= kMaxDepth || out_.spans.size() - first_span_ >= kMaxSpansOfPiece;
    if (size.speed_begin < kSlowEndRatio * size.speed_end) {
      cut = kGradedCut;
    } else if (size.speed_end < kSlowEndRatio * size.speed_begin) {
      cut = 1.0 - kGradedCut;
    }
    SpeedModel model(stretch.hodograph, stretch.weight, size, dimension_, degree_,
                     piece_.rational ? piece_.degree : 0, stretch.t_end - stretch.t_begin,
                     kDropShare * local_error_);
    if (model.slow_at_both_ends()) {
      cut = 0.5;
      if (!forced) return false;
    }
    std::array<double, SpeedModel::kPoints> speed;
    model.EvaluateNodes(speed);
    const ChebyshevValues series = SeriesOf(speed.data());
    const double last = std::max(std::abs(series[kN - 1]), std::abs(series[kN - 2]));
    const double rounding = kRoundingFloor * size.upper;
    if (!forced && kLobeArea * last > kHopeless * 0.5 * local_error_ + rounding) return false;
    model.EvaluateChecks(speed);
    Fit fit;
    CheckLength(speed, model.dropped(), fit);
    const double share = std::max(fit.length / budget_.piece_length, kLeastShare);
    const double floor = kRoundingFloor * fit.length;
    if (!forced && (fit.length_error > budget_.length_error * share + floor ||
                    fit.forward_error > 0.5 * local_error_ + floor)) {
      return false;
    }
    IntegrateSeries(series, fit.scale, fit.forward);
    ArcSpan span;
    span.t_begin = stretch.t_begin;
    span.t_end = stretch.t_end;
    span.segment = segment_;
    span.slow_order = static_cast<int8_t>(model.slow_order());
    span.root = static_cast<int8_t>(model.slow_order() + 1);
    span.from_end = model.from_end();
    double error = fit.forward_error;
    if (budget_.with_inverse) {
      const double residual = FitInverse(speed, series, fit, span);
      if (!forced && residual > 0.5 * local_error_ + floor) return false;
      error += kResidualSafety * residual;
    }
    Append(span, fit.forward, fit.length, fit.length_error, error);
    return true;
  }

  struct Fit {
    double length = 0.0;
    double length_error = 0.0;
    double forward_error = 0.0;
    double scale = 1.0;  // From the interpolant's length to that of the quadrature.
    ArcSpanForward forward;
  };

  // Length of the interpolant through the speeds at the nodes (first kN values), and its errors as
  // the check points (the rest) show them.
  void CheckLength(const std::array<double, SpeedModel::kPoints>& speed, double dropped,
                   Fit& fit) const {
    std::array<double, kChebyshevChecks + 1> interpolated;
    MultiplyColumns<kChebyshevChecks + 1>(kChebyshev.to_check, speed.data(), interpolated.data());
    double quadrature = 0.0, length = 0.0, pointwise = 0.0;
    for (int k = 0; k < kN; ++k) {
      quadrature += kChebyshev.node_weight[k] * speed[k];
      length += kChebyshev.to_integral[k][kN] * speed[k];
    }
    for (int i = 0; i < kChebyshevChecks; ++i) {
      const double true_speed = speed[kN + i];
      pointwise = std::max(pointwise, std::abs(interpolated[i] - true_speed));
      quadrature += kChebyshev.check_weight[i] * true_speed;
    }
    fit.length = quadrature;
    if (length > 0.0) fit.scale = quadrature / length;
    fit.length_error = std::abs(length - quadrature) + dropped;
    fit.forward_error = fit.length_error + kLobeArea * pointwise;
  }

  // `scale` times the integral from -1 of a Chebyshev series.
  static void IntegrateSeries(const ChebyshevValues& c, double scale, ArcSpanForward& forward) {
    auto& d = forward.distance;
    d[0] = 0.0;
    for (int j = 1; j <= kN; ++j) {
      const double before = j == 1 ? 2.0 * c[0] : c[j - 1];
      const double after = j + 1 < kN ? c[j + 1] : 0.0;
      d[j] = scale * (before - after) / (2 * j);
      d[0] += j % 2 == 0 ? -d[j] : d[j];
    }
  }

  // t(s) as a polynomial in z = 2 (d / length)^(1 / root) - 1; returns the largest measured error
  // as a distance.
  double FitInverse(const std::array<double, SpeedModel::kPoints>& speed,
                    const ChebyshevValues& slope_series, const Fit& fit, ArcSpan& span) const {
    ChebyshevValues target, x;
    StartInverse(speed, fit, span.root, target, x);
    for (int step = 0; step < kNewtonSteps; ++step) {
      ChebyshevValues distance, rate;
      EvaluateSeries<kN + 1>(fit.forward.distance.data(), x, distance);
      EvaluateSeries<kN>(slope_series.data(), x, rate);
      for (int k = 0; k < kN; k += kLaneCount) {
        const Lanes next = LoadLanes(&x[k]) -
                           (LoadLanes(&distance[k]) - LoadLanes(&target[k])) / LoadLanes(&rate[k]);
        StoreLanes(&x[k], MinLanes(MaxLanes(next, SplatLanes(-1.0)), SplatLanes(1.0)));
      }
    }
    const ChebyshevValues series = SeriesOf(x.data());
    const double fastest = *std::max_element(speed.begin(), speed.end());
    span.degree = ReducedDegree(series, kTrimShare * local_error_ / fastest);
    const double middle = 0.5 * (span.t_begin + span.t_end);
    const double half = (span.from_end ? -0.5 : 0.5) * (span.t_end - span.t_begin);
    ChebyshevValues scaled{};
    for (int j = 0; j <= span.degree; ++j) scaled[j] = series[j] * half;
    MultiplyColumns<kN>(kChebyshev.monomial, scaled.data(), span.coefficient.data());
    span.coefficient[0] += middle;
    return InverseResidual(fit, span, middle, half);
  }

  // Distances at the interpolation nodes, and first guesses of x there: Hermite interpolation
  // between check points in y = (d / length)^(1 / root), in which x is smooth.
  static void StartInverse(const std::array<double, SpeedModel::kPoints>& speed, const Fit& fit,
                           int root, ChebyshevValues& target, ChebyshevValues& x) {
    constexpr int kWidth = kChebyshevChecks + 1;
    std::array<double, kWidth> y, slope, inverse_width;
    MultiplyColumns<kWidth>(kChebyshev.to_integral, speed.data(), y.data());
    const Lanes length = SplatLanes(fit.length);
    for (int i = 0; i < kWidth; i += kLaneCount) {
      StoreLanes(&y[i], MaxLanes(LoadLanes(&y[i]) / length, SplatLanes(0.0)));
      StoreLanes(&slope[i], length / LoadLanes(&speed[kN + i]));
    }
    for (int i = 0; i <= kN && root > 1; ++i) {
      y[i] = Root(y[i], root);
      slope[i] *= root * Power(y[i], root - 1);
    }
    for (int i = 0; i < kN; i += kLaneCount) {
      StoreLanes(&inverse_width[i],
                 SplatLanes(1.0) / (Lanes{y[i + 1], y[i + 2]} - LoadLanes(&y[i])));
    }
    int cell = 0;
    for (int k = 0; k < kN; ++k) {
      const double wanted = 0.5 * (1.0 + kChebyshev.node[k]);
      target[k] = fit.length * Power(wanted, root);
      while (cell + 1 < kN && y[cell + 1] < wanted) ++cell;
      const double width = y[cell + 1] - y[cell];
      const double low = kChebyshev.check[cell];
      const double rise = kChebyshev.check[cell + 1] - low;
      const double u =
          width > 0.0 ? std::clamp((wanted - y[cell]) * inverse_width[cell], 0.0, 1.0) : 0.5;
      // The cubic with these end slopes, where they are those of a monotone one; else the chord.
      const double a = slope[cell] * width - rise, b = slope[cell + 1] * width - rise;
      const double bend = u * (1.0 - u) * ((1.0 - u) * a - u * b);
      x[k] = low + rise * u + (std::abs(bend) <= rise ? bend : 0.0);
    }
  }

  static int8_t ReducedDegree(const ChebyshevValues& series, double tolerance) {
    double tail = 0.0;
    for (int j = kN - 1; j > 7; --j) {
      tail += std::abs(series[j]);
      if (tail > tolerance) return j > 11 ? 15 : 11;
    }
    return 7;
  }

  double InverseResidual(const Fit& fit, const ArcSpan& span, double middle, double half) const {
    // The end points are exact by clamping; the inner 15 check points are measured (one of them
    // twice).
    ChebyshevValues z, x, distance;
    for (int k = 0; k < kN; ++k) z[k] = kChebyshev.check[k == 0 ? 1 : k];
    for (int k = 0; k < kN; k += kLaneCount) {
      const Lanes t = ParameterPolynomial(span.coefficient.data(), LoadLanes(&z[k]));
      const Lanes back = (t - SplatLanes(middle)) / SplatLanes(half);
      StoreLanes(&x[k], MinLanes(MaxLanes(back, SplatLanes(-1.0)), SplatLanes(1.0)));
    }
    EvaluateSeries<kN + 1>(fit.forward.distance.data(), x, distance);
    double residual = 0.0;
    for (int k = 0; k < kN; ++k) {
      const double wanted = fit.length * Power(0.5 * (1.0 + z[k]), span.root);
      const double error = std::abs(distance[k] - wanted);
      residual = error <= residual ? residual : error;  // Keeps a NaN.
    }
    return residual;
  }

  // A stretch shorter than the wanted error: any monotone map serves.
  void AppendStraight(const Stretch& stretch, const StretchSize& size) {
    ArcSpan span;
    span.t_begin = stretch.t_begin;
    span.t_end = stretch.t_end;
    span.segment = segment_;
    span.degree = 7;
    span.coefficient[0] = 0.5 * (stretch.t_begin + stretch.t_end);
    span.coefficient[1] = 0.5 * (stretch.t_end - stretch.t_begin);
    const double length = 0.5 * (size.upper + size.lower);
    ArcSpanForward forward{};
    forward.distance[0] = forward.distance[1] = 0.5 * length;
    Append(span, forward, length, 0.5 * (size.upper - size.lower), size.upper);
  }

  void Append(ArcSpan& span, const ArcSpanForward& forward, double length, double length_error,
              double local_error) {
    const double reach = (span.from_end ? -1.0 : 1.0) * (1 << span.root);
    span.rate = length > 0.0 ? reach / length : 0.0;
    out_.spans.push_back(span);
    out_.forward.push_back(forward);
    out_.length.push_back(length);
    out_.length_error += length_error;
    out_.local_error = std::max(out_.local_error, local_error);
  }

  // Of the local error: what dropping a tiny speed at a cusp, and small coefficients of t(s), may
  // cost.
  static constexpr double kDropShare = 2e-3;
  static constexpr double kTrimShare = 1e-1;
  // A span's share of the length error is its share of the length, or this if that is more.
  static constexpr double kLeastShare = 1.0 / 32;

  const CurvePiece& piece_;
  const int dimension_;
  const int32_t segment_;
  const ArcSpanBudget& budget_;
  PieceSpans& out_;
  int degree_ = 0;
  size_t first_span_ = 0;
  double local_error_ = 0.0;  // Allowed in the stretch at hand.
  std::vector<Stretch> stack_;
};

}  // namespace

void AppendPieceSpans(const CurvePiece& piece, int dimension, int32_t segment,
                      const ArcSpanBudget& budget, PieceSpans& out) {
  PieceBuilder(piece, dimension, segment, budget, out).Run();
}

ForwardValue EvaluateForward(const ArcSpanForward& forward, double x) {
  // Clenshaw's scheme, differentiated along.
  double b1 = 0.0, b2 = 0.0, d1 = 0.0, d2 = 0.0;
  for (int j = kN; j >= 1; --j) {
    const double d0 = 2.0 * (b1 + x * d1) - d2;
    const double b0 = forward.distance[j] + 2.0 * x * b1 - b2;
    d2 = d1;
    d1 = d0;
    b2 = b1;
    b1 = b0;
  }
  return {forward.distance[0] + x * b1 - b2, b1 + x * d1 - d2};
}

double InvertForward(const ArcSpan& span, const ArcSpanForward& forward, double distance) {
  const double length = span.end - span.begin;
  if (!(distance > 0.0)) return span.t_begin;
  if (distance >= length) return span.t_end;
  const double wanted = span.from_end ? length - distance : distance;
  double low = -1.0, high = 1.0;
  double x = Root(wanted * std::abs(span.rate), span.root) - span.shift;
  constexpr int kMaxSteps = 80;  // Bisection alone needs 54.
  for (int step = 0; step < kMaxSteps; ++step) {
    const ForwardValue value = EvaluateForward(forward, x);
    const double error = value.distance - wanted;
    (error > 0.0 ? high : low) = x;
    double next = x - error / value.slope;
    if (std::abs(next - x) <= 0x1p-52) break;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    x = next;
  }
  const double half = 0.5 * (span.t_end - span.t_begin);
  const double t = span.from_end ? span.t_end - half * (1.0 + x) : span.t_begin + half * (1.0 + x);
  return std::clamp(t, span.t_begin, span.t_end);
}

}  // namespace arclane
