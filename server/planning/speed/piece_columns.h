// SPDX-License-Identifier: Apache-2.0
// The pieces as columns, and the two passes over them. Internal to the speed planner.
#ifndef ARCLANE_SERVER_PLANNING_SPEED_PIECE_COLUMNS_H_
#define ARCLANE_SERVER_PLANNING_SPEED_PIECE_COLUMNS_H_

#include <cstddef>

#include "server/planning/speed/piece_motion.h"
#include "server/planning/speed/speed_plan.h"

namespace arclane {

// Takes the pieces of positive length and the stops between them. Returns the path's length.
template <typename Real>
Real FillColumns(const SpeedPlanRequest& request, const BasicMotionBudget<Real>& budget,
                 SpeedColumns<Real>& columns);

template <typename Real>
bool StopsAt(const SpeedColumns<Real>& columns, std::size_t boundary) {
  return !columns.dwell.empty() && columns.dwell[boundary] >= 0.0;
}

// The cap of the path's last point, squared.
template <typename Real>
Real EndCap(const SpeedColumns<Real>& columns, const BasicMotionBudget<Real>& budget);

// Largest squared speeds at the boundaries from which braking meets everything ahead.
template <typename Real>
void PassBackward(Real x_end, const BasicMotionBudget<Real>& budget, SpeedColumns<Real>& columns);

// The squared speeds at the boundaries, from x_start <= backward[0].
template <typename Real>
void PassForward(Real x_start, const BasicMotionBudget<Real>& budget, SpeedColumns<Real>& columns);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPEED_PIECE_COLUMNS_H_
