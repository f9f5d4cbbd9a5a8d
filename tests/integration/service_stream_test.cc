// SPDX-License-Identifier: Apache-2.0
// PlanStream through the service: every item is answered once, whatever becomes of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/service_harness.h"
#include "tests/support/neutral_message.h"
#include "tests/support/random_items.h"

namespace arclane {
namespace {

using ::arclane::testing::ItemsGrid;
using ::arclane::testing::Publish;
using ::arclane::testing::RandomItems;
using ::testing::HasSubstr;

// A stream that remembers what it was answered.
class OpenStream {
 public:
  explicit OpenStream(v1::PathPlanner::Stub& stub) : stream_(stub.PlanStream(&context_)) {}
  ~OpenStream() {
    context_.TryCancel();
    if (!finished_) Finish();
  }

  bool Send(const v1::PlanStreamRequest& request) { return stream_->Write(request); }
  bool SendItem(uint64_t id, const v1::PlanItem& item,
                std::optional<uint64_t> agent_id = std::nullopt, double budget_s = 0) {
    v1::PlanStreamRequest request;
    Add(request, id, item, agent_id, budget_s);
    return Send(request);
  }
  static void Add(v1::PlanStreamRequest& request, uint64_t id, const v1::PlanItem& item,
                  std::optional<uint64_t> agent_id = std::nullopt, double budget_s = 0) {
    v1::PlanStreamItem& added = *request.add_items();
    added.set_correlation_id(id);
    if (agent_id) added.set_agent_id(*agent_id);
    added.set_time_budget_s(budget_s);
    *added.mutable_item() = item;
  }
  void DoneSending() { stream_->WritesDone(); }

  // Reads until `count` items are answered, or the stream ends.
  void ReadAnswers(size_t count) {
    v1::PlanStreamResponse response;
    while (answers.size() < count && stream_->Read(&response)) {
      for (const v1::PlanStreamAnswer& answer : response.answers()) {
        EXPECT_TRUE(answers.emplace(answer.correlation_id(), answer.answer()).second)
            << answer.correlation_id() << " was answered twice";
      }
      if (response.has_going_away()) going_away = response.going_away();
      ++messages;
    }
  }
  void ReadAll() { ReadAnswers(SIZE_MAX); }
  grpc::Status Finish() {
    finished_ = true;
    return stream_->Finish();
  }
  std::string ReasonOf(uint64_t id) { return DetailsOf(answers.at(id).status()).info->reason(); }

  std::map<uint64_t, v1::PlanItemAnswer> answers;
  std::optional<v1::GoingAway> going_away;
  int messages = 0;

 private:
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::PlanStreamRequest, v1::PlanStreamResponse>> stream_;
  bool finished_ = false;
};

class ServiceStreamTest : public ::testing::Test {
 protected:
  explicit ServiceStreamTest(ServerOptions options = {}, bool gate_open = true)
      : server_(options, gate_open), registry_(v1::NavMeshRegistry::NewStub(server_.channel())) {
    v1::PublishNavMeshResponse response;
    EXPECT_TRUE(Publish(*registry_, "grid", 1, ItemsGrid(), &response).ok());
  }

  TestServer server_;
  std::unique_ptr<v1::NavMeshRegistry::Stub> registry_;
};

TEST_F(ServiceStreamTest, AnswersEachItemOnceAsABatchDoes) {
  RandomItems random(11);
  v1::PlanBatchRequest batch;
  *batch.mutable_shared() = RandomItems::Shared();
  batch.mutable_shared()->set_cache_mode(v1::CACHE_MODE_BYPASS);
  for (int i = 0; i < 400; ++i) *batch.add_items() = random.Next();
  std::vector<v1::PlanItemAnswer> batched;
  {
    grpc::ClientContext context;
    const auto reader = server_.stub().PlanBatch(&context, batch);
    v1::PlanBatchResponse response;
    while (reader->Read(&response))
      batched.insert(batched.end(), response.answers().begin(), response.answers().end());
    ASSERT_TRUE(reader->Finish().ok());
  }
  OpenStream stream(server_.stub());
  for (int i = 0; i < 400;) {
    v1::PlanStreamRequest request;
    if (i == 0) *request.mutable_shared() = batch.shared();
    for (uint32_t n = 1 + random.Below(30); n > 0 && i < 400; --n, ++i)
      OpenStream::Add(request, static_cast<uint64_t>(i), batch.items(i));
    ASSERT_TRUE(stream.Send(request));
  }
  stream.DoneSending();
  stream.ReadAll();
  EXPECT_TRUE(stream.Finish().ok());
  ASSERT_EQ(stream.answers.size(), 400u);
  for (size_t i = 0; i < 400; ++i) {
    const v1::PlanItemAnswer& answer = stream.answers.at(i);
    EXPECT_EQ(answer.status().code(), batched[i].status().code());
    EXPECT_EQ(answer.corridor().route().SerializeAsString(),
              batched[i].corridor().route().SerializeAsString());
    EXPECT_EQ(answer.waypoints().route().SerializeAsString(),
              batched[i].waypoints().route().SerializeAsString());
    EXPECT_EQ(answer.spline().plan().SerializeAsString(),
              batched[i].spline().plan().SerializeAsString());
    EXPECT_EQ(answer.speed().plan().SerializeAsString(),
              batched[i].speed().plan().SerializeAsString());
  }
}

TEST_F(ServiceStreamTest, FaultsOfItemsAreToldByTheirAnswers) {
  OpenStream stream(server_.stub());
  v1::PlanStreamRequest request;
  OpenStream::Add(request, 1, SmallItem(std::numeric_limits<double>::quiet_NaN()));
  OpenStream::Add(request, 2, v1::PlanItem());
  v1::PlanItem by_ref;
  by_ref.mutable_corridor()->mutable_corridor()->mutable_refs()->add_ref(0);
  OpenStream::Add(request, 3, by_ref);
  OpenStream::Add(request, 4, SmallItem());
  stream.Send(request);
  request.Clear();
  request.mutable_shared()->mutable_navmesh()->set_navmesh_id("elsewhere");
  OpenStream::Add(request, 5, by_ref);
  stream.Send(request);
  stream.DoneSending();
  stream.ReadAll();
  EXPECT_TRUE(stream.Finish().ok());
  EXPECT_THAT(stream.answers.at(1).status().message(), HasSubstr("item.corridor.start.x"));
  EXPECT_THAT(stream.answers.at(2).status().message(), HasSubstr("item.request"));
  EXPECT_THAT(stream.answers.at(3).status().message(), HasSubstr("item.corridor.corridor.refs"));
  EXPECT_FALSE(stream.answers.at(4).has_status());
  EXPECT_EQ(stream.ReasonOf(5), "UNKNOWN_NAVMESH");
}

TEST_F(ServiceStreamTest, ATimeBudgetThatIsNoneIsToldByTheItem) {
  OpenStream stream(server_.stub());
  v1::PlanStreamRequest request;
  uint64_t id = 0;
  for (const double budget_s : {-1.0, -1e-300, std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN()}) {
    OpenStream::Add(request, ++id, SmallItem());
    request.mutable_items(static_cast<int>(id) - 1)->set_time_budget_s(budget_s);
  }
  OpenStream::Add(request, 5, SmallItem());
  request.mutable_items(4)->set_time_budget_s(1e300);
  stream.Send(request);
  stream.DoneSending();
  stream.ReadAll();
  EXPECT_TRUE(stream.Finish().ok());
  for (id = 1; id <= 4; ++id) {
    EXPECT_EQ(stream.answers.at(id).status().code(), grpc::StatusCode::INVALID_ARGUMENT) << id;
    EXPECT_THAT(stream.answers.at(id).status().message(), HasSubstr("time_budget_s")) << id;
  }
  EXPECT_FALSE(stream.answers.at(5).has_status());
}

TEST_F(ServiceStreamTest, BytesThatAreNoMessageEndTheStream) {
  OpenStream stream(server_.stub());
  v1::PlanStreamRequest request;
  request.set_max_chunk_bytes(5);
  stream.Send(request);
  stream.ReadAll();
  const grpc::Status status = stream.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(DetailsOf(status).bad_request->field_violations(0).field(), "max_chunk_bytes");
}

class HeldStreamTest : public ServiceStreamTest {
 protected:
  HeldStreamTest() : ServiceStreamTest(Few(), /*gate_open=*/false) {}
  static ServerOptions Few() {
    ServerOptions options;
    options.planner_threads = 1;
    options.limits.max_stream_items = 5;
    return options;
  }
};

TEST_F(HeldStreamTest, CancelledItemsAreAnsweredAtOnce) {
  OpenStream stream(server_.stub());
  for (uint64_t id = 1; id <= 3; ++id) stream.SendItem(id, SmallItem());
  ASSERT_TRUE(server_.AwaitMetric("arclane_queued_plans", 3));
  v1::PlanStreamRequest cancel;
  cancel.add_cancelled(2);
  cancel.add_cancelled(99);
  stream.Send(cancel);
  stream.ReadAnswers(1);
  EXPECT_EQ(stream.ReasonOf(2), "CANCELLED");
  EXPECT_EQ(server_.MetricValue("arclane_queued_plans"), 2);
  server_.gate().Open();
  stream.ReadAnswers(3);
  EXPECT_FALSE(stream.answers.at(1).has_status());
  EXPECT_FALSE(stream.answers.at(3).has_status());
}

TEST_F(HeldStreamTest, ANewerItemOfAnAgentReplacesTheOneThatWaits) {
  OpenStream stream(server_.stub());
  stream.SendItem(1, SmallItem(), 500);
  stream.SendItem(2, SmallItem(), 501);
  ASSERT_TRUE(server_.AwaitMetric("arclane_queued_plans", 2));
  stream.SendItem(3, SmallItem(), 500);
  stream.ReadAnswers(1);
  EXPECT_EQ(stream.ReasonOf(1), "SUPERSEDED");
  EXPECT_EQ(stream.answers.at(1).status().code(), grpc::StatusCode::ABORTED);
  server_.gate().Open();
  stream.ReadAnswers(3);
  EXPECT_FALSE(stream.answers.at(2).has_status());
  EXPECT_FALSE(stream.answers.at(3).has_status());
}

TEST_F(HeldStreamTest, AnItemWhoseTimeIsOverIsNotPlanned) {
  OpenStream stream(server_.stub());
  stream.SendItem(1, SmallItem(), std::nullopt, 0.02);
  stream.SendItem(2, SmallItem());
  ASSERT_TRUE(server_.AwaitMetric("arclane_queued_plans", 2));
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  server_.gate().Open();
  stream.ReadAnswers(2);
  EXPECT_EQ(stream.ReasonOf(1), "DEADLINE_EXCEEDED");
  EXPECT_FALSE(stream.answers.at(2).has_status());
}

TEST_F(HeldStreamTest, NothingIsReadWhileTooManyAreUnanswered) {
  OpenStream stream(server_.stub());
  // Messages one by one: the sixth stays where it is.
  for (uint64_t id = 1; id <= 8; ++id) stream.SendItem(id, SmallItem());
  ASSERT_TRUE(server_.AwaitMetric("arclane_queued_plans", 5));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(server_.MetricValue("arclane_queued_plans"), 5);
  server_.gate().Open();
  stream.ReadAnswers(8);
  for (uint64_t id = 1; id <= 8; ++id) EXPECT_FALSE(stream.answers.at(id).has_status()) << id;
}

TEST_F(HeldStreamTest, ItemsOfOneMessageBeyondTheLimitAreRefused) {
  OpenStream stream(server_.stub());
  v1::PlanStreamRequest request;
  for (uint64_t id = 1; id <= 8; ++id) OpenStream::Add(request, id, SmallItem());
  stream.Send(request);
  stream.ReadAnswers(3);
  for (uint64_t id = 6; id <= 8; ++id) EXPECT_EQ(stream.ReasonOf(id), "TOO_LARGE");
  server_.gate().Open();
  stream.ReadAnswers(8);
  EXPECT_FALSE(stream.answers.at(5).has_status());
}

TEST_F(HeldStreamTest, ADrainTellsAndAnswersWhatWasRead) {
  OpenStream stream(server_.stub());
  for (uint64_t id = 1; id <= 3; ++id) stream.SendItem(id, SmallItem());
  ASSERT_TRUE(server_.AwaitMetric("arclane_queued_plans", 3));
  auto ended = std::async(std::launch::async, [this] { return server_.server().Shutdown(0, 30); });
  ASSERT_TRUE(server_.AwaitMetric("arclane_serving", 0));
  server_.gate().Open();
  stream.ReadAll();
  EXPECT_EQ(stream.answers.size(), 3u);
  ASSERT_TRUE(stream.going_away);
  EXPECT_EQ(stream.going_away->reason(), v1::STREAM_END_GOING_AWAY);
  const grpc::Status status = stream.Finish();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(DetailsOf(status).info->reason(), "DRAINING");
  EXPECT_TRUE(ended.get());
}

TEST_F(HeldStreamTest, AClientThatDiesLeavesNothingBehind) {
  {
    OpenStream stream(server_.stub());
    for (uint64_t id = 1; id <= 4; ++id) stream.SendItem(id, SmallItem());
    ASSERT_TRUE(server_.AwaitMetric("arclane_queued_plans", 4));
  }
  EXPECT_TRUE(server_.AwaitMetric("arclane_queued_plans", 0));
  EXPECT_TRUE(server_.AwaitMetric("arclane_admitted_bytes", 0));
  EXPECT_TRUE(server_.AwaitMetric("arclane_calls_in_flight{method=\"PlanStream\"}", 0));
}

class StalledStreamTest : public ServiceStreamTest {
 protected:
  StalledStreamTest() : ServiceStreamTest(Impatient()) {}
  static ServerOptions Impatient() {
    ServerOptions options;
    options.write_stall_s = 0.5;
    return options;
  }
};

TEST_F(StalledStreamTest, AClientThatStopsReadingIsGivenUp) {
  OpenStream stream(server_.stub());
  v1::PlanItem item = SmallItem();
  item.mutable_corridor()->mutable_sampling()->set_count(20'000);
  for (uint64_t id = 1; id <= 200; ++id) {
    if (!stream.SendItem(id, item)) break;
  }
  EXPECT_TRUE(server_.AwaitMetric("arclane_calls_in_flight{method=\"PlanStream\"}", 0));
  EXPECT_TRUE(server_.AwaitMetric("arclane_admitted_bytes", 0));
  EXPECT_TRUE(AsyncPlan(server_.stub(), SmallRequest()).Await().ok());
}

}  // namespace
}  // namespace arclane
