// SPDX-License-Identifier: Apache-2.0
// Calls servers without a pause while they are stopped and started again, and tells what failed:
// unary plans, batches, streams of plans, of followers, and watches of a navmesh.
//   restart_load --target=ipv4:127.0.0.1:1,127.0.0.1:2 [flags]
// Ends at SIGTERM, SIGINT or after --most_seconds, and then writes one JSON object to stdout; the
// exit code is 1 when a call failed. A stream that the server ends as announced (UNAVAILABLE) is
// opened again and counts as reopened, not as failed.
#include <signal.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/sdk/client.h"
#include "client/sdk/plan_batch.h"
#include "client/sdk/plan_stream.h"
#include "tests/deployment/attempts.h"
#include "tests/deployment/follow_caller.h"
#include "tests/deployment/load_outcome.h"

ABSL_FLAG(std::string, target, "", "gRPC target of the servers.");
ABSL_FLAG(int, planners, 4, "Threads that plan, one call after another.");
ABSL_FLAG(int, batchers, 1, "Threads that plan batches of 64 items.");
ABSL_FLAG(int, streamers, 1, "Threads that each keep one PlanStream.");
ABSL_FLAG(int, followers, 2, "Threads that each keep one Follow stream.");
ABSL_FLAG(int, watchers, 2, "Threads that each keep one watch of --navmesh.");
ABSL_FLAG(std::string, navmesh, "yard", "The navmesh to watch, and to plan in by reference.");
ABSL_FLAG(std::string, service_config, "default",
          "default: the client library's; waiting: its config for a single server; or a gRPC "
          "service config in JSON.");
ABSL_FLAG(absl::Duration, deadline, absl::Seconds(5), "Deadline of a call, retries included.");
ABSL_FLAG(absl::Duration, pause, absl::Milliseconds(1), "Between a thread's calls.");
ABSL_FLAG(double, most_seconds, 600, "Ends after this many seconds at the latest.");

namespace arclane {
namespace {

// A corridor of so many portals that winds upwards.
v1::PlanCorridorRequest InlineRequest(int portal_count) {
  v1::PlanCorridorRequest request;
  request.mutable_start()->set_x(0);
  request.mutable_goal()->set_x(2 * portal_count + 1);
  auto& portals = *request.mutable_corridor()->mutable_portals();
  for (int i = 0; i < portal_count; ++i) {
    const double x = 2 * i + 1;
    const double y = 2 * std::sin(0.7 * i);
    portals.mutable_left()->add_x(x);
    portals.mutable_left()->add_y(y + 1);
    portals.mutable_right()->add_x(x);
    portals.mutable_right()->add_y(y - 1);
  }
  auto& limits = *request.mutable_agent()->mutable_limits();
  limits.set_max_speed(4);
  limits.set_max_acceleration(3);
  limits.set_max_braking(3);
  request.mutable_sampling()->set_spacing(0.25);
  return request;
}

// Through the three polygons of tests/deployment/yard.txtpb.
v1::PlanCorridorRequest ByReference(const std::string& navmesh) {
  v1::PlanCorridorRequest request = InlineRequest(0);
  request.mutable_navmesh()->set_navmesh_id(navmesh);
  request.mutable_start()->set_x(1);
  request.mutable_start()->set_y(1);
  request.mutable_goal()->set_x(5);
  request.mutable_goal()->set_y(1);
  request.mutable_corridor()->clear_portals();
  for (const uint64_t ref : {0, 1, 2}) request.mutable_corridor()->mutable_refs()->add_ref(ref);
  return request;
}

std::string ServiceConfig() {
  const std::string name = absl::GetFlag(FLAGS_service_config);
  if (name == "default") return std::string(DefaultServiceConfig());
  if (name == "waiting") return std::string(WaitingServiceConfig());
  return name;
}

// Each role has connections and attempts of its own: another user agent is another connection.
std::unique_ptr<Client> Connect(const std::string& role) {
  ClientOptions options;
  options.target = absl::GetFlag(FLAGS_target);
  options.service_config_json = ServiceConfig();
  options.deadline = absl::GetFlag(FLAGS_deadline);
  options.user_agent = role;
  auto client = Client::Create(options);
  if (client.ok()) return *std::move(client);
  std::cerr << client.status() << "\n";
  std::exit(2);
}

void PlanUntil(const std::stop_token& stop, Client& client, LoadOutcome& outcome) {
  const std::string navmesh = absl::GetFlag(FLAGS_navmesh);
  std::vector<v1::PlanCorridorRequest> requests;
  for (const int portals : {4, 16, 64, 256}) requests.push_back(InlineRequest(portals));
  if (!navmesh.empty()) requests.push_back(ByReference(navmesh));
  for (uint64_t i = 0; !stop.stop_requested(); ++i) {
    v1::PlanCorridorRequest& request = requests[i % requests.size()];
    // Some are answered from the cache, most are not.
    if (i % 64 != 0) request.mutable_start()->set_y(1e-6 * static_cast<double>(i % 500'000));
    const absl::Time begin = absl::Now();
    const auto answer = client.PlanCorridor(request);
    if (!answer.ok()) {
      outcome.Failed(answer.error().ToString());
    } else if (answer->route().outcome() != v1::OUTCOME_COMPLETE) {
      outcome.Failed("an answer without a complete route");
    }
    outcome.Called(absl::Now() - begin);
    absl::SleepFor(absl::GetFlag(FLAGS_pause));
  }
}

// How an item failed; empty when it did not.
std::string FaultOf(const v1::PlanItemAnswer& answer) {
  if (const auto error = ErrorOf(answer)) return error->ToString();
  return answer.corridor().route().outcome() == v1::OUTCOME_COMPLETE
             ? ""
             : "an item without a complete route";
}

void BatchUntil(const std::stop_token& stop, Client& client, LoadOutcome& outcome) {
  constexpr int kItems = 64;
  Batch batch;
  for (int i = 0; i < kItems; ++i) batch.Add(InlineRequest(4 + i));
  while (!stop.stop_requested()) {
    const absl::Time begin = absl::Now();
    const auto answers = client.PlanBatch(batch.request());
    if (!answers.ok()) {
      outcome.Failed(answers.error().ToString());
    } else if (answers->size() != kItems) {
      outcome.Failed("a batch without all of its answers");
    } else {
      for (const v1::PlanItemAnswer& answer : *answers) {
        if (const std::string fault = FaultOf(answer); !fault.empty()) outcome.Failed(fault);
      }
    }
    outcome.Called(absl::Now() - begin);
    absl::SleepFor(absl::GetFlag(FLAGS_pause));
  }
}

// Eight items at a time; the library opens the stream again and sends again what was not answered.
void StreamUntil(const std::stop_token& stop, Client& client, LoadOutcome& outcome) {
  constexpr int kItems = 8;
  const auto stream = client.OpenPlanStream();
  v1::PlanItem item;
  *item.mutable_corridor() = InlineRequest(16);
  while (!stop.stop_requested()) {
    for (int i = 0; i < kItems; ++i) {
      const absl::Time begin = absl::Now();
      stream->Send(item, {}, [&outcome, begin](const PlanStream::Answer& answer) {
        const std::string fault = answer.ok() ? FaultOf(*answer) : answer.error().ToString();
        if (!fault.empty()) outcome.Failed(fault);
        outcome.Called(absl::Now() - begin);
      });
    }
    if (!stream->Flush(absl::GetFlag(FLAGS_deadline)))
      return outcome.Failed("items that were not answered");
    absl::SleepFor(absl::GetFlag(FLAGS_pause));
  }
  for (int i = 0; i < stream->reopened(); ++i) outcome.Reopened();
}

// The library opens a watch again by itself; each time it hears "synced".
void WatchUntil(const std::stop_token& stop, Client& client, LoadOutcome& outcome) {
  v1::WatchNavMeshRequest request;
  request.set_navmesh_id(absl::GetFlag(FLAGS_navmesh));
  CallOptions options;
  options.stop = stop;
  const auto watch = client.navmeshes().Watch(request, options);
  int synced = 0;
  while (!stop.stop_requested()) {
    const absl::Time begin = absl::Now();
    const auto event = watch->Next();
    if (!event.ok()) {
      if (!stop.stop_requested()) outcome.Failed(event.error().ToString());
      return;
    }
    outcome.Called(absl::Now() - begin);
    if (event->has_synced() && ++synced > 1) outcome.Reopened();
  }
}

void AwaitEnd(const sigset_t& ending) {
  const auto seconds = static_cast<time_t>(absl::GetFlag(FLAGS_most_seconds));
  const timespec most{seconds, 0};
  sigtimedwait(&ending, nullptr, &most);
}

int Run() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);

  const auto planner = Connect("planners");
  // All addresses are known once a call was answered, and no other channel exists yet.
  (void)planner->GetLimits();
  const std::set<int64_t> planner_subchannels = Subchannels();
  const int64_t attempts_before = AttemptsOver(planner_subchannels);
  const auto watcher = Connect("watchers");
  const auto batcher = Connect("batchers");
  const auto streamer = Connect("streamers");
  LoadOutcome plans;
  LoadOutcome batches;
  LoadOutcome streams;
  LoadOutcome follows;
  LoadOutcome watches;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < absl::GetFlag(FLAGS_planners); ++i)
      threads.emplace_back([&](const std::stop_token& stop) { PlanUntil(stop, *planner, plans); });
    for (int i = 0; i < absl::GetFlag(FLAGS_batchers); ++i)
      threads.emplace_back(
          [&](const std::stop_token& stop) { BatchUntil(stop, *batcher, batches); });
    for (int i = 0; i < absl::GetFlag(FLAGS_streamers); ++i)
      threads.emplace_back(
          [&](const std::stop_token& stop) { StreamUntil(stop, *streamer, streams); });
    for (int i = 0; i < absl::GetFlag(FLAGS_followers); ++i) {
      threads.emplace_back([&](const std::stop_token& stop) {
        FollowCaller caller(absl::GetFlag(FLAGS_target), ServiceConfig(), follows);
        const auto request = InlineRequest(4);
        const auto answer = planner->PlanCorridor(request);
        if (!answer.ok()) return follows.Failed(answer.error().ToString());
        caller.FollowUntil(stop, request, answer->route(), absl::GetFlag(FLAGS_pause));
      });
    }
    for (int i = 0; i < absl::GetFlag(FLAGS_watchers); ++i)
      threads.emplace_back(
          [&](const std::stop_token& stop) { WatchUntil(stop, *watcher, watches); });
    AwaitEnd(ending);
    for (std::jthread& thread : threads) thread.request_stop();
  }

  nlohmann::json plan_report = plans.ToJson();
  plan_report["attempts"] = AttemptsOver(planner_subchannels) - attempts_before;
  const nlohmann::json report = {{"plans", plan_report},
                                 {"batches", batches.ToJson()},
                                 {"streams", streams.ToJson()},
                                 {"follows", follows.ToJson()},
                                 {"watches", watches.ToJson()}};
  std::cout << report.dump() << std::endl;
  for (const LoadOutcome* outcome : {&plans, &batches, &streams, &follows, &watches}) {
    if (outcome->failed() > 0) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace arclane

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Calls servers while they are restarted, and tells what failed.");
  absl::ParseCommandLine(argc, argv);
  return arclane::Run();
}
