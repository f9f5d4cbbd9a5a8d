// SPDX-License-Identifier: Apache-2.0
// A game server's loop: in every tick one PlanBatch call plans for all agents that need a route.
// Agents share a profile; one agent of the last tick is wrong, and its error names the field.
//   tick_loop_example [HOST:PORT] < request.json
#include <chrono>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "client/sdk/client.h"
#include "client/sdk/plan_batch.h"
#include "google/protobuf/util/json_util.h"

namespace {

constexpr int kTicks = 20;
constexpr int kAgents = 50;
constexpr absl::Duration kTick = absl::Milliseconds(50);
constexpr absl::Duration kDeadline = absl::Milliseconds(500);  // Of a call.
constexpr absl::Duration kPatience = absl::Seconds(20);        // Until a server must answer.

using Answers = std::vector<arclane::v1::PlanItemAnswer>;

// The routes that agents ask for in one tick, from slightly different places.
arclane::Batch BatchOf(const arclane::v1::PlanCorridorRequest& request, int tick) {
  arclane::Batch batch;
  const uint32_t profile = batch.AddAgent(request.agent());
  for (int agent = 0; agent < kAgents; ++agent) {
    arclane::v1::PlanCorridorRequest own = request;
    own.clear_agent();
    own.mutable_start()->set_x(request.start().x() + 0.001 * agent + 0.0001 * tick);
    batch.Add(own, profile);
  }
  if (tick == kTicks - 1) {
    arclane::v1::PlanCorridorRequest wrong = request;
    wrong.mutable_agent()->mutable_limits()->set_max_speed(-1);
    batch.Add(wrong);
  }
  return batch;
}

// The client library repeats calls that a busy or restarting server refused. What is still an error
// then is tried again here, when the server says so, until patience ends.
arclane::Result<Answers> PlanPatiently(arclane::Client& client, arclane::Batch& batch) {
  const absl::Time give_up = absl::Now() + kPatience;
  while (true) {
    auto answers = client.PlanBatch(batch.request(), {.deadline = kDeadline});
    if (answers.ok()) return answers;
    const arclane::ClientError& error = answers.error();
    const absl::Duration wait = error.retry_delay.value_or(kTick);
    if (!error.IsRetryable() || absl::Now() + wait > give_up) return answers;
    std::cerr << "again in " << wait << ": " << error.message << '\n';
    absl::SleepFor(wait);
  }
}

}  // namespace

int main(int argc, char** argv) {
  arclane::ClientOptions options;
  if (argc > 1) options.target = argv[1];
  const auto client = arclane::Client::Create(options);
  if (!client.ok()) {
    std::cerr << client.status() << '\n';
    return 1;
  }
  arclane::v1::PlanCorridorRequest request;
  const std::string json(std::istreambuf_iterator<char>(std::cin), {});
  if (const auto parsed = google::protobuf::util::JsonStringToMessage(json, &request);
      !parsed.ok()) {
    std::cerr << parsed << '\n';
    return 1;
  }

  int planned = 0, failed = 0;
  for (int tick = 0; tick < kTicks; ++tick) {
    const absl::Time next_tick = absl::Now() + kTick;
    arclane::Batch batch = BatchOf(request, tick);
    const auto answers = PlanPatiently(**client, batch);
    if (!answers.ok()) {
      std::cerr << answers.error() << '\n';
      return 1;
    }
    for (const arclane::v1::PlanItemAnswer& answer : *answers) {
      const auto error = arclane::ErrorOf(answer);
      if (!error) {
        ++planned;  // answer.corridor().route() goes to the agent.
        continue;
      }
      ++failed;
      std::cout << absl::StatusCodeToString(error->code) << '\n';
      for (const arclane::FieldViolation& violation : error->violations) {
        std::cout << "  " << violation.field << ": " << violation.description << '\n';
      }
    }
    absl::SleepFor(next_tick - absl::Now());
  }
  std::cout << kTicks << " ticks, " << planned << " plans, " << failed << " failed\n";
  return 0;
}
