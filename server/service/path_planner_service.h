// SPDX-License-Identifier: Apache-2.0
// arclane.v1.PathPlanner by gRPC's callback API. Plan methods and pings take raw bytes: what is
// refused is not parsed.
#ifndef ARCLANE_SERVER_SERVICE_PATH_PLANNER_SERVICE_H_
#define ARCLANE_SERVER_SERVICE_PATH_PLANNER_SERVICE_H_

#include "arclane/v1/planner.grpc.pb.h"
#include "server/service/service_environment.h"

namespace arclane {

// A method that is not overridden answers UNIMPLEMENTED. None is left to the synchronous API, whose
// threads would be started for it.
using PathPlannerMethods = v1::PathPlanner::WithRawCallbackMethod_PlanCorridor<
    v1::PathPlanner::WithRawCallbackMethod_PlanWaypoints<
        v1::PathPlanner::WithRawCallbackMethod_PlanSpline<
            v1::PathPlanner::WithRawCallbackMethod_PlanSpeed<
                v1::PathPlanner::WithCallbackMethod_GetLimits<
                    v1::PathPlanner::WithRawCallbackMethod_Ping<
                        v1::PathPlanner::WithRawCallbackMethod_PingStream<
                            v1::PathPlanner::WithRawCallbackMethod_PlanBatch<
                                v1::PathPlanner::WithRawCallbackMethod_PlanStream<
                                    v1::PathPlanner::Service>>>>>>>>>;

class PathPlannerService final : public PathPlannerMethods {
 public:
  explicit PathPlannerService(ServiceEnvironment environment) : environment_(environment) {}

  grpc::ServerUnaryReactor* PlanCorridor(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* PlanSpeed(grpc::CallbackServerContext* context,
                                      const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* PlanWaypoints(grpc::CallbackServerContext* context,
                                          const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* PlanSpline(grpc::CallbackServerContext* context,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* PlanBatch(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* PlanStream(
      grpc::CallbackServerContext* context) override;
  grpc::ServerUnaryReactor* GetLimits(grpc::CallbackServerContext* context,
                                      const v1::GetLimitsRequest* request,
                                      v1::GetLimitsResponse* response) override;
  grpc::ServerUnaryReactor* Ping(grpc::CallbackServerContext* context,
                                 const grpc::ByteBuffer* request,
                                 grpc::ByteBuffer* response) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* PingStream(
      grpc::CallbackServerContext* context) override;

 private:
  ServiceEnvironment environment_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_PATH_PLANNER_SERVICE_H_
