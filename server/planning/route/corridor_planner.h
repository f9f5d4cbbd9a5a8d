// SPDX-License-Identifier: Apache-2.0
// From a corridor as sent to a route: build, find the shortest line, round or stop at its corners,
// verify, lay the surface, plan the speed.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_CORRIDOR_PLANNER_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_CORRIDOR_PLANNER_H_

#include <optional>
#include <vector>

#include "server/planning/corridor/clearance.h"
#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/corridor_builder.h"
#include "server/planning/corridor/funnel.h"
#include "server/planning/corridor/prepared_corridor.h"
#include "server/planning/corridor/verification.h"
#include "server/planning/geometry/stop_check.h"
#include "server/planning/geometry/violation.h"
#include "server/planning/route/agent_profile.h"
#include "server/planning/route/motion_plan.h"
#include "server/planning/route/plan_stage.h"
#include "server/planning/route/route_plan.h"
#include "server/planning/route/route_verification.h"

namespace arclane {

struct CorridorPlanRequest {
  CorridorInput corridor;
  CorridorLimits limits;
  const PreparedCorridor* prepared = nullptr;  // Of the same corridor with other ends; saves work.
  PortalSections* placed = nullptr;            // Receives what it can keep of the clearance.
  bool corridor_is_partial = false;
  AgentProfile agent;
  EndMotion motion;
};

enum class PlanStatus : uint8_t {
  kOk,
  kInvalid,             // The violations say why.
  kStopped,             // The caller's stop signal came.
  kVerificationFailed,  // The finished route deviates by plan.largest_deviation: a defect, never
                        // the caller's fault.
};

// The farthest that a verified route may leave the corridor as sent, in units of
// Corridor::tolerance: the funnel merges ends of successive portals that are a tolerance apart,
// which moves a corner by one tolerance and the lines beside it by at most as much; polygon cells
// may miss their portals by one more.
inline constexpr double kDeviationTolerances = 4.0;
// What the rounding of arcs may add, in units of 2^-53 times the largest coordinate or segment:
// positions on an arc are sums and products of about ten rounded terms; six times that.
inline constexpr double kArcRoundoff = 64.0 * 0x1p-53;

// Plans one request after another; buffers are kept, so that a warm planner hardly allocates. Not
// thread-safe; one for each thread. The corridor of the last plan stays readable until the next.
class CorridorPlanner {
 public:
  // `stop` is asked between stages and, in clearance and rounding, after every bounded amount of
  // work. `mark` is told of the stages kCorridor to kSpeed.
  PlanStatus Plan(const CorridorPlanRequest& request, StopCheck stop, RoutePlan& plan,
                  Violations& violations, StageMark mark = IgnoreStage);

  // Only builds the corridor, to tell its violations: kOk or kInvalid.
  PlanStatus Check(const CorridorPlanRequest& request, Violations& violations);

  const Corridor& corridor() const { return corridor_; }

 private:
  struct TautPoint {
    Vec2 point;
    uint32_t portal = 0;
    bool fixed = false;  // A portal of no length: an end of a link.
  };

  // *prepared: whether it was built from a prepared one.
  bool Build(const CorridorPlanRequest& request, Violations& violations, bool* prepared);
  void CollectPoints();
  void AddStops(const CorridorPlanRequest& request, RoutePlan& plan);
  bool IsLink(size_t i) const;
  bool AddRoundedPath(const CorridorPlanRequest& request, StopCheck stop, RoutePlan& plan);
  bool AddRoundedStretch(const CorridorPlanRequest& request, size_t from, size_t to, StopCheck stop,
                         RoutePlan& plan);
  const Corridor& Stretch(size_t from, size_t to);
  void AddCornerAt(size_t i, RoutePlan& plan) const;
  void JoinAt(const AgentProfile& agent, size_t joint, RouteCorner& corner, RoutePlan& plan) const;
  bool MeasureClearance(const CorridorPlanRequest& request, StopCheck stop, RoutePlan& plan);
  bool StartsOffLine(const CorridorPlanRequest& request, const RoutePlan& plan) const;
  PlanStatus FinishStops(const CorridorPlanRequest& request, RoutePlan& plan, StageMark mark);
  std::optional<Deviation> RoundAndVerify(const CorridorPlanRequest& request, StopCheck stop,
                                          RoutePlan& plan);
  PlanStatus FinishRounded(const CorridorPlanRequest& request, StopCheck stop, RoutePlan& plan,
                           StageMark mark);
  PlanStatus FinishJoined(const CorridorPlanRequest& request, StopCheck stop,
                          const RoutePlan& unrounded, RoutePlan& plan, StageMark mark);
  PlanStatus Finish(const CorridorPlanRequest& request, const Deviation& deviation, RoutePlan& plan,
                    StageMark mark);
  void TraceBraking(RoutePlan& plan);
  static void AddPortalFault(size_t portal, const std::string& fault, Violations& violations);
  bool AddDriftingPortals(Violations& violations) const;
  bool AddCrossingPortals(Violations& violations) const;

  CorridorBuilder builder_;
  PreparedCorridorBuilder prepared_builder_;
  Funnel funnel_;
  ClearancePlanner clearance_;
  MotionPlanner motion_;
  Corridor corridor_;
  CorridorPath path_;
  std::vector<TautPoint> taut_;
  std::vector<Vec2> points_;
  std::vector<PortalCrossing> crossings_;
  Corridor stretch_;  // Between the ends of links, for rounding.
  std::vector<Vec2> chords_;
  std::vector<double> chord_distances_;
  RouteVerifier verifier_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_CORRIDOR_PLANNER_H_
