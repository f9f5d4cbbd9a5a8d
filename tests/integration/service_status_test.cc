// SPDX-License-Identifier: Apache-2.0
// Every way in which a call ends, as a client sees it.
#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "tests/integration/service_harness.h"

namespace arclane {
namespace {

using ::testing::HasSubstr;

ServerOptions OneThread(uint32_t queue_limit) {
  ServerOptions options;
  options.planner_threads = 1;
  options.limits.max_queued_plans = queue_limit;
  return options;
}

// Sends bytes as they are.
grpc::Status CallRaw(TestServer& server, const std::string& method, const std::string& bytes) {
  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub(server.channel());
  grpc::ClientContext context;
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  std::promise<grpc::Status> done;
  stub.UnaryCall(&context, "/arclane.v1.PathPlanner/" + method, grpc::StubOptions(), &request,
                 &response, [&done](grpc::Status status) { done.set_value(std::move(status)); });
  return done.get_future().get();
}

// A call that ends before its message: to its handler no different from one that is cancelled while
// the message is on its way.
class CallWithoutMessage final
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  CallWithoutMessage(TestServer& server, const std::string& method) : stub_(server.channel()) {
    stub_.PrepareBidiStreamingCall(&context_, "/arclane.v1.PathPlanner/" + method,
                                   grpc::StubOptions(), this);
    StartWritesDone();
    StartCall();
  }
  grpc::Status Await() { return done_.get_future().get(); }

 private:
  void OnDone(const grpc::Status& status) override { done_.set_value(status); }

  grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer> stub_;
  grpc::ClientContext context_;
  std::promise<grpc::Status> done_;
};

TEST(ServiceStatusTest, ACallWhoseMessageNeverCameIsNoFaultOfTheMessage) {
  TestServer server;
  for (const char* method :
       {"PlanCorridor", "PlanWaypoints", "PlanSpline", "PlanSpeed", "PlanBatch", "Ping"}) {
    EXPECT_EQ(CallWithoutMessage(server, method).Await().error_code(), grpc::StatusCode::CANCELLED)
        << method;
    EXPECT_EQ(server.MetricValue("arclane_calls_total{code=\"CANCELLED\",method=\"" +
                                 std::string(method) + "\"}"),
              1)
        << method;
  }
}

TEST(ServiceStatusTest, APlanIsAnsweredWithRouteAndAnswerInfo) {
  ServerOptions options;
  options.quick_plan_bytes = 0;  // So that it waits for a thread like every plan.
  TestServer server(options);
  v1::PlanCorridorRequest request = SmallRequest();
  request.set_include_stage_times(true);
  AsyncPlan plan(server.stub(), request);
  ASSERT_TRUE(plan.Await().ok()) << plan.Await().error_message();
  EXPECT_EQ(plan.response().route().outcome(), v1::OUTCOME_COMPLETE);
  EXPECT_EQ(plan.response().route().length(), 1.0);
  EXPECT_EQ(plan.response().answer().cache(), v1::CACHE_OUTCOME_BYPASS);
  EXPECT_GT(plan.response().answer().stage_times().queue_s(), 0);
  EXPECT_GT(plan.response().answer().stage_times().plan_s(), 0);
  EXPECT_EQ(server.MetricValue("arclane_calls_total{code=\"OK\",method=\"PlanCorridor\"}"), 1);
  EXPECT_EQ(server.MetricValue("arclane_plan_outcomes_total{outcome=\"COMPLETE\"}"), 1);
  for (const char* stage :
       {"queue", "validate", "corridor", "funnel", "corners", "speed", "sample", "encode"}) {
    EXPECT_EQ(server.MetricValue(std::string("arclane_stage_duration_seconds_count{stage=\"") +
                                 stage + "\"}"),
              1);
  }
}

TEST(ServiceStatusTest, PlansAreCountedByTheirSizeAndCorners) {
  TestServer server;
  // Two squares and a third beside the second: the line turns once, and no turn radius is given.
  v1::PlanCorridorRequest request = SmallRequest();
  auto* polygons = request.mutable_corridor()->mutable_polygons();
  for (const auto& [x, y] : {std::pair(1.0, 1.0), {2.0, 1.0}, {2.0, 3.0}, {1.0, 3.0}}) {
    polygons->mutable_vertices()->add_x(x);
    polygons->mutable_vertices()->add_y(y);
  }
  polygons->add_vertex_count(4);
  request.mutable_start()->set_x(0.1);
  request.mutable_start()->set_y(0.1);
  request.mutable_goal()->set_x(1.1);
  request.mutable_goal()->set_y(2.9);
  request.mutable_sampling()->set_count(7);
  AsyncPlan plan(server.stub(), request);
  ASSERT_TRUE(plan.Await().ok()) << plan.Await().error_message();
  ASSERT_EQ(plan.response().route().corners().kind_size(), 1);
  EXPECT_EQ(server.MetricValue("arclane_plan_portals_sum"), 2);
  EXPECT_EQ(server.MetricValue("arclane_plan_portals_count"), 1);
  EXPECT_EQ(server.MetricValue("arclane_plan_samples_sum"), 7);
  EXPECT_EQ(server.MetricValue("arclane_corners_total{kind=\"STOP\"}"), 1);
  EXPECT_EQ(server.MetricValue("arclane_corner_stops_total{reason=\"NOT_REQUESTED\"}"), 1);
}

TEST(ServiceStatusTest, StageTimesAreLeftOutUnlessAskedFor) {
  TestServer server;
  AsyncPlan plan(server.stub(), SmallRequest());
  ASSERT_TRUE(plan.Await().ok());
  EXPECT_FALSE(plan.response().answer().has_stage_times());
}

TEST(ServiceStatusTest, EqualRequestsGetEqualBytesWhateverWasPlannedBetween) {
  TestServer server(OneThread(10));
  AsyncPlan first(server.stub(), SmallRequest());
  ASSERT_TRUE(first.Await().ok());
  v1::PlanCorridorRequest other = SmallRequest();
  other.set_include_corridor(true);
  other.mutable_sampling()->set_count(50);
  ASSERT_TRUE(AsyncPlan(server.stub(), other).Await().ok());
  AsyncPlan again(server.stub(), SmallRequest());
  ASSERT_TRUE(again.Await().ok());
  EXPECT_EQ(first.response().SerializeAsString(), again.response().SerializeAsString());
}

TEST(ServiceStatusTest, InvalidFieldsAreToldTogether) {
  TestServer server;
  v1::PlanCorridorRequest request = SmallRequest();
  request.mutable_agent()->mutable_limits()->set_max_speed(-2);
  request.mutable_start()->set_x(std::numeric_limits<double>::quiet_NaN());
  AsyncPlan plan(server.stub(), request);
  EXPECT_EQ(plan.Await().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const ErrorDetails details = DetailsOf(plan.Await());
  EXPECT_EQ(details.info->reason(), "INVALID_FIELD");
  ASSERT_TRUE(details.bad_request);
  std::vector<std::string> fields;
  for (const auto& violation : details.bad_request->field_violations())
    fields.push_back(violation.field());
  EXPECT_THAT(fields, ::testing::IsSupersetOf({"agent.limits.max_speed", "start.x"}));
}

TEST(ServiceStatusTest, AnEmptyMessageIsARequestWithoutFields) {
  TestServer server;
  const grpc::Status status = CallRaw(server, "PlanCorridor", "");
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailsOf(status).info->reason(), "INVALID_FIELD");
}

TEST(ServiceStatusTest, BytesThatAreNoMessageAreMalformed) {
  TestServer server;
  for (const char* method : {"PlanCorridor", "PlanSpeed", "Ping"}) {
    const grpc::Status status = CallRaw(server, method, "\xff\xff\xff\xff");
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << method;
    EXPECT_EQ(DetailsOf(status).info->reason(), "MALFORMED_MESSAGE") << method;
  }
  AsyncPlan plan(server.stub(), SmallRequest());
  EXPECT_TRUE(plan.Await().ok());
}

TEST(ServiceStatusTest, ARequestAboveItsMethodsLimitIsRefusedUnparsed) {
  ServerOptions options;
  options.limits.max_plan_corridor_bytes = 1000;
  TestServer server(options);
  const grpc::Status status = CallRaw(server, "PlanCorridor", std::string(1001, '\xff'));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const ErrorDetails details = DetailsOf(status);
  EXPECT_EQ(details.info->reason(), "TOO_LARGE");
  EXPECT_EQ(details.info->metadata().at("limit"), "max_plan_corridor_bytes");
  EXPECT_EQ(details.info->metadata().at("maximum"), "1000");
  EXPECT_EQ(details.info->metadata().at("requested"), "1001");
  EXPECT_EQ(CallRaw(server, "PlanCorridor", std::string(1000, '\xff')).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
}

TEST(ServiceStatusTest, AMessageAboveTheReceiveLimitIsRefusedByTheTransport) {
  ServerOptions options;
  options.limits.max_receive_bytes = 2000;
  TestServer server(options);
  EXPECT_EQ(CallRaw(server, "PlanCorridor", std::string(2001, 'x')).error_code(),
            grpc::StatusCode::RESOURCE_EXHAUSTED);
  AsyncPlan plan(server.stub(), SmallRequest());
  EXPECT_TRUE(plan.Await().ok());
}

TEST(ServiceStatusTest, AFullQueueRefusesWithADelayAndTheRestIsServed) {
  TestServer server(OneThread(2), /*gate_open=*/false);
  std::vector<std::unique_ptr<AsyncPlan>> admitted;
  for (int i = 1; i <= 2; ++i) {
    admitted.push_back(std::make_unique<AsyncPlan>(server.stub(), SmallRequest()));
    ASSERT_TRUE(server.AwaitMetric("arclane_queued_plans", i));
  }
  AsyncPlan refused(server.stub(), SmallRequest());
  EXPECT_EQ(refused.Await().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const ErrorDetails details = DetailsOf(refused.Await());
  EXPECT_EQ(details.info->reason(), "QUEUE_FULL");
  EXPECT_EQ(details.info->metadata().at("limit"), "max_queued_plans");
  ASSERT_TRUE(details.retry);
  const double delay_s = static_cast<double>(details.retry->retry_delay().seconds()) +
                         1e-9 * details.retry->retry_delay().nanos();
  EXPECT_GT(delay_s, 0);
  EXPECT_EQ(refused.TrailingMetadata("grpc-retry-pushback-ms"),
            std::to_string(std::lround(delay_s * 1e3)));
  EXPECT_EQ(server.MetricValue("arclane_shed_total{reason=\"queue_full\"}"), 1);
  server.gate().Open();
  for (const auto& plan : admitted) EXPECT_TRUE(plan->Await().ok());
  EXPECT_EQ(server.MetricValue("arclane_queued_plans"), 0);
  EXPECT_EQ(server.MetricValue("arclane_admitted_bytes"), 0);
}

TEST(ServiceStatusTest, ARetryThatWouldComeTooLateIsForbidden) {
  TestServer server(OneThread(1), /*gate_open=*/false);
  AsyncPlan admitted(server.stub(), SmallRequest());
  ASSERT_TRUE(server.AwaitMetric("arclane_queued_plans", 1));
  // 20 ms is the least delay that is ever told.
  bool refused_in_time = false;
  for (int attempt = 0; attempt < 50 && !refused_in_time; ++attempt) {
    AsyncPlan refused(server.stub(), SmallRequest(), 0.018);
    refused_in_time = refused.Await().error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
    if (refused_in_time) {
      EXPECT_EQ(refused.TrailingMetadata("grpc-retry-pushback-ms"), "-1");
    }
  }
  EXPECT_TRUE(refused_in_time);
}

TEST(ServiceStatusTest, TooManyBytesTogetherAreRefused) {
  ServerOptions options = OneThread(10);
  const size_t bytes = SmallRequest().ByteSizeLong();
  options.max_admitted_bytes = 2 * bytes;
  TestServer server(options, /*gate_open=*/false);
  AsyncPlan first(server.stub(), SmallRequest()), second(server.stub(), SmallRequest());
  ASSERT_TRUE(server.AwaitMetric("arclane_admitted_bytes", static_cast<double>(2 * bytes)));
  AsyncPlan refused(server.stub(), SmallRequest());
  EXPECT_EQ(refused.Await().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(DetailsOf(refused.Await()).info->metadata().at("limit"), "max_admitted_bytes");
  server.gate().Open();
  EXPECT_TRUE(first.Await().ok());
  EXPECT_TRUE(second.Await().ok());
}

TEST(ServiceStatusTest, ADeadlineThatPassesInTheQueueFreesItsPlace) {
  TestServer server(OneThread(1), /*gate_open=*/false);
  AsyncPlan late(server.stub(), SmallRequest(), 1.0);
  EXPECT_EQ(late.Await().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  // The thread is still held: the place is free without it.
  ASSERT_TRUE(server.AwaitMetric("arclane_queued_plans", 0));
  EXPECT_TRUE(server.AwaitMetric("arclane_shed_total{reason=\"expired\"}", 1));
  EXPECT_TRUE(server.AwaitMetric(
      "arclane_calls_total{code=\"DEADLINE_EXCEEDED\",method=\"PlanCorridor\"}", 1));
  AsyncPlan next(server.stub(), SmallRequest());
  server.gate().Open();
  EXPECT_TRUE(next.Await().ok());
}

TEST(ServiceStatusTest, ACancelledCallLeavesTheQueue) {
  TestServer server(OneThread(1), /*gate_open=*/false);
  AsyncPlan cancelled(server.stub(), SmallRequest());
  ASSERT_TRUE(server.AwaitMetric("arclane_queued_plans", 1));
  cancelled.Cancel();
  EXPECT_EQ(cancelled.Await().error_code(), grpc::StatusCode::CANCELLED);
  ASSERT_TRUE(server.AwaitMetric("arclane_queued_plans", 0));
  EXPECT_TRUE(server.AwaitMetric("arclane_shed_total{reason=\"cancelled\"}", 1));
  EXPECT_TRUE(server.AwaitMetric("arclane_calls_in_flight{method=\"PlanCorridor\"}", 0));
}

TEST(ServiceStatusTest, IdentityIsEchoedInTrailingMetadata) {
  TestServer server;
  for (const bool valid : {true, false}) {
    grpc::ClientContext context;
    context.AddMetadata("x-request-id", "tick-17");
    context.AddMetadata("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    v1::PlanCorridorResponse response;
    const grpc::Status status = server.stub().PlanCorridor(
        &context, valid ? SmallRequest() : v1::PlanCorridorRequest(), &response);
    EXPECT_EQ(status.ok(), valid);
    const auto& trailing = context.GetServerTrailingMetadata();
    ASSERT_EQ(trailing.count("x-request-id"), 1u);
    EXPECT_EQ(trailing.find("x-request-id")->second, "tick-17");
    ASSERT_EQ(trailing.count("traceparent"), 1u);
    // Initial metadata beside an error would forbid the client's retries.
    EXPECT_EQ(context.GetServerInitialMetadata().size(), 0u);
  }
}

TEST(ServiceStatusTest, MetadataBeyondTheLimitIsRefused) {
  ServerOptions options;
  options.max_metadata_bytes = 4096;
  TestServer server(options);
  for (const size_t bytes : {1000, 8000}) {
    grpc::ClientContext context;
    context.AddMetadata("x-large", std::string(bytes, 'x'));
    v1::PingResponse response;
    EXPECT_EQ(server.stub().Ping(&context, {}, &response).error_code(),
              bytes > 4096 ? grpc::StatusCode::RESOURCE_EXHAUSTED : grpc::StatusCode::OK);
  }
}

TEST(ServiceStatusTest, CallsOfOneConnectionBeyondTheLimitWaitInTheClient) {
  ServerOptions options;
  options.max_concurrent_streams = 2;
  TestServer server(options, /*gate_open=*/false);
  const char in_flight[] = "arclane_calls_in_flight{method=\"PlanCorridor\"}";
  AsyncPlan first(server.stub(), SmallRequest());
  AsyncPlan second(server.stub(), SmallRequest());
  AsyncPlan third(server.stub(), SmallRequest());
  ASSERT_TRUE(server.AwaitMetric(in_flight, 2));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(server.MetricValue(in_flight), 2);
  server.gate().Open();
  EXPECT_TRUE(first.Await().ok());
  EXPECT_TRUE(second.Await().ok());
  EXPECT_TRUE(third.Await().ok());
}

TEST(ServiceStatusTest, LimitsAreThoseInForce) {
  ServerOptions options;
  options.limits.max_portals = 77;
  options.limits.max_plan_corridor_bytes = 1234;
  TestServer server(options);
  grpc::ClientContext context;
  v1::GetLimitsResponse limits;
  ASSERT_TRUE(server.stub().GetLimits(&context, {}, &limits).ok());
  EXPECT_EQ(limits.max_portals(), 77u);
  EXPECT_EQ(limits.max_plan_corridor_bytes(), 1234u);
  const auto* reflection = limits.GetReflection();
  std::vector<const google::protobuf::FieldDescriptor*> set;
  reflection->ListFields(limits, &set);
  EXPECT_EQ(static_cast<int>(set.size()), limits.GetDescriptor()->field_count())
      << "a limit is not told";
}

}  // namespace
}  // namespace arclane
