// SPDX-License-Identifier: Apache-2.0
#include "tests/deployment/follow_caller.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

constexpr uint32_t kRouteId = 1;
constexpr double kStepS = 1.0 / 30;
constexpr absl::Duration kLongestStep = absl::Seconds(5);
constexpr absl::Duration kReopenPause = absl::Milliseconds(20);

std::shared_ptr<grpc::Channel> ChannelTo(const std::string& target, const std::string& config) {
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(config);
  arguments.SetUserAgentPrefix("followers");
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 3000);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

v1::StreamRoute RouteOf(const v1::PlanCorridorRequest& request, const v1::Route& route) {
  v1::StreamRoute sent;
  sent.set_route_id(kRouteId);
  *sent.mutable_route() = route;
  *sent.mutable_agent() = request.agent();
  return sent;
}

void Append(double x, double y, v1::PointColumns& columns) {
  columns.add_x(x);
  columns.add_y(y);
  columns.add_z(0);
}

}  // namespace

FollowCaller::FollowCaller(const std::string& target, const std::string& service_config,
                           LoadOutcome& outcome)
    : stub_(v1::RouteFollower::NewStub(ChannelTo(target, service_config))), outcome_(outcome) {}

void FollowCaller::Open() {
  absl::MutexLock lock(&mutex_);
  context_ = std::make_unique<grpc::ClientContext>();
  if (stopped_) context_->TryCancel();
  stream_ = stub_->Follow(context_.get());
  has_route_ = false;
}

bool FollowCaller::IsStopped() {
  absl::MutexLock lock(&mutex_);
  return stopped_;
}

std::optional<v1::FollowResponse> FollowCaller::Exchange(v1::FollowRequest message,
                                                         const v1::StreamRoute& route) {
  const absl::Time begin = absl::Now();
  while (true) {
    if (stream_ == nullptr) Open();
    message.clear_routes();
    if (!has_route_) *message.add_routes() = route;
    v1::FollowResponse answer;
    bool is_answered = stream_->Write(message) && stream_->Read(&answer);
    // What the server tells by itself, such as that the stream is about to end.
    while (is_answered && answer.pushed()) is_answered = stream_->Read(&answer);
    if (is_answered) {
      has_route_ = true;
      outcome_.Called(absl::Now() - begin);
      return answer;
    }
    // The status comes behind the last message, which a write that failed has not read.
    while (stream_->Read(&answer)) {
    }
    const grpc::Status status = stream_->Finish();
    stream_.reset();
    if (IsStopped()) return std::nullopt;
    const bool announced = status.error_code() == grpc::StatusCode::UNAVAILABLE;
    // What a proxy makes of a stream that the server ends while the client sends.
    const bool reset = status.error_code() == grpc::StatusCode::CANCELLED ||
                       status.error_code() == grpc::StatusCode::UNKNOWN;
    if (!(announced || reset) || absl::Now() - begin > kLongestStep) {
      outcome_.Failed(absl::StrCat("status ", status.error_code(), ": ", status.error_message()));
      outcome_.Called(absl::Now() - begin);
      return std::nullopt;
    }
    if (reset) outcome_.Reset();
    if (has_route_) outcome_.Reopened();
    absl::SleepFor(kReopenPause);
  }
}

void FollowCaller::FollowUntil(const std::stop_token& stop, const v1::PlanCorridorRequest& request,
                               const v1::Route& route, absl::Duration pause) {
  const v1::StreamRoute sent = RouteOf(request, route);
  double x = request.start().x();
  double y = request.start().y();
  // A stream that waits for a server, or an answer, ends with the load.
  const std::stop_callback on_stop(stop, [this] {
    absl::MutexLock lock(&mutex_);
    stopped_ = true;
    if (context_ != nullptr) context_->TryCancel();
  });
  v1::FollowRequest message;
  message.set_dt_s(kStepS);
  uint64_t agent = 1;
  double velocity_x = 0;
  double velocity_y = 0;
  double heading = 0;
  double distance = 0;
  for (int64_t step = 0; !stop.stop_requested(); ++step) {
    message.set_time_s(static_cast<double>(step) * kStepS);
    v1::AgentColumns& agents = *message.mutable_agents();
    agents.Clear();
    agents.add_agent_id(agent);
    agents.add_route_id(kRouteId);
    Append(x, y, *agents.mutable_position());
    Append(velocity_x, velocity_y, *agents.mutable_velocity());
    agents.add_heading_rad(heading);
    agents.add_resume_distance(distance);
    const auto answer = Exchange(message, sent);
    if (!answer) continue;
    message.clear_dropped_agent_ids();
    const v1::MotionColumns& motions = answer->motions();
    if (motions.status_size() != 1 || motions.status(0) == v1::FOLLOW_STATUS_BAD_INPUT) {
      outcome_.Failed("an answer that is no step");
      continue;
    }
    velocity_x = motions.velocity().x(0);
    velocity_y = motions.velocity().y(0);
    x += velocity_x * kStepS;
    y += velocity_y * kStepS;
    heading = motions.heading_rad(0);
    distance = motions.distance(0);
    if (motions.status(0) == v1::FOLLOW_STATUS_ARRIVED) {
      // A new agent sets out.
      message.add_dropped_agent_ids(agent++);
      x = request.start().x();
      y = request.start().y();
      velocity_x = velocity_y = heading = distance = 0;
    }
    absl::SleepFor(pause);
  }
  if (stream_ == nullptr) return;
  context_->TryCancel();
  (void)stream_->Finish();
}

}  // namespace arclane
