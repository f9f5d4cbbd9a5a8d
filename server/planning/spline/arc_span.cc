// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/arc_span.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/planning/spline/bernstein.h"
#include "server/planning/spline/curve_reduction.h"
#include "server/planning/spline/lanes.h"
#include "server/planning/spline/span_fit.h"
#include "server/planning/spline/speed_model.h"

namespace arclane {
namespace {

// A piece is cut at minima of the speed below this part of its largest speed: nearer ones dominate
// convergence.
constexpr double kSlowSpeedRatio = 0.1;

// Beside a minimum of the speed, lengths grow with the distance from it: a stretch whose ends are
// as far from a branch point as 1 to r converges by (sqrt(r) + 1) / (sqrt(r) - 1) a node, by 2.6
// for kGrading. Where the speeds of its ends differ by more than kSteepRatio a stretch is cut at
// once.
constexpr double kGrading = 5.0;
constexpr double kSteepRatio = 6.0;
// Where the speed vanishes at an end it does not disturb; the cut isolates other branch points.
constexpr double kCutBesideZero = 0.25;

// Cutting ends here, whatever the wanted error: spans this short in t, or this many a piece, are
// taken as they are and their measured error is reported.
constexpr int kMaxDepth = 48;
constexpr size_t kMaxSpansOfPiece = 400;

// Rounding of a sum of 16 products and of the evaluation below it.
constexpr double kRoundingFloor = 32 * 0x1p-53;
// Of a parameter in [0, 1], evaluated as a polynomial.
constexpr double kParameterRounding = 16 * 0x1p-53;

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

// Where to cut a stretch, counted from its slow end, whose speed is `ratio` times slower than the
// other: in the geometric middle, or at kGrading when that leaves more.
double GradedCut(double ratio) {
  const double outer = std::min(std::sqrt(ratio), kGrading);
  return ratio > 1.0 + 1e-6 ? (1.0 / outer - 1.0 / ratio) / (1.0 - 1.0 / ratio) : 0.5;
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
    SpeedModel model(stretch.hodograph, stretch.weight, size, dimension_, degree_,
                     piece_.rational ? piece_.degree : 0, stretch.t_end - stretch.t_begin,
                     kDropShare * local_error_);
    if (!forced && model.slow_at_both_ends()) return false;
    const double slow = std::min(size.speed_begin, size.speed_end);
    const double ratio = std::max(size.speed_begin, size.speed_end) / slow;
    if (model.slow_order() == 0 && slow > 0.0) {
      cut = GradedCut(ratio);
      if (size.speed_end < size.speed_begin) cut = 1.0 - cut;
      if (!forced && ratio > kSteepRatio) return false;
    } else {
      cut = model.from_end() ? 1.0 - kCutBesideZero : kCutBesideZero;
    }
    model.Prepare();
    SpeedValues speed;
    model.EvaluateNodes(speed);
    SpanFit fit;
    const double rounding = kRoundingFloor * size.upper;
    if (kLobeArea * fit.FitSpeed(speed) > kHopeless * 0.5 * local_error_ + rounding && !forced) {
      return false;
    }
    model.EvaluateChecks(speed);
    fit.FitForward(speed, model.dropped());
    const double share = std::max(fit.length() / budget_.piece_length, kLeastShare);
    const double floor = kRoundingFloor * fit.length();
    const double allowed = 0.5 * local_error_ + floor;
    if (!forced && (fit.length_error() > budget_.length_error * share + floor ||
                    fit.forward_error() > allowed)) {
      return false;
    }
    ArcSpan span;
    span.t_begin = stretch.t_begin;
    span.t_end = stretch.t_end;
    span.segment = segment_;
    span.slow_order = static_cast<int8_t>(model.slow_order());
    span.from_end = model.from_end();
    double error = fit.forward_error();
    if (budget_.with_inverse) {
      const double limit = forced ? std::numeric_limits<double>::infinity() : allowed;
      if (!fit.FitInverse(speed, limit, kTrimShare * local_error_, span) && !forced) return false;
      error += fit.inverse_error();
    } else {
      SpanFit::SetPlainVariable(fit.length(), span);
    }
    Append(span, fit.forward(), fit.length(), fit.length_error(), error);
    return true;
  }

  // A stretch shorter than the wanted error: any monotone map serves.
  void AppendStraight(const Stretch& stretch, const StretchSize& size) {
    ArcSpan span;
    span.t_begin = stretch.t_begin;
    span.t_end = stretch.t_end;
    span.segment = segment_;
    span.degree = 5;
    span.coefficient[0] = 0.5 * (stretch.t_begin + stretch.t_end);
    span.coefficient[1] = 0.5 * (stretch.t_end - stretch.t_begin);
    const double length = 0.5 * (size.upper + size.lower);
    SpanFit::SetPlainVariable(length, span);
    ArcSpanForward forward{};
    forward.middle = forward.mean_rate[0] = 0.5 * length;
    Append(span, forward, length, 0.5 * (size.upper - size.lower), size.upper);
  }

  void Append(ArcSpan& span, const ArcSpanForward& forward, double length, double length_error,
              double local_error) {
    out_.spans.push_back(span);
    out_.forward.push_back(forward);
    out_.length.push_back(length);
    out_.length_error += length_error;
    out_.local_error = std::max(out_.local_error, local_error);
  }

  // Of the local error: what dropping a tiny speed at a cusp, and small coefficients of t(s), may
  // cost.
  static constexpr double kDropShare = 2.5e-4;
  static constexpr double kTrimShare = 0.1;
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
  // Even and odd powers apart, each differentiated along by w = x^2.
  const Lanes w = SplatLanes(x * x);
  Lanes value = LoadAlignedLanes(&forward.mean_rate[kChebyshevOrder - 2]);
  Lanes slope = SplatLanes(0.0);
#pragma GCC unroll 8
  for (int j = kChebyshevOrder - 4; j >= 0; j -= 2) {
    slope = slope * w + value;
    value = value * w + LoadAlignedLanes(&forward.mean_rate[j]);
  }
  const double mean_rate = value[0] + x * value[1];
  const double derivative = value[1] + 2.0 * (x * slope[0] + w[0] * slope[1]);
  return {forward.middle + x * mean_rate, mean_rate + x * derivative};
}

double InvertForward(const ArcSpan& span, const ArcSpanForward& forward, double distance) {
  const double length = span.end - span.begin;
  if (!(distance > 0.0)) return span.t_begin;
  if (distance >= length) return span.t_end;
  const double wanted = span.from_end ? length - distance : distance;
  double low = -1.0, high = 1.0;
  double x = 2.0 * RootOf(wanted / length, span.slow_order + 1) - 1.0;
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
