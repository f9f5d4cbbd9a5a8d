// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/span_fit.h"

#include <algorithm>
#include <cmath>

namespace arclane {
namespace {

constexpr int kN = kChebyshevOrder;

// Where the speed falls towards a zero that lies within this part of the length before the slow
// end, t is a smooth function of a root of the distance from there: as a function of the distance
// itself it has a branch point that close.
constexpr double kVirtualReach = 0.35;

// A last coefficient of t(s) this many times too large for the allowed error is not worth a
// measurement.
constexpr double kHopelessInverse = 4.0;

// One Newton step brings guesses of about four digits to eight; the steps after it keep its slope
// and gain four digits each. Below this error, of the length, one more is needed.
constexpr double kLooseInverse = 3e-11;

// Cells between neighbouring check points, ascending.
struct Cells {
  std::array<double, kN> begin{};
  std::array<double, kN> rise{};
};
alignas(16) constexpr Cells kCells = [] {
  std::array<double, kN + 1> x{};
  for (int k = 0; k < kHalfOrder; ++k) {
    x[kHalfOrder - 1 - k] = -kChebyshev.check[k];
    x[kHalfOrder + 1 + k] = kChebyshev.check[k];
  }
  Cells cells;
  for (int i = 0; i < kN; ++i) {
    cells.begin[i] = x[i];
    cells.rise[i] = x[i + 1] - x[i];
  }
  return cells;
}();

double Power(double value, int exponent) {
  double result = value;
  for (int i = 1; i < exponent; ++i) result *= value;
  return result;
}

double Largest(const HalfRow& a, const HalfRow& b) {
  Lanes largest = SplatLanes(0.0);
  for (int k = 0; k < kHalfOrder; k += kLaneCount) {
    largest = MaxLanes(LoadLanes(&a[k]), MaxLanes(LoadLanes(&b[k]), largest));
  }
  return std::max(largest[0], largest[1]);
}

// Largest difference between the rows; NaN when there is one.
double LargestDifference(const HalfRow& a, const HalfRow& b, double largest) {
  for (int k = 0; k < kHalfOrder; ++k) {
    const double difference = std::abs(a[k] - b[k]);
    largest = difference <= largest ? largest : difference;
  }
  return largest;
}

// The first odd degree from 5 on beyond which coefficients add up to at most `tolerance`; `tail` is
// their sum.
int8_t ReducedDegree(const Halves& series, double tolerance, double& tail) {
  tail = 0.0;
  for (int j = kHalfOrder - 1; j > 2; --j) {
    const double more = tail + std::abs(series.odd[j]) + std::abs(series.even[j]);
    if (!(more <= tolerance)) return static_cast<int8_t>(2 * j + 1);
    tail = more;
  }
  return 5;
}

}  // namespace

double RootOf(double value, int root) {
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

double SpanFit::FitSpeed(const SpeedValues& speed) {
  sums_ = SumsAndDifferences(speed.node);
  series_ = SeriesOf(sums_);
  return std::max(std::abs(series_.even.back()), std::abs(series_.odd.back()));
}

void SpanFit::FitForward(const SpeedValues& speed, double dropped) {
  // The interpolant at the check points against the speeds there.
  const HalfRow even = Multiply(kChebyshev.even_check, sums_.even);
  const HalfRow odd = Multiply(kChebyshev.odd_check, sums_.odd);
  const SymmetricValues interpolated = ValuesOfHalves(even, odd);
  double pointwise = std::abs(Dot(kChebyshev.even_zero, sums_.even) - speed.zero);
  pointwise = LargestDifference(interpolated.plus, speed.check.plus, pointwise);
  pointwise = LargestDifference(interpolated.minus, speed.check.minus, pointwise);

  // Its length against that of Clenshaw-Curtis quadrature on all points.
  area_ = ValuesOfHalves(Multiply(kChebyshev.even_integral, sums_.odd),
                         Multiply(kChebyshev.odd_integral, sums_.even));
  const double length = area_.plus.back() - area_.minus.back();
  const Halves checks = SumsAndDifferences(speed.check);
  const double quadrature = Dot(kChebyshev.node_weight, sums_.even) +
                            Dot(kChebyshev.check_weight, checks.even) +
                            kChebyshev.zero_weight * speed.zero;
  length_ = quadrature;
  scale_ = length > 0.0 ? quadrature / length : 1.0;
  length_error_ = std::abs(length - quadrature) + dropped;
  forward_error_ = length_error_ + kLobeArea * pointwise;
  fastest_ = std::max({Largest(speed.node.plus, speed.node.minus),
                       Largest(speed.check.plus, speed.check.minus), speed.zero});

  const Powers power = PowersOf(series_);
  double sign = 1.0, middle = 0.0;
  for (int k = 0; k < kN; ++k) {
    forward_.mean_rate[k] = scale_ * power[k] / (k + 1);
    middle += sign * forward_.mean_rate[k];
    sign = -sign;
  }
  forward_.middle = middle;
}

void SpanFit::SetPlainVariable(double length, ArcSpan& span) {
  span.root = static_cast<int8_t>(span.slow_order + 1);
  span.base = 0.0;
  span.shift = 1.0;
  const double reach = (span.from_end ? -1.0 : 1.0) * (1 << span.root);
  span.rate = length > 0.0 ? reach / length : 0.0;
}

void SpanFit::ChooseVariable(const SpeedValues& speed, ArcSpan& span) {
  SetPlainVariable(length_, span);
  // v^2 / (2 dv/ds) from the slow end back to where the tangent of the speed vanishes.
  const double slow = speed.check.minus[kHalfOrder - 1];
  const double rise = (speed.check.minus[kHalfOrder - 2] - slow) /
                      (kChebyshev.check[kHalfOrder - 1] - kChebyshev.check[kHalfOrder - 2]);
  offset_ = 0.0;
  if (span.slow_order == 0 && slow > 0.0 && slow * slow < 2.0 * kVirtualReach * rise * length_) {
    offset_ = slow * slow / (2.0 * rise);
    const double low = std::sqrt(offset_), high = std::sqrt(offset_ + length_);
    const double root_rate = 2.0 / (high - low);
    span.root = 2;
    span.rate = (span.from_end ? -1.0 : 1.0) * root_rate * root_rate;
    span.base = span.from_end ? offset_ : -offset_;
    span.shift = low * root_rate + 1.0;
  }
  root_ = span.root;
  rate_ = std::abs(span.rate);
  shift_ = span.shift;
}

SymmetricValues SpanFit::TargetsAt(const SymmetricValues& z) const {
  SymmetricValues target;
  const Lanes inverse = SplatLanes(1.0 / rate_), shift = SplatLanes(shift_);
  const Lanes offset = SplatLanes(offset_);
  const auto fill = [&](const HalfRow& from, HalfRow& to) {
    for (int k = 0; k < kHalfOrder; k += kLaneCount) {
      const Lanes u = LoadLanes(&from[k]) + shift;
      Lanes power = u;
      for (int i = 1; i < root_; ++i) power *= u;
      StoreLanes(&to[k], power * inverse - offset);
    }
  };
  fill(z.plus, target.plus);
  fill(z.minus, target.minus);
  return target;
}

SymmetricValues SpanFit::DistancesAt(const SymmetricValues& x) const {
  SymmetricValues distance = EvaluatePowers(forward_.mean_rate, x);
  const Lanes middle = SplatLanes(forward_.middle);
  for (int k = 0; k < kHalfOrder; k += kLaneCount) {
    StoreLanes(&distance.plus[k], middle + LoadLanes(&x.plus[k]) * LoadLanes(&distance.plus[k]));
    StoreLanes(&distance.minus[k], middle + LoadLanes(&x.minus[k]) * LoadLanes(&distance.minus[k]));
  }
  return distance;
}

// x at the nodes of z: cubic Hermite interpolation between the check points, where distances and
// speeds are known.
SymmetricValues SpanFit::StartInverse(const SpeedValues& speed) const {
  constexpr int kPoints = kN + 1;
  // Ascending; the last value is padding.
  alignas(16) std::array<double, kPoints + 1> z, slope;
  alignas(16) HalfRow at_minus, at_plus;
  const Lanes scale = SplatLanes(scale_), offset = SplatLanes(offset_), rate = SplatLanes(rate_);
  const Lanes start_area = SplatLanes(area_.minus.back()), zero = SplatLanes(0.0);
  const auto scaled = [&](Lanes area) {
    return MaxLanes(scale * (area - start_area) + offset, zero) * rate;
  };
  for (int k = 0; k < kHalfOrder; k += kLaneCount) {
    StoreLanes(&at_plus[k], scaled(LoadLanes(&area_.plus[k])));
    StoreLanes(&at_minus[k], scaled(LoadLanes(&area_.minus[k])));
  }
  for (int k = 0; k < kHalfOrder; ++k) {
    z[kHalfOrder - 1 - k] = at_minus[k];
    z[kHalfOrder + 1 + k] = at_plus[k];
    slope[kHalfOrder - 1 - k] = speed.check.minus[k];
    slope[kHalfOrder + 1 + k] = speed.check.plus[k];
  }
  z[kHalfOrder] = scaled(zero)[0];
  slope[kHalfOrder] = speed.zero;
  z[kPoints] = slope[kPoints] = 1.0;
  // dx/dz = (dx/ds) (ds/dz), with s = z^root / rate up to constants.
  const Lanes shift = SplatLanes(shift_), inverse_rate = SplatLanes(1.0 / rate_);
  for (int i = 0; i <= kPoints; i += kLaneCount) {
    Lanes u = LoadAlignedLanes(&z[i]);
    Lanes change = inverse_rate;
    if (root_ == 2) {
      u = SqrtLanes(u);
      change *= SplatLanes(2.0) * u;
    } else if (root_ > 2) {
      for (int k = 0; k < kLaneCount; ++k) {
        u[k] = RootOf(u[k], root_);
        change[k] *= root_ * Power(u[k], root_ - 1);
      }
    }
    StoreLanes(&z[i], u - shift);
    StoreLanes(&slope[i], change / LoadAlignedLanes(&slope[i]));
  }
  // Each cell in u = (z - z[i]) / width: x[i] + rise u + u (1 - u) ((1 - u) low - u high).
  alignas(16) std::array<double, kN> inverse_width, low, high;
  for (int i = 0; i < kN; i += kLaneCount) {
    const Lanes width = LoadLanes(&z[i + 1]) - LoadAlignedLanes(&z[i]);
    const Lanes rise = LoadAlignedLanes(&kCells.rise[i]);
    StoreLanes(&inverse_width[i], SplatLanes(1.0) / width);
    StoreLanes(&low[i], LoadAlignedLanes(&slope[i]) * width - rise);
    StoreLanes(&high[i], LoadLanes(&slope[i + 1]) * width - rise);
  }
  SymmetricValues start;
  int cell = 0;
  const auto guess = [&](double wanted) {
    while (cell + 1 < kN && z[cell + 1] < wanted) ++cell;
    double u = (wanted - z[cell]) * inverse_width[cell];
    u = u > 0.0 ? u : 0.0;
    u = u < 1.0 ? u : 1.0;
    const double bend = u * (1.0 - u) * ((1.0 - u) * low[cell] - u * high[cell]);
    // Where the end slopes are not those of a monotone cubic: the chord.
    const double rise = kCells.rise[cell];
    return kCells.begin[cell] + rise * u + (std::abs(bend) <= rise ? bend : 0.0);
  };
  for (int k = kHalfOrder - 1; k >= 0; --k) start.minus[k] = guess(-kChebyshev.node[k]);
  for (int k = 0; k < kHalfOrder; ++k) start.plus[k] = guess(kChebyshev.node[k]);
  return start;
}

bool SpanFit::FitInverse(const SpeedValues& speed, double allowed, double trimmed, ArcSpan& span) {
  ChooseVariable(speed, span);
  SymmetricValues node;
  node.plus = kChebyshev.node;
  for (int k = 0; k < kHalfOrder; ++k) node.minus[k] = -node.plus[k];
  const SymmetricValues target = TargetsAt(node);
  SymmetricValues x = StartInverse(speed);
  Powers rate_power;
  for (int k = 0; k < kN; ++k) rate_power[k] = forward_.mean_rate[k] * (k + 1);
  SymmetricValues step = EvaluatePowers(rate_power, x);
  const int steps = allowed < kLooseInverse * length_ ? 3 : 2;
  for (int i = 0; i < steps; ++i) {
    const SymmetricValues distance = DistancesAt(x);
    const auto move = [i](HalfRow& at, HalfRow& inverse, const HalfRow& is, const HalfRow& wanted) {
      for (int k = 0; k < kHalfOrder; k += kLaneCount) {
        if (i == 0) StoreLanes(&inverse[k], SplatLanes(1.0) / LoadLanes(&inverse[k]));
        const Lanes next = LoadLanes(&at[k]) -
                           (LoadLanes(&is[k]) - LoadLanes(&wanted[k])) * LoadLanes(&inverse[k]);
        StoreLanes(&at[k], MinLanes(MaxLanes(next, SplatLanes(-1.0)), SplatLanes(1.0)));
      }
    };
    move(x.plus, step.plus, distance.plus, target.plus);
    move(x.minus, step.minus, distance.minus, target.minus);
  }
  Halves series = SeriesOf(SumsAndDifferences(x));
  const double last = std::max(std::abs(series.even.back()), std::abs(series.odd.back()));
  if (!(last * fastest_ <= kHopelessInverse * allowed)) return false;
  double tail = 0.0;
  span.degree = ReducedDegree(series, trimmed / fastest_, tail);
  const double middle = 0.5 * (span.t_begin + span.t_end);
  const double half = (span.from_end ? -0.5 : 0.5) * (span.t_end - span.t_begin);
  for (int j = 0; j < kHalfOrder; ++j) {
    const bool kept = 2 * j < span.degree;
    series.even[j] = kept ? series.even[j] * half : 0.0;
    series.odd[j] = kept ? series.odd[j] * half : 0.0;
  }
  span.coefficient = PowersOf(series);
  span.coefficient[0] += middle;

  // The end points are exact by clamping; the inner 15 check points are measured, 0 twice.
  SymmetricValues z;
  z.plus = kChebyshev.check;
  z.plus.back() = 0.0;
  for (int k = 0; k < kHalfOrder; ++k) z.minus[k] = -z.plus[k];
  SymmetricValues back = EvaluatePowers(span.coefficient, z);
  const Lanes low = SplatLanes(-1.0), high = SplatLanes(1.0);
  const Lanes inverse_half = SplatLanes(1.0 / half);
  for (HalfRow* row : {&back.plus, &back.minus}) {
    for (int k = 0; k < kHalfOrder; k += kLaneCount) {
      const Lanes local = (LoadLanes(&(*row)[k]) - SplatLanes(middle)) * inverse_half;
      StoreLanes(&(*row)[k], MinLanes(MaxLanes(local, low), high));
    }
  }
  const SymmetricValues got = DistancesAt(back), wanted = TargetsAt(z);
  const double residual =
      LargestDifference(got.minus, wanted.minus, LargestDifference(got.plus, wanted.plus, 0.0));
  inverse_error_ = kResidualSafety * residual + tail * fastest_;
  return residual <= allowed;
}

}  // namespace arclane
