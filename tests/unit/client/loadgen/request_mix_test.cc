// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/request_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "arclane/v1/planner.pb.h"
#include "client/loadgen/call_payloads.h"

namespace arclane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

LoadOptions WithMix(const std::string& text) {
  LoadOptions options;
  std::vector<std::string> errors;
  options.mix = ParseMix(text, errors);
  EXPECT_TRUE(errors.empty());
  return options;
}

TEST(OrderByWeightTest, SpreadsPartsOverThePeriod) {
  EXPECT_THAT(OrderByWeight({3, 1}), ElementsAre(0, 0, 1, 0));
  EXPECT_THAT(OrderByWeight({2, 2}), ElementsAre(0, 1));
  EXPECT_THAT(OrderByWeight({5}), ElementsAre(0));
  EXPECT_THAT(OrderByWeight({1, 2, 1}), ElementsAre(1, 0, 2, 1));
}

TEST(RequestMixTest, GeneratedRequestsOfOnePartAreDistinctAndOfOneSize) {
  for (const char* part : {"corridor:5", "reference:5", "waypoints:5", "spline:5"}) {
    SCOPED_TRACE(part);
    LoadOptions options = WithMix(part);
    options.distinct = 300;
    std::istringstream none;
    const auto mix = BuildRequestMix(options, none);
    ASSERT_TRUE(mix.ok()) << mix.status();
    const auto& requests = mix->sources[0].requests;
    EXPECT_EQ(requests.size(), 300u);
    EXPECT_EQ(std::set<std::string>(requests.begin(), requests.end()).size(), 300u);
    for (const std::string& request : requests) EXPECT_EQ(request.size(), requests[1].size());
  }
}

TEST(RequestMixTest, SetsTheCacheModeOfCorridorRequests) {
  LoadOptions options = WithMix("reference:4");
  options.distinct = 1;
  options.cache = CacheUse::kBypass;
  std::istringstream none;
  const auto mix = BuildRequestMix(options, none);
  ASSERT_TRUE(mix.ok());
  v1::PlanCorridorRequest request;
  ASSERT_TRUE(request.ParseFromString(mix->sources[0].requests[0]));
  EXPECT_EQ(request.cache_mode(), v1::CACHE_MODE_BYPASS);
  EXPECT_THAT(mix->meshes, ElementsAre(4));
}

TEST(RequestMixTest, ReadsOneRequestALine) {
  std::istringstream input(
      "{\"start\": {\"x\": 1}}\n"
      "\n"
      "{\"start\": {\"x\": 2}}\n");
  const auto mix = BuildRequestMix(WithMix("plan-corridor=-"), input);
  ASSERT_TRUE(mix.ok()) << mix.status();
  ASSERT_EQ(mix->sources[0].requests.size(), 2u);
  v1::PlanCorridorRequest second;
  ASSERT_TRUE(second.ParseFromString(mix->sources[0].requests[1]));
  EXPECT_EQ(second.start().x(), 2.0);
}

TEST(RequestMixTest, TellsEveryLineThatIsWrong) {
  std::istringstream input(
      "{\"start\": {\"q\": 1}}\n"
      "{\"start\": {\"x\": 2}}\n"
      "{\"goal\": \n");
  const auto mix = BuildRequestMix(WithMix("plan-corridor=-"), input);
  ASSERT_FALSE(mix.ok());
  const std::string message(mix.status().message());
  EXPECT_THAT(message, HasSubstr(":1:"));
  EXPECT_THAT(message, HasSubstr(":3:"));
}

TEST(RequestMixTest, TellsWhichFileIsNotThere) {
  std::istringstream none;
  const auto mix = BuildRequestMix(WithMix("plan-speed=no/such/file.jsonl"), none);
  EXPECT_THAT(std::string(mix.status().message()), HasSubstr("no/such/file.jsonl"));
}

TEST(RequestMixTest, BatchesMixThePartsByTheirWeights) {
  LoadOptions options = WithMix("corridor:3@2,spline:3");
  options.shape = CallShape::kBatch;
  options.batch_size = 6;
  options.distinct = 9;
  std::istringstream none;
  const auto mix = BuildRequestMix(options, none);
  ASSERT_TRUE(mix.ok()) << mix.status();
  ASSERT_EQ(mix->sources.size(), 1u);
  EXPECT_EQ(mix->sources[0].method, "PlanBatch");
  ASSERT_EQ(mix->sources[0].requests.size(), 3u);  // 18 requests fill three.
  for (const std::string& bytes : mix->sources[0].requests) {
    v1::PlanBatchRequest request;
    ASSERT_TRUE(request.ParseFromString(bytes));
    ASSERT_EQ(request.items_size(), 6);
    int corridors = 0;
    for (const v1::PlanItem& item : request.items()) corridors += item.has_corridor();
    EXPECT_EQ(corridors, 4);
    EXPECT_EQ(request.shared().agents_size(), 2);
  }
}

TEST(RequestMixTest, TellsWhatAShapeDoesNotAllow) {
  std::istringstream none;
  LoadOptions options = WithMix("corridor:3,ping:5");
  options.shape = CallShape::kStream;
  EXPECT_THAT(std::string(BuildRequestMix(options, none).status().message()),
              HasSubstr("either plans or Pings"));
  options.shape = CallShape::kBatch;
  EXPECT_THAT(std::string(BuildRequestMix(options, none).status().message()),
              HasSubstr("a batch has no Pings"));
  options = WithMix("reference:3,reference:4");
  options.shape = CallShape::kBatch;
  EXPECT_THAT(std::string(BuildRequestMix(options, none).status().message()),
              HasSubstr("share one navmesh"));
}

TEST(PingOfSizeTest, HasTheBytesOfRequestAndAnswer) {
  for (const size_t request_bytes : {10, 40, 128, 129, 131, 1000, 16000, 16384, 20000, 300000}) {
    for (const size_t response_bytes : {0, 3, 100, 129, 131, 5000, 16386, 16388, 100000}) {
      SCOPED_TRACE(::testing::Message() << request_bytes << " and " << response_bytes);
      const std::string bytes = PingOfSize(request_bytes, response_bytes, 1 << 20);
      v1::PingRequest request;
      ASSERT_TRUE(request.ParseFromString(bytes));
      // A byte may lack where the payload's length prefix would grow.
      EXPECT_LE(bytes.size(), request_bytes);
      EXPECT_GE(bytes.size() + 1, request_bytes);
      v1::PingResponse response;
      response.set_payload(std::string(request.response_size(), '\0'));
      EXPECT_EQ(response.ByteSizeLong(), response_bytes);
    }
  }
}

TEST(PingOfSizeTest, IsCutAtTheLargestPayload) {
  v1::PingRequest request;
  ASSERT_TRUE(request.ParseFromString(PingOfSize(5000, 6000, 1000)));
  EXPECT_EQ(request.payload().size(), 1000u);
  EXPECT_EQ(request.response_size(), 1000u);
}

}  // namespace
}  // namespace arclane
