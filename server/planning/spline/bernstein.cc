// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/bernstein.h"

#include <algorithm>
#include <cmath>

namespace arclane {
namespace {

// B_j^n(t) with t = (1 + x) / 2 is sum over i of centred[n][j][i] * x^i.
using Basis = std::array<std::array<double, kMaxBernsteinDegree + 1>, kMaxBernsteinDegree + 1>;

constexpr auto kCentredBasis = [] {
  std::array<Basis, kMaxBernsteinDegree + 1> tables{};
  for (int n = 0; n <= kMaxBernsteinDegree; ++n) {
    for (int j = 0; j <= n; ++j) {
      // binom(n, j) * ((1 + x) / 2)^j * ((1 - x) / 2)^(n - j), multiplied out factor by factor.
      std::array<double, kMaxBernsteinDegree + 2> p{};
      p[0] = Binomial(n, j);
      for (int f = 0; f < n; ++f) {
        const double sign = f < j ? 0.5 : -0.5;
        for (int i = f + 1; i >= 1; --i) p[i] = 0.5 * p[i] + sign * p[i - 1];
        p[0] *= 0.5;
      }
      for (int i = 0; i <= n; ++i) tables[n][j][i] = p[i];
    }
  }
  return tables;
}();

// Roots closer than this are one.
constexpr double kRootSeparation = 0x1p-40;

class RootIsolation {
 public:
  RootIsolation(int degree, double* roots) : degree_(degree), roots_(roots) {}

  void Isolate(const double* b, double low, double high) {
    const int variations = SignVariations(b);
    if (variations == 0) return;
    if (variations == 1) {
      if (FirstSign(b) < 0) Add(low + (high - low) * BracketedRoot(b));
      return;
    }
    if (high - low < kRootSeparation) {
      if (FirstSign(b) < 0 && LastSign(b) > 0) Add(0.5 * (low + high));
      return;
    }
    double left[kMaxBernsteinDegree + 1];
    double right[kMaxBernsteinDegree + 1];
    BernsteinSplit(b, degree_, 0.5, left, right);
    const double middle = 0.5 * (low + high);
    Isolate(left, low, middle);
    if (left[degree_] == 0.0 && LastSign(left) < 0 && FirstSign(right) > 0) Add(middle);
    Isolate(right, middle, high);
  }

  int count() const { return count_; }

 private:
  static int Sign(double value) { return value > 0.0 ? 1 : value < 0.0 ? -1 : 0; }

  int SignVariations(const double* b) const {
    int variations = 0, last = 0;
    for (int j = 0; j <= degree_; ++j) {
      const int sign = Sign(b[j]);
      if (sign == 0) continue;
      if (last != 0 && sign != last) ++variations;
      last = sign;
    }
    return variations;
  }
  int FirstSign(const double* b) const {
    for (int j = 0; j <= degree_; ++j) {
      if (b[j] != 0.0) return Sign(b[j]);
    }
    return 0;
  }
  int LastSign(const double* b) const {
    for (int j = degree_; j >= 0; --j) {
      if (b[j] != 0.0) return Sign(b[j]);
    }
    return 0;
  }

  // Precondition: negative just behind 0, positive just before 1, one root between. Illinois steps
  // between bisections.
  double BracketedRoot(const double* b) const {
    double low = 0.0, high = 1.0;
    double value_low = std::min(b[0], 0.0), value_high = std::max(b[degree_], 0.0);
    for (int step = 0; step < 100 && high - low > kRootSeparation; ++step) {
      double t = 0.5 * (low + high);
      if (step % 3 != 2 && value_low < 0.0 && value_high > 0.0) {
        t = low + (high - low) * (value_low / (value_low - value_high));
        if (!(t > low && t < high)) t = 0.5 * (low + high);
      }
      const double value = BernsteinValue(b, degree_, t);
      if (value == 0.0) return t;
      if (value < 0.0) {
        low = t;
        value_low = value;
        value_high *= 0.5;
      } else {
        high = t;
        value_high = value;
        value_low *= 0.5;
      }
    }
    return 0.5 * (low + high);
  }

  void Add(double root) {
    if (count_ == degree_) return;
    if (count_ > 0 && root - roots_[count_ - 1] < kRootSeparation) return;
    roots_[count_++] = root;
  }

  int degree_;
  double* roots_;
  int count_ = 0;
};

}  // namespace

namespace {

// kDegree < 0: any.
template <int kDegree>
void ToCentred(const double* b, int any_degree, double* centred) {
  const int degree = kDegree < 0 ? any_degree : kDegree;
  const Basis& basis = kCentredBasis[degree];
  for (int i = 0; i <= degree; ++i) centred[i] = basis[0][i] * b[0];
  for (int j = 1; j <= degree; ++j) {
    for (int i = 0; i <= degree; ++i) centred[i] += basis[j][i] * b[j];
  }
}

}  // namespace

void BernsteinToCentred(const double* b, int degree, double* centred) {
  switch (degree) {
    case 1:
      return ToCentred<1>(b, 1, centred);
    case 2:
      return ToCentred<2>(b, 2, centred);
    case 4:
      return ToCentred<4>(b, 4, centred);
    default:
      return ToCentred<-1>(b, degree, centred);
  }
}

int BernsteinUpwardRoots(const double* b, int degree, double* roots) {
  RootIsolation isolation(degree, roots);
  isolation.Isolate(b, 0.0, 1.0);
  return isolation.count();
}

}  // namespace arclane
