// SPDX-License-Identifier: Apache-2.0
#include "server/service/route_follower_service.h"

#include "server/service/follow_stream.h"

namespace arclane {

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* RouteFollowerService::Follow(
    grpc::CallbackServerContext* context) {
  return StartFollowStream(environment_, *context);
}

}  // namespace arclane
