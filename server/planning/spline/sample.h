// SPDX-License-Identifier: Apache-2.0
// Points of a curve at given arc lengths, written straight into the caller's columns.
//
// Count first, size the columns, then write:
//   auto layout = LayOutSamples(map, request);       // how many, where
//   ... resize columns to layout->count ...
//   SampleCurve(map, *layout, columns);
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_SAMPLE_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_SAMPLE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "server/planning/spline/arc_length.h"

namespace arclane {

enum class SampleSpacing : uint8_t {
  kSpacing,        // 0, h, 2h, ... and the end; the last gap may be shorter (never below 1e-9 h: it
                   // merges).
  kFittedSpacing,  // The spacing nearest to h that divides the length evenly, at least one gap.
  kCount,          // `count` samples from the start to the end, both included; of a closed curve
                   // they are one point.
  kDistances,      // `distances`, in their order.
};

enum class OutOfRange : uint8_t { kError, kClamp };

struct SampleRequest {
  SampleSpacing mode = SampleSpacing::kSpacing;
  double spacing = 1.0;  // > 0 and finite; kSpacing and kFittedSpacing.
  size_t count = 0;      // >= 1 (one sample: the start); kCount.
  std::span<const double>
      distances;  // Finite; kDistances. Borrowed until SampleCurve returns. Sorted ones are faster.
  // Of a distance outside [0, length]. Closed curves wrap instead.
  OutOfRange out_of_range = OutOfRange::kError;
  size_t max_count = size_t{1} << 20;
};

// Where the samples lie. Sample i is at distances[i], or at min(i * step, length), the last one at
// `last`.
struct SampleLayout {
  size_t count = 0;
  double step = 0.0;
  double last = 0.0;
  bool sorted = true;
  std::span<const double> distances;
};

// A curve of length zero has one sample, at its start, whatever spacing or count is asked; explicit
// distances keep their number. INVALID_ARGUMENT names the field ("spacing: must be > 0, got 0");
// RESOURCE_EXHAUSTED: more samples than max_count. Every offending distance up to 100 is named.
absl::StatusOr<SampleLayout> LayOutSamples(const ArcLengthMap& map, const SampleRequest& request);

// Marks of one sample.
inline constexpr uint8_t kTangentUndefined =
    1;  // The curve has length zero; the tangent columns hold 0.
inline constexpr uint8_t kCurvatureUndefined =
    2;  // dr/dt = 0 here (to rounding); the curvature column holds NaN.

// Columns to write; an empty one is not wanted, any other must hold layout.count values.
// Tangents are unit vectors. Where dr/dt = 0 the tangent is the limit in the direction of travel:
// of what follows, by the first non-vanishing derivative, or of what came before at the end of the
// curve. Curvature is signed for planar curves (positive where heading grows, from x towards y), a
// magnitude in space.
struct SampleColumns {
  std::span<double> distance;
  std::span<double> x, y, z;
  std::span<double> tangent_x, tangent_y, tangent_z;
  std::span<double> curvature;
  std::span<int32_t> segment;
  std::span<double> parameter;
  std::span<uint8_t> marks;
};

// Precondition: layout comes from LayOutSamples with the same map. No allocation. Equal input gives
// equal bits, whatever other columns are asked for.
void SampleCurve(const ArcLengthMap& map, const SampleLayout& layout, const SampleColumns& columns);

// The part [first, first + columns' size) of the layout, for writing in chunks or from several
// threads.
void SampleCurveRange(const ArcLengthMap& map, const SampleLayout& layout, size_t first,
                      size_t count, const SampleColumns& columns);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_SAMPLE_H_
