// SPDX-License-Identifier: Apache-2.0
#include "client/cli/follow_simulation.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/planning/follow/speed_ceiling.h"

namespace arclane {
namespace {

// Normal deviates that are the same on every platform: SplitMix64 (Steele, Lea, Flood, "Fast
// Splittable Pseudorandom Number Generators", OOPSLA 2014) and the Box-Muller transform.
class NormalDeviates {
 public:
  explicit NormalDeviates(uint64_t seed) : state_(seed) {}
  Vec2 Next() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
    return UnitVector(2.0 * std::numbers::pi * Uniform()) * radius;
  }

 private:
  double Uniform() {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  uint64_t state_;
};

class Simulation {
 public:
  Simulation(std::shared_ptr<const FollowedRoute> route, const FollowScenario& scenario)
      : route_(std::move(route)),
        scenario_(scenario),
        follower_(route_, scenario.options, 0.0,
                  FollowPlane(route_->frame).PositionFromPlane(route_->route.start)),
        feed_(std::numeric_limits<double>::infinity()),
        noise_(scenario.seed),
        position_(route_->route.start) {
    feed_.Heartbeat(0.0);
    const auto& segments = route_->route.segments;
    if (!segments.empty()) heading_ = segments.front().heading;
  }

  FollowRun Run() {
    while (time_s_ <= scenario_.most_s) {
      if (Step()) {
        run_.rests = true;
        break;
      }
    }
    return std::move(run_);
  }

 private:
  // True when the agent rests for good.
  bool Step() {
    for (const GateClosing& gate : scenario_.gates) {
      if (gate.time_s > time_s_ || gate.time_s <= time_s_ - scenario_.dt_s) continue;
      feed_.Set({v1::DEPENDENCY_KIND_GATE, gate.gate_id}, DependencyState::kGateClosed, time_s_);
      Mark(absl::StrCat("gate ", gate.gate_id, " closes"));
    }
    FollowInput input;
    input.report.time_s = time_s_;
    input.report.dt = scenario_.dt_s;
    input.report.position = position_;
    if (scenario_.position_noise > 0.0) {
      input.report.position = position_ + noise_.Next() * scenario_.position_noise;
    }
    input.report.velocity = velocity_;
    input.report.heading = heading_;
    input.report.displacement = displacement_;
    input.cancel = time_s_ >= scenario_.cancel_s;
    const MotionRequest& request = follower_.Step(input, &feed_);
    Record(request);
    Move(request.preferred_velocity);
    heading_ = request.heading;
    time_s_ += scenario_.dt_s;
    return IsFinal(request) && velocity_ == Vec2{} && request.preferred_velocity == Vec2{};
  }

  static bool IsFinal(const MotionRequest& request) {
    switch (request.status) {
      case FollowStatus::kArrived:
      case FollowStatus::kArrivedPartial:
      case FollowStatus::kStale:
      case FollowStatus::kOffRoute:
      case FollowStatus::kCancelled:
      case FollowStatus::kBadInput:
        return true;
      default:
        return request.stale;
    }
  }

  void Move(Vec2 command) {
    Vec2 acting = command;
    switch (scenario_.options.integrator) {
      case Integrator::kHold:
        displacement_ = command * scenario_.dt_s;
        break;
      case Integrator::kRamp:
        displacement_ = (velocity_ + command) * 0.5 * scenario_.dt_s;
        break;
      case Integrator::kDelay:
        acting = late_;
        displacement_ = acting * scenario_.dt_s;
        late_ = command;
        break;
    }
    velocity_ = acting;
    position_ = position_ + displacement_;
  }

  PlanePoint Here() const {
    const Vec2 p = position_ + route_->frame.origin.plan;
    return {p.x, p.y};
  }

  void Mark(std::string text) { run_.track.events.push_back({time_s_, Here(), std::move(text)}); }

  void Record(const MotionRequest& request) {
    if (run_.rows.empty() || run_.end != request.status) {
      // Each status once: noise can make two of them alternate.
      const uint32_t bit = uint32_t{1} << static_cast<int>(request.status);
      if (!run_.rows.empty() && (marked_ & bit) == 0) Mark(FollowStatusName(request.status));
      marked_ |= bit;
      run_.end = request.status;
    }
    FollowLogRow row;
    row.time_s = time_s_;
    row.status = request.status;
    row.distance = request.distance;
    row.deviation = request.deviation;
    row.speed = Norm(velocity_);
    row.ceiling = CeilingAt(route_->route, request.distance);
    row.distance_to_stop = request.distance_to_stop;
    row.overrun = request.overrun;
    row.portal = request.portal;
    run_.rows.push_back(row);
    run_.track.points.push_back({time_s_, Here(), row.speed, row.ceiling});
  }

  std::shared_ptr<const FollowedRoute> route_;
  const FollowScenario& scenario_;
  Follower follower_;
  ReadSetFeed feed_;
  NormalDeviates noise_;
  FollowRun run_;
  Vec2 position_, velocity_, displacement_, late_;
  double heading_ = 0.0;
  double time_s_ = 0.0;
  uint32_t marked_ = 0;  // Statuses that the track has a mark for, as bits.
};

}  // namespace

const char* FollowStatusName(FollowStatus status) {
  switch (status) {
    case FollowStatus::kFollowing:
      return "FOLLOWING";
    case FollowStatus::kTurning:
      return "TURNING";
    case FollowStatus::kArrived:
      return "ARRIVED";
    case FollowStatus::kArrivedPartial:
      return "ARRIVED_PARTIAL";
    case FollowStatus::kStale:
      return "STALE";
    case FollowStatus::kCannotStopInTime:
      return "CANNOT_STOP_IN_TIME";
    case FollowStatus::kOffRoute:
      return "OFF_ROUTE";
    case FollowStatus::kWaiting:
      return "WAITING";
    case FollowStatus::kBlocked:
      return "BLOCKED";
    case FollowStatus::kCancelled:
      return "CANCELLED";
    case FollowStatus::kBadInput:
      break;
  }
  return "BAD_INPUT";
}

FollowRun SimulateFollowing(std::shared_ptr<const FollowedRoute> route,
                            const FollowScenario& scenario) {
  return Simulation(std::move(route), scenario).Run();
}

}  // namespace arclane
