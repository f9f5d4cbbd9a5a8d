// SPDX-License-Identifier: Apache-2.0
// Whole runs against a service with answers made by hand.
#include "client/loadgen/load_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "client/loadgen/latency_plot.h"
#include "client/loadgen/load_report.h"
#include "tests/unit/client/fake_planner.h"

namespace arclane {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

// Ends by its count, long before its duration.
LoadOptions Bounded(const std::string& target, const std::string& mix, int64_t count) {
  LoadOptions options;
  options.target = target;
  std::vector<std::string> errors;
  options.mix = ParseMix(mix, errors);
  EXPECT_THAT(errors, ::testing::IsEmpty());
  options.distinct = 5;
  options.concurrency = 4;
  options.warm_up = absl::ZeroDuration();
  options.slice = absl::Milliseconds(20);
  options.duration = absl::Seconds(60);
  options.deadline = absl::Seconds(30);
  options.count = count;
  options.quiet = true;
  return options;
}

LoadReport RunLoadOf(const LoadOptions& options) {
  EXPECT_THAT(FaultsOf(options), ::testing::IsEmpty());
  std::istringstream none;
  auto mix = BuildRequestMix(options, none);
  EXPECT_TRUE(mix.ok()) << mix.status();
  const std::atomic<bool> stop = false;
  std::ostringstream progress;
  auto report = RunLoad(options, *std::move(mix), stop, progress);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : LoadReport();
}

class LoadRunTest : public ::testing::Test {
 protected:
  // Answers PlanCorridor with `bytes` bytes.
  void AnswerOfSize(size_t bytes) {
    planner_.OnPlan([bytes](grpc::ServerContext&, const v1::PlanCorridorRequest&,
                            v1::PlanCorridorResponse& response) {
      while (response.ByteSizeLong() < bytes) {
        response.mutable_read_set()->add_gate(1);
      }
      return grpc::Status::OK;
    });
  }

  arclane::testing::FakePlanner planner_;
};

TEST_F(LoadRunTest, ClosedLoopMakesAsManyCallsAsCounted) {
  AnswerOfSize(400);
  const LoadReport report = RunLoadOf(Bounded(planner_.target(), "corridor:4", 500));
  EXPECT_EQ(report.all_plans.ended(), 500u);
  EXPECT_EQ(report.all_plans.ok(), 500u);
  EXPECT_EQ(report.all_plans.attempts, 500u);
  EXPECT_THAT(report.all_plans.codes, ElementsAre(Pair(0, 500)));
  EXPECT_EQ(report.all_plans.start_lag.count(), 0u);
  EXPECT_GT(report.all_pings.ok(), 0u);
  EXPECT_LE(report.all_pings.ok(), 500u);
  EXPECT_GT(report.plan_time.active_s, 0.0);
}

TEST_F(LoadRunTest, PingsHaveTheBytesOfThePlans) {
  AnswerOfSize(700);
  const LoadReport report = RunLoadOf(Bounded(planner_.target(), "corridor:4", 200));
  const auto mean = [](uint64_t bytes, uint64_t calls) {
    return static_cast<double>(bytes) / static_cast<double>(calls);
  };
  const SeriesStatistics& plans = report.all_plans;
  const SeriesStatistics& pings = report.all_pings;
  EXPECT_EQ(mean(plans.request_bytes, plans.ended()), mean(pings.request_bytes, pings.ended()));
  EXPECT_EQ(mean(plans.response_bytes, plans.ok()), mean(pings.response_bytes, pings.ok()));
  EXPECT_GE(mean(pings.response_bytes, pings.ok()), 700.0);
}

TEST_F(LoadRunTest, OpenLoopMakesAsManyCallsAsCounted) {
  LoadOptions options = Bounded(planner_.target(), "corridor:4", 300);
  options.loop = LoadLoop::kOpen;
  options.rate = 5000;
  for (const Arrivals arrivals : {Arrivals::kUniform, Arrivals::kPoisson}) {
    options.arrivals = arrivals;
    const LoadReport report = RunLoadOf(options);
    EXPECT_EQ(report.all_plans.ok(), 300u);
    EXPECT_EQ(report.all_plans.start_lag.count(), 300u);
  }
}

// One call holds the only place for 300 ms, while calls are due every millisecond: a call that was
// due k ms into the stall ends no sooner than (300 - k) ms after it was due. A loop that counts
// from the real start would see one slow call.
TEST_F(LoadRunTest, LatencyOfAnOpenLoopCountsFromTheIntendedStart) {
  std::atomic<int> calls = 0;
  planner_.OnPlan(
      [&calls](grpc::ServerContext&, const v1::PlanCorridorRequest&, v1::PlanCorridorResponse&) {
        // The first call is the probe of the answer's size.
        if (++calls == 2) std::this_thread::sleep_for(std::chrono::milliseconds(300));
        return grpc::Status::OK;
      });
  LoadOptions options = Bounded(planner_.target(), "corridor:4", 400);
  options.loop = LoadLoop::kOpen;
  options.rate = 1000;
  options.max_in_flight = 1;
  options.slice = absl::Seconds(10);
  const LoadReport report = RunLoadOf(options);
  ASSERT_EQ(report.all_plans.ok(), 400u);
  // Those due in the first 200 ms of the stall: 199 of 400 at least, the histogram's error aside.
  EXPECT_GE(report.all_plans.latency.Percentile(52),
            100e6 * (1 - LatencyHistogram::kRelativeError));
  EXPECT_GE(report.all_plans.start_lag.Percentile(52),
            100e6 * (1 - LatencyHistogram::kRelativeError));
}

TEST_F(LoadRunTest, CallsThatWereDueAndNeverStartedAreTold) {
  planner_.OnPlan(
      [](grpc::ServerContext&, const v1::PlanCorridorRequest&, v1::PlanCorridorResponse&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        return grpc::Status::OK;
      });
  LoadOptions options = Bounded(planner_.target(), "corridor:4", 1'000'000);
  options.loop = LoadLoop::kOpen;
  options.rate = 1000;
  options.max_in_flight = 1;
  options.slice = absl::Milliseconds(200);
  options.duration = absl::Milliseconds(200);
  options.deadline = absl::Milliseconds(400);
  const LoadReport report = RunLoadOf(options);
  // 200 were due; in 600 ms at most four of 150 ms can have been made.
  EXPECT_GE(report.all_plans.not_started, 190u);
  EXPECT_EQ(report.all_plans.not_started + report.all_plans.ended(), 200u);
  EXPECT_THAT(report.warnings, Contains(HasSubstr("never started")));
}

TEST_F(LoadRunTest, FailuresAreCountedByCodeAndKeptOutOfTheLatencies) {
  std::atomic<int> calls = 0;
  planner_.OnPlan(
      [&calls](grpc::ServerContext&, const v1::PlanCorridorRequest&, v1::PlanCorridorResponse&) {
        return ++calls % 4 == 0 ? grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "every fourth")
                                : grpc::Status::OK;
      });
  const LoadReport report = RunLoadOf(Bounded(planner_.target(), "corridor:4", 400));
  EXPECT_EQ(report.all_plans.ended(), 400u);
  EXPECT_EQ(report.all_plans.failed(), 100u);
  EXPECT_THAT(report.all_plans.codes,
              ElementsAre(Pair(0, 300), Pair(int{grpc::StatusCode::INVALID_ARGUMENT}, 100)));
  EXPECT_THAT(report.warnings, Contains(HasSubstr("100 calls failed")));
}

TEST_F(LoadRunTest, RetriesAreMadeAndCounted) {
  std::atomic<int> calls = 0;
  planner_.OnPlan([&calls](grpc::ServerContext& context, const v1::PlanCorridorRequest&,
                           v1::PlanCorridorResponse&) {
    if (++calls % 2 == 0) {
      context.AddTrailingMetadata("grpc-retry-pushback-ms", "1");
      return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "every second");
    }
    return grpc::Status::OK;
  });
  LoadOptions options = Bounded(planner_.target(), "corridor:4", 200);
  options.max_attempts = 5;
  options.concurrency = 1;
  const LoadReport report = RunLoadOf(options);
  EXPECT_EQ(report.all_plans.ok(), 200u);
  // In turn refused and answered.
  EXPECT_EQ(report.all_plans.attempts, 400u);
}

TEST_F(LoadRunTest, ServerMayForbidRetries) {
  planner_.OnPlan(
      [](grpc::ServerContext& context, const v1::PlanCorridorRequest&, v1::PlanCorridorResponse&) {
        context.AddTrailingMetadata("grpc-retry-pushback-ms", "-1");
        return grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "no");
      });
  LoadOptions options = Bounded(planner_.target(), "corridor:4", 50);
  options.max_attempts = 5;
  const LoadReport report = RunLoadOf(options);
  EXPECT_EQ(report.all_plans.failed(), 50u);
  EXPECT_EQ(report.all_plans.attempts, 50u);
}

TEST_F(LoadRunTest, PartsOfAMixComeByTheirWeights) {
  const LoadReport report =
      RunLoadOf(Bounded(planner_.target(), "corridor:4@3,spline:4,waypoints:4@2", 600));
  EXPECT_THAT(report.names, ElementsAre("PlanCorridor corridor:4", "PlanSpline spline:4",
                                        "PlanWaypoints waypoints:4"));
  EXPECT_EQ(report.plans[0].ok(), 300u);
  EXPECT_EQ(report.plans[1].ok(), 100u);
  EXPECT_EQ(report.plans[2].ok(), 200u);
  EXPECT_EQ(report.all_plans.ok(), 600u);
}

TEST_F(LoadRunTest, SeveralThreadsAndConnectionsShareTheLoad) {
  LoadOptions options = Bounded(planner_.target(), "corridor:4,ping:100", 600);
  options.connections = 3;
  options.threads = 2;
  options.concurrency = 7;
  EXPECT_EQ(RunLoadOf(options).all_plans.ok(), 600u);
  options.loop = LoadLoop::kOpen;
  options.rate = 20'000;
  EXPECT_EQ(RunLoadOf(options).all_plans.ok(), 600u);
}

TEST_F(LoadRunTest, PingsBesideThePlansRunAtTheSameTime) {
  LoadOptions options = Bounded(planner_.target(), "corridor:4", 300);
  options.ping = PingTurns::kBeside;
  options.warm_up = absl::Milliseconds(50);
  const LoadReport report = RunLoadOf(options);
  EXPECT_EQ(report.all_plans.ok(), 300u);
  EXPECT_GT(report.all_pings.ok(), 0u);
  EXPECT_EQ(report.plan_time.active_s, report.ping_time.active_s);
}

TEST_F(LoadRunTest, StreamAnswersEveryMessage) {
  LoadOptions options = Bounded(planner_.target(), "ping:64", 1000);
  options.shape = CallShape::kStream;
  options.connections = 2;
  const LoadReport report = RunLoadOf(options);
  EXPECT_EQ(report.all_plans.ok(), 1000u);
  EXPECT_GT(report.all_pings.ok(), 0u);
}

TEST_F(LoadRunTest, NoServerIsAnError) {
  const std::string target = planner_.target();
  planner_.Stop();
  LoadOptions options = Bounded(target, "corridor:4", 10);
  std::istringstream none;
  auto mix = BuildRequestMix(options, none);
  const std::atomic<bool> stop = false;
  std::ostringstream progress;
  const auto report = RunLoad(options, *std::move(mix), stop, progress);
  EXPECT_EQ(report.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(report.status().message()), HasSubstr(target));
}

TEST_F(LoadRunTest, AServerThatGoesAwayEndsNothingButTheCalls) {
  std::atomic<int> calls = 0;
  planner_.OnPlan(
      [&calls](grpc::ServerContext&, const v1::PlanCorridorRequest&, v1::PlanCorridorResponse&) {
        ++calls;
        return grpc::Status::OK;
      });
  LoadOptions options = Bounded(planner_.target(), "corridor:4", 1'000'000);
  options.duration = absl::Milliseconds(600);
  std::thread stopper([&] {
    while (calls < 50) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    planner_.Stop();
  });
  const LoadReport report = RunLoadOf(options);
  stopper.join();
  EXPECT_GT(report.all_plans.ok(), 0u);
  EXPECT_GT(report.all_plans.failed(), 0u);
  EXPECT_EQ(report.all_plans.codes.count(grpc::StatusCode::UNAVAILABLE), 1u);
}

TEST_F(LoadRunTest, AStopEndsTheRunWithWhatItHas) {
  LoadOptions options = Bounded(planner_.target(), "corridor:4", 1'000'000);
  std::atomic<bool> stop = false;
  std::atomic<int> calls = 0;
  planner_.OnPlan(
      [&](grpc::ServerContext&, const v1::PlanCorridorRequest&, v1::PlanCorridorResponse&) {
        if (++calls == 100) stop = true;
        return grpc::Status::OK;
      });
  std::istringstream none;
  auto mix = BuildRequestMix(options, none);
  std::ostringstream progress;
  const auto report = RunLoad(options, *std::move(mix), stop, progress);
  ASSERT_TRUE(report.ok());
  EXPECT_GE(report->all_plans.ok(), 90u);
  EXPECT_THAT(report->warnings, Contains("stopped before its end"));
}

TEST_F(LoadRunTest, ReportsSayTheSameInEveryForm) {
  AnswerOfSize(300);
  const LoadOptions options = Bounded(planner_.target(), "corridor:4,spline:4", 400);
  const LoadReport report = RunLoadOf(options);

  const auto json = nlohmann::json::parse(ReportAsJson(options, report));
  ASSERT_EQ(json["series"].size(), 6u);
  EXPECT_EQ(json["series"][0]["name"], "PlanCorridor corridor:4");
  EXPECT_EQ(json["series"][0]["calls"], 200);
  EXPECT_EQ(json["series"][1]["name"], "Ping beside PlanCorridor corridor:4");
  EXPECT_EQ(json["series"][4]["name"], "all plans");
  EXPECT_EQ(json["series"][4]["codes"]["OK"], 400);
  EXPECT_DOUBLE_EQ(json["series"][4]["latency_us"]["p99"].get<double>(),
                   report.all_plans.latency.Percentile(99) * 1e-3);
  EXPECT_DOUBLE_EQ(
      json["ratios"]["p50"].get<double>(),
      report.all_plans.latency.Percentile(50) / report.all_pings.latency.Percentile(50));

  const std::string csv = ReportAsCsv(report);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 7);
  EXPECT_THAT(csv, HasSubstr("\n\"PlanCorridor corridor:4\",200,200,0,200,0,"));
  // Every line has the header's columns.
  std::istringstream lines(csv);
  std::string line, header;
  std::getline(lines, header);
  while (std::getline(lines, line)) {
    EXPECT_EQ(std::count(line.begin(), line.end(), ','),
              std::count(header.begin(), header.end(), ','));
  }

  const std::string text = ReportAsText(options, report);
  EXPECT_THAT(text, StartsWith("closed loop, 4 in flight, unary, 1 connection, 1 thread"));
  EXPECT_THAT(text, HasSubstr("ratio to Ping"));
}

TEST(LatencyPlotTest, DrawsCurvesWithValuesAndNamesTheOthers) {
  LatencyHistogram some, none;
  for (uint64_t i = 1; i <= 2000; ++i) some.Add(i * 1000);
  const std::string svg =
      PlotLatencies("title <&>", "below", {{"plans", &some, false}, {"pings", &none, true}});
  EXPECT_THAT(svg, HasSubstr("title &lt;&amp;&gt;"));
  EXPECT_THAT(svg, HasSubstr("plans: 2000 calls, p50 1.0"));
  EXPECT_THAT(svg, HasSubstr("pings: 0 calls"));
  EXPECT_THAT(svg, HasSubstr("99.9%"));
  EXPECT_THAT(svg, HasSubstr("<path "));
  EXPECT_EQ(svg,
            PlotLatencies("title <&>", "below", {{"plans", &some, false}, {"pings", &none, true}}));
  EXPECT_THAT(PlotLatencies("t", "s", {{"pings", &none, true}}), HasSubstr("no call succeeded"));
}

}  // namespace
}  // namespace arclane
