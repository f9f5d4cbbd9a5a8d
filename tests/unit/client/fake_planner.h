// SPDX-License-Identifier: Apache-2.0
// A planner service with answers made by hand, on a free port of the loopback interface.
#ifndef ARCLANE_TESTS_UNIT_CLIENT_FAKE_PLANNER_H_
#define ARCLANE_TESTS_UNIT_CLIENT_FAKE_PLANNER_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "arclane/v1/planner.grpc.pb.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/grpcpp.h"

namespace arclane::testing {

// A failed status with details, as an Arclane server makes them.
class StatusBuilder {
 public:
  StatusBuilder(grpc::StatusCode code, const std::string& message) {
    status_.set_code(code);
    status_.set_message(message);
  }
  StatusBuilder& Add(const google::protobuf::Message& detail) {
    status_.add_details()->PackFrom(detail);
    return *this;
  }
  StatusBuilder& Reason(const std::string& reason, const std::string& domain = "arclane") {
    google::rpc::ErrorInfo info;
    info.set_reason(reason);
    info.set_domain(domain);
    (*info.mutable_metadata())["limit"] = "max_samples";
    return Add(info);
  }
  StatusBuilder& Violation(const std::string& field, const std::string& description) {
    auto* violation = violations_.add_field_violations();
    violation->set_field(field);
    violation->set_description(description);
    return *this;
  }
  StatusBuilder& RetryAfter(int64_t seconds, int32_t nanos) {
    google::rpc::RetryInfo info;
    info.mutable_retry_delay()->set_seconds(seconds);
    info.mutable_retry_delay()->set_nanos(nanos);
    return Add(info);
  }
  grpc::Status Build() {
    if (violations_.field_violations_size() > 0) Add(violations_);
    return {static_cast<grpc::StatusCode>(status_.code()), status_.message(),
            status_.SerializeAsString()};
  }

 private:
  google::rpc::Status status_;
  google::rpc::BadRequest violations_;
};

class FakePlanner final : public v1::PathPlanner::Service {
 public:
  using PlanHandler = std::function<grpc::Status(
      grpc::ServerContext&, const v1::PlanCorridorRequest&, v1::PlanCorridorResponse&)>;

  FakePlanner() {
    grpc::EnableDefaultHealthCheckService(true);
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(this);
    server_ = builder.BuildAndStart();
    target_ = "127.0.0.1:" + std::to_string(port);
  }
  ~FakePlanner() override { Stop(); }

  using BatchHandler = std::function<grpc::Status(grpc::ServerWriter<v1::PlanBatchResponse>&)>;
  // How PlanBatch answers; set before the first call.
  void OnBatch(BatchHandler handler) { batch_handler_ = std::move(handler); }
  grpc::Status PlanBatch(grpc::ServerContext*, const v1::PlanBatchRequest*,
                         grpc::ServerWriter<v1::PlanBatchResponse>* writer) override {
    return batch_handler_(*writer);
  }
  // How PlanCorridor answers; set before the first call.
  void OnPlan(PlanHandler handler) { handler_ = std::move(handler); }
  void Stop() {
    if (server_ != nullptr) server_->Shutdown(std::chrono::system_clock::now());
    server_ = nullptr;
  }
  grpc::Server& server() { return *server_; }
  const std::string& target() const { return target_; }

  grpc::Status PlanCorridor(grpc::ServerContext* context, const v1::PlanCorridorRequest* request,
                            v1::PlanCorridorResponse* response) override {
    return handler_(*context, *request, *response);
  }
  // Answers made beforehand.
  v1::PlanWaypointsResponse waypoints_answer;
  v1::PlanSplineResponse spline_answer;
  v1::PlanSpeedResponse speed_answer;
  // The last request of PlanSpline; read it when no call is in flight.
  v1::PlanSplineRequest spline_request;

  grpc::Status PlanWaypoints(grpc::ServerContext*, const v1::PlanWaypointsRequest*,
                             v1::PlanWaypointsResponse* response) override {
    *response = waypoints_answer;
    return grpc::Status::OK;
  }
  grpc::Status PlanSpline(grpc::ServerContext*, const v1::PlanSplineRequest* request,
                          v1::PlanSplineResponse* response) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    spline_request = *request;
    *response = spline_answer;
    return grpc::Status::OK;
  }
  grpc::Status PlanSpeed(grpc::ServerContext*, const v1::PlanSpeedRequest*,
                         v1::PlanSpeedResponse* response) override {
    *response = speed_answer;
    return grpc::Status::OK;
  }
  grpc::Status GetLimits(grpc::ServerContext*, const v1::GetLimitsRequest*,
                         v1::GetLimitsResponse* response) override {
    response->set_max_receive_bytes(67108864);
    response->set_max_ping_bytes(4 << 20);
    response->set_max_samples(1000000);
    response->set_max_coordinate(1e12);
    return grpc::Status::OK;
  }
  grpc::Status Ping(grpc::ServerContext*, const v1::PingRequest* request,
                    v1::PingResponse* response) override {
    response->set_payload(std::string(request->response_size(), '\0'));
    return grpc::Status::OK;
  }
  grpc::Status PingStream(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<v1::PingStreamResponse, v1::PingStreamRequest>* stream) override {
    v1::PingStreamRequest request;
    while (stream->Read(&request)) {
      if (request.payload() == "fail") {
        return StatusBuilder(grpc::StatusCode::INVALID_ARGUMENT, "asked to fail")
            .Violation("payload", "must not be \"fail\"")
            .Build();
      }
      v1::PingStreamResponse response;
      response.set_payload(std::string(request.response_size(), '\0'));
      stream->Write(response);
    }
    return grpc::Status::OK;
  }

 private:
  BatchHandler batch_handler_;
  PlanHandler handler_ = [](grpc::ServerContext&, const v1::PlanCorridorRequest&,
                            v1::PlanCorridorResponse&) { return grpc::Status::OK; };
  std::mutex mutex_;
  std::unique_ptr<grpc::Server> server_;
  std::string target_;
};

}  // namespace arclane::testing

#endif  // ARCLANE_TESTS_UNIT_CLIENT_FAKE_PLANNER_H_
