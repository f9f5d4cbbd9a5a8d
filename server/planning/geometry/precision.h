// SPDX-License-Identifier: Apache-2.0
// From where coordinates came, turned into the distance below which two points are the same point.
//
// A vertex that two navmesh tiles share was rounded to float32 in each tile on its own. In Detour
// meshes the two copies differ by up to 4 ulps of the largest coordinate, in each axis. Precision
// is therefore judged at the magnitude of the coordinates *as sent*, before an origin is
// subtracted.
#ifndef ARCLANE_SERVER_PLANNING_GEOMETRY_PRECISION_H_
#define ARCLANE_SERVER_PLANNING_GEOMETRY_PRECISION_H_

#include <cstdint>

namespace arclane {

enum class PrecisionSource : uint8_t { kFloat32, kDouble, kLength };

// Coordinates beyond this magnitude are refused: squares of differences and the exact predicates
// stay far from overflow below it.
inline constexpr double kMaxCoordinate = 1e100;
// Non-zero coordinates below this magnitude lose bits in products; the exact predicates are exact
// down to it.
inline constexpr double kMinCoordinate = 1e-140;

// Two copies of a float32 vertex differ by up to 4 ulps in either axis, thus by 4 * sqrt(2) = 5.66
// ulps in distance.
inline constexpr double kFloat32SeamUlps = 6.0;
// Double coordinates that were computed (transformed, clipped) rather than read carry the rounding
// of a few operations, each half an ulp in either axis.
inline constexpr double kDoubleUlps = 16.0;

struct CoordinatePrecision {
  PrecisionSource source = PrecisionSource::kDouble;
  double length = 0.0;  // Used by kLength alone: > 0, in the caller's length unit.

  static constexpr CoordinatePrecision Float32() { return {PrecisionSource::kFloat32, 0.0}; }
  static constexpr CoordinatePrecision Double() { return {PrecisionSource::kDouble, 0.0}; }
  static constexpr CoordinatePrecision Length(double length) {
    return {PrecisionSource::kLength, length};
  }

  // The distance below which two points are the same point, when `magnitude` >= 0 is the largest
  // absolute coordinate as sent. kFloat32 and kDouble: kFloat32SeamUlps and kDoubleUlps units in
  // the last place of that type at the magnitude. kLength: the length, but never less than
  // kDouble's. Zero for magnitude 0 unless a length is given.
  double ToleranceAt(double magnitude) const;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_GEOMETRY_PRECISION_H_
