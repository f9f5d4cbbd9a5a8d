// SPDX-License-Identifier: Apache-2.0
// The curvature of a curve at given arc lengths, one by one or at even steps. Internal to the
// refinement of curvature.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_CURVATURE_READER_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_CURVATURE_READER_H_

#include <cstddef>

#include "server/planning/spline/arc_length.h"
#include "server/planning/spline/sample_kernels.h"

namespace arclane {

// Signed curvature of planar curves, its magnitude in space; 0 where dr/dt = 0. Borrows the map.
// Not safe to share: it keeps its rows.
class CurvatureReader {
 public:
  // Most values of one call of ReadEvenly.
  static constexpr int kMostAtOnce = 128;

  explicit CurvatureReader(const ArcLengthMap& map);

  double AtParameter(int segment, double t) const;
  double AtDistance(double distance) const;

  // At begin + width * k / parts for k = first .. first + count - 1. Precondition: count <=
  // kMostAtOnce. Within one span, the ordinary case, they are evaluated together (about 10 ns
  // each).
  void ReadEvenly(double begin, double width, size_t parts, size_t first, int count,
                  double* curvature);

 private:
  static constexpr int kRow = kMostAtOnce + kParameterGroup;

  const ArcLengthMap& map_;
  const int dimension_;
  const double unit_;  // Caller's to local.
  SampleKernels kernels_;
  alignas(64) double local_[kRow] = {};
  alignas(64) double parameter_[kRow] = {};
  alignas(64) double rows_[8][kRow];
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_CURVATURE_READER_H_
