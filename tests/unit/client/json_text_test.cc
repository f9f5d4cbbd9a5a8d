// SPDX-License-Identifier: Apache-2.0
#include "client/cli/json_text.h"

#include <gtest/gtest.h>

namespace arclane {
namespace {

TEST(ScanJsonValueTest, FindsTheEndOfAValue) {
  const std::string text = " {\"a\": [1, -2.5e+3, \"x\\\"y\", true, null, {}]} rest";
  const JsonExtent extent = ScanJsonValue(text);
  EXPECT_TRUE(extent.ok()) << extent.fault;
  EXPECT_EQ(text.substr(extent.end), " rest");
}

struct FaultCase {
  const char* text;
  size_t at;
  const char* expected;
};

TEST(ScanJsonValueTest, TellsWhatWasExpectedAndWhere) {
  for (const FaultCase& c : {
           FaultCase{"", 0, "a value, not the end of the text"},
           FaultCase{"{\"a\" 1}", 5, "':'"},
           FaultCase{"{\"a\": 1 \"b\": 2}", 8, "',' or '}'"},
           FaultCase{"[1 2]", 3, "',' or ']'"},
           FaultCase{"{a: 1}", 1, "a member name in double quotes"},
           FaultCase{"{\"a\": }", 6, "a value"},
           FaultCase{"[1.]", 3, "a digit"},
           FaultCase{"\"open", 5, "the closing '\"' of a string"},
       }) {
    const JsonExtent extent = ScanJsonValue(c.text);
    EXPECT_EQ(extent.fault, c.expected) << c.text;
    EXPECT_EQ(extent.end, c.at) << c.text;
  }
}

TEST(ScanJsonValueTest, DeepNestingIsAFaultAndNoCrash) {
  EXPECT_FALSE(ScanJsonValue(std::string(1000000, '[')).ok());
}

TEST(FindJsonMemberTest, FollowsMembersAndElementsInBothSpellings) {
  const std::string text = "{\"agent\": {\"maxSpeed\": 3, \"list\": [1, {\"x\": 7}]}, \"b\": 2}";
  const auto value = [&](const char* path) {
    const auto extent = FindJsonMember(text, path);
    return extent ? text.substr(extent->begin, extent->end - extent->begin) : std::string("none");
  };
  EXPECT_EQ(value("agent.max_speed"), "3");
  EXPECT_EQ(value("agent.list[1].x"), "7");
  EXPECT_EQ(value("b"), "2");
  EXPECT_EQ(value("agent.list[2]"), "none");
  EXPECT_EQ(value("c"), "none");
  EXPECT_EQ(value("agent.max_speed.deeper"), "none");
}

TEST(PositionOfTest, CountsLinesAndColumnsFromOne) {
  EXPECT_EQ(PositionOf("ab\ncd", 0).line, 1u);
  EXPECT_EQ(PositionOf("ab\ncd", 0).column, 1u);
  EXPECT_EQ(PositionOf("ab\ncd", 4).line, 2u);
  EXPECT_EQ(PositionOf("ab\ncd", 4).column, 2u);
}

}  // namespace
}  // namespace arclane
