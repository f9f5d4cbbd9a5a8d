// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/plan_item_wire.h"

#include <gtest/gtest.h>

#include "arclane/v1/planner.pb.h"
#include "client/loadgen/generated_requests.h"
#include "client/loadgen/shared_items.h"

namespace arclane {
namespace {

v1::PlanItem SomeItem(double x) {
  v1::PlanItem item;
  item.mutable_corridor()->mutable_start()->set_x(x);
  item.set_agent_index(3);
  return item;
}

TEST(PlanItemWireTest, BatchIsTheMessageOfItsItems) {
  v1::PlanShared shared;
  shared.mutable_navmesh()->set_navmesh_id("town");
  const std::string first = SomeItem(1).SerializeAsString();
  const std::string second = SomeItem(2).SerializeAsString();
  v1::PlanBatchRequest request;
  ASSERT_TRUE(request.ParseFromString(BatchOfItems({first, second}, shared.SerializeAsString())));
  ASSERT_EQ(request.items_size(), 2);
  EXPECT_EQ(request.items(1).SerializeAsString(), second);
  EXPECT_EQ(request.shared().navmesh().navmesh_id(), "town");
}

TEST(PlanItemWireTest, StreamItemTakesItsIdFromItsLastBytes) {
  const v1::PlanItem item = SomeItem(5);
  const std::string front = StreamItemWithoutId(item.SerializeAsString());
  for (const uint32_t id : {0u, 1u, 127u, 128u, 1u << 28, ~0u}) {
    const std::string last = StreamItemId(id);
    EXPECT_EQ(last.size(), kStreamIdBytes);
    v1::PlanStreamRequest request;
    ASSERT_TRUE(request.ParseFromString(front + last));
    ASSERT_EQ(request.items_size(), 1);
    EXPECT_EQ(request.items(0).correlation_id(), id);
    EXPECT_EQ(request.items(0).item().SerializeAsString(), item.SerializeAsString());
  }
}

TEST(PlanItemWireTest, StreamOpensWithTheSharedPart) {
  v1::PlanShared shared;
  shared.mutable_navmesh()->set_navmesh_id("town");
  v1::PlanStreamRequest request;
  ASSERT_TRUE(request.ParseFromString(StreamShared(shared.SerializeAsString())));
  EXPECT_EQ(request.shared().navmesh().navmesh_id(), "town");
  EXPECT_EQ(request.items_size(), 0);
}

// Answers of every shape: with and without status, empty, long.
std::vector<v1::PlanItemAnswer> SomeAnswers() {
  std::vector<v1::PlanItemAnswer> answers(5);
  answers[0].mutable_corridor()->mutable_route()->set_length(3.5);
  answers[1].mutable_status()->set_code(8);
  answers[1].mutable_status()->set_message("too many");
  for (int i = 0; i < 10'000; ++i) answers[3].mutable_corridor()->mutable_read_set()->add_gate(7);
  answers[4].mutable_status()->set_message("without a code");
  return answers;
}

void ExpectAnswers(const std::vector<AnsweredItem>& read) {
  const auto answers = SomeAnswers();
  ASSERT_EQ(read.size(), answers.size());
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].code, answers[i].status().code());
    EXPECT_EQ(read[i].bytes, answers[i].ByteSizeLong());
  }
}

TEST(PlanItemWireTest, ReadsTheAnswersOfABatch) {
  v1::PlanBatchResponse response;
  response.set_first_index(100);
  for (const auto& answer : SomeAnswers()) *response.add_answers() = answer;
  std::vector<AnsweredItem> read;
  EXPECT_TRUE(ReadBatchResponse(response.SerializeAsString(), read));
  ExpectAnswers(read);
}

TEST(PlanItemWireTest, ReadsTheAnswersOfAStream) {
  v1::PlanStreamResponse response;
  uint64_t id = uint64_t{1} << 40;
  for (const auto& answer : SomeAnswers()) {
    auto& added = *response.add_answers();
    *added.mutable_answer() = answer;
    added.set_correlation_id(id++);
  }
  std::vector<AnsweredItem> read;
  bool going_away = false;
  EXPECT_TRUE(ReadStreamResponse(response.SerializeAsString(), read, going_away));
  ExpectAnswers(read);
  EXPECT_FALSE(going_away);
  for (size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].correlation_id, (uint64_t{1} << 40) + i);
  }
  response.mutable_going_away();
  EXPECT_TRUE(ReadStreamResponse(response.SerializeAsString(), read, going_away));
  EXPECT_TRUE(going_away);
}

TEST(PlanItemWireTest, EveryCutOfAMessageIsSafeToRead) {
  v1::PlanStreamResponse response;
  for (const auto& answer : SomeAnswers()) *response.add_answers()->mutable_answer() = answer;
  const std::string bytes = response.SerializeAsString().substr(0, 400);
  const std::string exact(bytes);
  for (size_t size = 1; size < exact.size(); ++size) {
    std::vector<AnsweredItem> read;
    bool going_away = false;
    const std::vector<char> cut(exact.begin(), exact.begin() + static_cast<long>(size));
    (void)ReadStreamResponse({cut.data(), cut.size()}, read, going_away);
    EXPECT_LE(read.size(), 5u);
  }
}

TEST(SharedItemsTest, AgentsAndSamplingsMoveIntoTheSharedPart) {
  SharedItems items;
  std::string bytes;
  for (int serial = 0; serial < 3; ++serial) {
    ASSERT_TRUE(
        items.Add(GeneratedReference({.size = 4, .samples = 32, .serial = serial}), bytes).ok());
  }
  v1::PlanItem item;
  ASSERT_TRUE(item.ParseFromString(bytes));
  EXPECT_FALSE(item.corridor().has_agent());
  EXPECT_FALSE(item.corridor().has_sampling());
  EXPECT_FALSE(item.corridor().has_navmesh());
  ASSERT_EQ(items.shared().agents_size(), 1);
  ASSERT_EQ(items.shared().samplings_size(), 1);
  EXPECT_EQ(items.shared().samplings(0).count(), 32u);
  EXPECT_EQ(items.shared().navmesh().navmesh_id(), GeneratedMeshId(4));

  ASSERT_TRUE(items.Add(GeneratedWaypoints({.size = 4, .samples = 32}), bytes).ok());
  ASSERT_TRUE(item.ParseFromString(bytes));
  EXPECT_EQ(item.agent_index(), 1u);
  EXPECT_EQ(item.sampling_index(), 0u);
}

TEST(SharedItemsTest, ItemsShareOneNavmesh) {
  SharedItems items;
  std::string bytes;
  ASSERT_TRUE(items.Add(GeneratedReference({.size = 4}), bytes).ok());
  EXPECT_FALSE(items.Add(GeneratedReference({.size = 5}), bytes).ok());
}

}  // namespace
}  // namespace arclane
