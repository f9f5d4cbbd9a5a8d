// SPDX-License-Identifier: Apache-2.0
// A server on a free loopback port, and what tests of its answers need.
#ifndef ARCLANE_TESTS_INTEGRATION_SERVICE_HARNESS_H_
#define ARCLANE_TESTS_INTEGRATION_SERVICE_HARNESS_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "arclane/v1/planner.grpc.pb.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "server/service/server.h"
#include "server/service/service_labels.h"
#include "server/telemetry/metrics.h"

namespace arclane {

// Holds every plan on its planning thread, still counted as waiting, while closed.
class Gate {
 public:
  explicit Gate(bool open) : open_(open) {}
  void Open();
  void Wait();

 private:
  absl::Mutex mutex_;
  bool open_;
};

class TestServer {
 public:
  // A closed gate holds every plan until gate().Open().
  explicit TestServer(ServerOptions options = {}, bool gate_open = true);
  ~TestServer();  // Opens the gate.

  Server& server() { return *server_; }
  Gate& gate() { return gate_; }
  v1::PathPlanner::Stub& stub() { return *stub_; }
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  // A connection of its own, not shared with other channels.
  std::shared_ptr<grpc::Channel> NewChannel(grpc::ChannelArguments arguments = {}) const;

  // The value of a line of the metrics, such as arclane_queued_plans; NaN if there is none.
  double MetricValue(const std::string& series) const;
  // Waits until a metric has a value, at most 10 s; false when it never had.
  bool AwaitMetric(const std::string& series, double value) const;

 private:
  Metrics metrics_;
  Gate gate_;
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::PathPlanner::Stub> stub_;
};

struct ErrorDetails {
  std::optional<google::rpc::BadRequest> bad_request;
  std::optional<google::rpc::ErrorInfo> info;
  std::optional<google::rpc::RetryInfo> retry;
};
// Fails the test when details are not the standard ones or contradict the status.
ErrorDetails DetailsOf(const grpc::Status& status);
// The same of an item of a batch or a stream.
ErrorDetails DetailsOf(const google::rpc::Status& status);
// The fields that the details name, in their order.
std::vector<std::string> FieldsOf(const ErrorDetails& details);

// One PlanCorridor call on a thread of its own.
class AsyncPlan {
 public:
  AsyncPlan(v1::PathPlanner::Stub& stub, const v1::PlanCorridorRequest& request,
            std::optional<double> deadline_s = std::nullopt);
  ~AsyncPlan();                 // Cancels a call that was not awaited.
  const grpc::Status& Await();  // The call's end.
  void Cancel() { context_.TryCancel(); }
  std::string TrailingMetadata(const std::string& key) const;  // Empty if absent; after Await.
  const v1::PlanCorridorResponse& response() const { return response_; }

 private:
  grpc::ClientContext context_;
  v1::PlanCorridorResponse response_;
  std::optional<grpc::Status> status_;
  std::future<grpc::Status> future_;
};

// A small valid request: a straight corridor of two squares.
v1::PlanCorridorRequest SmallRequest();
// The same as an item of a batch or a stream, from another start.
v1::PlanItem SmallItem(double start_x = 0.5);

}  // namespace arclane

#endif  // ARCLANE_TESTS_INTEGRATION_SERVICE_HARNESS_H_
