// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/curvature_reader.h"

#include <cmath>

#include "server/planning/spline/hodograph.h"

namespace arclane {

CurvatureReader::CurvatureReader(const ArcLengthMap& map)
    : map_(map), dimension_(map.curve().dimension()), unit_(map.curve().inverse_scale()) {
  const CurvePiece& shape = map.curve().piece(0);
  kernels_ = SelectKernels(dimension_, shape.degree, shape.rational, /*directions=*/true);
}

double CurvatureReader::AtParameter(int segment, double t) const {
  const CurvePiece& piece = map_.curve().piece(segment);
  const HodographPoint point = EvaluateHodograph(piece, dimension_, t);
  if (!(SpeedOf(point) > piece.speed_floor)) return 0.0;
  return CurvatureOf(point, dimension_) * unit_;
}

double CurvatureReader::AtDistance(double distance) const {
  const CurveLocation at = map_.LocationAt(distance);
  return AtParameter(at.segment, at.parameter);
}

void CurvatureReader::ReadEvenly(double begin, double width, size_t parts, size_t first, int count,
                                 double* curvature) {
  const auto place = [&](int i) {
    return begin + width * (static_cast<double>(first + i) / static_cast<double>(parts));
  };
  const ArcSpan& span = map_.spans()[map_.FindSpan(place(0) * unit_)];
  if (map_.inverse_mode() != InverseMode::kTabulated || !(place(count - 1) * unit_ < span.end)) {
    for (int i = 0; i < count; ++i) curvature[i] = AtDistance(place(i));
    return;
  }
  for (int i = 0; i < count; ++i) local_[i] = place(i) * unit_;
  kernels_.parameters(span, local_, count, parameter_);
  const CurvePiece& piece = map_.curve().piece(span.segment);
  const SampleFrame frame = {{0.0, 0.0, 0.0}, unit_};
  const RunColumns out = {
      {rows_[0], rows_[1], rows_[2]}, {rows_[3], rows_[4], rows_[5]}, rows_[6], rows_[7]};
  kernels_.points(piece, frame, parameter_, count, out);
  const double precise = piece.imprecise_speed * piece.imprecise_speed;
  for (int i = 0; i < count; ++i) {
    curvature[i] = rows_[7][i] > precise ? rows_[6][i] : AtParameter(span.segment, parameter_[i]);
  }
}

}  // namespace arclane
