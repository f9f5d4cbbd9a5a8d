// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/curvature_reader.h"

#include <array>
#include <cmath>

namespace arclane {

CurvatureReader::CurvatureReader(const ArcLengthMap& map)
    : map_(map), dimension_(map.curve().dimension()), unit_(map.curve().inverse_scale()) {
  const CurvePiece& shape = map.curve().piece(0);
  kernels_ = SelectKernels(dimension_, shape.degree, shape.rational, /*directions=*/true);
}

double CurvatureReader::AtParameter(int segment, double t) const {
  const CurvePoint p = map_.curve().Evaluate(segment, t);
  // Local units, so that powers of extreme lengths stay finite.
  std::array<double, 3> d, e;
  for (int c = 0; c < 3; ++c) {
    d[c] = p.first[c] * unit_;
    e[c] = p.second[c] * unit_;
  }
  const double speed = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
  if (!(speed > map_.curve().piece(segment).speed_floor)) return 0.0;
  const double x = d[1] * e[2] - d[2] * e[1];
  const double y = d[2] * e[0] - d[0] * e[2];
  const double z = d[0] * e[1] - d[1] * e[0];
  const double cross = dimension_ == 2 ? z : std::sqrt(x * x + y * y + z * z);
  return cross / speed / speed / speed * unit_;
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
  const double floor = piece.speed_floor * piece.speed_floor;
  for (int i = 0; i < count; ++i) curvature[i] = rows_[7][i] > floor ? rows_[6][i] : 0.0;
}

}  // namespace arclane
