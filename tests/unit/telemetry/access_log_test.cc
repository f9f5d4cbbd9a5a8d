// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/access_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "server/telemetry/build_info.h"

namespace arclane {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Cause = AccessLog::Cause;

class AccessLogTest : public ::testing::Test {
 protected:
  // What is logged by `function`.
  template <typename Function>
  static std::string Logged(Function function) {
    ::testing::internal::CaptureStderr();
    function();
    return ::testing::internal::GetCapturedStderr();
  }

  Metrics metrics_{CurrentBuild(),
                   {.methods = {"M"}, .outcomes = {"O"}, .shed_reasons = {"R"}, .stages = {"S"}}};
};

TEST_F(AccessLogTest, SamplesWhatSucceeds) {
  AccessLog log({.success_sample = 3, .slow_s = 0}, metrics_);
  int sampled = 0;
  // On a thread of its own, whose count begins at 0.
  std::thread([&] {
    for (int i = 0; i < 10; ++i) sampled += log.Consider(true, 1e9) == Cause::kSampled;
  }).join();
  EXPECT_EQ(sampled, 3);
  log.SetOptions({.success_sample = 0, .slow_s = 0});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(log.Consider(true, 0), Cause::kNone);
}

TEST_F(AccessLogTest, BoundsTheLinesOnFailuresAndTellsHowManyWereDropped) {
  AccessLog log({.success_sample = 0, .lines_per_s = 4, .slow_s = 0.5}, metrics_);
  int failed = 0;
  for (int i = 0; i < 100; ++i) failed += log.Consider(i % 2 == 0, 1) != Cause::kNone;
  EXPECT_GE(failed, 4);
  EXPECT_LT(failed, 100);
  EXPECT_THAT(metrics_.Text(),
              HasSubstr("arclane_log_dropped_total " + std::to_string(100 - failed) + "\n"));
  const CallRecord record = {.method = "M", .code = "INTERNAL"};
  EXPECT_THAT(Logged([&] { log.Write(Cause::kFailed, true, record); }),
              HasSubstr(" dropped=" + std::to_string(100 - failed) + "\n"));
  EXPECT_THAT(Logged([&] { log.Write(Cause::kFailed, true, record); }), Not(HasSubstr("dropped")));
}

TEST_F(AccessLogTest, SlowIsWhatTakesAsLong) {
  AccessLog log({.success_sample = 0, .slow_s = 0.5}, metrics_);
  EXPECT_EQ(log.Consider(true, 0.5), Cause::kSlow);
  EXPECT_EQ(log.Consider(true, 0.49), Cause::kNone);
  EXPECT_EQ(log.Consider(false, 0.5), Cause::kFailed);
  EXPECT_TRUE(log.IsSlow(0.5));
  log.SetOptions({.slow_s = 0});
  EXPECT_FALSE(log.IsSlow(1e9));
}

TEST_F(AccessLogTest, ALineTellsWhatIsKnownAndStaysOneLine) {
  AccessLog log({}, metrics_);
  CallRecord record = {.method = "M",
                       .code = "INVALID_ARGUMENT",
                       .message = "a\nb",
                       .duration_s = 0.25,
                       .peer = "ipv4:127.0.0.1:1",
                       .request_id = "id",
                       .request_bytes = 7};
  record.stages = {{"plan", 0.125}};
  const std::string line = Logged([&] { log.Write(Cause::kFailed, false, record); });
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
  EXPECT_THAT(line, HasSubstr("info call failed method=M code=INVALID_ARGUMENT duration_ms=250.0 "
                              "peer=ipv4:127.0.0.1:1 request_id=id request_bytes=7 "
                              "response_bytes=0 why=\"a\\nb\" plan_ms=125.0\n"));
}

}  // namespace
}  // namespace arclane
