// SPDX-License-Identifier: Apache-2.0
// arclane.v1.RouteFollower by gRPC's callback API.
#ifndef ARCLANE_SERVER_SERVICE_ROUTE_FOLLOWER_SERVICE_H_
#define ARCLANE_SERVER_SERVICE_ROUTE_FOLLOWER_SERVICE_H_

#include "arclane/v1/follow.grpc.pb.h"
#include "server/service/service_environment.h"

namespace arclane {

class RouteFollowerService final
    : public v1::RouteFollower::WithRawCallbackMethod_Follow<v1::RouteFollower::Service> {
 public:
  explicit RouteFollowerService(ServiceEnvironment environment) : environment_(environment) {}

  // A message is answered on the network thread that received it: a tick of 1,000 agents takes less
  // time than a hop to another thread and back would add to it. Large ones are answered on a
  // planning thread.
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* Follow(
      grpc::CallbackServerContext* context) override;

 private:
  ServiceEnvironment environment_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_ROUTE_FOLLOWER_SERVICE_H_
