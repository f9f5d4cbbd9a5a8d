// SPDX-License-Identifier: Apache-2.0
#include "client/sdk/client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>

#include "absl/synchronization/notification.h"
#include "tests/unit/client/fake_planner.h"
#include "tests/unit/client/plan_examples.h"

namespace arclane {
namespace {

using testing::FakePlanner;
using testing::StatusBuilder;

std::unique_ptr<Client> ClientFor(const std::string& target,
                                  absl::Duration deadline = absl::Seconds(20)) {
  ClientOptions options;
  options.target = target;
  options.deadline = deadline;
  auto client = Client::Create(options);
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

// Waits until the caller has gone away.
grpc::Status WaitForCancellation(grpc::ServerContext& context) {
  while (!context.IsCancelled()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return grpc::Status::CANCELLED;
}

TEST(ClientTest, RefusesOptionsThatCannotWork) {
  const auto code = [](auto change) {
    ClientOptions options;
    change(options);
    return Client::Create(options).status().code();
  };
  const auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code([](ClientOptions&) {}), absl::StatusCode::kOk);
  EXPECT_EQ(code([](ClientOptions& o) { o.target = ""; }), kInvalid);
  EXPECT_EQ(code([](ClientOptions& o) { o.deadline = absl::ZeroDuration(); }), kInvalid);
  EXPECT_EQ(code([](ClientOptions& o) { o.service_config_json = "{"; }), kInvalid);
  EXPECT_EQ(code([](ClientOptions& o) { o.max_message_bytes = 0; }), kInvalid);
  EXPECT_EQ(code([](ClientOptions& o) { o.keepalive_time = -absl::Seconds(1); }), kInvalid);
}

TEST(ClientTest, ReturnsTheAnswer) {
  FakePlanner planner;
  planner.OnPlan([](grpc::ServerContext&, const v1::PlanCorridorRequest& request,
                    v1::PlanCorridorResponse& response) {
    response = testing::RoundedPlan().response;
    response.mutable_route()->set_start_shift(request.start().x());
    return grpc::Status::OK;
  });
  v1::PlanCorridorRequest request;
  request.mutable_start()->set_x(0.25);
  const auto answer = ClientFor(planner.target())->PlanCorridor(request);
  ASSERT_TRUE(answer.ok()) << answer.error();
  EXPECT_EQ(answer->route().start_shift(), 0.25);
  EXPECT_EQ(answer->route().segments().kind_size(), 5);
}

TEST(ClientTest, ReturnsEveryViolation) {
  FakePlanner planner;
  planner.OnPlan([](auto&&...) {
    return StatusBuilder(grpc::StatusCode::INVALID_ARGUMENT, "2 invalid fields")
        .Reason("INVALID_FIELD")
        .Violation("start.x", "must be finite")
        .Violation("goal.y", "must be finite")
        .Build();
  });
  const auto answer = ClientFor(planner.target())->PlanCorridor({});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(answer.error().violations.size(), 2u);
  EXPECT_EQ(answer.error().reason, "INVALID_FIELD");
}

TEST(ClientTest, EndsAtTheDeadline) {
  FakePlanner planner;
  planner.OnPlan(
      [](grpc::ServerContext& context, auto&&...) { return WaitForCancellation(context); });
  const auto answer = ClientFor(planner.target(), absl::Milliseconds(50))->PlanCorridor({});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, absl::StatusCode::kDeadlineExceeded);
}

TEST(ClientTest, CallOptionsReplaceTheDeadline) {
  FakePlanner planner;
  planner.OnPlan([](grpc::ServerContext& context, auto&&...) {
    const auto left = context.deadline() - std::chrono::system_clock::now();
    return left > std::chrono::minutes(1) ? grpc::Status::OK : grpc::Status::CANCELLED;
  });
  CallOptions options;
  options.deadline = absl::Minutes(2);
  EXPECT_TRUE(ClientFor(planner.target(), absl::Seconds(30))->PlanCorridor({}, options).ok());
}

TEST(ClientTest, SendsMetadata) {
  FakePlanner planner;
  planner.OnPlan([](grpc::ServerContext& context, auto&&...) {
    const auto& metadata = context.client_metadata();
    const auto found = metadata.find("x-match-id");
    return found != metadata.end() && found->second == "m7" ? grpc::Status::OK
                                                            : grpc::Status::CANCELLED;
  });
  CallOptions options;
  options.metadata = {{"x-match-id", "m7"}};
  EXPECT_TRUE(ClientFor(planner.target())->PlanCorridor({}, options).ok());
}

// Sheds the first call with the given push-back and answers the second.
FakePlanner::PlanHandler ShedOnce(std::atomic<int>& attempts, const char* push_back_ms) {
  return [&attempts, push_back_ms](grpc::ServerContext& context, auto&&...) {
    if (++attempts > 1) return grpc::Status::OK;
    context.AddTrailingMetadata("grpc-retry-pushback-ms", push_back_ms);
    return StatusBuilder(grpc::StatusCode::RESOURCE_EXHAUSTED, "busy").Reason("QUEUE_FULL").Build();
  };
}

TEST(ClientTest, PushBackReplacesTheBackOff) {
  FakePlanner planner;
  std::atomic<int> attempts = 0;
  planner.OnPlan(ShedOnce(attempts, "1"));
  ClientOptions options;
  options.target = planner.target();
  options.deadline = absl::Seconds(30);
  // With this back-off alone the call would not be tried again before its deadline.
  options.service_config_json = R"({"methodConfig": [{"name": [{}], "retryPolicy": {
      "maxAttempts": 2, "initialBackoff": "3600s", "maxBackoff": "3600s", "backoffMultiplier": 1,
      "retryableStatusCodes": ["RESOURCE_EXHAUSTED"]}}]})";
  const auto client = Client::Create(options);
  ASSERT_TRUE(client.ok()) << client.status();
  EXPECT_TRUE((*client)->PlanCorridor({}).ok());
  EXPECT_EQ(attempts, 2);
}

TEST(ClientTest, PushBackIsWaitedFor) {
  FakePlanner planner;
  std::atomic<int> attempts = 0;
  planner.OnPlan(ShedOnce(attempts, "3600000"));
  const auto answer = ClientFor(planner.target(), absl::Milliseconds(500))->PlanCorridor({});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(attempts, 1);
}

TEST(ClientTest, DoesNotRetryWhenThePushBackForbidsIt) {
  FakePlanner planner;
  std::atomic<int> attempts = 0;
  planner.OnPlan([&](grpc::ServerContext& context, auto&&...) {
    ++attempts;
    context.AddTrailingMetadata("grpc-retry-pushback-ms", "-1");
    return StatusBuilder(grpc::StatusCode::RESOURCE_EXHAUSTED, "too large")
        .Reason("TOO_LARGE")
        .Build();
  });
  const auto answer = ClientFor(planner.target())->PlanCorridor({});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().reason, "TOO_LARGE");
  EXPECT_EQ(attempts, 1);
}

TEST(ClientTest, DoesNotRetryARequestThatIsWrong) {
  FakePlanner planner;
  std::atomic<int> attempts = 0;
  planner.OnPlan([&](auto&&...) {
    ++attempts;
    return grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "wrong");
  });
  EXPECT_FALSE(ClientFor(planner.target())->PlanCorridor({}).ok());
  EXPECT_EQ(attempts, 1);
}

TEST(ClientTest, ABatchWhoseStreamBreaksIsAskedAgain) {
  FakePlanner planner;
  std::atomic<int> attempts = 0;
  planner.OnBatch([&](grpc::ServerWriter<v1::PlanBatchResponse>& writer) {
    // Broken before and behind the first message, as proxies do, then whole.
    const int attempt = ++attempts;
    v1::PlanBatchResponse response;
    response.add_answers()->mutable_status()->set_code(3);
    if (attempt > 1) writer.Write(response);
    if (attempt < 3) {
      return grpc::Status(attempt == 1 ? grpc::StatusCode::INTERNAL : grpc::StatusCode::UNAVAILABLE,
                          "Received RST_STREAM with error code 0");
    }
    response.set_first_index(1);
    writer.Write(response);
    return grpc::Status::OK;
  });
  const auto answers = ClientFor(planner.target())->PlanBatch({});
  ASSERT_TRUE(answers.ok()) << answers.error().message;
  EXPECT_EQ(answers->size(), 2u);
  EXPECT_EQ(attempts, 3);
}

TEST(ClientTest, ABatchThatTheServerFailsIsNotAskedAgain) {
  FakePlanner planner;
  std::atomic<int> attempts = 0;
  planner.OnBatch([&](grpc::ServerWriter<v1::PlanBatchResponse>&) {
    ++attempts;
    return StatusBuilder(grpc::StatusCode::INTERNAL, "a defect").Reason("INTERNAL").Build();
  });
  const auto answers = ClientFor(planner.target())->PlanBatch({});
  ASSERT_FALSE(answers.ok());
  EXPECT_EQ(answers.error().code, absl::StatusCode::kInternal);
  EXPECT_EQ(attempts, 1);
}

TEST(ClientTest, GivesUpAfterTheAttemptsOfTheServiceConfig) {
  FakePlanner planner;
  std::atomic<int> attempts = 0;
  planner.OnPlan([&](auto&&...) {
    ++attempts;
    return grpc::Status(grpc::StatusCode::UNAVAILABLE, "draining");
  });
  const auto answer = ClientFor(planner.target())->PlanCorridor({});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, absl::StatusCode::kUnavailable);
  EXPECT_EQ(attempts, 4);
}

TEST(ClientTest, IsUnavailableWithoutAServer) {
  FakePlanner planner;
  const std::string target = planner.target();
  planner.Stop();
  const auto client = ClientFor(target);
  const auto answer = client->PlanCorridor({});
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, absl::StatusCode::kUnavailable);
  EXPECT_TRUE(answer.error().reason.empty());
  const auto health = client->CheckHealth();
  ASSERT_FALSE(health.ok());
  EXPECT_EQ(health.error().code, absl::StatusCode::kUnavailable);
}

TEST(ClientTest, StopRequestCancelsABlockingCall) {
  FakePlanner planner;
  absl::Notification reached;
  planner.OnPlan([&](grpc::ServerContext& context, auto&&...) {
    reached.Notify();
    return WaitForCancellation(context);
  });
  std::stop_source source;
  std::thread stopper([&] {
    reached.WaitForNotification();
    source.request_stop();
  });
  CallOptions options;
  options.stop = source.get_token();
  const auto answer = ClientFor(planner.target())->PlanCorridor({}, options);
  stopper.join();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, absl::StatusCode::kCancelled);
}

TEST(ClientTest, StopRequestBeforeTheCallCancelsIt) {
  FakePlanner planner;
  std::stop_source source;
  source.request_stop();
  CallOptions options;
  options.stop = source.get_token();
  const auto client = ClientFor(planner.target());
  const auto answer = client->PlanCorridor({}, options);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, absl::StatusCode::kCancelled);
  std::promise<absl::StatusCode> code;
  client->PlanCorridorAsync({}, options, [&](Result<v1::PlanCorridorResponse> result) {
    code.set_value(result.ok() ? absl::StatusCode::kOk : result.error().code);
  });
  EXPECT_EQ(code.get_future().get(), absl::StatusCode::kCancelled);
}

TEST(ClientTest, AsyncCallsAreAllAnswered) {
  FakePlanner planner;
  planner.OnPlan([](grpc::ServerContext&, const v1::PlanCorridorRequest& request,
                    v1::PlanCorridorResponse& response) {
    response.mutable_route()->set_length(request.start().x());
    return grpc::Status::OK;
  });
  constexpr int kCalls = 200;
  std::latch answered(kCalls);
  std::atomic<int> right = 0;
  const auto client = ClientFor(planner.target());
  for (int i = 0; i < kCalls; ++i) {
    v1::PlanCorridorRequest request;
    request.mutable_start()->set_x(i);
    client->PlanCorridorAsync(std::move(request), {},
                              [&, i](Result<v1::PlanCorridorResponse> result) {
                                if (result.ok() && result->route().length() == i) ++right;
                                answered.count_down();
                              });
  }
  answered.wait();
  EXPECT_EQ(right, kCalls);
}

TEST(ClientTest, StopRequestCancelsAnAsyncCall) {
  FakePlanner planner;
  absl::Notification reached;
  planner.OnPlan([&](grpc::ServerContext& context, auto&&...) {
    reached.Notify();
    return WaitForCancellation(context);
  });
  const auto client = ClientFor(planner.target());
  std::stop_source source;
  CallOptions options;
  options.stop = source.get_token();
  std::promise<absl::StatusCode> code;
  client->PlanCorridorAsync({}, options, [&](Result<v1::PlanCorridorResponse> result) {
    code.set_value(result.ok() ? absl::StatusCode::kOk : result.error().code);
  });
  reached.WaitForNotification();
  source.request_stop();
  EXPECT_EQ(code.get_future().get(), absl::StatusCode::kCancelled);
}

TEST(ClientTest, EndOfTheClientCancelsItsCalls) {
  FakePlanner planner;
  absl::Notification reached;
  planner.OnPlan([&](grpc::ServerContext& context, auto&&...) {
    reached.Notify();
    return WaitForCancellation(context);
  });
  auto client = ClientFor(planner.target());
  std::atomic<bool> cancelled = false;
  client->PlanCorridorAsync({}, {}, [&](Result<v1::PlanCorridorResponse> result) {
    cancelled = !result.ok() && result.error().code == absl::StatusCode::kCancelled;
  });
  reached.WaitForNotification();
  client.reset();
  EXPECT_TRUE(cancelled);
}

TEST(ClientTest, MessagesBeyondTheLimitAreRefused) {
  FakePlanner planner;
  ClientOptions options;
  options.target = planner.target();
  options.max_message_bytes = 1000;
  const auto client = Client::Create(options);
  ASSERT_TRUE(client.ok());
  EXPECT_TRUE((*client)->Ping("", 900).ok());
  const auto answer = (*client)->Ping("", 1100);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, absl::StatusCode::kResourceExhausted);
}

TEST(ClientTest, SpreadsCallsOverAllAddresses) {
  FakePlanner first;
  FakePlanner second;
  std::atomic<int> counts[2] = {0, 0};
  first.OnPlan([&](auto&&...) {
    ++counts[0];
    return grpc::Status::OK;
  });
  second.OnPlan([&](auto&&...) {
    ++counts[1];
    return grpc::Status::OK;
  });
  const auto client = ClientFor("ipv4:" + first.target() + "," + second.target());
  // The second connection may be made a little later than the first.
  for (int i = 0; i < 10000 && (counts[0] == 0 || counts[1] == 0); ++i) {
    ASSERT_TRUE(client->PlanCorridor({}).ok());
  }
  EXPECT_GT(counts[0], 0);
  EXPECT_GT(counts[1], 0);
}

TEST(ClientTest, GetsLimitsPingsAndHealth) {
  FakePlanner planner;
  const auto client = ClientFor(planner.target());
  const auto limits = client->GetLimits();
  ASSERT_TRUE(limits.ok()) << limits.error();
  EXPECT_EQ(limits->max_samples(), 1000000u);
  const auto pong = client->Ping("abc", 17);
  ASSERT_TRUE(pong.ok()) << pong.error();
  EXPECT_EQ(pong->payload().size(), 17u);
  const auto health = client->CheckHealth();
  ASSERT_TRUE(health.ok()) << health.error();
  EXPECT_EQ(*health, ServingState::kServing);
  const auto unknown = client->CheckHealth("nobody");
  ASSERT_TRUE(unknown.ok()) << unknown.error();
  EXPECT_EQ(*unknown, ServingState::kUnknown);
  planner.server().GetHealthCheckService()->SetServingStatus("", false);
  const auto not_serving = client->CheckHealth();
  ASSERT_TRUE(not_serving.ok()) << not_serving.error();
  EXPECT_EQ(*not_serving, ServingState::kNotServing);
}

TEST(ClientTest, PingStreamAnswersInOrderAndFinishes) {
  FakePlanner planner;
  const auto client = ClientFor(planner.target());
  const auto session = client->OpenPingStream();
  for (const uint32_t size : {0u, 5u, 100000u}) {
    const auto answer = session->Exchange("x", size);
    ASSERT_TRUE(answer.ok()) << answer.error();
    EXPECT_EQ(answer->payload().size(), size);
  }
  EXPECT_TRUE(session->Finish().ok());
  EXPECT_FALSE(session->Exchange("x", 1).ok());
}

TEST(ClientTest, PingStreamTellsWhyItEnds) {
  FakePlanner planner;
  const auto client = ClientFor(planner.target());
  const auto session = client->OpenPingStream();
  const auto answer = session->Exchange("fail", 1);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, absl::StatusCode::kInvalidArgument);
  ASSERT_EQ(answer.error().violations.size(), 1u);
  EXPECT_EQ(answer.error().violations[0].field, "payload");
}

TEST(ClientTest, AnOpenPingStreamCanBeDropped) {
  FakePlanner planner;
  const auto client = ClientFor(planner.target());
  auto session = client->OpenPingStream();
  EXPECT_TRUE(session->Exchange("x", 1).ok());
  session.reset();
  EXPECT_TRUE(client->Ping("", 0).ok());
}

}  // namespace
}  // namespace arclane
