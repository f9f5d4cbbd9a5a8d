// SPDX-License-Identifier: Apache-2.0
// Ports that are taken, and the orderly end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"

#include "tests/integration/service_harness.h"

namespace arclane {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

TEST(ServiceStartTest, ATakenPortIsAnErrorThatNamesIt) {
  TestServer first;
  Metrics metrics(CurrentBuild(), ServiceLabels());
  ServerOptions options;
  options.addresses = {"127.0.0.1:0", first.server().addresses()[0]};
  const auto second = Server::Start(options, metrics);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(std::string(second.status().message()),
            "cannot listen on " + first.server().addresses()[0] + ": Address already in use");
  EXPECT_TRUE(AsyncPlan(first.stub(), SmallRequest()).Await().ok());
}

TEST(ServiceStartTest, AnAddressThatCannotBeIsAnErrorThatNamesIt) {
  Metrics metrics(CurrentBuild(), ServiceLabels());
  ServerOptions options;
  options.addresses = {"192.0.2.1:0"};  // Reserved for documentation: never this machine's.
  const auto server = Server::Start(options, metrics);
  EXPECT_THAT(std::string(server.status().message()), HasSubstr("cannot listen on 192.0.2.1:0: "));
}

TEST(ServiceStartTest, ListensOnSeveralAddresses) {
  const std::string socket =
      "unix:" + ::testing::TempDir() + "arclane_service_test_" + std::to_string(getpid());
  ServerOptions options;
  options.addresses = {socket, "127.0.0.1:0"};
  TestServer server(options);
  ASSERT_EQ(server.server().addresses().size(), 2u);
  EXPECT_EQ(server.server().addresses()[0], socket);
  EXPECT_THAT(server.server().addresses()[1], ::testing::Not(::testing::EndsWith(":0")));
  EXPECT_TRUE(AsyncPlan(server.stub(), SmallRequest()).Await().ok());
}

TEST(ServiceShutdownTest, CallsThatWereAcceptedAreAnswered) {
  ServerOptions options;
  options.planner_threads = 1;
  TestServer server(options, /*gate_open=*/false);
  std::vector<std::unique_ptr<AsyncPlan>> plans;
  for (int i = 1; i <= 20; ++i)
    plans.push_back(std::make_unique<AsyncPlan>(server.stub(), SmallRequest()));
  ASSERT_TRUE(server.AwaitMetric("arclane_queued_plans", 20));
  auto ended =
      std::async(std::launch::async, [&server] { return server.server().Shutdown(0, 30); });
  ASSERT_TRUE(server.AwaitMetric("arclane_serving", 0));
  EXPECT_EQ(ended.wait_for(std::chrono::milliseconds(100)), std::future_status::timeout);
  server.gate().Open();
  EXPECT_TRUE(ended.get());
  for (const auto& plan : plans) EXPECT_TRUE(plan->Await().ok()) << plan->Await().error_message();
}

// Clients that call without a pause, each over its own connection, until a call fails.
class BusyClients {
 public:
  BusyClients(TestServer& server, int count, const grpc::ChannelArguments& arguments) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, channel = server.NewChannel(arguments)] {
        const auto stub = v1::PathPlanner::NewStub(channel);
        while (true) {
          grpc::ClientContext context;
          v1::PlanCorridorResponse response;
          const grpc::Status status = stub->PlanCorridor(&context, SmallRequest(), &response);
          if (!status.ok()) {
            absl::MutexLock lock(&mutex_);
            last_codes_.push_back(status.error_code());
            return;
          }
          ++answered_;
        }
      });
    }
    while (answered_ < 100 * count) std::this_thread::yield();
  }
  // How each client's last call failed, once all have.
  std::vector<grpc::StatusCode> AwaitEnd() {
    for (std::thread& thread : threads_) thread.join();
    absl::MutexLock lock(&mutex_);
    return last_codes_;
  }
  int answered() const { return answered_; }

 private:
  std::atomic<int> answered_{0};
  absl::Mutex mutex_;
  std::vector<grpc::StatusCode> last_codes_;
  std::vector<std::thread> threads_;
};

void ExpectAllAcceptedWereAnswered(const TestServer& server, int answered) {
  double ended = 0;
  for (const char* code :
       {"OK", "CANCELLED", "UNAVAILABLE", "DEADLINE_EXCEEDED", "INTERNAL", "RESOURCE_EXHAUSTED"}) {
    ended += server.MetricValue(std::string("arclane_calls_total{code=\"") + code +
                                "\",method=\"PlanCorridor\"}");
  }
  EXPECT_EQ(server.MetricValue("arclane_calls_total{code=\"OK\",method=\"PlanCorridor\"}"),
            answered)
      << "an answer was lost on its way";
  EXPECT_EQ(ended, answered) << "a call that was accepted failed";
  EXPECT_EQ(server.MetricValue("arclane_calls_in_flight{method=\"PlanCorridor\"}"), 0);
}

TEST(ServiceShutdownTest, UnderLoadNoAcceptedCallFails) {
  TestServer server;
  BusyClients clients(server, 6, {});
  EXPECT_TRUE(server.server().Shutdown(0, 30));
  // A call that reaches the transport while it closes was not accepted; gRPC resets it.
  for (const grpc::StatusCode code : clients.AwaitEnd()) {
    EXPECT_THAT(code, AnyOf(grpc::StatusCode::UNAVAILABLE, grpc::StatusCode::CANCELLED));
  }
  ExpectAllAcceptedWereAnswered(server, clients.answered());
}

TEST(ServiceShutdownTest, ClientsThatWatchHealthStopCallingBeforeThePortCloses) {
  TestServer server;
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(
      R"({"loadBalancingConfig":[{"round_robin":{}}],"healthCheckConfig":{"serviceName":"arclane.v1.PathPlanner"}})");
  BusyClients clients(server, 6, arguments);
  EXPECT_TRUE(server.server().Shutdown(/*delay_s=*/1, 30));
  for (const grpc::StatusCode code : clients.AwaitEnd())
    EXPECT_EQ(code, grpc::StatusCode::UNAVAILABLE);
  ExpectAllAcceptedWereAnswered(server, clients.answered());
}

TEST(ServiceShutdownTest, AHeldCallIsCancelledAtTheTimeout) {
  ServerOptions options;
  options.planner_threads = 1;
  TestServer server(options, /*gate_open=*/false);
  AsyncPlan held(server.stub(), SmallRequest());
  ASSERT_TRUE(server.AwaitMetric("arclane_queued_plans", 1));
  EXPECT_FALSE(server.server().Shutdown(0, 0.2));
  EXPECT_FALSE(held.Await().ok());
}

TEST(ServiceShutdownTest, AnIdleStreamIsEndedAndHoldsNothingUp) {
  TestServer server;
  grpc::ClientContext context;
  auto stream = server.stub().PingStream(&context);
  ASSERT_TRUE(stream->Write({}));
  v1::PingStreamResponse response;
  ASSERT_TRUE(stream->Read(&response));
  EXPECT_TRUE(server.server().Shutdown(0, 60));
  EXPECT_FALSE(stream->Read(&response));
  const grpc::Status status = stream->Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(DetailsOf(status).info->reason(), "DRAINING");
}

TEST(ServiceShutdownTest, BusyStreamsAreEndedBetweenMessages) {
  TestServer server;
  std::vector<std::thread> clients;
  clients.reserve(4);
  std::atomic<int> started{0};
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      const auto stub = v1::PathPlanner::NewStub(server.NewChannel());
      grpc::ClientContext context;
      auto stream = stub->PingStream(&context);
      v1::PingStreamRequest request;
      request.set_response_size(100);
      v1::PingStreamResponse response;
      bool counted = false;
      while (stream->Write(request) && stream->Read(&response)) {
        EXPECT_EQ(response.payload().size(), 100u);
        if (!counted) ++started;
        counted = true;
      }
      const grpc::Status status = stream->Finish();
      EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
      EXPECT_EQ(DetailsOf(status).info->reason(), "DRAINING");
    });
  }
  while (started < 4) std::this_thread::yield();
  EXPECT_TRUE(server.server().Shutdown(0, 60));
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(server.MetricValue("arclane_calls_in_flight{method=\"PingStream\"}"), 0);
}

TEST(ServiceShutdownTest, DestructionWithoutShutdownIsClean) {
  TestServer server;
  AsyncPlan plan(server.stub(), SmallRequest());
  EXPECT_TRUE(plan.Await().ok());
}

}  // namespace
}  // namespace arclane
