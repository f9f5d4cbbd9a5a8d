// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/speed_model.h"

#include <algorithm>
#include <cmath>

#include "server/planning/spline/lanes.h"

namespace arclane {
namespace {

// A coefficient counts as zero only if it is also this small beside the largest: a short stretch
// whose speed is merely low everywhere has no zero.
constexpr double kZeroRatio = 1e-6;
// Above this the removal of a squared minimum cannot be within any allowed error.
constexpr double kSlowEndRatio = 1e-2;

constexpr auto kPointsOfEvaluation = [] {
  std::array<double, SpeedModel::kPoints> points{};
  for (int k = 0; k < kHalfOrder; ++k) {
    points[k] = kChebyshev.node[k];
    points[kHalfOrder + k] = -kChebyshev.node[k];
    points[2 * kHalfOrder + k] = kChebyshev.check[k];
    points[3 * kHalfOrder + k] = -kChebyshev.check[k];
  }
  return points;
}();

double ColumnNorm(const HodographRows& rows, int dimension, int j) {
  double sum = 0.0;
  for (int c = 0; c < dimension; ++c) sum += rows[c][j] * rows[c][j];
  return std::sqrt(sum);
}

using Squared = std::array<double, kMaxBernsteinDegree + 1>;

Squared SquaredNorm(const HodographRows& rows, int dimension, int degree) {
  Squared q{};
  const auto& binomial = kBinomial[degree];
  for (int c = 0; c < dimension; ++c) {
    double scaled[kMaxHodographDegree + 1];
    for (int j = 0; j <= degree; ++j) scaled[j] = binomial[j] * rows[c][j];
    for (int i = 0; i <= degree; ++i) {
      for (int j = 0; j <= degree; ++j) q[i + j] += scaled[i] * scaled[j];
    }
  }
  for (int k = 0; k <= 2 * degree; ++k) q[k] /= kBinomial[2 * degree][k];
  return q;
}

}  // namespace

StretchSize MeasureStretch(const HodographRows& hodograph, const CurvePiece::Row& weight,
                           int dimension, int degree, int weight_degree, double width) {
  double sum = 0.0;
  std::array<double, 3> mean{};
  StretchSize size{};
  size.least_weight_squared = 1.0;
  for (int j = 0; j <= degree; ++j) {
    const double norm = ColumnNorm(hodograph, dimension, j);
    sum += norm;
    for (int c = 0; c < dimension; ++c) mean[c] += hodograph[c][j];
    size.norm[j] = norm;
    size.largest_norm = std::max(size.largest_norm, norm);
  }
  size.speed_begin = size.norm[0];
  size.speed_end = size.norm[degree];
  size.upper = width * sum / (degree + 1);
  size.lower =
      width * std::sqrt(mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]) / (degree + 1);
  if (weight_degree > 0) {
    const double least = *std::min_element(weight.begin(), weight.begin() + weight_degree + 1);
    size.least_weight_squared = least * least;
    size.upper /= size.least_weight_squared;
    size.lower = 0.0;
    size.speed_begin /= weight[0] * weight[0];
    size.speed_end /= weight[weight_degree] * weight[weight_degree];
  }
  return size;
}

int SlowPoints(const HodographRows& hodograph, int dimension, int degree, double ratio,
               double* out) {
  if (degree == 0) return 0;
  const Squared q = SquaredNorm(hodograph, dimension, degree);
  const auto [least, greatest] = std::minmax_element(q.begin(), q.begin() + 2 * degree + 1);
  const double bound = ratio * ratio * *greatest;
  if (*least >= bound) return 0;
  double roots[2 * kMaxBernsteinDegree];
  Squared slope;
  BernsteinDerivative(q.data(), 2 * degree, slope.data());
  const int root_count = BernsteinUpwardRoots(slope.data(), 2 * degree - 1, roots);
  HodographRows derivative;
  for (int c = 0; c < dimension; ++c) {
    BernsteinDerivative(hodograph[c].data(), degree, derivative[c].data());
  }
  int count = 0;
  for (int i = 0; i < root_count; ++i) {
    // Gauss-Newton steps on H(t) = 0: at a cusp they keep the digits that squaring loses.
    double t = roots[i];
    double squared = 0.0;
    for (int step = 0; step < 3; ++step) {
      double value = 0.0, along = 0.0, rate = 0.0;
      for (int c = 0; c < dimension; ++c) {
        const double h = BernsteinValue(hodograph[c].data(), degree, t);
        const double d = BernsteinValue(derivative[c].data(), degree - 1, t);
        value += h * h;
        along += h * d;
        rate += d * d;
      }
      if (step > 0 && value >= squared) break;
      squared = value;
      roots[i] = t;
      if (rate == 0.0) break;
      t = std::clamp(t - along / rate, 0.0, 1.0);
    }
    const bool inside = roots[i] > 0x1p-50 && roots[i] < 1.0 - 0x1p-50;
    const bool apart = count == 0 || roots[i] > out[count - 1] + 0x1p-50;
    if (squared < bound && inside && apart) out[count++] = roots[i];
  }
  return count;
}

SpeedModel::SpeedModel(const HodographRows& hodograph, const CurvePiece::Row& weight,
                       const StretchSize& size, int dimension, int degree, int weight_degree,
                       double width, double allowed_drop)
    : hodograph_(hodograph),
      weight_(weight),
      dimension_(dimension),
      degree_(degree),
      weight_degree_(weight_degree),
      half_width_(0.5 * width),
      coefficient_drop_(width / ((degree + 1) * size.least_weight_squared)) {
  double dropped_begin = 0.0, dropped_end = 0.0;
  const int zeros_begin = LeadingZeros(size, allowed_drop, false, dropped_begin);
  const int zeros_end = LeadingZeros(size, allowed_drop, true, dropped_end);
  slow_at_both_ends_ = zeros_begin > 0 && zeros_end > 0;
  from_end_ = zeros_begin == 0 && (zeros_end > 0 || size.norm[degree] < size.norm[0]);
  slow_order_ = from_end_ ? zeros_end : zeros_begin;
  dropped_ = from_end_ ? dropped_end : dropped_begin;

  if (slow_order_ == 0 && weight_degree == 0) DivideSquaredSpeed(size, allowed_drop);
}

void SpeedModel::Prepare() {
  if (squared_) return;
  if (weight_degree_ > 0) {
    CurvePiece::Row oriented{};
    for (int j = 0; j <= weight_degree_; ++j) {
      oriented[j] = weight_[from_end_ ? weight_degree_ - j : j];
    }
    BernsteinToCentred(oriented.data(), weight_degree_, weight_row_.data());
  }
  // u^m G: Bernstein coefficient j of the product is binom(j, m) / binom(degree, m) times
  // coefficient j - m of G.
  const int m = slow_order_;
  row_degree_ = degree_ - m;
  for (int c = 0; c < dimension_; ++c) {
    std::array<double, kMaxHodographDegree + 1> quotient;
    for (int j = m; j <= degree_; ++j) {
      quotient[j - m] = Oriented(c, j);
      if (m > 0) quotient[j - m] *= kBinomial[degree_][m] / kBinomial[j][m];
    }
    BernsteinToCentred(quotient.data(), row_degree_, rows_[c].data());
  }
}

int SpeedModel::LeadingZeros(const StretchSize& size, double allowed, bool from_end,
                             double& dropped) const {
  for (int zeros = 0; zeros < degree_; ++zeros) {
    const double norm = size.norm[from_end ? degree_ - zeros : zeros];
    const double cost = norm * coefficient_drop_;
    if (norm > kZeroRatio * size.largest_norm || dropped + cost > allowed) return zeros;
    dropped += cost;
  }
  return degree_;
}

bool SpeedModel::DivideSquaredSpeed(const StretchSize& size, double allowed) {
  const int n = 2 * degree_;
  if (n < 2) return false;
  const double slow = size.norm[from_end_ ? degree_ : 0];
  if (!(slow < kSlowEndRatio * size.largest_norm)) return false;
  HodographRows oriented;
  for (int c = 0; c < dimension_; ++c) {
    for (int j = 0; j <= degree_; ++j) oriented[c][j] = Oriented(c, j);
  }
  const Squared q = SquaredNorm(oriented, dimension_, degree_);
  const double q0 = q[0], q1 = n * (q[1] - q[0]);
  Squared quotient{};
  double least = 0.0;
  for (int j = 2; j <= n; ++j) {
    const double rest = q[j] - q0 - q1 * j / n;
    quotient[j - 2] =
        rest * (static_cast<double>(n) * (n - 1) / (static_cast<double>(j) * (j - 1)));
    least = j == 2 ? quotient[0] : std::min(least, quotient[j - 2]);
  }
  if (!(least > 0.0)) return false;
  const double a = std::sqrt(least);
  double cost = std::abs(q1) / (2.0 * a);
  if (q0 > 0.0) cost += q0 * (1.0 + std::max(0.0, std::log(2.0 * a / std::sqrt(q0)))) / (2.0 * a);
  cost *= 2.0 * half_width_;
  if (!(cost <= allowed)) return false;
  dropped_ = cost;
  squared_ = true;
  slow_order_ = 1;
  row_degree_ = n - 2;
  BernsteinToCentred(quotient.data(), row_degree_, rows_[0].data());
  return true;
}

// Four pairs of points at a time keep every partial result in registers.
template <int kFirst, int kLimit>
void SpeedModel::Evaluate(double* speed) const {
  constexpr int kStep = 8;
  for (int first = kFirst; first < kLimit; first += kStep) {
    // The last group is moved back where the range is no multiple of the step: points are evaluated
    // twice, equally.
    const int at = std::min(first, kLimit - kStep);
    Lanes x[4], sum[4], value[4];
    for (int u = 0; u < 4; ++u) {
      x[u] = LoadLanes(&kPointsOfEvaluation[at + kLaneCount * u]);
      sum[u] = SplatLanes(0.0);
    }
    const auto horner = [&](const CentredRow& row, int degree) {
      for (int u = 0; u < 4; ++u) value[u] = SplatLanes(row[degree]);
      for (int i = degree - 1; i >= 0; --i) {
        for (int u = 0; u < 4; ++u) value[u] = value[u] * x[u] + SplatLanes(row[i]);
      }
    };
    const int rows = squared_ ? 1 : dimension_;
    for (int c = 0; c < rows; ++c) {
      horner(rows_[c], row_degree_);
      for (int u = 0; u < 4; ++u) sum[u] = squared_ ? value[u] : sum[u] + value[u] * value[u];
    }
    for (int u = 0; u < 4; ++u) {
      sum[u] = SplatLanes(half_width_) * SqrtLanes(sum[u]);
      for (int i = 0; i < slow_order_; ++i) {
        sum[u] *= SplatLanes(0.5) + SplatLanes(0.5) * x[u];
      }
    }
    if (weight_degree_ > 0) {
      horner(weight_row_, weight_degree_);
      for (int u = 0; u < 4; ++u) sum[u] /= value[u] * value[u];
    }
    for (int u = 0; u < 4; ++u) StoreLanes(&speed[at + kLaneCount * u], sum[u]);
  }
}

void SpeedModel::EvaluateNodes(SpeedValues& speed) const {
  Evaluate<0, kChebyshevOrder>(reinterpret_cast<double*>(&speed));
}

void SpeedModel::EvaluateChecks(SpeedValues& speed) const {
  Evaluate<kChebyshevOrder, kPoints>(reinterpret_cast<double*>(&speed));
}

}  // namespace arclane
