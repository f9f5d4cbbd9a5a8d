// SPDX-License-Identifier: Apache-2.0
// The generic Plan call with pipelines that misbehave: they fail, throw, or do not end before they
// are told to.
#include "server/service/plan_call.h"

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "server/service/path_planner_service.h"
#include "tests/integration/service_harness.h"

namespace arclane {
namespace {

std::atomic<int> spinning{0};

// What it does is named by the request's navmesh id.
struct OddMethod {
  using Request = v1::PlanCorridorRequest;
  using Response = v1::PlanCorridorResponse;
  static constexpr MethodId kId = MethodId::kPlanCorridor;
  static constexpr WorkKind kWork = WorkKind::kCorridor;
  static constexpr char kByteLimitName[] = "max_plan_corridor_bytes";
  static size_t ByteLimit(const RequestLimits& limits) { return limits.max_plan_corridor_bytes; }
  static std::optional<Failure> Plan(const Request& request, const RequestLimits&, StopSignal stop,
                                     Response&, PlanTrace*) {
    const std::string& deed = request.navmesh().navmesh_id();
    if (deed == "throw") throw std::runtime_error("odd");
    if (deed == "throw int") throw 5;
    if (deed == "verification") {
      Failure failure;
      failure.reason = FailureReason::kVerificationFailed;
      failure.message = "off by 1 mm";
      return failure;
    }
    if (deed == "spin") {
      ++spinning;
      std::optional<FailureReason> reason;
      while (!reason) reason = stop();
      --spinning;
      Failure failure;
      failure.reason = *reason;
      return failure;
    }
    return std::nullopt;
  }
  static bool IsQuick(const Request& request) { return request.navmesh().navmesh_id() == "quick"; }
  static std::optional<v1::Outcome> OutcomeOf(const Response&) { return std::nullopt; }
  static bool WantsStageTimes(const Request&) { return false; }
};

class OddService final : public PathPlannerMethods {
 public:
  explicit OddService(ServiceEnvironment environment) : environment_(environment) {}
  grpc::ServerUnaryReactor* PlanCorridor(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* response) override {
    return PlanCallOf<OddMethod>::Start(environment_, *context, *request, *response);
  }

 private:
  ServiceEnvironment environment_;
};

class ServicePlanCallTest : public ::testing::Test {
 protected:
  ServicePlanCallTest()
      : metrics_(CurrentBuild(), ServiceLabels()),
        pool_({.thread_count = 1, .queue_limit = 10, .nice = 0, .before_job = nullptr}),
        admission_(pool_, 1 << 20, metrics_),
        service_(
            {limits_, metrics_, in_flight_, streams_, pool_, admission_, nullptr, kQuickBytes}) {
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    stub_ = v1::PathPlanner::NewStub(server_->InProcessChannel({}));
  }
  ~ServicePlanCallTest() override { server_->Shutdown(); }

  static constexpr size_t kQuickBytes = 1000;

  static v1::PlanCorridorRequest To(const std::string& deed) {
    v1::PlanCorridorRequest request;
    request.mutable_navmesh()->set_navmesh_id(deed);
    return request;
  }

  RequestLimits limits_;
  Metrics metrics_;
  InFlight in_flight_;
  OpenStreams streams_;
  PlannerPool pool_;
  Admission admission_;
  OddService service_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::PathPlanner::Stub> stub_;
};

TEST_F(ServicePlanCallTest, AnExceptionIsAnInternalErrorAndTheServerLivesOn) {
  for (const char* deed : {"throw", "throw int"}) {
    AsyncPlan plan(*stub_, To(deed));
    EXPECT_EQ(plan.Await().error_code(), grpc::StatusCode::INTERNAL);
    EXPECT_EQ(DetailsOf(plan.Await()).info->reason(), "INTERNAL");
    EXPECT_EQ(plan.Await().error_message(), "internal error");
  }
  EXPECT_TRUE(AsyncPlan(*stub_, To("nothing")).Await().ok());
}

TEST_F(ServicePlanCallTest, AFailedVerificationSaysSo) {
  AsyncPlan plan(*stub_, To("verification"));
  EXPECT_EQ(plan.Await().error_code(), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(DetailsOf(plan.Await()).info->reason(), "VERIFICATION_FAILED");
  EXPECT_EQ(plan.Await().error_message(), "off by 1 mm");
}

TEST_F(ServicePlanCallTest, APassedDeadlineStopsThePlan) {
  AsyncPlan plan(*stub_, To("spin"), 0.2);
  EXPECT_EQ(plan.Await().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_TRUE(AsyncPlan(*stub_, To("nothing")).Await().ok())
      << "the only thread must be free again";
  EXPECT_EQ(spinning, 0);
}

TEST_F(ServicePlanCallTest, ACancellationStopsThePlan) {
  AsyncPlan plan(*stub_, To("spin"));
  while (spinning == 0) std::this_thread::yield();
  plan.Cancel();
  EXPECT_EQ(plan.Await().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(AsyncPlan(*stub_, To("nothing")).Await().ok());
}

TEST_F(ServicePlanCallTest, AQuickPlanDoesNotWaitForABusyThread) {
  AsyncPlan busy(*stub_, To("spin"));
  while (spinning == 0) std::this_thread::yield();
  EXPECT_TRUE(AsyncPlan(*stub_, To("quick")).Await().ok());
  EXPECT_EQ(spinning, 1);
  EXPECT_EQ(pool_.queued(), 0u);
  busy.Cancel();
  busy.Await();
}

TEST_F(ServicePlanCallTest, AQuickPlanOvertakesNoneThatWaits) {
  AsyncPlan busy(*stub_, To("spin"));
  while (spinning == 0) std::this_thread::yield();
  AsyncPlan waiting(*stub_, To("nothing"));
  while (pool_.queued() == 0) std::this_thread::yield();
  AsyncPlan quick(*stub_, To("quick"));
  while (pool_.queued() < 2) std::this_thread::yield();
  busy.Cancel();
  EXPECT_TRUE(waiting.Await().ok());
  EXPECT_TRUE(quick.Await().ok());
}

TEST_F(ServicePlanCallTest, ALargeRequestIsNoQuickPlan) {
  AsyncPlan busy(*stub_, To("spin"));
  while (spinning == 0) std::this_thread::yield();
  v1::PlanCorridorRequest large = To("quick");
  for (size_t i = 0; i < kQuickBytes; ++i) {
    large.mutable_corridor()->mutable_polygons()->add_vertex_count(3);
  }
  AsyncPlan waiting(*stub_, large);
  while (pool_.queued() == 0) std::this_thread::yield();
  busy.Cancel();
  EXPECT_TRUE(waiting.Await().ok());
}

TEST_F(ServicePlanCallTest, AMethodWithoutHandlerIsUnimplemented) {
  grpc::ClientContext context;
  v1::PlanSpeedResponse response;
  EXPECT_EQ(stub_->PlanSpeed(&context, {}, &response).error_code(),
            grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(ServicePlanCallTest, EveryCallLeavesTheCountOfThoseInFlight) {
  for (const char* deed : {"throw", "nothing", "verification"}) AsyncPlan(*stub_, To(deed)).Await();
  EXPECT_TRUE(in_flight_.AwaitZero(absl::Now() + absl::Seconds(10)));
}

}  // namespace
}  // namespace arclane
