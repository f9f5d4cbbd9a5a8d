// SPDX-License-Identifier: Apache-2.0
// What is logged of calls, by which names callers find them again, and what is captured.
#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "server/service/request_capture.h"
#include "server/service/request_identity.h"
#include "server/telemetry/logging.h"
#include "tests/integration/service_harness.h"

namespace arclane {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

constexpr char kTraceParent[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

// The lines that are logged while it lives, as JSON.
class LogLines {
 public:
  LogLines() {
    SetUpLogging(LogLevel::kInfo, LogFormat::kJson);
    ::testing::internal::CaptureStderr();
  }
  ~LogLines() {
    if (!taken_) Take();
    SetUpLogging(LogLevel::kInfo, LogFormat::kText);
  }
  // Those with this message.
  std::vector<nlohmann::json> With(const std::string& message) {
    if (!taken_) Take();
    std::vector<nlohmann::json> found;
    std::istringstream lines(text_);
    for (std::string line; std::getline(lines, line);) {
      auto parsed = nlohmann::json::parse(line);
      if (parsed["message"] == message) found.push_back(std::move(parsed));
    }
    return found;
  }

 private:
  void Take() {
    text_ = ::testing::internal::GetCapturedStderr();
    taken_ = true;
  }

  std::string text_;
  bool taken_ = false;
};

struct Answer {
  grpc::Status status;
  std::string request_id;
  std::string traceparent;
};

Answer Plan(TestServer& server, const v1::PlanCorridorRequest& request,
            const std::vector<std::pair<std::string, std::string>>& metadata = {}) {
  grpc::ClientContext context;
  for (const auto& [key, value] : metadata) context.AddMetadata(key, value);
  v1::PlanCorridorResponse response;
  Answer answer;
  answer.status = server.stub().PlanCorridor(&context, request, &response);
  const auto trailing = [&context](const char* key) {
    const auto found = context.GetServerTrailingMetadata().find(key);
    return found == context.GetServerTrailingMetadata().end()
               ? std::string()
               : std::string(found->second.data(), found->second.size());
  };
  answer.request_id = trailing("x-request-id");
  answer.traceparent = trailing("traceparent");
  return answer;
}

ServerOptions Logging(const AccessLogOptions& log) {
  ServerOptions options;
  options.log = log;
  return options;
}

TEST(ServiceLogsTest, AFailedCallIsLoggedUnderTheNameThatItsCallerIsTold) {
  LogLines lines;
  Answer answer;
  {
    TestServer server(Logging({}));
    answer = Plan(server, {});
  }
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const auto failed = lines.With("call failed");
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0]["method"], "PlanCorridor");
  EXPECT_EQ(failed[0]["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(failed[0]["request_id"], answer.request_id);
  EXPECT_THAT(answer.request_id, MatchesRegex("[0-9a-f]{32}"));
  EXPECT_EQ(failed[0]["traceparent"], answer.traceparent);
  EXPECT_TRUE(IsTraceParent(answer.traceparent));
  EXPECT_THAT(failed[0]["peer"].get<std::string>(), HasSubstr("127.0.0.1"));
  EXPECT_GT(failed[0]["duration_ms"].get<double>(), 0);
  EXPECT_EQ(failed[0]["response_bytes"], 0);
  EXPECT_FALSE(failed[0]["why"].get<std::string>().empty());
}

TEST(ServiceLogsTest, NamesThatAreSentAreLoggedAndEchoedAndOthersReplaced) {
  LogLines lines;
  Answer kept, replaced;
  {
    TestServer server(Logging({.success_sample = 1}));
    kept =
        Plan(server, SmallRequest(), {{"x-request-id", "tick-17"}, {"traceparent", kTraceParent}});
    replaced = Plan(server, SmallRequest(),
                    {{"x-request-id", std::string(129, 'x')}, {"traceparent", "00-0-0-0"}});
  }
  EXPECT_EQ(kept.request_id, "tick-17");
  EXPECT_EQ(kept.traceparent, kTraceParent);
  EXPECT_THAT(replaced.request_id, MatchesRegex("[0-9a-f]{32}"));
  const auto logged = lines.With("call");
  ASSERT_EQ(logged.size(), 2u);
  EXPECT_EQ(logged[0]["request_id"], "tick-17");
  EXPECT_EQ(logged[0]["traceparent"], kTraceParent);
  EXPECT_EQ(logged[0]["code"], "OK");
  EXPECT_GT(logged[0]["request_bytes"].get<int>(), 0);
  EXPECT_GT(logged[0]["response_bytes"].get<int>(), 0);
  EXPECT_EQ(logged[1]["request_id"], replaced.request_id);
}

TEST(ServiceLogsTest, OneSuccessInSoManyIsLoggedAndOthersGetNoName) {
  LogLines lines;
  int named = 0;
  {
    // One planning thread and no plans elsewhere: each thread counts for itself.
    ServerOptions options = Logging({.success_sample = 4});
    options.quick_plan_bytes = 0;
    TestServer server(options);
    for (int i = 0; i < 40; ++i) named += !Plan(server, SmallRequest()).request_id.empty();
  }
  EXPECT_EQ(lines.With("call").size(), 10u);
  EXPECT_EQ(named, 10);
}

TEST(ServiceLogsTest, SlowCallsAreLoggedWithTheTimesOfTheirStages) {
  LogLines lines;
  {
    ServerOptions options = Logging({.success_sample = 0, .slow_s = 1e-9});
    options.quick_plan_bytes = 0;
    TestServer server(options);
    EXPECT_TRUE(Plan(server, SmallRequest()).status.ok());
  }
  const auto slow = lines.With("call was slow");
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_EQ(slow[0]["level"], "warning");
  EXPECT_GT(slow[0]["queue_ms"].get<double>(), 0);
  int stages = 0;
  for (const auto& [name, value] : slow[0].items()) {
    if (name == "duration_ms" || name.find("_ms") == std::string::npos) continue;
    ++stages;
    EXPECT_LE(value.get<double>(), slow[0]["duration_ms"].get<double>()) << name;
  }
  EXPECT_GE(stages, 3);
}

TEST(ServiceLogsTest, LinesOnFailuresAreBoundedAndTheRestIsCounted) {
  LogLines lines;
  {
    TestServer server(Logging({.lines_per_s = 0}));
    for (int i = 0; i < 5; ++i) Plan(server, {});
    EXPECT_EQ(server.MetricValue("arclane_log_dropped_total"), 5);
    server.server().SetLogOptions({.lines_per_s = 1000});
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    Plan(server, {});
  }
  const auto failed = lines.With("call failed");
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0]["dropped"], 5);
}

TEST(ServiceLogsTest, PingsEchoTheirNames) {
  TestServer server;
  grpc::ClientContext context;
  context.AddMetadata("x-request-id", "ping-1");
  v1::PingResponse response;
  ASSERT_TRUE(server.stub().Ping(&context, {}, &response).ok());
  EXPECT_EQ(context.GetServerTrailingMetadata().count("x-request-id"), 1u);
}

class CaptureTest : public ::testing::Test {
 protected:
  ~CaptureTest() override { std::filesystem::remove_all(folder_); }

  std::vector<std::filesystem::path> Captures() const {
    std::vector<std::filesystem::path> files;
    for (const auto& file : std::filesystem::directory_iterator(folder_))
      files.push_back(file.path());
    std::sort(files.begin(), files.end());
    return files;
  }

  const std::string folder_ = ::testing::TempDir() + "arclane_captures_" + std::to_string(getpid());
};

TEST_F(CaptureTest, ASlowRequestIsKeptAsItWasSent) {
  const v1::PlanCorridorRequest request = SmallRequest();
  {
    ServerOptions options = Logging({.slow_s = 1e-9});
    options.capture.directory = folder_;
    TestServer server(options);
    EXPECT_TRUE(Plan(server, request).status.ok());
  }
  const auto files = Captures();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(std::filesystem::status(files[0]).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::ifstream file(files[0]);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  v1::PlanCorridorRequest read;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(text, &read).ok()) << text;
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(read, request));
}

TEST_F(CaptureTest, AFailedRequestIsKeptAndOnesThatWereAnsweredInTimeAreNot) {
  LogLines lines;
  Answer failed;
  {
    ServerOptions options = Logging({});
    options.capture.directory = folder_;
    TestServer server(options);
    EXPECT_TRUE(Plan(server, SmallRequest()).status.ok());
    v1::PlanCorridorRequest request = SmallRequest();
    request.mutable_agent()->mutable_limits()->set_max_speed(-1);
    failed = Plan(server, request);
  }
  EXPECT_EQ(failed.status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  const auto files = Captures();
  ASSERT_EQ(files.size(), 1u);
  const auto told = lines.With("request captured");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0]["file"], files[0].string());
  EXPECT_EQ(told[0]["request_id"], failed.request_id);
}

TEST_F(CaptureTest, TheOldestMakeRoomAndOtherFilesStay) {
  std::filesystem::create_directories(folder_);
  const std::string foreign = folder_ + "/notes.json";
  std::ofstream(foreign) << "{}";
  std::vector<std::filesystem::path> first;
  for (const uint32_t most : {8u, 3u}) {
    ServerOptions options = Logging({.slow_s = 1e-9});
    options.capture = {.directory = folder_, .most_files = most};
    TestServer server(options);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(Plan(server, SmallRequest()).status.ok());
    // Ends with the server, which writes what it took.
    if (most == 8) first = Captures();
  }
  EXPECT_TRUE(std::filesystem::exists(foreign));
  EXPECT_EQ(Captures().size(), 4u);  // Three captures and the other file.
  for (const auto& file : Captures()) {
    if (file != foreign) {
      EXPECT_THAT(first, Not(::testing::Contains(file)));
    }
  }
}

TEST_F(CaptureTest, ADirectoryThatCannotBeMadeIsTold) {
  Metrics metrics(CurrentBuild(), ServiceLabels());
  ServerOptions options;
  options.capture.directory = "/proc/nowhere";
  EXPECT_EQ(Server::Start(options, metrics).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace arclane
