// SPDX-License-Identifier: Apache-2.0
// PlanBatch through the service: order, statuses, bounds, time budgets, clients that do not read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "server/codec/status_codec.h"
#include "tests/integration/service_harness.h"
#include "tests/support/neutral_message.h"
#include "tests/support/random_items.h"

namespace arclane {
namespace {

using ::arclane::testing::ItemsGrid;
using ::arclane::testing::Publish;
using ::arclane::testing::RandomItems;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct BatchEnd {
  grpc::Status status;
  std::vector<v1::PlanItemAnswer> answers;
  size_t messages = 0;
  size_t largest_message = 0;
};

BatchEnd PlanAll(v1::PathPlanner::Stub& stub, const v1::PlanBatchRequest& request,
                 double deadline_s = 60) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() +
                       std::chrono::microseconds(static_cast<int64_t>(deadline_s * 1e6)));
  BatchEnd end;
  const auto reader = stub.PlanBatch(&context, request);
  v1::PlanBatchResponse response;
  while (reader->Read(&response)) {
    EXPECT_EQ(response.first_index(), end.answers.size());
    for (const auto& answer : response.answers()) end.answers.push_back(answer);
    ++end.messages;
    end.largest_message = std::max(end.largest_message, response.ByteSizeLong());
  }
  end.status = reader->Finish();
  return end;
}

// Work that takes about `budget_s` of a core: corners that are rounded until the budget ends.
v1::PlanItem LongItem(double budget_s, int serial) {
  v1::PlanItem item;
  v1::PlanCorridorRequest& request = *item.mutable_corridor();
  auto& polygons = *request.mutable_corridor()->mutable_polygons();
  constexpr int kCells = 60;
  for (int i = 0; i < kCells; ++i) {
    const double y0 = i % 2 == 0 ? 1.2 : -1.2, y1 = -y0;
    for (const auto& [x, y] :
         {std::pair(i + 0.0, y0 - 1), {i + 1.0, y1 - 1}, {i + 1.0, y1 + 1}, {i + 0.0, y0 + 1}}) {
      polygons.mutable_vertices()->add_x(x);
      polygons.mutable_vertices()->add_y(y);
    }
    polygons.add_vertex_count(4);
  }
  request.mutable_start()->set_x(0.25);
  request.mutable_start()->set_y(0.6 + serial * 1e-6);
  request.mutable_goal()->set_x(kCells - 0.25);
  request.mutable_goal()->set_y(0.6);
  *request.mutable_agent() = SmallRequest().agent();
  request.mutable_agent()->mutable_limits()->set_max_lateral_acceleration(3);
  request.mutable_agent()->mutable_body()->set_max_turn_radius(2);
  request.mutable_agent()->mutable_manners()->set_corner_work_budget_s(budget_s);
  return item;
}

class ServiceBatchTest : public ::testing::Test {
 protected:
  explicit ServiceBatchTest(ServerOptions options = TwoThreads(), bool gate_open = true)
      : server_(options, gate_open), registry_(v1::NavMeshRegistry::NewStub(server_.channel())) {
    v1::PublishNavMeshResponse response;
    EXPECT_TRUE(Publish(*registry_, "grid", 1, ItemsGrid(), &response).ok());
  }
  static ServerOptions TwoThreads() {
    ServerOptions options;
    options.planner_threads = 2;
    return options;
  }

  TestServer server_;
  std::unique_ptr<v1::NavMeshRegistry::Stub> registry_;
};

TEST_F(ServiceBatchTest, AnswersInOrderAsSingleCallsDo) {
  v1::PlanBatchRequest request;
  RandomItems random(7);
  *request.mutable_shared() = RandomItems::Shared();
  request.mutable_shared()->set_cache_mode(v1::CACHE_MODE_BYPASS);
  for (int i = 0; i < 300; ++i) *request.add_items() = random.Next();
  const BatchEnd end = PlanAll(server_.stub(), request);
  ASSERT_TRUE(end.status.ok()) << end.status.error_message();
  ASSERT_EQ(end.answers.size(), 300u);
  int compared = 0;
  for (int i = 0; i < 300; ++i) {
    const v1::PlanItem& item = request.items(i);
    if (!item.has_corridor() || end.answers[static_cast<size_t>(i)].has_status()) continue;
    v1::PlanCorridorRequest alone = item.corridor();
    if (alone.corridor().has_refs()) alone.mutable_navmesh()->set_navmesh_id("grid");
    if (item.has_agent_index())
      *alone.mutable_agent() = request.shared().agents(static_cast<int>(item.agent_index()));
    if (item.has_sampling_index()) {
      *alone.mutable_sampling() =
          request.shared().samplings(static_cast<int>(item.sampling_index()));
    }
    alone.set_cache_mode(v1::CACHE_MODE_BYPASS);
    AsyncPlan call(server_.stub(), alone);
    ASSERT_TRUE(call.Await().ok()) << call.Await().error_message();
    const v1::PlanCorridorResponse& batched = end.answers[static_cast<size_t>(i)].corridor();
    EXPECT_EQ(batched.route().SerializeAsString(), call.response().route().SerializeAsString());
    EXPECT_EQ(batched.read_set().SerializeAsString(),
              call.response().read_set().SerializeAsString());
    EXPECT_EQ(batched.answer().navmesh_version(), call.response().answer().navmesh_version());
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

TEST_F(ServiceBatchTest, GoodAndBadItemsHaveStatusesOfTheirOwn) {
  v1::PlanBatchRequest request;
  *request.mutable_shared() = RandomItems::Shared();
  *request.add_items() = SmallItem();
  *request.add_items() = SmallItem(NAN);
  request.add_items();
  *request.add_items() = SmallItem();
  request.mutable_items(3)->set_agent_index(3);
  *request.add_items() = SmallItem();
  request.mutable_items(4)->set_agent_index(1);
  *request.add_items() = SmallItem(0.25);
  request.mutable_items(5)->mutable_corridor()->clear_agent();
  request.mutable_items(5)->set_agent_index(1);
  request.add_items()->mutable_corridor()->mutable_corridor()->mutable_refs()->add_ref(999);
  request.mutable_items(6)->set_agent_index(0);
  const BatchEnd end = PlanAll(server_.stub(), request);
  ASSERT_TRUE(end.status.ok()) << end.status.error_message();
  ASSERT_EQ(end.answers.size(), 7u);
  EXPECT_EQ(end.answers[0].corridor().route().outcome(), v1::OUTCOME_COMPLETE);
  EXPECT_EQ(end.answers[5].corridor().route().outcome(), v1::OUTCOME_COMPLETE);
  const std::pair<size_t, std::string> bad[] = {{1, "items[1].corridor.start.x"},
                                                {2, "items[2].request"},
                                                {3, "items[3].agent_index"},
                                                {4, "items[4].agent_index"},
                                                {6, "items[6].corridor.corridor.refs.ref[0]"}};
  for (const auto& [index, field] : bad) {
    const v1::PlanItemAnswer& answer = end.answers[index];
    ASSERT_TRUE(answer.has_status()) << index;
    EXPECT_EQ(answer.response_case(), v1::PlanItemAnswer::RESPONSE_NOT_SET) << index;
    EXPECT_EQ(answer.status().code(), grpc::StatusCode::INVALID_ARGUMENT) << index;
    const ErrorDetails details = DetailsOf(answer.status());
    ASSERT_TRUE(details.bad_request) << index;
    std::vector<std::string> fields;
    for (const auto& violation : details.bad_request->field_violations())
      fields.push_back(violation.field());
    EXPECT_THAT(fields, ::testing::Contains(field));
    EXPECT_THAT(answer.status().message(), HasSubstr("items[" + std::to_string(index) + "]"));
  }
}

TEST_F(ServiceBatchTest, AnEmptyBatchIsAnsweredWithoutMessages) {
  const BatchEnd end = PlanAll(server_.stub(), {});
  EXPECT_TRUE(end.status.ok()) << end.status.error_message();
  EXPECT_EQ(end.messages, 0u);
}

TEST_F(ServiceBatchTest, TooManyItemsAreRefusedWithTheLimit) {
  v1::PlanBatchRequest request;
  for (int i = 0; i < 10'001; ++i) request.add_items();
  const BatchEnd end = PlanAll(server_.stub(), request);
  EXPECT_EQ(end.status.error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  const ErrorDetails details = DetailsOf(end.status);
  EXPECT_EQ(details.info->reason(), "TOO_LARGE");
  EXPECT_EQ(details.info->metadata().at("limit"), "max_batch_items");
  EXPECT_EQ(details.info->metadata().at("requested"), "10001");
  request.mutable_items()->RemoveLast();
  EXPECT_TRUE(PlanAll(server_.stub(), request).status.ok());
}

TEST_F(ServiceBatchTest, FieldsOfTheBatchItselfAreChecked) {
  v1::PlanBatchRequest request;
  *request.add_items() = SmallItem();
  request.set_max_chunk_bytes(1023);
  request.set_time_budget_s(-1);
  const BatchEnd end = PlanAll(server_.stub(), request);
  EXPECT_EQ(end.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const ErrorDetails details = DetailsOf(end.status);
  ASSERT_EQ(details.bad_request->field_violations_size(), 2);
  EXPECT_EQ(details.bad_request->field_violations(0).field(), "max_chunk_bytes");
  EXPECT_EQ(details.bad_request->field_violations(1).field(), "time_budget_s");

  v1::PlanBatchRequest elsewhere;
  *elsewhere.add_items() = SmallItem();
  elsewhere.mutable_shared()->mutable_navmesh()->set_navmesh_id("elsewhere");
  EXPECT_EQ(PlanAll(server_.stub(), elsewhere).status.error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ServiceBatchTest, MessagesStayBelowTheirBoundAndLargerAnswersSaySo) {
  v1::PlanBatchRequest request;
  request.set_max_chunk_bytes(10'000);
  for (int i = 0; i < 200; ++i) {
    *request.add_items() = SmallItem(0.1 + 0.001 * i);
    request.mutable_items(i)->mutable_corridor()->mutable_sampling()->set_count(i == 77 ? 500 : 5);
  }
  const BatchEnd end = PlanAll(server_.stub(), request);
  ASSERT_TRUE(end.status.ok());
  ASSERT_EQ(end.answers.size(), 200u);
  EXPECT_LE(end.largest_message, 10'000u);
  EXPECT_GT(end.messages, 10u);
  for (size_t i = 0; i < 200; ++i) {
    if (i != 77) {
      EXPECT_FALSE(end.answers[i].has_status());
      continue;
    }
    EXPECT_EQ(end.answers[i].status().code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
    const ErrorDetails details = DetailsOf(end.answers[i].status());
    EXPECT_EQ(details.info->metadata().at("limit"), "max_chunk_bytes");
    EXPECT_EQ(details.info->metadata().at("maximum"), "10000");
    EXPECT_GT(std::stoi(details.info->metadata().at("requested")), 30'000);
  }
}

TEST_F(ServiceBatchTest, EqualItemsArePlannedOnce) {
  v1::PlanBatchRequest request;
  for (int i = 0; i < 600; ++i) *request.add_items() = SmallItem(0.1 + 0.01 * (i % 3));
  const BatchEnd end = PlanAll(server_.stub(), request);
  ASSERT_TRUE(end.status.ok());
  int coalesced = 0;
  for (size_t i = 0; i < 600; ++i) {
    EXPECT_EQ(end.answers[i].corridor().route().SerializeAsString(),
              end.answers[i % 3].corridor().route().SerializeAsString());
    coalesced += end.answers[i].corridor().answer().cache() == v1::CACHE_OUTCOME_COALESCED;
  }
  EXPECT_EQ(coalesced, 597);
  EXPECT_EQ(server_.MetricValue("arclane_stage_duration_seconds_count{stage=\"sample\"}"), 3);
  EXPECT_EQ(server_.MetricValue("arclane_plan_outcomes_total{outcome=\"COMPLETE\"}"), 600);
}

TEST_F(ServiceBatchTest, KeptAnswersAreSharedWithSingleCalls) {
  v1::PlanBatchRequest request;
  *request.mutable_shared() = RandomItems::Shared();
  v1::PlanCorridorRequest& corridor = *request.add_items()->mutable_corridor();
  corridor.mutable_start()->set_x(0.5);
  corridor.mutable_start()->set_y(0.5);
  corridor.mutable_goal()->set_x(2.5);
  corridor.mutable_goal()->set_y(0.5);
  for (const uint64_t ref : {0, 1, 2}) corridor.mutable_corridor()->mutable_refs()->add_ref(ref);
  request.mutable_items(0)->set_agent_index(0);
  const auto cache_of = [&] {
    return PlanAll(server_.stub(), request).answers.at(0).corridor().answer().cache();
  };
  EXPECT_EQ(cache_of(), v1::CACHE_OUTCOME_MISS);
  EXPECT_EQ(cache_of(), v1::CACHE_OUTCOME_HIT);
  EXPECT_EQ(server_.MetricValue("arclane_plan_outcomes_total{outcome=\"COMPLETE\"}"), 2);
  v1::PlanCorridorRequest single = corridor;
  *single.mutable_agent() = request.shared().agents(0);
  single.mutable_navmesh()->set_navmesh_id("grid");
  AsyncPlan call(server_.stub(), single);
  ASSERT_TRUE(call.Await().ok());
  EXPECT_EQ(call.response().answer().cache(), v1::CACHE_OUTCOME_HIT);
  corridor.set_cache_mode(v1::CACHE_MODE_BYPASS);
  EXPECT_EQ(cache_of(), v1::CACHE_OUTCOME_BYPASS);
}

TEST_F(ServiceBatchTest, WhatIsNotDoneInTimeFailsItemByItem) {
  v1::PlanBatchRequest request;
  for (int i = 0; i < 400; ++i) *request.add_items() = LongItem(0.02, i);
  request.set_time_budget_s(0.3);
  const BatchEnd end = PlanAll(server_.stub(), request);
  ASSERT_TRUE(end.status.ok()) << end.status.error_message();
  ASSERT_EQ(end.answers.size(), 400u);
  size_t done = 0;
  for (const v1::PlanItemAnswer& answer : end.answers) {
    if (!answer.has_status()) {
      ++done;
      continue;
    }
    EXPECT_EQ(answer.status().code(), grpc::StatusCode::DEADLINE_EXCEEDED);
    EXPECT_EQ(DetailsOf(answer.status()).info->reason(), "DEADLINE_EXCEEDED");
  }
  EXPECT_GT(done, 0u);
  EXPECT_LT(done, 400u);
}

TEST_F(ServiceBatchTest, PlanningEndsBeforeTheDeadlineSoThatAnswersArrive) {
  v1::PlanBatchRequest request;
  for (int i = 0; i < 2000; ++i) *request.add_items() = LongItem(0.02, i);
  request.set_time_budget_s(1000);
  const BatchEnd end = PlanAll(server_.stub(), request, /*deadline_s=*/2);
  EXPECT_TRUE(end.status.ok()) << end.status.error_message();
  EXPECT_EQ(end.answers.size(), 2000u);
}

TEST_F(ServiceBatchTest, OneLargeItemAmongManySmallOnes) {
  v1::PlanBatchRequest request;
  for (int i = 0; i < 2000; ++i) *request.add_items() = SmallItem(0.1 + 1e-5 * i);
  v1::PlanCorridorRequest& large = *request.mutable_items(1000)->mutable_corridor();
  large.clear_corridor();
  auto& portals = *large.mutable_corridor()->mutable_portals();
  constexpr int kPortals = 300'000;
  for (int i = 1; i <= kPortals; ++i) {
    for (auto* side : {portals.mutable_left(), portals.mutable_right()}) {
      side->add_x(i);
      side->add_y(std::sin(0.1 * i) + (side == portals.mutable_left() ? 1 : -1));
    }
  }
  large.mutable_start()->set_x(0);
  large.mutable_goal()->set_x(kPortals + 1);
  const BatchEnd end = PlanAll(server_.stub(), request);
  ASSERT_TRUE(end.status.ok()) << end.status.error_message();
  ASSERT_EQ(end.answers.size(), 2000u);
  for (size_t i = 0; i < 2000; ++i) {
    // The large one is an answer, or too large for a message of 4 MB.
    if (i != 1000) {
      EXPECT_FALSE(end.answers[i].has_status()) << i;
    }
  }
}

TEST_F(ServiceBatchTest, SingleCallsAreAnsweredWhileABatchIsPlanned) {
  v1::PlanBatchRequest request;
  for (int i = 0; i < 400; ++i) *request.add_items() = LongItem(0.01, i);
  grpc::ClientContext context;
  const auto reader = server_.stub().PlanBatch(&context, request);
  v1::PlanBatchResponse response;
  ASSERT_TRUE(reader->Read(&response));
  int during = 0;
  for (; during < 20; ++during) {
    AsyncPlan single(server_.stub(), SmallRequest());
    ASSERT_TRUE(single.Await().ok()) << single.Await().error_message();
  }
  EXPECT_EQ(server_.MetricValue("arclane_calls_in_flight{method=\"PlanBatch\"}"), 1)
      << "the batch was over too soon to tell anything";
  context.TryCancel();
  while (reader->Read(&response)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(server_.AwaitMetric("arclane_calls_in_flight{method=\"PlanBatch\"}", 0));
  EXPECT_TRUE(server_.AwaitMetric("arclane_admitted_bytes", 0));
}

class SlowReaderTest : public ServiceBatchTest {
 protected:
  SlowReaderTest() : ServiceBatchTest(Impatient()) {}
  static ServerOptions Impatient() {
    ServerOptions options = TwoThreads();
    options.write_stall_s = 0.5;
    return options;
  }
  // About 60 MB of answers.
  static v1::PlanBatchRequest LargeAnswers() {
    v1::PlanBatchRequest request;
    for (int i = 0; i < 400; ++i) {
      *request.add_items() = SmallItem(0.1 + 1e-4 * i);
      request.mutable_items(i)->mutable_corridor()->mutable_sampling()->set_count(2500);
    }
    return request;
  }
};

TEST_F(SlowReaderTest, AClientThatStopsReadingStopsThePlanningAndIsGivenUp) {
  grpc::ClientContext context;
  const auto reader = server_.stub().PlanBatch(&context, LargeAnswers());
  v1::PlanBatchResponse response;
  ASSERT_TRUE(reader->Read(&response));
  EXPECT_TRUE(server_.AwaitMetric("arclane_calls_in_flight{method=\"PlanBatch\"}", 0));
  EXPECT_LT(server_.MetricValue("arclane_plan_outcomes_total{outcome=\"COMPLETE\"}"), 400);
  while (reader->Read(&response)) {
  }
  EXPECT_FALSE(reader->Finish().ok());
  EXPECT_TRUE(AsyncPlan(server_.stub(), SmallRequest()).Await().ok());
}

TEST_F(SlowReaderTest, AClientThatPausesAndReadsOnGetsEverything) {
  grpc::ClientContext context;
  const auto reader = server_.stub().PlanBatch(&context, LargeAnswers());
  v1::PlanBatchResponse response;
  int answers = 0;
  for (int message = 0; reader->Read(&response); ++message) {
    answers += response.answers_size();
    if (message < 4) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(answers, 400);
}

TEST_F(SlowReaderTest, AClientThatDiesLeavesNothingBehind) {
  {
    grpc::ClientContext context;
    auto channel = server_.NewChannel();
    const auto stub = v1::PathPlanner::NewStub(channel);
    const auto reader = stub->PlanBatch(&context, LargeAnswers());
    v1::PlanBatchResponse response;
    ASSERT_TRUE(reader->Read(&response));
    context.TryCancel();
    reader->Finish();
  }
  EXPECT_TRUE(server_.AwaitMetric("arclane_calls_in_flight{method=\"PlanBatch\"}", 0));
  EXPECT_TRUE(server_.AwaitMetric("arclane_admitted_bytes", 0));
}

TEST_F(ServiceBatchTest, ADrainWaitsForABatch) {
  v1::PlanBatchRequest request;
  for (int i = 0; i < 100; ++i) *request.add_items() = LongItem(0.01, i);
  auto end = std::async(std::launch::async, [&] { return PlanAll(server_.stub(), request); });
  ASSERT_TRUE(server_.AwaitMetric("arclane_calls_in_flight{method=\"PlanBatch\"}", 1));
  EXPECT_TRUE(server_.server().Shutdown(0, 60));
  const BatchEnd batch = end.get();
  EXPECT_TRUE(batch.status.ok()) << batch.status.error_message();
  EXPECT_EQ(batch.answers.size(), 100u);
}

class NarrowBatchTest : public ServiceBatchTest {
 protected:
  NarrowBatchTest() : ServiceBatchTest(Narrow(), /*gate_open=*/false) {}
  static ServerOptions Narrow() {
    ServerOptions options = TwoThreads();
    options.planner_threads = 1;
    options.limits.max_queued_plans = 1;
    options.limits.max_plan_batch_bytes = 100'000;
    options.max_admitted_bytes = 150'000;
    return options;
  }
};

TEST_F(NarrowBatchTest, BatchesAreAdmittedByBytesAndByTheQueue) {
  const auto of_bytes = [](size_t bytes) {
    v1::PlanBatchRequest request;
    while (request.ByteSizeLong() < bytes) *request.add_items() = SmallItem();
    return request;
  };
  EXPECT_EQ(
      DetailsOf(PlanAll(server_.stub(), of_bytes(100'001)).status).info->metadata().at("limit"),
      "max_plan_batch_bytes");
  auto first =
      std::async(std::launch::async, [&] { return PlanAll(server_.stub(), of_bytes(90'000)); });
  ASSERT_TRUE(server_.AwaitMetric("arclane_calls_in_flight{method=\"PlanBatch\"}", 1));
  EXPECT_EQ(
      DetailsOf(PlanAll(server_.stub(), of_bytes(90'000)).status).info->metadata().at("limit"),
      "max_admitted_bytes");
  EXPECT_EQ(DetailsOf(PlanAll(server_.stub(), of_bytes(1'000)).status).info->metadata().at("limit"),
            "max_queued_plans");
  server_.gate().Open();
  EXPECT_TRUE(first.get().status.ok());
}

}  // namespace
}  // namespace arclane
