// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace arclane {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

template <typename Function>
std::string StderrOf(Function function) {
  ::testing::internal::CaptureStderr();
  function();
  std::string text = ::testing::internal::GetCapturedStderr();
  SetUpLogging(LogLevel::kInfo, LogFormat::kText);
  return text;
}

TEST(LoggingTest, JsonLinesKeepTypesAndEscapeTexts) {
  const std::string line = StderrOf([] {
    SetUpLogging(LogLevel::kInfo, LogFormat::kJson);
    Log(LogLevel::kWarn, "a \"b\"\nc",
        {{"text", "x\ty\xff"},
         {"count", 42},
         {"ratio", 0.5},
         {"flag", true},
         {"string", std::string("s")}});
  });
  ASSERT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
  const auto parsed = nlohmann::json::parse(line);
  EXPECT_EQ(parsed["message"], "a \"b\"\nc");
  EXPECT_EQ(parsed["level"], "warning");
  EXPECT_EQ(parsed["count"], 42);
  EXPECT_EQ(parsed["ratio"], 0.5);
  EXPECT_EQ(parsed["flag"], true);
  EXPECT_EQ(parsed["string"], "s");
  EXPECT_THAT(parsed["text"].get<std::string>(), HasSubstr("x\ty"));
  EXPECT_THAT(parsed["time"].get<std::string>(), EndsWith("Z"));
}

TEST(LoggingTest, TextLinesStayOneLineWhateverTheTextsHold) {
  const std::string line = StderrOf([] {
    SetUpLogging(LogLevel::kInfo, LogFormat::kText);
    Log(LogLevel::kError, "one\ntwo",
        {{"plain", "abc"}, {"odd", "a b=\"c\"\n"}, {"none", ""}, {"number", -1}});
  });
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << line;
  EXPECT_THAT(line,
              EndsWith("error one\\ntwo plain=abc odd=\"a b=\\\"c\\\"\\n\" none=\"\" number=-1\n"));
}

TEST(LoggingTest, LevelsBelowTheLimitAreSilent) {
  const std::string text = StderrOf([] {
    SetUpLogging(LogLevel::kWarn, LogFormat::kText);
    EXPECT_FALSE(LogEnabled(LogLevel::kInfo));
    EXPECT_TRUE(LogEnabled(LogLevel::kError));
    Log(LogLevel::kInfo, "quiet");
  });
  EXPECT_EQ(text, "");
}

TEST(LoggingTest, KnowsTheNamesOfLevels) {
  EXPECT_EQ(LogLevelOf("trace"), LogLevel::kTrace);
  EXPECT_EQ(LogLevelOf("off"), LogLevel::kOff);
  EXPECT_EQ(LogLevelOf("loud"), LogLevel::kInfo);
}

}  // namespace
}  // namespace arclane
