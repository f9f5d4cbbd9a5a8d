// SPDX-License-Identifier: Apache-2.0
#include "server/codec/canonical_request.h"

#include <gtest/gtest.h>

#include <limits>
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

TEST(CanonicalRequestTest, ThePrecisionOfColumnsMatters) {
  v1::PlanCorridorRequest request = ByReference();
  request.mutable_sampling()->set_count(5);
  const std::string bytes = CanonicalOf(request);
  request.mutable_sampling()->set_column_precision(v1::COLUMN_PRECISION_DOUBLE);
  EXPECT_EQ(CanonicalOf(request), bytes);
  request.mutable_sampling()->set_column_precision(v1::COLUMN_PRECISION_FLOAT);
  EXPECT_NE(CanonicalOf(request), bytes);
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

TEST(CanonicalRequestTest, KeepsACacheModeThatIsToBeRefused) {
  v1::PlanCorridorRequest request = ByReference();
  request.set_cache_mode(static_cast<v1::CacheMode>(9));
  Canonicalize(request);
  EXPECT_EQ(request.cache_mode(), 9);
}

v1::PlanCorridorRequest WithAgent() {
  v1::PlanCorridorRequest request = ByReference();
  v1::AgentLimits& limits = *request.mutable_agent()->mutable_limits();
  limits.set_max_speed(4);
  limits.set_max_acceleration(2);
  limits.set_max_braking(2);
  return request;
}

TEST(CanonicalRequestTest, MakesDefaultsAndUnsetFieldsEqual) {
  const std::string bytes = CanonicalOf(WithAgent());
  v1::PlanCorridorRequest request = WithAgent();
  request.mutable_frame()->mutable_origin()->set_x(-0.0);
  request.mutable_frame()->set_source(v1::COORDINATE_SOURCE_UNSPECIFIED);
  request.mutable_motion()->mutable_velocity()->set_y(0.0);
  request.mutable_sampling();
  v1::AgentProfile& agent = *request.mutable_agent();
  agent.mutable_body()->set_can_turn_in_place(true);
  agent.mutable_limits()->set_max_lateral_acceleration(std::numeric_limits<double>::infinity());
  agent.mutable_limits()->set_max_total_acceleration(std::numeric_limits<double>::infinity());
  agent.mutable_limits()->set_budget_mode(v1::BUDGET_MODE_INDEPENDENT);
  v1::AgentManners& manners = *agent.mutable_manners();
  manners.set_corner_angle_min_rad(1e-3);
  manners.set_max_extra_length(0.05);
  manners.set_corner_work_budget_s(0.0003);
  manners.set_corner_objective(v1::CORNER_OBJECTIVE_FEWEST_STOPS);
  manners.set_corner_distance_tolerance(0.1);
  manners.set_corner_speed_tolerance(0.2);
  EXPECT_EQ(CanonicalOf(request), bytes);
}

TEST(CanonicalRequestTest, KeepsWhatIsNotTheDefaultOrIsRefused) {
  const std::string bytes = CanonicalOf(WithAgent());
  const auto differs = [&](auto change) {
    v1::PlanCorridorRequest request = WithAgent();
    change(request);
    return CanonicalOf(request) != bytes;
  };
  using Request = v1::PlanCorridorRequest;
  EXPECT_TRUE(differs([](Request& r) { r.mutable_frame()->set_up_axis(v1::UP_AXIS_Z); }));
  EXPECT_TRUE(differs([](Request& r) { r.mutable_frame()->set_tolerance(0.0); }));
  EXPECT_TRUE(
      differs([](Request& r) { r.mutable_frame()->set_source(v1::COORDINATE_SOURCE_FLOAT64); }));
  EXPECT_TRUE(differs([](Request& r) { r.mutable_corridor()->mutable_dependencies(); }));
  EXPECT_TRUE(differs([](Request& r) { r.mutable_goal(); }));
  EXPECT_TRUE(differs([](Request& r) { r.set_max_endpoint_shift(0.0); }));
  EXPECT_TRUE(differs([](Request& r) { r.mutable_motion()->set_heading_rad(0.0); }));
  EXPECT_TRUE(differs([](Request& r) { r.mutable_sampling()->set_count(0); }));
  EXPECT_TRUE(
      differs([](Request& r) { r.mutable_agent()->mutable_body()->set_max_turn_radius(0); }));
  EXPECT_TRUE(
      differs([](Request& r) { r.mutable_agent()->mutable_manners()->set_max_extra_length(0.0); }));
  EXPECT_TRUE(differs([](Request& r) {
    r.mutable_agent()->mutable_manners()->set_corner_distance_tolerance(-1.0);
  }));
  EXPECT_TRUE(differs([](Request& r) {
    r.mutable_agent()->mutable_limits()->set_budget_mode(v1::BUDGET_MODE_COUPLED);
  }));
}

TEST(CanonicalRequestTest, MakesTheFrameOfACorridorThatIsSentAlongEqual) {
  v1::PlanCorridorRequest request;
  request.mutable_corridor()->mutable_portals();
  const std::string bytes = CanonicalOf(request);
  request.mutable_frame()->set_up_axis(v1::UP_AXIS_Z);
  request.mutable_frame()->set_tolerance(-0.0);
  request.mutable_corridor()->mutable_dependencies();
  EXPECT_EQ(CanonicalOf(request), bytes);
  request.mutable_frame()->set_source(v1::COORDINATE_SOURCE_FLOAT64);
  EXPECT_EQ(CanonicalOf(request), bytes);
  request.mutable_frame()->set_up_axis(v1::UP_AXIS_Y);
  EXPECT_NE(CanonicalOf(request), bytes);
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
