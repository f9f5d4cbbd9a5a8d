// SPDX-License-Identifier: Apache-2.0
// Any bytes as a curve: it is refused with a reason, or every promise of its map holds.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "server/planning/spline/curvature_knots.h"
#include "server/planning/spline/sample.h"

namespace arclane {
namespace {

// Takes values from the front; zeros when the bytes have run out.
class ByteReader {
 public:
  ByteReader(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  uint8_t Byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  // Mostly small integers, so that coincident and collinear points are common; sometimes any double
  // at all.
  double Number(bool raw) {
    if (!raw) return static_cast<double>(static_cast<int8_t>(Byte())) * 0.25;
    uint8_t bytes[sizeof(double)];
    for (uint8_t& byte : bytes) byte = Byte();
    double value;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  }
  std::vector<double> Numbers(size_t count, bool raw) {
    std::vector<double> values(count);
    for (double& value : values) value = Number(raw);
    return values;
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

void Require(bool holds) {
  if (!holds) std::abort();
}

void CheckCurve(const CurveInput& input, double relative_error, InverseMode mode) {
  auto curve = Curve::Create(input);
  Require(curve.ok() == ValidateCurve(input).empty());
  if (!curve.ok()) return;
  const auto map = ArcLengthMap::Create(*std::move(curve), {relative_error, mode});
  Require(map.ok());
  Require(std::isfinite(map->length()) && map->length() >= 0.0);
  Require(std::isfinite(map->error_bound()));
  SampleRequest request;
  request.mode = SampleSpacing::kCount;
  request.count = 40;
  const auto layout = LayOutSamples(*map, request);
  Require(layout.ok());
  std::vector<double> x(layout->count), y(layout->count), tx(layout->count), t(layout->count);
  std::vector<int32_t> segment(layout->count);
  SampleColumns columns;
  columns.x = x;
  columns.y = y;
  columns.tangent_x = tx;
  columns.parameter = t;
  columns.segment = segment;
  SampleCurve(*map, *layout, columns);
  for (size_t i = 0; i < layout->count; ++i) {
    Require(std::isfinite(x[i]) && std::isfinite(y[i]));
    Require(std::abs(tx[i]) <= 1.0 + 1e-12);
    Require(t[i] >= 0.0 && t[i] <= 1.0);
    Require(i == 0 || segment[i] >= segment[i - 1]);
    const double s = map->DistanceAt(segment[i], t[i]);
    Require(s >= 0.0 && s <= map->length());
  }
  CurvatureOptions options;
  options.max_knots = 20000;
  const auto knots = RefineCurvature(*map, options);
  if (!knots.ok()) return;
  for (size_t i = 1; i < knots->distance.size(); ++i) {
    Require(knots->distance[i] > knots->distance[i - 1]);
    Require(std::isfinite(knots->curvature[i]));
  }
}

}  // namespace
}  // namespace arclane

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  arclane::ByteReader reader(data, size);
  arclane::CurveInput input;
  const uint8_t flags = reader.Byte();
  input.kind = static_cast<arclane::CurveKind>(reader.Byte() % 6);
  input.closed = (flags & 1) != 0;
  const bool spatial = (flags & 2) != 0, raw = (flags & 4) != 0;
  const bool with_knots = (flags & 8) != 0;
  input.degree = reader.Byte() % 8;
  input.alpha = reader.Byte() / 200.0;
  const size_t count = reader.Byte() % 32;
  const auto x = reader.Numbers(count, raw), y = reader.Numbers(count, raw);
  const auto z = reader.Numbers(spatial ? count : 0, raw);
  input.control = {x, y, z};
  const bool hermite = input.kind == arclane::CurveKind::kHermite;
  const auto tx = reader.Numbers(hermite ? count : 0, raw);
  const auto ty = reader.Numbers(hermite ? count : 0, raw);
  const auto tz = reader.Numbers(hermite && spatial ? count : 0, raw);
  input.tangents = {tx, ty, tz};
  const bool nurbs = input.kind == arclane::CurveKind::kNurbs;
  auto weights = reader.Numbers(nurbs ? count : 0, raw);
  if (!raw) {
    for (double& weight : weights) weight = std::abs(weight) + 0.25;
  }
  input.weights = weights;
  std::vector<double> knots;
  if (with_knots) {
    knots = reader.Numbers(count + input.degree + 1, raw);
    // Steps rather than knots: most vectors are then in order.
    for (size_t i = 1; i < knots.size() && !raw; ++i) knots[i] = knots[i - 1] + std::abs(knots[i]);
  }
  input.knots = knots;
  constexpr double kErrors[] = {1e-3, 1e-6, 1e-9, 1e-12};
  const auto mode =
      (flags & 16) != 0 ? arclane::InverseMode::kDirect : arclane::InverseMode::kTabulated;
  arclane::CheckCurve(input, kErrors[(flags >> 5) & 3], mode);
  return 0;
}
