// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/piece_phases.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "server/planning/speed/motion_tolerance.h"
#include "server/planning/speed/phase_writer.h"
#include "server/planning/speed/piece_columns.h"

namespace arclane {
namespace {

template <typename Real>
struct PieceEnds {
  Real x0, v0, x1, v1;
  Real cap;
};

template <typename Real>
struct PieceResult {
  Real seconds = 0;
  Real peak = 0;
  Real brake_start = std::numeric_limits<Real>::quiet_NaN();
};

template <typename Real>
Stretch<Real> Part(const Stretch<Real>& piece, Real offset, Real length) {
  Stretch<Real> part = piece;
  part.start += offset;
  part.length = length;
  return part;
}

// The optimum between two boundary speeds that the passes have made compatible.
template <typename Real>
PieceResult<Real> WritePiece(const Stretch<Real>& piece, const PieceEnds<Real>& ends,
                             const BasicMotionBudget<Real>& budget, PhaseWriter<Real>& writer) {
  PieceResult<Real> result;
  const Real length = piece.length;
  if (ends.x0 >= kLevel * ends.cap && ends.x1 >= kLevel * ends.cap) {
    result.seconds = writer.Cruise(piece, ends.v0, ends.v1);
    result.peak = std::max(ends.v0, ends.v1);
    return result;
  }
  const Real total = budget.total;
  if (ends.x1 < ends.cap &&
      RisesThroughout(ends.x0, ends.x1, length, budget.accelerate, piece.radius, total)) {
    result.seconds = writer.Accelerate(piece, ends.x0, ends.v0, ends.x1, ends.v1);
    result.peak = ends.v1;
    return result;
  }
  if (ends.x0 < ends.cap &&
      RisesThroughout(ends.x1, ends.x0, length, budget.brake, piece.radius, total)) {
    result.seconds = writer.Brake(piece, ends.x0, ends.v0, ends.x1, ends.v1);
    result.peak = ends.v0;
    result.brake_start = piece.start;
    return result;
  }
  Real peak = PeakBetween(ends.x0, ends.x1, length, budget, piece.radius);
  peak = std::min(ends.cap, std::max(peak, std::max(ends.x0, ends.x1)));
  Real rising = RiseLength(ends.x0, peak, budget.accelerate, piece.radius, total);
  Real falling = RiseLength(ends.x1, peak, budget.brake, piece.radius, total);
  const Real negligible = kNegligiblePart * length;
  if (rising < negligible) rising = 0;
  if (falling < negligible) falling = 0;
  Real level = length - rising - falling;
  if (peak < ends.cap || level < negligible) {
    // No plateau: the two parts fill the piece.
    level = 0;
    if (rising > 0) {
      rising = falling > 0 ? std::min(rising, length) : length;
      falling = length - rising;
    } else {
      falling = length;
    }
  }
  const Real v_peak = rising == 0 && ends.x0 == peak ? ends.v0 : std::sqrt(peak);
  result.peak = v_peak;
  if (rising > 0) {
    result.seconds +=
        writer.Accelerate(Part(piece, Real{0}, rising), ends.x0, ends.v0, peak, v_peak);
  }
  if (level > 0) result.seconds += writer.Cruise(Part(piece, rising, level), v_peak);
  if (falling > 0) {
    result.brake_start = piece.start + (length - falling);
    result.seconds +=
        writer.Brake(Part(piece, length - falling, falling), peak, v_peak, ends.x1, ends.v1);
  }
  return result;
}

void ResizeColumns(std::size_t m, SpeedPlan& plan) {
  plan.boundary_speed.resize(m + 1);
  plan.peak_speed.resize(m);
  plan.brake_start_distance.resize(m);
  plan.piece_time_s.resize(m);
}

template <typename Real>
void WriteDwell(const SpeedColumns<Real>& columns, std::size_t boundary,
                PhaseWriter<Real>& writer) {
  if (!StopsAt(columns, boundary) || columns.dwell[boundary] == 0.0) return;
  const std::size_t m = columns.length.size();
  const std::uint32_t piece = m == 0 ? 0 : columns.index[std::min(boundary, m - 1)];
  writer.Dwell(piece, columns.start[boundary], columns.dwell[boundary]);
}

}  // namespace

template <typename Real>
void WritePlainPlan(const SpeedPlanRequest& request, const BasicMotionBudget<Real>& budget,
                    const SpeedColumns<Real>& columns, SpeedPlan& plan) {
  const std::size_t m = columns.length.size();
  ResizeColumns(m, plan);
  PhaseWriter<Real> writer(budget, plan.phases);
  Real x0 = columns.forward[0];
  Real v0 = request.start_speed;
  plan.boundary_speed[0] = request.start_speed;
  for (std::size_t i = 0; i < m; ++i) {
    WriteDwell(columns, i, writer);
    const Real x1 = columns.forward[i + 1];
    const Real v1 = i + 1 < m ? std::sqrt(x1) : Real{request.end_speed};
    const Stretch<Real> piece = {columns.index[i], columns.start[i], columns.length[i],
                                 columns.radius[i]};
    const PieceResult<Real> result =
        WritePiece(piece, {x0, v0, x1, v1, columns.cap[i]}, budget, writer);
    plan.boundary_speed[i + 1] = static_cast<double>(v1);
    plan.peak_speed[i] = static_cast<double>(result.peak);
    plan.brake_start_distance[i] = static_cast<double>(result.brake_start);
    plan.piece_time_s[i] = static_cast<double>(result.seconds);
    x0 = x1;
    v0 = v1;
  }
  WriteDwell(columns, m, writer);
  plan.duration_s = static_cast<double>(writer.time_s());
}

template <typename Real>
void FillColumnsFromPhases(const SpeedColumns<Real>& columns, double duration_s, SpeedPlan& plan) {
  const std::size_t m = columns.length.size();
  ResizeColumns(m, plan);
  std::size_t k = 0;
  for (std::size_t i = 0; i < m; ++i) {
    PieceResult<double> result;
    bool entered = false;
    for (; k < plan.phases.size() && plan.phases[k].piece == columns.index[i]; ++k) {
      const SpeedPhase& phase = plan.phases[k];
      if (phase.kind == SpeedPhaseKind::kDwell) continue;
      if (!entered) plan.boundary_speed[i] = phase.start_speed;
      entered = true;
      result.seconds += phase.duration_s;
      result.peak = std::max({result.peak, phase.start_speed, phase.end_speed});
      if (phase.kind == SpeedPhaseKind::kBrake && std::isnan(result.brake_start)) {
        result.brake_start = phase.start_distance;
      }
      plan.boundary_speed[i + 1] = phase.end_speed;
    }
    plan.peak_speed[i] = result.peak;
    plan.brake_start_distance[i] = result.brake_start;
    plan.piece_time_s[i] = result.seconds;
  }
  plan.duration_s = duration_s;
}

template void WritePlainPlan(const SpeedPlanRequest&, const BasicMotionBudget<double>&,
                             const SpeedColumns<double>&, SpeedPlan&);
template void FillColumnsFromPhases(const SpeedColumns<double>&, double, SpeedPlan&);
template void WritePlainPlan(const SpeedPlanRequest&, const BasicMotionBudget<long double>&,
                             const SpeedColumns<long double>&, SpeedPlan&);
template void FillColumnsFromPhases(const SpeedColumns<long double>&, double, SpeedPlan&);

}  // namespace arclane
