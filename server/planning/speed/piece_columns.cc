// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/piece_columns.h"

#include <algorithm>
#include <cstdint>

namespace arclane {

template <typename Real>
Real FillColumns(const SpeedPlanRequest& request, const BasicMotionBudget<Real>& budget,
                 SpeedColumns<Real>& columns) {
  const std::size_t n = request.pieces.size();
  columns.length.resize(n);
  columns.radius.resize(n);
  columns.cap.resize(n);
  columns.start.resize(n + 1);
  columns.index.resize(n);
  std::size_t m = 0;
  Real start = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const SpeedPiece& piece = request.pieces[i];
    columns.length[m] = piece.length;
    columns.radius[m] = budget.coupled ? Real{piece.radius} : Real{kStraight};
    columns.cap[m] = budget.CapAt(piece.radius);
    columns.index[m] = static_cast<std::uint32_t>(i);
    columns.start[m] = start;
    start += piece.length;
    m += piece.length > 0 ? 1 : 0;
  }
  columns.length.resize(m);
  columns.radius.resize(m);
  columns.cap.resize(m);
  columns.index.resize(m);
  columns.start.resize(m + 1);
  columns.start[m] = start;

  columns.dwell.clear();
  if (request.stops.empty()) return start;
  columns.dwell.assign(m + 1, -1.0);
  std::size_t boundary = 0;
  for (const SpeedStop& stop : request.stops) {
    while (boundary < m && columns.index[boundary] < stop.boundary) ++boundary;
    double& dwell = columns.dwell[boundary];
    dwell = std::max(dwell, 0.0) + stop.dwell_s;
  }
  return start;
}

template <typename Real>
Real EndCap(const SpeedColumns<Real>& columns, const BasicMotionBudget<Real>& budget) {
  if (StopsAt(columns, columns.length.size())) return 0;
  return columns.cap.empty() ? budget.squared_max_speed : columns.cap.back();
}

template <typename Real>
void PassBackward(Real x_end, const BasicMotionBudget<Real>& budget, SpeedColumns<Real>& columns) {
  const std::size_t m = columns.length.size();
  columns.backward.resize(m + 1);
  Real x = x_end;
  for (std::size_t i = m; i-- > 0;) {
    const Real cap = columns.cap[i];
    x = std::min(x, cap);
    if (StopsAt(columns, i + 1)) x = 0;
    columns.backward[i + 1] = x;
    x = std::min(cap, Rise(x, columns.length[i], budget.brake, columns.radius[i], budget.total));
  }
  columns.backward[0] = StopsAt(columns, 0) ? Real{0} : x;
  if (m == 0) columns.backward[0] = std::min(columns.backward[0], x_end);
}

template <typename Real>
void PassForward(Real x_start, const BasicMotionBudget<Real>& budget, SpeedColumns<Real>& columns) {
  const std::size_t m = columns.length.size();
  columns.forward.resize(m + 1);
  Real x = x_start;
  columns.forward[0] = x;
  for (std::size_t i = 0; i < m; ++i) {
    x = std::min(columns.backward[i + 1],
                 Rise(x, columns.length[i], budget.accelerate, columns.radius[i], budget.total));
    columns.forward[i + 1] = x;
  }
}

template double FillColumns(const SpeedPlanRequest&, const BasicMotionBudget<double>&,
                            SpeedColumns<double>&);
template double EndCap(const SpeedColumns<double>&, const BasicMotionBudget<double>&);
template void PassBackward(double, const BasicMotionBudget<double>&, SpeedColumns<double>&);
template void PassForward(double, const BasicMotionBudget<double>&, SpeedColumns<double>&);
template long double FillColumns(const SpeedPlanRequest&, const BasicMotionBudget<long double>&,
                                 SpeedColumns<long double>&);
template long double EndCap(const SpeedColumns<long double>&,
                            const BasicMotionBudget<long double>&);
template void PassBackward(long double, const BasicMotionBudget<long double>&,
                           SpeedColumns<long double>&);
template void PassForward(long double, const BasicMotionBudget<long double>&,
                          SpeedColumns<long double>&);

}  // namespace arclane
