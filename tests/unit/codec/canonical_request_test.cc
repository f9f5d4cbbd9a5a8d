// SPDX-License-Identifier: Apache-2.0
#include "server/codec/canonical_request.h"

#include <gtest/gtest.h>

#include <string>

namespace arclane {
namespace {

std::string CanonicalOf(v1::PlanCorridorRequest request) {
  std::string bytes;
  Canonicalize(request, &bytes);
  return bytes;
}

v1::PlanCorridorRequest ByReference() {
  v1::PlanCorridorRequest request;
  request.mutable_navmesh()->set_navmesh_id("map");
  request.mutable_start()->set_x(1);
  for (const uint64_t ref : {1, 2, 3}) request.mutable_corridor()->mutable_refs()->add_ref(ref);
  request.add_closed_gates(5);
  request.add_closed_gates(4);
  return request;
}

TEST(CanonicalRequestTest, LeavesOutWhatDoesNotMatter) {
  const std::string bytes = CanonicalOf(ByReference());
  v1::PlanCorridorRequest request = ByReference();
  request.set_cache_mode(v1::CACHE_MODE_USE);
  request.set_include_stage_times(true);
  request.mutable_navmesh()->set_version(7);
  request.mutable_navmesh()->set_world_id("match");
  request.mutable_start()->set_y(-0.0);
  request.mutable_corridor()
      ->mutable_refs()
      ->GetReflection()
      ->MutableUnknownFields(request.mutable_corridor()->mutable_refs())
      ->AddVarint(99, 1);
  request.clear_closed_gates();
  for (const uint64_t gate : {4, 5, 4}) request.add_closed_gates(gate);
  EXPECT_EQ(CanonicalOf(request), bytes);
}

TEST(CanonicalRequestTest, KeepsWhatMatters) {
  const std::string bytes = CanonicalOf(ByReference());
  v1::PlanCorridorRequest request = ByReference();
  request.mutable_start()->set_x(1.5);
  EXPECT_NE(CanonicalOf(request), bytes);
  request = ByReference();
  request.mutable_corridor()->mutable_refs()->add_ref(4);
  EXPECT_NE(CanonicalOf(request), bytes);
  request = ByReference();
  request.mutable_sampling()->set_max_count(3);
  EXPECT_NE(CanonicalOf(request), bytes);
}

TEST(CanonicalRequestTest, KeepsTheNavMeshOfACorridorThatIsSentAlong) {
  v1::PlanCorridorRequest request;
  request.mutable_navmesh()->set_navmesh_id("map");
  request.mutable_corridor()->mutable_portals();
  const std::string bytes = CanonicalOf(request);
  request.mutable_navmesh()->set_version(2);
  EXPECT_NE(CanonicalOf(request), bytes);
}

TEST(CanonicalRequestTest, CleansColumns) {
  v1::PlanCorridorRequest request;
  auto* left = request.mutable_corridor()->mutable_portals()->mutable_left();
  left->add_x(0.0);
  left->add_x(1.0);
  const std::string bytes = CanonicalOf(request);
  left->set_x(0, -0.0);
  EXPECT_EQ(CanonicalOf(request), bytes);
}

TEST(RequestGlanceTest, SeesTheNavMeshAndTheCacheMode) {
  v1::PlanCorridorRequest request = ByReference();
  EXPECT_TRUE(GlanceAt(request.SerializeAsString()).names_navmesh);
  EXPECT_FALSE(GlanceAt(request.SerializeAsString()).bypasses_cache);
  request.set_cache_mode(v1::CACHE_MODE_BYPASS);
  EXPECT_TRUE(GlanceAt(request.SerializeAsString()).bypasses_cache);
  request.mutable_navmesh()->set_navmesh_id("");
  request.mutable_navmesh()->set_version(3);
  EXPECT_FALSE(GlanceAt(request.SerializeAsString()).names_navmesh);
  EXPECT_FALSE(GlanceAt("").names_navmesh);
}

TEST(RequestGlanceTest, TakesAnyBytes) {
  const std::string bytes = ByReference().SerializeAsString();
  for (size_t length = 0; length <= bytes.size(); ++length) GlanceAt(bytes.substr(0, length));
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const int bit : {1, 2, 64, 128}) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ bit);
      GlanceAt(flipped);
    }
  }
}

}  // namespace
}  // namespace arclane
