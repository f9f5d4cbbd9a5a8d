// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/load_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace arclane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(ParseMixTest, ReadsPartsWithSizesAndWeights) {
  std::vector<std::string> errors;
  const auto mix = ParseMix("corridor:16@3,reference:8,spline:6,waypoints:2,ping:0", errors);
  EXPECT_THAT(errors, IsEmpty());
  ASSERT_EQ(mix.size(), 5u);
  EXPECT_EQ(mix[0].source, MixPart::Source::kCorridor);
  EXPECT_EQ(mix[0].size, 16);
  EXPECT_EQ(mix[0].weight, 3);
  EXPECT_EQ(mix[1].source, MixPart::Source::kReference);
  EXPECT_EQ(mix[1].weight, 1);
  EXPECT_EQ(mix[4].source, MixPart::Source::kPing);
  EXPECT_EQ(mix[4].size, 0);
}

TEST(ParseMixTest, ReadsFilesWithColonsInTheirNames) {
  std::vector<std::string> errors;
  const auto mix = ParseMix("plan-speed=dir/a:b.jsonl@2", errors);
  EXPECT_THAT(errors, IsEmpty());
  ASSERT_EQ(mix.size(), 1u);
  EXPECT_EQ(mix[0].source, MixPart::Source::kFile);
  EXPECT_EQ(mix[0].method, "PlanSpeed");
  EXPECT_EQ(mix[0].path, "dir/a:b.jsonl");
  EXPECT_EQ(mix[0].weight, 2);
}

TEST(ParseMixTest, TellsEveryWrongPart) {
  std::vector<std::string> errors;
  const auto mix = ParseMix(
      "corridor,corridor:0,corridor:8@0,house:3,plan-dinner=f,plan-speed=,corridor:4", errors);
  EXPECT_EQ(mix.size(), 1u);
  EXPECT_THAT(errors,
              ElementsAre(HasSubstr("\"corridor\": needs a size"), HasSubstr("\"corridor:0\""),
                          HasSubstr("weight"), HasSubstr("\"house\" is none"),
                          HasSubstr("\"plan-dinner\""), HasSubstr("names no file")));
}

TEST(FaultsOfTest, DefaultsAreRightAndBounded) {
  const LoadOptions options;
  EXPECT_THAT(FaultsOf(options), IsEmpty());
  EXPECT_LT(options.duration, absl::InfiniteDuration());
  EXPECT_GT(options.count, 0);
}

TEST(FaultsOfTest, TellsAllFaultsAtOnce) {
  LoadOptions options;
  options.target = "";
  options.loop = LoadLoop::kOpen;
  options.duration = absl::InfiniteDuration();
  options.deadline = absl::ZeroDuration();
  options.threads = 2;
  options.ping_share = 0.0;
  EXPECT_THAT(FaultsOf(options), ElementsAre(StartsWith("--server"), StartsWith("--rate"),
                                             StartsWith("--threads"), StartsWith("--deadline"),
                                             StartsWith("--duration"), StartsWith("--ping_share")));
}

TEST(FaultsOfTest, EveryThreadNeedsItsShare) {
  LoadOptions options;
  options.threads = options.connections = 4;
  options.concurrency = 3;
  EXPECT_THAT(FaultsOf(options), ElementsAre(StartsWith("--concurrency")));
}

}  // namespace
}  // namespace arclane
