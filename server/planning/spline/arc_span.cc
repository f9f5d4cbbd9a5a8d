// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/arc_span.h"

#include <algorithm>
#include <cmath>

#include "server/planning/spline/bernstein.h"
#include "server/planning/spline/curve_reduction.h"
#include "server/planning/spline/sample_kernels.h"
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

constexpr int kNewtonSteps = 4;

// A part of the piece, with its hodograph restricted to it.
struct Stretch {
  double t_begin;
  double t_end;
  int depth;
  HodographRows hodograph;
  CurvePiece::Row weight;
};

// Clenshaw's scheme for sum of coefficient[j] T_j at kN points at once.
template <int kCount>
void EvaluateSeries(const std::array<double, kCount>& coefficient, const ChebyshevValues& x,
                    ChebyshevValues& value) {
  ChebyshevValues b1{}, b2{};
  for (int j = kCount - 1; j >= 1; --j) {
    for (int k = 0; k < kN; ++k) {
      const double b0 = coefficient[j] + 2.0 * x[k] * b1[k] - b2[k];
      b2[k] = b1[k];
      b1[k] = b0;
    }
  }
  for (int k = 0; k < kN; ++k) value[k] = coefficient[0] + x[k] * b1[k] - b2[k];
}

ChebyshevValues SeriesOf(const ChebyshevValues& value) {
  ChebyshevValues coefficient{};
  for (int k = 0; k < kN; ++k) {
    for (int j = 0; j < kN; ++j) coefficient[j] += kChebyshev.to_coefficient[k][j] * value[k];
  }
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
  double result = value;
  for (int i = 1; i < exponent; ++i) result *= value;
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
    const bool forced =
        stretch.depth >= kMaxDepth || out_.spans.size() - first_span_ >= kMaxSpansOfPiece;
    if (size.speed_begin < kSlowEndRatio * size.speed_end) {
      cut = kGradedCut;
    } else if (size.speed_end < kSlowEndRatio * size.speed_begin) {
      cut = 1.0 - kGradedCut;
    }
    SpeedModel model(stretch.hodograph, stretch.weight, dimension_, degree_,
                     piece_.rational ? piece_.degree : 0, stretch.t_end - stretch.t_begin,
                     kDropShare * budget_.local_error);
    if (model.slow_at_both_ends()) {
      cut = 0.5;
      if (!forced) return false;
    }
    std::array<double, SpeedModel::kPoints> speed;
    model.Evaluate(speed);
    Fit fit;
    FitLength(speed, model.dropped(), fit);
    const double share = std::max(fit.length / budget_.piece_length, kLeastShare);
    const double floor = kRoundingFloor * fit.length;
    if (!forced && (fit.length_error > budget_.length_error * share + floor ||
                    fit.forward_error > 0.5 * budget_.local_error + floor)) {
      return false;
    }
    ArcSpan span;
    span.t_begin = stretch.t_begin;
    span.t_end = stretch.t_end;
    span.segment = segment_;
    span.root = static_cast<int8_t>(model.slow_order() + 1);
    span.from_end = model.from_end();
    double local_error = fit.forward_error;
    if (budget_.with_inverse) {
      const double residual = FitInverse(speed, fit, span);
      if (!forced && residual > 0.5 * budget_.local_error + floor) return false;
      local_error += kResidualSafety * residual;
    }
    Append(span, fit.forward, fit.length, fit.length_error, local_error);
    return true;
  }

  struct Fit {
    double length = 0.0;
    double length_error = 0.0;
    double forward_error = 0.0;
    ArcSpanForward forward;
    ChebyshevCheckValues distance{};  // At the check points.
  };

  // s(x) from the speed at nodes (first kN values) and check points (the rest), checked against the
  // latter.
  void FitLength(const std::array<double, SpeedModel::kPoints>& speed, double dropped,
                 Fit& fit) const {
    std::array<double, kChebyshevChecks + 1> interpolated{}, integral{};
    double quadrature = 0.0;
    for (int k = 0; k < kN; ++k) {
      for (int i = 0; i <= kChebyshevChecks; ++i) {
        interpolated[i] += kChebyshev.to_check[k][i] * speed[k];
        integral[i] += kChebyshev.to_integral[k][i] * speed[k];
      }
      quadrature += kChebyshev.node_weight[k] * speed[k];
    }
    double pointwise = 0.0;
    for (int i = 0; i < kChebyshevChecks; ++i) {
      const double true_speed = speed[kN + i];
      pointwise = std::max(pointwise, std::abs(interpolated[i] - true_speed));
      quadrature += kChebyshev.check_weight[i] * true_speed;
      fit.distance[i] = integral[i];
    }
    fit.length = fit.distance[kN];
    fit.length_error = std::abs(fit.length - quadrature) + dropped;
    fit.forward_error = fit.length_error + kLobeArea * pointwise;
    ChebyshevValues nodes;
    std::copy_n(speed.begin(), kN, nodes.begin());
    const ChebyshevValues c = SeriesOf(nodes);
    auto& d = fit.forward.distance;
    d[0] = 0.0;
    for (int j = 1; j <= kN; ++j) {
      const double before = j == 1 ? 2.0 * c[0] : c[j - 1];
      const double after = j + 1 < kN ? c[j + 1] : 0.0;
      d[j] = (before - after) / (2 * j);
      d[0] += j % 2 == 0 ? -d[j] : d[j];
    }
  }

  // t(s) as a polynomial in z = 2 (d / length)^(1 / root) - 1; returns the largest measured error
  // as a distance.
  double FitInverse(const std::array<double, SpeedModel::kPoints>& speed, const Fit& fit,
                    ArcSpan& span) const {
    const int root = span.root;
    std::array<double, kN + 1> slope{};  // Coefficients of ds/dx, the interpolant of the speed.
    ChebyshevValues nodes;
    std::copy_n(speed.begin(), kN, nodes.begin());
    const ChebyshevValues slope_series = SeriesOf(nodes);
    std::copy(slope_series.begin(), slope_series.end(), slope.begin());

    ChebyshevValues target, x;
    StartInverse(fit, root, target, x);
    for (int step = 0; step < kNewtonSteps; ++step) {
      ChebyshevValues distance, rate;
      EvaluateSeries<kN + 1>(fit.forward.distance, x, distance);
      EvaluateSeries<kN>(slope_series, x, rate);
      for (int k = 0; k < kN; ++k) {
        const double next = x[k] - (distance[k] - target[k]) / rate[k];
        x[k] = next < -1.0 ? -1.0 : next > 1.0 ? 1.0 : next;
      }
    }
    const ChebyshevValues series = SeriesOf(x);
    const double fastest = *std::max_element(speed.begin(), speed.end());
    span.degree = ReducedDegree(series, kTrimShare * budget_.local_error / fastest);
    const double middle = 0.5 * (span.t_begin + span.t_end);
    const double half = (span.from_end ? -0.5 : 0.5) * (span.t_end - span.t_begin);
    span.coefficient.fill(0.0);
    for (int j = 0; j <= span.degree; ++j) {
      for (int i = j & 1; i <= j; i += 2) {
        span.coefficient[i] += kChebyshev.monomial[j][i] * series[j] * half;
      }
    }
    span.coefficient[0] += middle;
    return InverseResidual(fit, span, middle, half);
  }

  // Distances at the interpolation nodes, and first guesses of x there: linear between check points
  // in the scale in which x(z) is smooth.
  static void StartInverse(const Fit& fit, int root, ChebyshevValues& target, ChebyshevValues& x) {
    ChebyshevCheckValues scaled;
    for (int i = 0; i <= kN; ++i) {
      scaled[i] = Root(std::max(fit.distance[i], 0.0) / fit.length, root);
    }
    int cell = 0;
    for (int k = 0; k < kN; ++k) {
      const double y = 0.5 * (1.0 + kChebyshev.node[k]);
      target[k] = fit.length * Power(y, root);
      while (cell + 1 < kN && scaled[cell + 1] < y) ++cell;
      const double width = scaled[cell + 1] - scaled[cell];
      double part = width > 0.0 ? (y - scaled[cell]) / width : 0.5;
      part = std::clamp(part, 0.0, 1.0);
      x[k] = kChebyshev.check[cell] + part * (kChebyshev.check[cell + 1] - kChebyshev.check[cell]);
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
    double residual = 0.0;
    ChebyshevValues x, distance;
    // The end points are exact by clamping; the inner 15 check points are measured (and one of them
    // twice).
    for (int k = 0; k < kN; ++k) {
      const double z = kChebyshev.check[k == 0 ? 1 : k];
      const double t = ParameterPolynomial<kN - 1>(span.coefficient.data(), z);
      x[k] = std::clamp((t - middle) / half, -1.0, 1.0);
    }
    EvaluateSeries<kN + 1>(fit.forward.distance, x, distance);
    for (int k = 0; k < kN; ++k) {
      const double y = 0.5 * (1.0 + kChebyshev.check[k == 0 ? 1 : k]);
      const double error = std::abs(distance[k] - fit.length * Power(y, span.root));
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
    span.rate = length > 0.0 ? (span.from_end ? -1.0 : 1.0) / length : 0.0;
    out_.spans.push_back(span);
    out_.forward.push_back(forward);
    out_.length.push_back(length);
    out_.length_error += length_error;
    out_.local_error = std::max(out_.local_error, local_error);
  }

  // Of the local error: what dropping a tiny speed at a cusp, and small coefficients of t(s), may
  // cost.
  static constexpr double kDropShare = 1e-2;
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
  double x = 2.0 * Root(wanted * std::abs(span.rate), span.root) - 1.0;
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
