// SPDX-License-Identifier: Apache-2.0
// The SDK's batches and streams against real servers, also such that end while they are in use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "client/sdk/client.h"
#include "tests/integration/service_harness.h"

namespace arclane {
namespace {

v1::PlanCorridorRequest RequestFrom(double start_x) {
  v1::PlanCorridorRequest request = SmallRequest();
  request.clear_agent();
  request.mutable_start()->set_x(start_x);
  return request;
}

std::unique_ptr<Client> ClientOf(const std::string& target) {
  ClientOptions options;
  options.target = target;
  options.deadline = absl::Seconds(30);
  auto client = Client::Create(options);
  EXPECT_TRUE(client.ok()) << client.status();
  return *std::move(client);
}

v1::PlanItem ItemFrom(double start_x) {
  v1::PlanItem item;
  *item.mutable_corridor() = RequestFrom(start_x);
  item.set_agent_index(0);
  return item;
}

v1::PlanShared SharedAgent() {
  v1::PlanShared shared;
  *shared.add_agents() = SmallRequest().agent();
  return shared;
}

TEST(SdkBatchTest, AnswersStandAtTheirItemsPlaces) {
  TestServer server;
  const auto client = ClientOf(server.server().addresses()[0]);
  Batch batch;
  const uint32_t agent = batch.AddAgent(SmallRequest().agent());
  v1::Sampling five;
  five.set_count(5);
  const uint32_t sampling = batch.AddSampling(five);
  EXPECT_EQ(batch.Add(RequestFrom(0.5), agent, sampling), 0u);
  EXPECT_EQ(batch.Add(RequestFrom(1e9), agent), 1u);
  EXPECT_EQ(batch.Add(v1::PlanSpeedRequest(), agent), 2u);
  const auto answers = client->PlanBatch(batch.request());
  ASSERT_TRUE(answers.ok()) << answers.error();
  ASSERT_EQ(answers->size(), 3u);
  EXPECT_EQ((*answers)[0].corridor().route().samples().distance_size(), 5);
  EXPECT_FALSE(ErrorOf((*answers)[0]));
  const auto error = ErrorOf((*answers)[1]);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code, absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(error->reason, "INVALID_FIELD");
  EXPECT_EQ(error->violations.at(0).field, "items[1].corridor.start");
  EXPECT_EQ(ErrorOf((*answers)[2])->violations.at(0).field, "items[2].speed.geometry");

  int told = 0;
  const auto again =
      client->PlanBatch(batch.request(), {}, [&](uint32_t index, const auto& answer) {
        EXPECT_EQ(index, static_cast<uint32_t>(told++));
        EXPECT_EQ(answer.has_status(), index != 0);
      });
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->empty());
  EXPECT_EQ(told, 3);
}

TEST(SdkStreamTest, EveryItemIsAnsweredOnce) {
  TestServer server;
  const auto client = ClientOf(server.server().addresses()[0]);
  absl::Mutex mutex;
  std::multiset<int> answered;
  int failed = 0;
  const auto stream = client->OpenPlanStream({.most_in_flight = 50});
  stream->SetShared(SharedAgent());
  for (int i = 0; i < 2000; ++i) {
    stream->Send(ItemFrom(i % 10 == 0 ? 1e9 : 0.1 + 1e-4 * i), {},
                 [&, i](const PlanStream::Answer& answer) {
                   absl::MutexLock lock(&mutex);
                   answered.insert(i);
                   failed += !answer.ok();
                 });
  }
  ASSERT_TRUE(stream->Flush(absl::Seconds(60)));
  absl::MutexLock lock(&mutex);
  EXPECT_EQ(answered.size(), 2000u);
  EXPECT_EQ(std::set<int>(answered.begin(), answered.end()).size(), 2000u);
  EXPECT_EQ(failed, 200);
  EXPECT_EQ(stream->reopened(), 0);
}

TEST(SdkStreamTest, ItemsAreCancelledAndReplaced) {
  ServerOptions options;
  options.planner_threads = 1;
  TestServer server(options, /*gate_open=*/false);
  const auto client = ClientOf(server.server().addresses()[0]);
  const auto stream = client->OpenPlanStream();
  stream->SetShared(SharedAgent());
  absl::Mutex mutex;
  std::map<std::string, absl::StatusCode> ends;
  std::string superseded_reason;
  const auto note = [&](const std::string& name) {
    return [&, name](const PlanStream::Answer& answer) {
      absl::MutexLock lock(&mutex);
      ends[name] = answer.ok() ? absl::StatusCode::kOk : answer.error().code;
      if (name == "old") superseded_reason = answer.ok() ? "" : answer.error().reason;
    };
  };
  const uint64_t unwanted = stream->Send(ItemFrom(0.2), {}, note("unwanted"));
  stream->Send(ItemFrom(0.3), {.agent_id = 7}, note("old"));
  ASSERT_TRUE(server.AwaitMetric("arclane_queued_plans", 2));
  stream->Cancel(unwanted);
  stream->Send(ItemFrom(0.4), {.agent_id = 7}, note("new"));
  EXPECT_FALSE(stream->Flush(absl::Milliseconds(300)));
  server.gate().Open();
  ASSERT_TRUE(stream->Flush(absl::Seconds(30)));
  absl::MutexLock lock(&mutex);
  EXPECT_EQ(ends.at("unwanted"), absl::StatusCode::kCancelled);
  EXPECT_EQ(ends.at("old"), absl::StatusCode::kAborted);
  EXPECT_EQ(superseded_reason, "SUPERSEDED");
  EXPECT_EQ(ends.at("new"), absl::StatusCode::kOk);
}

TEST(SdkStreamTest, ARestartedServerLosesNoRequest) {
  auto server = std::make_unique<TestServer>();
  ServerOptions same_address;
  same_address.addresses = {server->server().addresses()[0]};
  const auto client = ClientOf(same_address.addresses[0]);
  std::atomic<int> answered{0}, failed{0};
  const auto stream = client->OpenPlanStream();
  stream->SetShared(SharedAgent());
  int sent = 0;
  for (int restart = 0; restart < 3; ++restart) {
    for (int i = 0; i < 500; ++i, ++sent) {
      stream->Send(ItemFrom(0.1 + 1e-5 * sent), {}, [&](const PlanStream::Answer& answer) {
        ++answered;
        failed += !answer.ok();
      });
    }
    // The stream is open now, and the end of the server is the end of the stream.
    for (int i = 0; i < 3000 && answered <= sent - 500; ++i) absl::SleepFor(absl::Milliseconds(10));
    std::thread ending([&] { server->server().Shutdown(0, 10); });
    for (int i = 0; i < 500; ++i, ++sent) {
      stream->Send(ItemFrom(0.1 + 1e-5 * sent), {}, [&](const PlanStream::Answer& answer) {
        ++answered;
        failed += !answer.ok();
      });
    }
    ending.join();
    server = nullptr;
    server = std::make_unique<TestServer>(same_address);
  }
  ASSERT_TRUE(stream->Flush(absl::Seconds(60)));
  EXPECT_EQ(answered, sent);
  EXPECT_EQ(failed, 0);
  EXPECT_GE(stream->reopened(), 2);  // Answers came behind the first and the second restart.
}

TEST(SdkStreamTest, WithoutAServerItemsEndWithTheirTime) {
  std::string target;
  {
    TestServer server;
    target = server.server().addresses()[0];
  }
  const auto client = ClientOf(target);
  const auto stream = client->OpenPlanStream();
  std::atomic<int> late{0}, cancelled{0};
  stream->Send(ItemFrom(0.5), {.time_budget = absl::Milliseconds(100)},
               [&](const PlanStream::Answer& answer) {
                 late += answer.error().code == absl::StatusCode::kDeadlineExceeded;
               });
  const uint64_t id = stream->Send(ItemFrom(0.5), {}, [&](const PlanStream::Answer& answer) {
    cancelled += answer.error().code == absl::StatusCode::kCancelled;
  });
  EXPECT_FALSE(stream->Flush(absl::Milliseconds(500)));
  EXPECT_EQ(late, 1);
  stream->Cancel(id);
  EXPECT_TRUE(stream->Flush(absl::Seconds(10)));
  EXPECT_EQ(cancelled, 1);
}

TEST(SdkStreamTest, EndingItTellsWhatIsOpen) {
  ServerOptions options;
  options.planner_threads = 1;
  TestServer server(options, /*gate_open=*/false);
  const auto client = ClientOf(server.server().addresses()[0]);
  std::atomic<int> cancelled{0};
  {
    const auto stream = client->OpenPlanStream();
    stream->SetShared(SharedAgent());
    for (int i = 0; i < 5; ++i) {
      stream->Send(ItemFrom(0.1 + 0.01 * i), {}, [&](const PlanStream::Answer& answer) {
        cancelled += answer.error().code == absl::StatusCode::kCancelled;
      });
    }
    ASSERT_TRUE(server.AwaitMetric("arclane_queued_plans", 5));
  }
  EXPECT_EQ(cancelled, 5);
  EXPECT_TRUE(server.AwaitMetric("arclane_queued_plans", 0));
}

}  // namespace
}  // namespace arclane
