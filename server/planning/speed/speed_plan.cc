// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/speed_plan.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "server/planning/speed/phase_writer.h"
#include "server/planning/speed/piece_motion.h"
#include "server/planning/speed/reaction_plan.h"

namespace arclane {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A speed within this of a cap is on the cap: squaring and taking roots moves it by an ulp or two.
constexpr double kOnCap = 1.0 - 8.9e-16;
// Phases shorter than this part of their piece are rounding: lengths are differences of quotients
// of squared speeds.
constexpr double kNegligiblePart = 1e-13;

void AppendRequestViolations(const SpeedPlanRequest& request,
                             std::vector<SpeedViolation>& violations) {
  AppendLimitViolations(request.limits, violations);
  if (request.pieces.empty()) violations.push_back({"pieces", "must not be empty"});
  for (std::size_t i = 0; i < request.pieces.size(); ++i) {
    const SpeedPiece& piece = request.pieces[i];
    if (!(piece.length >= 0.0 && piece.length < kInfinity)) {
      violations.push_back({absl::StrCat("pieces[", i, "].length"),
                            absl::StrCat("must be finite and >= 0, got ", piece.length)});
    }
    if (!(piece.radius > 0.0)) {
      violations.push_back({absl::StrCat("pieces[", i, "].radius"),
                            absl::StrCat("must be > 0, got ", piece.radius)});
    }
  }
  const auto speed = [&violations](double value, const char* field) {
    if (value >= 0.0 && value < kInfinity) return;
    violations.push_back({field, absl::StrCat("must be finite and >= 0, got ", value)});
  };
  speed(request.start_speed, "start_speed");
  speed(request.end_speed, "end_speed");
  for (std::size_t k = 0; k < request.stops.size(); ++k) {
    const SpeedStop& stop = request.stops[k];
    if (stop.boundary > request.pieces.size() ||
        (k > 0 && stop.boundary <= request.stops[k - 1].boundary)) {
      violations.push_back(
          {absl::StrCat("stops[", k, "].boundary"),
           absl::StrCat("must ascend and be <= ", request.pieces.size(), ", got ", stop.boundary)});
    }
    if (!(stop.dwell_s >= 0.0 && stop.dwell_s < kInfinity)) {
      violations.push_back({absl::StrCat("stops[", k, "].dwell_s"),
                            absl::StrCat("must be finite and >= 0, got ", stop.dwell_s)});
    }
  }
}

void Reset(SpeedPlan& plan, SpeedPlanStatus status) {
  plan.status = status;
  plan.violations.clear();
  plan.start_speed_max = 0.0;
  plan.brake_now = {};
  plan.end_speed_max = 0.0;
  plan.length = 0.0;
  plan.duration_s = 0.0;
  plan.piece_index.clear();
  plan.boundary_speed.clear();
  plan.peak_speed.clear();
  plan.brake_start_distance.clear();
  plan.piece_time_s.clear();
  plan.phases.clear();
}

// The pieces of positive length as columns. Returns the path's length.
double FillColumns(const SpeedPlanRequest& request, const MotionBudget& budget,
                   SpeedWorkspace& workspace) {
  const std::size_t n = request.pieces.size();
  workspace.length.resize(n);
  workspace.radius.resize(n);
  workspace.cap.resize(n);
  workspace.start.resize(n + 1);
  workspace.index.resize(n);
  std::size_t m = 0;
  double start = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const SpeedPiece& piece = request.pieces[i];
    workspace.length[m] = piece.length;
    workspace.radius[m] = budget.coupled ? piece.radius : kStraight;
    workspace.cap[m] = budget.CapAt(piece.radius);
    workspace.index[m] = static_cast<std::uint32_t>(i);
    workspace.start[m] = start;
    start += piece.length;
    m += piece.length > 0.0 ? 1 : 0;
  }
  workspace.length.resize(m);
  workspace.radius.resize(m);
  workspace.cap.resize(m);
  workspace.index.resize(m);
  workspace.start.resize(m + 1);
  workspace.start[m] = start;

  workspace.dwell.clear();
  if (request.stops.empty()) return start;
  workspace.dwell.assign(m + 1, -1.0);
  std::size_t boundary = 0;
  for (const SpeedStop& stop : request.stops) {
    while (boundary < m && workspace.index[boundary] < stop.boundary) ++boundary;
    double& dwell = workspace.dwell[boundary];
    dwell = std::max(dwell, 0.0) + stop.dwell_s;
  }
  return start;
}

bool StopsAt(const SpeedWorkspace& workspace, std::size_t boundary) {
  return !workspace.dwell.empty() && workspace.dwell[boundary] >= 0.0;
}

// The cap of the path's last point, squared.
double EndCap(const SpeedWorkspace& workspace, const MotionBudget& budget) {
  if (StopsAt(workspace, workspace.length.size())) return 0.0;
  return workspace.cap.empty() ? budget.squared_max_speed : workspace.cap.back();
}

// Largest squared speeds at the boundaries from which braking meets everything ahead.
void PassBackward(double x_end, const MotionBudget& budget, SpeedWorkspace& workspace) {
  const std::size_t m = workspace.length.size();
  workspace.backward.resize(m + 1);
  double x = x_end;
  for (std::size_t i = m; i-- > 0;) {
    const double cap = workspace.cap[i];
    x = std::min(x, cap);
    if (StopsAt(workspace, i + 1)) x = 0.0;
    workspace.backward[i + 1] = x;
    x = std::min(cap,
                 Rise(x, workspace.length[i], budget.brake, workspace.radius[i], budget.total));
  }
  workspace.backward[0] = StopsAt(workspace, 0) ? 0.0 : x;
  if (m == 0) workspace.backward[0] = std::min(workspace.backward[0], x_end);
}

void PassForward(double x_start, const MotionBudget& budget, SpeedWorkspace& workspace) {
  const std::size_t m = workspace.length.size();
  workspace.forward.resize(m + 1);
  double x = x_start;
  workspace.forward[0] = x;
  for (std::size_t i = 0; i < m; ++i) {
    x = std::min(workspace.backward[i + 1], Rise(x, workspace.length[i], budget.accelerate,
                                                 workspace.radius[i], budget.total));
    workspace.forward[i + 1] = x;
  }
}

struct PieceEnds {
  double x0, v0, x1, v1;
  double cap;
};

struct PieceResult {
  double seconds = 0.0;
  double peak = 0.0;
  double brake_start = std::numeric_limits<double>::quiet_NaN();
};

Stretch Part(const Stretch& piece, double offset, double length) {
  Stretch part = piece;
  part.start += offset;
  part.length = length;
  return part;
}

// The optimum between two boundary speeds that the passes have made compatible.
PieceResult WritePiece(const Stretch& piece, const PieceEnds& ends, const MotionBudget& budget,
                       PhaseWriter& writer) {
  PieceResult result;
  const double length = piece.length;
  if (ends.x0 == ends.cap && ends.x1 == ends.cap) {
    result.seconds = writer.Cruise(piece, ends.v0);
    result.peak = ends.v0;
    return result;
  }
  const double total = budget.total;
  // At the cap the rise may have ended inside the piece (on a grip circle it saturates there).
  if (ends.x1 >= ends.x0 && ends.x1 < ends.cap &&
      ends.x1 >= kOnCap * Rise(ends.x0, length, budget.accelerate, piece.radius, total)) {
    result.seconds = writer.Accelerate(piece, ends.x0, ends.v0, ends.x1, ends.v1);
    result.peak = ends.v1;
    return result;
  }
  if (ends.x0 < ends.cap &&
      ends.x0 >= kOnCap * Rise(ends.x1, length, budget.brake, piece.radius, total)) {
    result.seconds = writer.Brake(piece, ends.x0, ends.v0, ends.x1, ends.v1);
    result.peak = ends.v0;
    result.brake_start = piece.start;
    return result;
  }
  double peak = PeakBetween(ends.x0, ends.x1, length, budget, piece.radius);
  peak = std::min(ends.cap, std::max(peak, std::max(ends.x0, ends.x1)));
  double rising = RiseLength(ends.x0, peak, budget.accelerate, piece.radius, total);
  double falling = RiseLength(ends.x1, peak, budget.brake, piece.radius, total);
  const double negligible = kNegligiblePart * length;
  if (rising < negligible) rising = 0.0;
  if (falling < negligible) falling = 0.0;
  double level = length - rising - falling;
  if (peak < ends.cap || level < negligible) {
    // No plateau: the two parts fill the piece.
    level = 0.0;
    if (rising > 0.0) {
      rising = falling > 0.0 ? std::min(rising, length) : length;
      falling = length - rising;
    } else {
      falling = length;
    }
  }
  const double v_peak = rising == 0.0 && ends.x0 == peak ? ends.v0 : std::sqrt(peak);
  result.peak = v_peak;
  if (rising > 0.0) {
    result.seconds += writer.Accelerate(Part(piece, 0.0, rising), ends.x0, ends.v0, peak, v_peak);
  }
  if (level > 0.0) result.seconds += writer.Cruise(Part(piece, rising, level), v_peak);
  if (falling > 0.0) {
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

void WriteDwell(const SpeedWorkspace& workspace, std::size_t boundary, PhaseWriter& writer) {
  if (!StopsAt(workspace, boundary) || workspace.dwell[boundary] == 0.0) return;
  const std::size_t m = workspace.length.size();
  const std::uint32_t piece = m == 0 ? 0 : workspace.index[std::min(boundary, m - 1)];
  writer.Dwell(piece, workspace.start[boundary], workspace.dwell[boundary]);
}

void WritePlainPlan(const SpeedPlanRequest& request, const MotionBudget& budget,
                    const SpeedWorkspace& workspace, SpeedPlan& plan) {
  const std::size_t m = workspace.length.size();
  ResizeColumns(m, plan);
  PhaseWriter writer(budget, plan.phases);
  double x0 = workspace.forward[0];
  double v0 = request.start_speed;
  plan.boundary_speed[0] = v0;
  for (std::size_t i = 0; i < m; ++i) {
    WriteDwell(workspace, i, writer);
    const double x1 = workspace.forward[i + 1];
    const double v1 = i + 1 < m ? std::sqrt(x1) : request.end_speed;
    const Stretch piece = {workspace.index[i], workspace.start[i], workspace.length[i],
                           workspace.radius[i]};
    const PieceResult result =
        WritePiece(piece, {x0, v0, x1, v1, workspace.cap[i]}, budget, writer);
    plan.boundary_speed[i + 1] = v1;
    plan.peak_speed[i] = result.peak;
    plan.brake_start_distance[i] = result.brake_start;
    plan.piece_time_s[i] = result.seconds;
    x0 = x1;
    v0 = v1;
  }
  WriteDwell(workspace, m, writer);
  plan.duration_s = writer.time_s();
}

// Fills the columns of a plan whose phases were written by the reaction simulation.
void FillColumnsFromPhases(const SpeedWorkspace& workspace, double duration_s, SpeedPlan& plan) {
  const std::size_t m = workspace.length.size();
  ResizeColumns(m, plan);
  std::size_t k = 0;
  for (std::size_t i = 0; i < m; ++i) {
    PieceResult result;
    bool entered = false;
    for (; k < plan.phases.size() && plan.phases[k].piece == workspace.index[i]; ++k) {
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

void FailStart(double speed_max, const SpeedPlanRequest& request, const MotionBudget& budget,
               double length, SpeedPlan& plan) {
  Reset(plan, SpeedPlanStatus::kInfeasibleStart);
  plan.start_speed_max = speed_max;
  plan.brake_now =
      BrakeFrom(request.start_speed, length, request.limits.reaction_time_s, budget.brake.limit);
}

void FailEnd(double speed_max, SpeedPlan& plan) {
  Reset(plan, SpeedPlanStatus::kInfeasibleEnd);
  plan.end_speed_max = speed_max;
}

bool Valid(const SpeedPlanRequest& request, SpeedPlan& plan) {
  AppendRequestViolations(request, plan.violations);
  return plan.violations.empty();
}

}  // namespace

BrakeNow BrakeFrom(double v, double length, double reaction_s, double braking) {
  BrakeNow now;
  const double hold = v * reaction_s;
  now.stop_distance = hold + v * v / (2.0 * braking);
  now.overrun = std::max(0.0, now.stop_distance - length);
  if (now.overrun > 0.0) {
    now.speed_at_end =
        hold >= length ? v : std::sqrt(std::max(0.0, v * v - 2.0 * braking * (length - hold)));
  }
  return now;
}

void PlanSpeed(const SpeedPlanRequest& request, SpeedWorkspace& workspace, SpeedPlan& plan) {
  Reset(plan, SpeedPlanStatus::kInvalidArgument);
  if (!Valid(request, plan)) return;
  const MotionBudget budget = ResolveBudget(request.limits);
  const double length = FillColumns(request, budget, workspace);

  double x_end = request.end_speed * request.end_speed;
  const double end_cap = EndCap(workspace, budget);
  if (x_end > end_cap * (1.0 + kSpeedRoundoff)) return FailEnd(std::sqrt(end_cap), plan);
  if (x_end >= end_cap * kOnCap) x_end = end_cap;
  PassBackward(x_end, budget, workspace);

  const double reaction_s = request.limits.reaction_time_s;
  const bool reacts = reaction_s > 0.0;
  double start_max = workspace.backward[0];
  if (reacts) {
    const double v = LargestReactiveStart(workspace, budget, reaction_s);
    start_max = v * v;
  }
  double x_start = request.start_speed * request.start_speed;
  if (x_start > start_max * (1.0 + kSpeedRoundoff)) {
    return FailStart(std::sqrt(start_max), request, budget, length, plan);
  }
  if (x_start >= start_max * kOnCap) x_start = start_max;

  double x_reached = 0.0;
  PhaseWriter writer(budget, plan.phases);
  if (reacts) {
    x_reached = WriteReactivePhases(request.start_speed, reaction_s, budget, workspace, writer);
  } else {
    PassForward(x_start, budget, workspace);
    x_reached = workspace.forward.back();
  }
  if (x_reached < x_end * (1.0 - kSpeedRoundoff)) return FailEnd(std::sqrt(x_reached), plan);

  plan.status = SpeedPlanStatus::kOk;
  plan.length = length;
  plan.piece_index.assign(workspace.index.begin(), workspace.index.end());
  if (reacts) {
    FillColumnsFromPhases(workspace, writer.time_s(), plan);
  } else {
    WritePlainPlan(request, budget, workspace, plan);
  }
  plan.boundary_speed.front() = request.start_speed;
  plan.boundary_speed.back() = request.end_speed;
}

double TravelTime(std::span<const SpeedPiece> pieces, const SpeedLimits& limits, double start_speed,
                  double end_speed, SpeedWorkspace& workspace) {
  const MotionBudget budget = ResolveBudget(limits);
  const double twice_a = 2.0 * budget.accelerate.limit;
  const double twice_b = 2.0 * budget.brake.limit;
  const std::size_t n = pieces.size();
  if (workspace.backward.size() < n + 1) workspace.backward.resize(n + 1);
  double* const backward = workspace.backward.data();

  double x = end_speed * end_speed;
  const double x_end = x;
  for (std::size_t i = n; i-- > 0;) {
    const SpeedPiece& piece = pieces[i];
    const double cap = piece.length > 0.0 ? budget.CapAt(piece.radius) : kInfinity;
    x = std::min(x, cap);
    backward[i + 1] = x;
    x = std::min(cap, x + twice_b * piece.length);
  }
  if (x_end > backward[n] * (1.0 + kSpeedRoundoff) ||
      x_end > budget.squared_max_speed * (1.0 + kSpeedRoundoff)) {
    return kInfinity;
  }
  const double x_start = start_speed * start_speed;
  if (x_start > x * (1.0 + kSpeedRoundoff)) return kInfinity;

  double time = 0.0;
  double x0 = std::min(x_start, x);
  double v0 = start_speed;
  for (std::size_t i = 0; i < n; ++i) {
    const double length = pieces[i].length;
    if (!(length > 0.0)) continue;
    const double cap = budget.CapAt(pieces[i].radius);
    const double risen = x0 + twice_a * length;
    const double x1 = std::min(risen, backward[i + 1]);
    const double v1 = std::sqrt(x1);
    if (x1 == risen || x1 + twice_b * length <= x0 || (x0 == cap && x1 == cap)) {
      time += 2.0 * length / (v0 + v1);
    } else {
      const double meet =
          (twice_b * x0 + twice_a * x1 + twice_a * twice_b * length) / (twice_a + twice_b);
      const double peak = std::min(cap, std::max(meet, std::max(x0, x1)));
      const double v_peak = std::sqrt(peak);
      const double rising = (peak - x0) / twice_a;
      const double falling = (peak - x1) / twice_b;
      const double level = meet > cap ? std::max(0.0, length - rising - falling) : 0.0;
      time += 2.0 * rising / (v0 + v_peak) + 2.0 * falling / (v_peak + v1) + level / v_peak;
    }
    x0 = x1;
    v0 = v1;
  }
  if (x0 < x_end * (1.0 - kSpeedRoundoff)) return kInfinity;
  return time;
}

void PlanFullBrake(std::span<const SpeedPiece> pieces, const SpeedLimits& limits,
                   double start_speed, FullBrakePlan& plan) {
  const MotionBudget budget = ResolveBudget(limits);
  const double braking = budget.brake.limit;
  double length = 0.0;
  for (const SpeedPiece& piece : pieces) length += piece.length;
  plan.phases.clear();
  plan.outcome = BrakeFrom(start_speed, length, limits.reaction_time_s, braking);
  plan.rest_distance = std::min(length, plan.outcome.stop_distance);

  PhaseWriter writer(budget, plan.phases);
  const double hold = start_speed * limits.reaction_time_s;
  double start = 0.0;
  double v = start_speed;
  for (std::size_t i = 0; i < pieces.size() && start < plan.rest_distance; ++i) {
    const double end = std::min(start + pieces[i].length, plan.rest_distance);
    Stretch stretch = {static_cast<std::uint32_t>(i), start, 0.0, kStraight};
    const double level = std::min(end, hold) - start;
    if (level > 0.0) {
      stretch.length = level;
      writer.Cruise(stretch, v);
      stretch.start += level;
    }
    stretch.length = end - stretch.start;
    if (stretch.length > 0.0) {
      // From the end of the hold, not step by step: roundings do not add up.
      const bool rests = end >= plan.outcome.stop_distance;
      const double x = start_speed * start_speed - 2.0 * braking * (end - hold);
      const double v1 = rests ? 0.0 : std::sqrt(std::max(0.0, x));
      writer.Brake(stretch, v * v, v, v1 * v1, v1);
      v = v1;
    }
    start += pieces[i].length;
  }
  plan.duration_s = writer.time_s();
}

}  // namespace arclane
