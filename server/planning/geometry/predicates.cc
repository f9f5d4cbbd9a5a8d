// SPDX-License-Identifier: Apache-2.0
#include "server/planning/geometry/predicates.h"

#include <array>
#include <cstddef>

namespace arclane::predicates_internal {
namespace {

struct TwoTerms {
  double high;
  double low;  // high + low is the exact result.
};

// Knuth: exact for all doubles without overflow.
inline TwoTerms TwoSum(double a, double b) {
  const double sum = a + b;
  const double b_virtual = sum - a;
  const double a_virtual = sum - b_virtual;
  return {sum, (a - a_virtual) + (b - b_virtual)};
}

// Veltkamp's split into two halves of 26 bits.
inline TwoTerms Split(double a) {
  constexpr double kSplitter = 134217729.0;  // 2^27 + 1
  const double c = kSplitter * a;
  const double high = c - (c - a);
  return {high, a - high};
}

// Dekker: exact when neither the product nor its low part under- or overflows.
inline TwoTerms TwoProduct(double a, double b) {
  const double product = a * b;
  const TwoTerms sa = Split(a);
  const TwoTerms sb = Split(b);
  const double error =
      ((sa.high * sb.high - product) + sa.high * sb.low + sa.low * sb.high) + sa.low * sb.low;
  return {product, error};
}

// A sum of doubles as a nonoverlapping expansion, components by increasing magnitude (Shewchuk's
// grow-expansion).
class Expansion {
 public:
  void Add(double value) {
    double carry = value;
    for (size_t i = 0; i < size_; ++i) {
      const TwoTerms sum = TwoSum(carry, terms_[i]);
      terms_[i] = sum.low;
      carry = sum.high;
    }
    terms_[size_++] = carry;
  }
  void AddProduct(double a, double b) {
    const TwoTerms product = TwoProduct(a, b);
    Add(product.low);
    Add(product.high);
  }
  // The sign of the sum is that of its largest non-zero component.
  int Sign() const {
    for (size_t i = size_; i > 0; --i) {
      if (terms_[i - 1] > 0.0) return 1;
      if (terms_[i - 1] < 0.0) return -1;
    }
    return 0;
  }

 private:
  std::array<double, 12> terms_{};
  size_t size_ = 0;
};

}  // namespace

int ExactOrient2D(Vec2 a, Vec2 b, Vec2 c) {
  // Both products are zero where c is an end of the segment or all three lie on a line along an
  // axis: most of what the filter leaves, since portals end at the vertices of their polygons.
  if ((a.x == c.x || b.y == c.y) && (a.y == c.y || b.x == c.x)) return 0;
  Expansion sum;
  sum.AddProduct(a.x, b.y);
  sum.AddProduct(-a.y, b.x);
  sum.AddProduct(b.x, c.y);
  sum.AddProduct(-b.y, c.x);
  sum.AddProduct(c.x, a.y);
  sum.AddProduct(-c.y, a.x);
  return sum.Sign();
}

}  // namespace arclane::predicates_internal
