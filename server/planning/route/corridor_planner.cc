// SPDX-License-Identifier: Apache-2.0
#include "server/planning/route/corridor_planner.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>

#include "server/planning/corridor/surface.h"
#include "server/planning/route/braking_trace.h"
#include "server/planning/route/route_assembly.h"
#include "server/planning/route/route_surface.h"
#include "server/planning/route/segment.h"
#include "server/planning/route/start_join.h"
#include "server/planning/speed/piece_motion.h"

namespace arclane {
namespace {

// Between these, the difference of two headings, each right to 2^-52, is the turn to 1e-14 of it,
// and its sign is certain.
constexpr double kLeastHeadingDifference = 0.1;
constexpr double kLargestHeadingDifference = 3.0;

constexpr char kCannotTurnAtStop[] = "the agent cannot turn in place and this corner is a stop";

// The turn at `at` on the way from `before` to `after`, given the headings of the two lines.
double TurnBetween(Vec2 before, Vec2 at, Vec2 after, double heading, double next_heading) {
  constexpr double kPi = std::numbers::pi;
  double turn = next_heading - heading;
  if (turn > kPi) turn -= 2.0 * kPi;
  if (turn < -kPi) turn += 2.0 * kPi;
  const double size = std::abs(turn);
  if (size >= kLeastHeadingDifference && size <= kLargestHeadingDifference) return turn;
  return TurnAngle(at - before, after - at);
}

}  // namespace

bool CorridorPlanner::Build(const CorridorPlanRequest& request, Violations& violations,
                            bool* prepared) {
  *prepared = request.prepared != nullptr &&
              prepared_builder_.Build(*request.prepared, request.corridor, &corridor_);
  return *prepared || builder_.Build(request.corridor, request.limits, &corridor_, &violations);
}

PlanStatus CorridorPlanner::Plan(const CorridorPlanRequest& request, StopCheck stop,
                                 RoutePlan& plan, Violations& violations, StageMark mark) {
  bool prepared = false;
  const bool built = Build(request, violations, &prepared) && !AddDriftingPortals(violations);
  mark(Stage::kCorridor);
  if (!built) return PlanStatus::kInvalid;
  if (stop()) return PlanStatus::kStopped;

  if (request.agent.inset() > 0.0) {
    if (!clearance_.FindPath(corridor_, request.agent.inset(), &path_, &plan.shortfalls, stop,
                             prepared ? &request.prepared->sections : nullptr, request.placed)) {
      return PlanStatus::kStopped;
    }
  } else {
    funnel_.FindShortestPath(corridor_, &path_);
  }
  mark(Stage::kFunnel);
  if (stop()) return PlanStatus::kStopped;

  plan.outcome = request.corridor_is_partial ? RouteOutcome::kPartial : RouteOutcome::kComplete;
  plan.shortest_length = path_.length;
  plan.start_shift = corridor_.start_shift;
  plan.goal_shift = corridor_.goal_shift;
  plan.route.start = plan.route.end = corridor_.start;
  CollectPoints();
  const bool may_join = request.agent.max_turn_radius && request.motion.velocity != Vec2{};
  RoutePlan unrounded;
  if (may_join) unrounded = plan;
  const bool rounds = request.agent.max_turn_radius && taut_.size() > 2;
  PlanStatus status =
      rounds ? FinishRounded(request, stop, plan, mark) : FinishStops(request, plan, mark);
  if (may_join && status == PlanStatus::kOk && plan.outcome == RouteOutcome::kStartOffRoute)
    status = FinishJoined(request, stop, unrounded, plan, mark);
  // Portals that no chain of convex cells can join have no shortest line that the proof could
  // accept.
  if (status == PlanStatus::kVerificationFailed && AddCrossingPortals(violations)) {
    return PlanStatus::kInvalid;
  }
  return status;
}

namespace {

// How far p lies behind the line of a portal; negative in front of it. Travel crosses a portal from
// its positive to its negative side.
double DepthBehind(Vec2 left, Vec2 right, Vec2 p) {
  const Vec2 across = left - right;
  const double width = Norm(across);
  return width > 0.0 ? Cross(across, p - right) / width : 0.0;
}

// Ends of successive portals that are one vertex up to the tolerance, step by step.
struct RepeatedEnd {
  Vec2 first;
  Vec2 last;

  // Whether p is the vertex once more by its last place, but noise no longer explains how far it
  // lies from its first, behind the portal between the first places.
  bool DriftsBack(Vec2 p, Vec2 left, Vec2 right, double tolerance) const {
    const double noise = kPortalNoiseTolerances * tolerance;
    return SquaredNorm(p - last) <= tolerance * tolerance &&
           SquaredNorm(p - first) > noise * noise && DepthBehind(left, right, p) > 0.0;
  }
  void Add(Vec2 p, double tolerance) {
    if (SquaredNorm(p - last) > tolerance * tolerance) first = p;
    last = p;
  }
};

}  // namespace

void CorridorPlanner::AddPortalFault(size_t portal, const std::string& fault,
                                     Violations& violations) {
  violations.Add(ViolationReason::kNotConvex, "portals[" + std::to_string(portal) + "]",
                 "is no edge of a convex cell together with the portal before it: " + fault);
}

// Without polygons: ends that are repeated must not drift back, each by less than the tolerance.
// Which way a line turns round them would be chance. True when some do.
bool CorridorPlanner::AddDriftingPortals(Violations& violations) const {
  if (corridor_.has_polygons || corridor_.portals.empty()) return false;
  const size_t before = violations.total();
  const double tolerance = corridor_.tolerance;
  RepeatedEnd left{corridor_.portals[0].left, corridor_.portals[0].left};
  RepeatedEnd right{corridor_.portals[0].right, corridor_.portals[0].right};
  for (size_t i = 1; i < corridor_.portals.size(); ++i) {
    const Portal& portal = corridor_.portals[i];
    if (left.DriftsBack(portal.left, left.first, right.first, tolerance) ||
        right.DriftsBack(portal.right, left.first, right.first, tolerance)) {
      AddPortalFault(i,
                     "an end that it repeats has moved back in steps too small to tell, beyond "
                     "what the precision of the coordinates allows",
                     violations);
    }
    left.Add(portal.left, tolerance);
    right.Add(portal.right, tolerance);
  }
  return violations.total() > before;
}

// Without polygons: successive portals must be edges of one convex cell, so neither may reach
// through the other's line by more than the tolerance. True when some do. (Portals of navmeshes
// that record parts of edges coarsely do, mostly without harm: asked when a route fails its proof.)
bool CorridorPlanner::AddCrossingPortals(Violations& violations) const {
  if (corridor_.has_polygons) return false;
  const size_t before = violations.total();
  for (size_t i = 1; i < corridor_.portals.size(); ++i) {
    const Portal& a = corridor_.portals[i - 1];
    const Portal& b = corridor_.portals[i];
    const double reach =
        std::max({DepthBehind(a.left, a.right, b.left), DepthBehind(a.left, a.right, b.right),
                  -DepthBehind(b.left, b.right, a.left), -DepthBehind(b.left, b.right, a.right)});
    if (reach <= corridor_.tolerance) continue;
    AddPortalFault(i, "one reaches through the other's line by " + std::to_string(reach),
                   violations);
  }
  return violations.total() > before;
}

PlanStatus CorridorPlanner::FinishStops(const CorridorPlanRequest& request, RoutePlan& plan,
                                        StageMark mark) {
  AddStops(request, plan);
  plan.deviation_tolerance = kDeviationTolerances * corridor_.tolerance;
  return Finish(request, VerifyLine(corridor_, points_, plan.deviation_tolerance, &crossings_),
                plan, mark);
}

PlanStatus CorridorPlanner::FinishRounded(const CorridorPlanRequest& request, StopCheck stop,
                                          RoutePlan& plan, StageMark mark) {
  const RoutePlan unrounded = plan;
  std::optional<Deviation> deviation = RoundAndVerify(request, stop, plan);
  if (!deviation) return PlanStatus::kStopped;
  if (!(deviation->distance <= plan.deviation_tolerance)) {
    // The proof has the last word. Rounding that stays on the shortest line's side of it moves
    // less.
    CorridorPlanRequest close = request;
    close.agent.max_extra_length = 0.0;
    plan = unrounded;
    deviation = RoundAndVerify(close, stop, plan);
    if (!deviation) return PlanStatus::kStopped;
  }
  // An agent that moves already drives on straight. Rounding keeps a first line that it can drive;
  // where there is none the answer is the braking path of the unrounded line.
  const bool is_proven = deviation->distance <= plan.deviation_tolerance;
  if (!is_proven || StartsOffLine(request, plan)) {
    plan = unrounded;
    const PlanStatus status = FinishStops(request, plan, mark);
    for (RouteCorner& corner : plan.corners) {
      if (!is_proven && corner.cause == CornerCause::kNotRequested) {
        corner.cause = CornerCause::kNoRoom;
      }
    }
    return status;
  }
  if (stop() || !MeasureClearance(request, stop, plan)) return PlanStatus::kStopped;
  const PlanStatus status = Finish(request, *deviation, plan, mark);
  if (status != PlanStatus::kOk || request.agent.corner_objective != CornerObjective::kLeastTime)
    return status;
  // The rounding weighs times by a simpler model; the least time is decided by the exact one.
  RoutePlan stopping = unrounded;
  if (FinishStops(request, stopping, mark) == PlanStatus::kOk && stopping.outcome == plan.outcome &&
      stopping.route.duration_s < plan.route.duration_s) {
    for (RouteCorner& corner : stopping.corners) {
      if (corner.cause == CornerCause::kNotRequested) corner.cause = CornerCause::kNotWorth;
    }
    std::swap(plan, stopping);
  }
  return status;
}

// An agent that moves, but not along the first line, begins with an arc that leaves the start along
// its velocity, if one fits into the corridor and can be driven at its speed; otherwise the plan
// stays the braking path that it is. Wider arcs are faster, and are tried first.
PlanStatus CorridorPlanner::FinishJoined(const CorridorPlanRequest& request, StopCheck stop,
                                         const RoutePlan& unrounded, RoutePlan& plan,
                                         StageMark mark) {
  constexpr int kRadii = 8;
  // The narrowest arc tried where neither agent nor speed has a limit, as a part of the widest.
  constexpr double kNarrowest = 1.0 / 64.0;
  CorridorPlanRequest at_rest = request;
  at_rest.motion.velocity = {};
  RoutePlan base = unrounded;
  if (taut_.size() > 2) {
    const std::optional<Deviation> deviation = RoundAndVerify(at_rest, stop, base);
    if (!deviation) return PlanStatus::kStopped;
    if (!(deviation->distance <= base.deviation_tolerance)) return PlanStatus::kOk;
  } else {
    AddStops(at_rest, base);
  }
  if (base.outcome == RouteOutcome::kNeedsMotionPlanning || base.route.segments.empty())
    return PlanStatus::kOk;
  const double speed = Norm(request.motion.velocity);
  const double first_length = base.route.segments.front().length;
  const double widest = std::min(*request.agent.max_turn_radius, first_length);
  const double drivable = std::max(request.agent.min_turn_radius,
                                   speed * speed / ResolveBudget(request.agent.limits).lateral);
  const double narrowest = std::max(drivable, kNarrowest * widest);
  if (!(narrowest <= widest)) return PlanStatus::kOk;
  for (int i = 0; i < kRadii; ++i) {
    if (stop()) return PlanStatus::kStopped;
    RoutePlan joined = base;
    std::vector<Segment>& segments = joined.route.segments;
    const double length_before = LayOutSegments(segments);
    const double radius =
        widest * std::pow(narrowest / widest, static_cast<double>(i) / (kRadii - 1));
    if (!JoinStart(request.motion.velocity * (1.0 / speed), std::max(radius, drivable), segments))
      continue;
    const double longer = LayOutSegments(segments) - length_before;
    for (RouteCorner& corner : joined.corners) corner.distance += longer;
    if (segments.size() > 2 && segments[2].kind == SegmentKind::kArc && !joined.corners.empty())
      joined.corners[0].distance = segments[2].start_distance + 0.5 * segments[2].length;
    double size = 0.0;
    for (const Segment& segment : segments)
      size = std::max({size, segment.length, std::abs(segment.start.x), std::abs(segment.start.y)});
    joined.deviation_tolerance = kDeviationTolerances * corridor_.tolerance + kArcRoundoff * size;
    const Deviation deviation =
        verifier_.Verify(corridor_, segments, joined.deviation_tolerance, &crossings_);
    if (!(deviation.distance <= joined.deviation_tolerance)) continue;
    if (!MeasureClearance(request, stop, joined)) return PlanStatus::kStopped;
    if (Finish(request, deviation, joined, mark) != PlanStatus::kOk || joined.braking) continue;
    std::swap(plan, joined);
    return PlanStatus::kOk;
  }
  return PlanStatus::kOk;
}

// Where the rounded route is nearer to the walls than asked for. Arcs are measured as chords, which
// stand off by less than kChordSag of the clearance. False when stopped.
bool CorridorPlanner::MeasureClearance(const CorridorPlanRequest& request, StopCheck stop,
                                       RoutePlan& plan) {
  const double clearance = request.agent.inset();
  if (!(clearance > 0.0) || plan.route.segments.empty()) return true;
  constexpr double kChordSag = 1e-3;
  chords_.assign(1, plan.route.segments.front().start);
  chord_distances_.assign(1, 0.0);
  for (const Segment& segment : plan.route.segments) {
    if (!(segment.length > 0.0)) continue;
    int chords = 1;
    if (segment.kind == SegmentKind::kArc) {
      const double curvature = std::abs(segment.curvature);
      const double largest = std::sqrt(8.0 * kChordSag * clearance / curvature);
      chords = static_cast<int>(std::min(1e4, std::ceil(segment.length / largest)));
    }
    for (int i = 1; i <= chords; ++i) {
      const double offset = segment.length * i / chords;
      chords_.push_back(i == chords ? segment.end : PointAt(segment, offset));
      chord_distances_.push_back(segment.start_distance + offset);
    }
  }
  return clearance_.Measure(corridor_, chords_, chord_distances_, crossings_, clearance,
                            kChordSag * clearance, &plan.shortfalls, stop);
}

// Rounds the corners and measures how far the result leaves the corridor; nullopt when stopped.
std::optional<Deviation> CorridorPlanner::RoundAndVerify(const CorridorPlanRequest& request,
                                                         StopCheck stop, RoutePlan& plan) {
  if (!AddRoundedPath(request, stop, plan)) return std::nullopt;
  double size = 0.0;
  for (const Segment& segment : plan.route.segments) {
    size = std::max({size, segment.length, std::abs(segment.start.x), std::abs(segment.start.y)});
  }
  plan.deviation_tolerance = kDeviationTolerances * corridor_.tolerance + kArcRoundoff * size;
  return verifier_.Verify(corridor_, plan.route.segments, plan.deviation_tolerance, &crossings_);
}

// Everything behind the geometry: the verdict of the verification, heights, speeds.
PlanStatus CorridorPlanner::Finish(const CorridorPlanRequest& request, const Deviation& deviation,
                                   RoutePlan& plan, StageMark mark) {
  plan.largest_deviation = deviation.distance;
  if (!(deviation.distance <= plan.deviation_tolerance)) return PlanStatus::kVerificationFailed;
  LayOutSegments(plan.route.segments);
  BuildRouteSurface(corridor_, crossings_, plan.route.segments, &plan.route.surface);
  const bool drives = plan.outcome != RouteOutcome::kNeedsMotionPlanning &&
                      AddStartTurn(request.agent, request.motion, plan);
  mark(Stage::kCorners);
  if (!drives) {
    plan.route.segments.clear();
    return PlanStatus::kOk;
  }
  motion_.Plan(request.agent, request.motion, plan);
  if (plan.braking) TraceBraking(plan);
  mark(Stage::kSpeed);
  return PlanStatus::kOk;
}

bool CorridorPlanner::StartsOffLine(const CorridorPlanRequest& request,
                                    const RoutePlan& plan) const {
  if (request.motion.velocity == Vec2{} || plan.route.segments.empty()) return false;
  const double error =
      TurnAngle(UnitVector(plan.route.segments.front().heading), request.motion.velocity);
  return std::abs(error) > std::max(request.agent.heading_tolerance, kStartDirectionRoundoff);
}

// Rounds the corners between the ends of links, each stretch by itself: a link is driven straight
// from its entry to its exit, whatever lies around it in the plan. False when stopped.
bool CorridorPlanner::AddRoundedPath(const CorridorPlanRequest& request, StopCheck stop,
                                     RoutePlan& plan) {
  std::vector<Segment>& segments = plan.route.segments;
  const size_t last = taut_.size() - 1;
  for (size_t from = 0; from < last;) {
    size_t to = from + 1;
    while (to < last && !taut_[to].fixed) ++to;
    const size_t joint = segments.size();
    if (joint > 0) AddCornerAt(from, plan);
    const size_t corner = plan.corners.size();
    if (to == from + 1) {
      const SegmentKind kind = IsLink(from) ? SegmentKind::kLink : SegmentKind::kLine;
      segments.push_back(MakeLine(kind, points_[from], points_[to]));
    } else if (!AddRoundedStretch(request, from, to, stop, plan)) {
      return false;
    }
    if (joint > 0) JoinAt(request.agent, joint, plan.corners[corner - 1], plan);
    LayOutSegments(segments);
    from = to;
  }
  return true;
}

// The stretch of the corridor between two points of the line, without links in between.
const Corridor& CorridorPlanner::Stretch(size_t from, size_t to) {
  const size_t portals = corridor_.portals.size();
  const size_t first = taut_[from].fixed ? taut_[from].portal + 1 : 0;
  const size_t limit = taut_[to].fixed ? taut_[to].portal : portals;
  if (first == 0 && limit == portals) return corridor_;
  stretch_.start = points_[from];
  stretch_.goal = points_[to];
  stretch_.has_polygons = corridor_.has_polygons;
  stretch_.turns_back = corridor_.turns_back;
  stretch_.tolerance = corridor_.tolerance;
  const auto at = [](auto& values, size_t i) { return values.begin() + std::ptrdiff_t(i); };
  stretch_.portals.assign(at(corridor_.portals, first), at(corridor_.portals, limit));
  const uint32_t begin = corridor_.cell_begin[first];
  const uint32_t end = corridor_.cell_begin[limit + 1];
  stretch_.cell_vertices.assign(at(corridor_.cell_vertices, begin),
                                at(corridor_.cell_vertices, end));
  stretch_.cell_heights.assign(at(corridor_.cell_heights, begin), at(corridor_.cell_heights, end));
  stretch_.cell_begin.clear();
  for (size_t k = first; k <= limit + 1; ++k) {
    stretch_.cell_begin.push_back(corridor_.cell_begin[k] - begin);
  }
  return stretch_;
}

// False when stopped.
bool CorridorPlanner::AddRoundedStretch(const CorridorPlanRequest& request, size_t from, size_t to,
                                        StopCheck stop, RoutePlan& plan) {
  const Corridor& stretch = Stretch(from, to);
  const AgentProfile& agent = request.agent;
  RoundingOptions options = RoundingOptionsOf(agent);
  options.work_budget = static_cast<uint64_t>(static_cast<double>(options.work_budget) *
                                              static_cast<double>(stretch.cell_count()) /
                                              static_cast<double>(corridor_.cell_count()));
  DrivingLimits limits = DrivingLimitsOf(agent, request.motion);
  // The speed at the end of a link: that of the agent that turns there, or that only passes.
  const auto speed_at = [&](size_t i) {
    const double turn = TurnAngle(points_[i] - points_[i - 1], points_[i + 1] - points_[i]);
    return std::abs(turn) > agent.corner_angle_min ? 0.0 : limits.max_speed;
  };
  if (from > 0) {
    limits.start_speed = speed_at(from);
  } else if (request.motion.velocity != Vec2{}) {
    options.start_direction = request.motion.velocity * (1.0 / Norm(request.motion.velocity));
    options.start_direction_tolerance_rad =
        std::max(agent.heading_tolerance, kStartDirectionRoundoff);
  }
  if (to + 1 < taut_.size()) limits.goal_speed = speed_at(to);
  const std::span<const Vec2> points = std::span<const Vec2>(points_).subspan(from, to - from + 1);
  const DrivenPath path =
      RoundCorners(stretch, {points, {}}, TurningOf(agent), limits, options, stop);
  if (path.status == RoundingStatus::kStopped) return false;
  std::vector<Segment>& segments = plan.route.segments;
  const size_t first_segment = segments.size();
  AppendElements(path, points.back(), segments);
  LayOutSegments(segments);
  const size_t first_corner = plan.corners.size();
  AppendCorners(path, std::span<const Segment>(segments).subspan(first_segment), plan.corners);
  for (size_t i = 0; i < path.corners.size(); ++i) {
    const TautPoint& at = taut_[from + path.corners[i].corner];
    RouteCorner& corner = plan.corners[first_corner + i];
    corner.portal_index = at.portal;
    corner.height = PortalHeight(corridor_.portals[at.portal], at.point);
  }
  if (path.status == RoundingStatus::kNeedsMotionPlanning &&
      plan.outcome != RouteOutcome::kNeedsMotionPlanning) {
    plan.outcome = RouteOutcome::kNeedsMotionPlanning;
    plan.undrivable = DescribeUndrivable(path, agent.min_turn_radius, first_corner);
    if (plan.undrivable->corner) {
      plan.undrivable->portal_index = plan.corners[*plan.undrivable->corner].portal_index;
    }
  }
  return true;
}

// The corner at an end of a link, between what is laid out and what comes next.
void CorridorPlanner::AddCornerAt(size_t i, RoutePlan& plan) const {
  const Segment& before = plan.route.segments.back();
  RouteCorner& corner = plan.corners.emplace_back();
  corner.position = points_[i];
  corner.portal_index = taut_[i].portal;
  corner.height = PortalHeight(corridor_.portals[taut_[i].portal], points_[i]);
  corner.turn_angle = TurnAngle(points_[i] - points_[i - 1], points_[i + 1] - points_[i]);
  corner.distance = before.start_distance + before.length;
}

// Lets the agent turn between segments `joint - 1` and `joint`, if it has to.
void CorridorPlanner::JoinAt(const AgentProfile& agent, size_t joint, RouteCorner& corner,
                             RoutePlan& plan) const {
  std::vector<Segment>& segments = plan.route.segments;
  const Segment& before = segments[joint - 1];
  const double heading = HeadingAt(before, before.length);
  const double turn = WrapAngle(segments[joint].heading - heading);
  if (std::abs(turn) <= agent.corner_angle_min) {
    corner.action = CornerAction::kPassed;
    return;
  }
  corner.action = CornerAction::kStop;
  corner.cause = CornerCause::kLink;
  segments.insert(segments.begin() + std::ptrdiff_t(joint),
                  MakeTurn(corner.position, heading, turn));
  if (!agent.can_turn_in_place && plan.outcome != RouteOutcome::kNeedsMotionPlanning) {
    plan.outcome = RouteOutcome::kNeedsMotionPlanning;
    plan.undrivable = UndrivableCorner{static_cast<uint32_t>(&corner - plan.corners.data()),
                                       corner.portal_index, corner.cause, kCannotTurnAtStop};
  }
}

PlanStatus CorridorPlanner::Check(const CorridorPlanRequest& request, Violations& violations) {
  return builder_.Build(request.corridor, request.limits, &corridor_, &violations)
             ? PlanStatus::kOk
             : PlanStatus::kInvalid;
}

// The points of the line without repetitions.
void CorridorPlanner::CollectPoints() {
  taut_.clear();
  taut_.push_back({path_.start, 0, false});
  for (const PathCorner& corner : path_.corners) {
    const bool fixed = corner.side == CornerSide::kPoint &&
                       corridor_.portals[corner.portal].kind != PortalKind::kEdge;
    if (corner.point == taut_.back().point) {
      taut_.back().portal = corner.portal;
      taut_.back().fixed |= fixed;
      continue;
    }
    taut_.push_back({corner.point, corner.portal, fixed});
  }
  if (path_.goal != taut_.back().point) {
    taut_.push_back({path_.goal, static_cast<uint32_t>(corridor_.portals.size()), false});
  }
  points_.clear();
  for (const TautPoint& taut : taut_) points_.push_back(taut.point);
}

// Whether the line from point i to the next is an off-mesh link.
bool CorridorPlanner::IsLink(size_t i) const {
  if (taut_[i].fixed) return corridor_.portals[taut_[i].portal].kind == PortalKind::kLinkEntry;
  // A corridor may begin on a link.
  return i == 0 && taut_[1].fixed && taut_[1].portal == 0 &&
         corridor_.portals[0].kind == PortalKind::kLinkExit;
}

// Lines between the points, with a stop and a turn at every corner.
void CorridorPlanner::AddStops(const CorridorPlanRequest& request, RoutePlan& plan) {
  const AgentProfile& agent = request.agent;
  std::vector<Segment>& segments = plan.route.segments;
  segments.clear();
  if (taut_.size() < 2) return;

  // Rows are made in place: copying what was only just written costs more than writing it.
  double distance = 0.0;
  double heading = Heading(points_[1] - points_[0]);
  for (size_t i = 0; i + 1 < taut_.size(); ++i) {
    Segment& line = segments.emplace_back();
    line.kind = IsLink(i) ? SegmentKind::kLink : SegmentKind::kLine;
    line.start = points_[i];
    line.end = points_[i + 1];
    line.length = Distance(points_[i], points_[i + 1]);
    line.heading = heading;
    distance += line.length;
    if (i + 2 == taut_.size()) break;

    const TautPoint& at = taut_[i + 1];
    const double next_heading = Heading(points_[i + 2] - points_[i + 1]);
    RouteCorner& corner = plan.corners.emplace_back();
    corner.position = at.point;
    corner.portal_index = at.portal;
    corner.height = PortalHeight(corridor_.portals[at.portal], at.point);
    corner.turn_angle = TurnBetween(points_[i], at.point, points_[i + 2], heading, next_heading);
    corner.distance = distance;
    if (std::abs(corner.turn_angle) <= agent.corner_angle_min) {
      corner.action = CornerAction::kPassed;
    } else {
      corner.action = CornerAction::kStop;
      corner.cause = at.fixed ? CornerCause::kLink : CornerCause::kNotRequested;
      Segment& turn = segments.emplace_back();
      turn.kind = SegmentKind::kTurn;
      turn.start = turn.end = at.point;
      turn.heading = heading;
      turn.turn_angle = corner.turn_angle;
      if (!agent.can_turn_in_place && plan.outcome != RouteOutcome::kNeedsMotionPlanning) {
        plan.outcome = RouteOutcome::kNeedsMotionPlanning;
        plan.undrivable = UndrivableCorner{static_cast<uint32_t>(plan.corners.size() - 1),
                                           at.portal, corner.cause, kCannotTurnAtStop};
      }
    }
    heading = next_heading;
  }
}

// Heights along the braking path, and whether it stays inside.
void CorridorPlanner::TraceBraking(RoutePlan& plan) {
  const BrakingTrace trace =
      TraceInCorridor(corridor_, plan.route.start, plan.route.end, &crossings_);
  plan.braking->inside_corridor = trace.inside;
  plan.route.surface.clear();
  SurfaceKnot knot;
  knot.height = corridor_.start_height;
  plan.route.surface.push_back(knot);
  const auto add = [&](double distance, double height, uint32_t portal) {
    const SurfaceKnot& last = plan.route.surface.back();
    SurfaceKnot next;
    next.distance = distance;
    next.height = height;
    next.portal = portal;
    next.surface_distance =
        last.surface_distance + std::hypot(distance - last.distance, height - last.height);
    plan.route.surface.push_back(next);
  };
  for (size_t i = 0; i < crossings_.size(); ++i) {
    add(crossings_[i].distance, PortalHeight(corridor_.portals[i], crossings_[i].point),
        static_cast<uint32_t>(i));
  }
  // Behind the last crossing the ground is not known better than at it.
  if (plan.route.length > plan.route.surface.back().distance) {
    add(plan.route.length, plan.route.surface.back().height,
        static_cast<uint32_t>(crossings_.size()));
  }
  plan.braking->rest_height = plan.route.surface.back().height;
}

}  // namespace arclane
