// SPDX-License-Identifier: Apache-2.0
// An agent that is driven over a Follow stream, as a game server in another language would.
#ifndef ARCLANE_TESTS_DEPLOYMENT_FOLLOW_CALLER_H_
#define ARCLANE_TESTS_DEPLOYMENT_FOLLOW_CALLER_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "arclane/v1/follow.grpc.pb.h"
#include "arclane/v1/planner.pb.h"
#include "tests/deployment/load_outcome.h"

namespace arclane {

class FollowCaller {
 public:
  // `outcome` outlives the caller.
  FollowCaller(const std::string& target, const std::string& service_config, LoadOutcome& outcome);

  // Drives one agent along the route, again and again. A stream that ends with UNAVAILABLE, or is
  // reset, is opened again and the same step sent again; an answer that is no step, a step that no
  // stream answers for 5 s and every other end is a failure.
  void FollowUntil(const std::stop_token& stop, const v1::PlanCorridorRequest& request,
                   const v1::Route& route, absl::Duration pause);

 private:
  using Stream = grpc::ClientReaderWriter<v1::FollowRequest, v1::FollowResponse>;
  // The answer, from as many streams as it takes.
  std::optional<v1::FollowResponse> Exchange(v1::FollowRequest message,
                                             const v1::StreamRoute& route);
  void Open();
  bool IsStopped();

  const std::unique_ptr<v1::RouteFollower::Stub> stub_;
  LoadOutcome& outcome_;
  absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<grpc::ClientContext> context_;  // Replaced under the mutex.
  std::unique_ptr<Stream> stream_;
  bool has_route_ = false;
};

}  // namespace arclane

#endif  // ARCLANE_TESTS_DEPLOYMENT_FOLLOW_CALLER_H_
