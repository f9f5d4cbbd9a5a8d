// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/metrics.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "server/telemetry/histogram_bounds.h"

namespace arclane {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const MetricLabels kLabels = {{"PlanCorridor", "Ping"}, {"COMPLETE", "PARTIAL"},
                              {"queue_full"},           {"queue", "speed"},
                              {"STOP", "ROUNDED"},      {"NO_ROOM", "LINK"}};
const BuildInfo kBuild = {"1.2.3", "abcdef", "GCC 12"};

// What a plain HTTP client gets.
std::string Get(int port, const std::string& path) {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const std::string request = "GET " + path + " HTTP/1.0\r\nHost: localhost\r\n\r\n";
  EXPECT_EQ(write(descriptor, request.data(), request.size()),
            static_cast<ssize_t>(request.size()));
  std::string answer;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(descriptor, buffer, sizeof(buffer))) > 0;) {
    answer.append(buffer, static_cast<size_t>(count));
  }
  close(descriptor);
  return answer;
}

// Name -> type, of the lines "# TYPE name type".
std::map<std::string, std::string> TypesOf(const std::string& exposition) {
  std::map<std::string, std::string> types;
  std::istringstream lines(exposition);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, keyword, name, type;
    if (words >> hash >> keyword >> name >> type && hash == "#" && keyword == "TYPE")
      types[name] = type;
  }
  return types;
}

// Name -> type, of the table's rows.
std::map<std::string, std::string> TypesOfTable() {
  std::map<std::string, std::string> types;
  std::ifstream file(ARCLANE_SOURCE_DIR "/server/telemetry/metrics.md");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const size_t name_end = line.find('`', 3);
    std::istringstream rest(line.substr(name_end + 1));
    std::string bar, type;
    rest >> bar >> type;
    types[line.substr(3, name_end - 3)] = type;
  }
  return types;
}

TEST(MetricsTest, TheTableNamesExactlyWhatIsExposed) {
  const Metrics metrics(kBuild, kLabels);
  const auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", metrics);
  ASSERT_TRUE(endpoint.ok()) << endpoint.status();
  const std::string answer = Get((*endpoint)->port(), "/metrics");
  EXPECT_THAT(answer, HasSubstr("200 OK"));
  EXPECT_EQ(TypesOf(answer), TypesOfTable());
}

TEST(MetricsTest, EverySeriesIsZeroFromTheStart) {
  const Metrics metrics(kBuild, kLabels);
  const std::string text = metrics.Text();
  for (const char* series :
       {"arclane_calls_total{code=\"OK\",method=\"Ping\"} 0",
        "arclane_calls_total{code=\"UNAUTHENTICATED\",method=\"PlanCorridor\"} 0",
        "arclane_call_duration_seconds_count{method=\"Ping\"} 0",
        "arclane_calls_in_flight{method=\"PlanCorridor\"} 0",
        "arclane_plan_outcomes_total{outcome=\"PARTIAL\"} 0",
        "arclane_shed_total{reason=\"queue_full\"} 0",
        "arclane_stage_duration_seconds_count{stage=\"speed\"} 0",
        "arclane_queued_plans 0",
        "arclane_serving 0",
        "arclane_queue_estimated_wait_seconds 0",
        "arclane_plan_portals_count 0",
        "arclane_plan_samples_count 0",
        "arclane_batch_items_count 0",
        "arclane_corners_total{kind=\"ROUNDED\"} 0",
        "arclane_corner_stops_total{reason=\"LINK\"} 0",
        "arclane_store_commits_total{result=\"failed\"} 0",
        "arclane_store_commit_duration_seconds_count 0",
        "arclane_tls_certificate_expiry_timestamp_seconds 0",
        "arclane_tls_reloads_total{result=\"failed\"} 0",
        "arclane_authorization_denied_total{method=\"Ping\"} 0",
        "arclane_authorization_denied_total{method=\"other\"} 0",
        "arclane_log_dropped_total 0",
        "arclane_build_info{commit=\"abcdef\",compiler=\"GCC 12\",version=\"1.2.3\"} 1"}) {
    EXPECT_THAT(text, HasSubstr(series));
  }
}

TEST(MetricsTest, HistogramsHaveTheDocumentedBounds) {
  const Metrics metrics(kBuild, kLabels);
  const std::string text = metrics.Text();
  std::istringstream lines(text);
  std::vector<double> bounds;
  for (std::string line; std::getline(lines, line);) {
    const std::string prefix = "arclane_call_duration_seconds_bucket{method=\"Ping\",le=\"";
    if (line.rfind(prefix, 0) == 0) bounds.push_back(std::stod(line.substr(prefix.size())));
  }
  EXPECT_THAT(bounds, ::testing::ElementsAre(10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6, 1e-3,
                                             2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 1.0,
                                             std::numeric_limits<double>::infinity()));
}

TEST(MetricsTest, CountsWhatIsRecorded) {
  Metrics metrics(kBuild, kLabels);
  metrics.CallStarted(0);
  metrics.CallStarted(0);
  metrics.CallEnded(0, 0, 0.02);
  metrics.StreamStarted(1);
  metrics.Outcome(1);
  metrics.Shed(0);
  metrics.Stage(1, 0.5);
  metrics.QueueChanged(2);
  metrics.QueueChanged(-1);
  metrics.AdmittedChanged(100);
  metrics.AdmittedChanged(-60);
  metrics.SetCapacity(3, 5, 7);
  metrics.SetServing(true);
  metrics.SetUsableProcessors(1.5);
  metrics.Portals(17);
  metrics.Samples(0);
  metrics.Batch(10'000);
  metrics.Corners(1, 3);
  metrics.CornerStops(0, 2);
  metrics.StoreCommitted(false, 0.25);
  metrics.SetCertificateExpiry(1.8e9);
  metrics.CertificateReloaded(true);
  metrics.AuthorizationDenied(1);
  metrics.AuthorizationDenied(99);
  metrics.LogsDropped(7);
  metrics.SetWaitSource([] { return 0.75; });
  const std::string text = metrics.Text();
  for (const char* series : {"arclane_calls_total{code=\"OK\",method=\"PlanCorridor\"} 1",
                             "arclane_calls_in_flight{method=\"PlanCorridor\"} 1",
                             "arclane_calls_in_flight{method=\"Ping\"} 1",
                             "arclane_call_duration_seconds_count{method=\"PlanCorridor\"} 1",
                             "arclane_call_duration_seconds_sum{method=\"PlanCorridor\"} 0.02",
                             "arclane_plan_outcomes_total{outcome=\"PARTIAL\"} 1",
                             "arclane_shed_total{reason=\"queue_full\"} 1",
                             "arclane_stage_duration_seconds_sum{stage=\"speed\"} 0.5",
                             "arclane_queued_plans 1",
                             "arclane_admitted_bytes 40",
                             "arclane_planner_threads 3",
                             "arclane_queued_plans_limit 5",
                             "arclane_admitted_bytes_limit 7",
                             "arclane_serving 1",
                             "arclane_usable_processors 1.5",
                             "arclane_plan_portals_bucket{le=\"16\"} 0",
                             "arclane_plan_portals_bucket{le=\"32\"} 1",
                             "arclane_plan_samples_bucket{le=\"0\"} 1",
                             "arclane_batch_items_sum 10000",
                             "arclane_corners_total{kind=\"ROUNDED\"} 3",
                             "arclane_corner_stops_total{reason=\"NO_ROOM\"} 2",
                             "arclane_store_commits_total{result=\"failed\"} 1",
                             "arclane_store_commit_duration_seconds_sum 0.25",
                             "arclane_tls_certificate_expiry_timestamp_seconds 1800000000",
                             "arclane_tls_reloads_total{result=\"ok\"} 1",
                             "arclane_authorization_denied_total{method=\"Ping\"} 1",
                             "arclane_authorization_denied_total{method=\"other\"} 1",
                             "arclane_log_dropped_total 7",
                             "arclane_queue_estimated_wait_seconds 0.75"}) {
    EXPECT_THAT(text, HasSubstr(series));
  }
  metrics.StreamEnded(1, 99);
  EXPECT_THAT(metrics.Text(), HasSubstr("arclane_calls_total{code=\"UNKNOWN\",method=\"Ping\"} 1"));
}

TEST(MetricsTest, ABucketCountsWhatIsAtMostItsBound) {
  const double bounds[] = {1, 2, 4};
  EXPECT_EQ(BucketOf(bounds, 0), 0u);
  EXPECT_EQ(BucketOf(bounds, 1), 0u);
  EXPECT_EQ(BucketOf(bounds, 1.5), 1u);
  EXPECT_EQ(BucketOf(bounds, 4), 2u);
  EXPECT_EQ(BucketOf(bounds, 4.001), 3u);
  EXPECT_EQ(BucketOf(bounds, std::numeric_limits<double>::quiet_NaN()), 3u);
}

TEST(MetricsTest, ActiveVersionsAreExactAndBoundedInNumber) {
  Metrics metrics(kBuild, kLabels);
  metrics.SetNavMeshSource([] {
    NavMeshNumbers numbers;
    // Beyond what a double holds, and a navmesh of which no version is active.
    numbers.active = {{"castle", 0}, {"town", 9007199254740993}};
    for (int i = 0; i < 100; ++i) numbers.active.push_back({"z" + std::to_string(i), 1});
    return numbers;
  });
  const std::string text = metrics.Text();
  EXPECT_THAT(text,
              HasSubstr("arclane_navmesh_active_info{navmesh=\"castle\",version=\"none\"} 1"));
  EXPECT_THAT(
      text,
      HasSubstr("arclane_navmesh_active_info{navmesh=\"town\",version=\"9007199254740993\"} 1"));
  size_t count = 0;
  for (size_t at = 0; (at = text.find("arclane_navmesh_active_info{", at)) != std::string::npos;
       ++at)
    ++count;
  EXPECT_EQ(count, kMostActiveVersions);
}

TEST(MetricsTest, LosesNothingWhenThreadsRecordTogether) {
  Metrics metrics(kBuild, kLabels);
  constexpr int kThreads = 4, kRounds = 5000;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&metrics] {
      for (int round = 0; round < kRounds; ++round) {
        metrics.CallStarted(1);
        metrics.QueueChanged(1);
        metrics.QueueChanged(-1);
        metrics.CallEnded(1, 3, 1e-5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string text = metrics.Text();
  EXPECT_THAT(text,
              HasSubstr("arclane_calls_total{code=\"INVALID_ARGUMENT\",method=\"Ping\"} 20000"));
  EXPECT_THAT(text, HasSubstr("arclane_calls_in_flight{method=\"Ping\"} 0"));
  EXPECT_THAT(text, HasSubstr("arclane_queued_plans 0"));
}

TEST(MetricsTest, ProcessMetricsArePlausible) {
  const Metrics metrics(kBuild, kLabels);
  std::istringstream lines(metrics.Text());
  std::map<std::string, double> values;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("process_", 0) != 0) continue;
    const size_t blank = line.find(' ');
    values[line.substr(0, blank)] = std::stod(line.substr(blank));
  }
  EXPECT_GT(values["process_resident_memory_bytes"], 1e6);
  EXPECT_GE(values["process_virtual_memory_bytes"], values["process_resident_memory_bytes"]);
  EXPECT_GE(values["process_open_fds"], 3);
  EXPECT_GE(values["process_max_fds"], values["process_open_fds"]);
  EXPECT_GE(values["process_threads"], 1);
  EXPECT_NEAR(values["process_start_time_seconds"], static_cast<double>(time(nullptr)), 3600);
}

TEST(MetricsEndpointTest, TellsWhichAddressIsTaken) {
  const Metrics metrics(kBuild, kLabels);
  const auto first = MetricsEndpoint::Start("127.0.0.1:0", metrics);
  ASSERT_TRUE(first.ok());
  const std::string address = "127.0.0.1:" + std::to_string((*first)->port());
  const auto second = MetricsEndpoint::Start(address, metrics);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(address));
}

TEST(MetricsEndpointTest, ServesNothingElse) {
  const Metrics metrics(kBuild, kLabels);
  const auto endpoint = MetricsEndpoint::Start("127.0.0.1:0", metrics);
  ASSERT_TRUE(endpoint.ok());
  EXPECT_THAT(Get((*endpoint)->port(), "/"), Not(HasSubstr("200 OK")));
}

}  // namespace
}  // namespace arclane
