// SPDX-License-Identifier: Apache-2.0
#include "server/codec/work_glance.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "arclane/v1/planner.pb.h"

namespace arclane {
namespace {

v1::PlanCorridorRequest Request() {
  v1::PlanCorridorRequest request;
  request.mutable_start()->set_x(1);
  request.mutable_agent()->mutable_limits()->set_max_speed(2);
  return request;
}

WorkGlance Glance(const v1::PlanCorridorRequest& request) {
  return GlanceAtWork(WorkKind::kCorridor, request.SerializeAsString());
}

TEST(WorkGlanceTest, TellsRefsFromGeometry) {
  v1::PlanCorridorRequest request = Request();
  request.mutable_corridor()->mutable_portals()->mutable_left()->add_x(1);
  EXPECT_EQ(Glance(request).kind, WorkKind::kCorridor);
  EXPECT_EQ(Glance(request).refs, 0u);
  for (uint64_t ref = 0; ref < 20; ++ref) request.mutable_corridor()->mutable_refs()->add_ref(ref);
  EXPECT_EQ(Glance(request).kind, WorkKind::kCorridorByRef);
  EXPECT_EQ(Glance(request).refs, 20u);
  EXPECT_EQ(Glance(request).bytes, request.ByteSizeLong());
}

TEST(WorkGlanceTest, ReadsTheWorkBudgetOfAgentsThatRound) {
  v1::PlanCorridorRequest request = Request();
  request.mutable_agent()->mutable_manners()->set_corner_work_budget_s(0.25);
  EXPECT_EQ(Glance(request).corner_budget_s, 0);
  request.mutable_agent()->mutable_body()->set_max_turn_radius(1);
  EXPECT_EQ(Glance(request).corner_budget_s, 0.25);
  request.mutable_agent()->mutable_manners()->clear_corner_work_budget_s();
  EXPECT_EQ(Glance(request).corner_budget_s, 0.0003);
  request.mutable_agent()->mutable_manners()->set_corner_work_budget_s(1e300);
  EXPECT_EQ(Glance(request).corner_budget_s, 1);
  request.mutable_agent()->mutable_manners()->set_corner_work_budget_s(
      std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(Glance(request).corner_budget_s, 0);
}

TEST(WorkGlanceTest, ReadsSamplesAndClearance) {
  v1::PlanCorridorRequest request = Request();
  EXPECT_TRUE(Glance(request).tells_samples);
  request.mutable_sampling()->set_count(500);
  EXPECT_EQ(Glance(request).samples, 500);
  request.mutable_sampling()->set_max_count(100);
  EXPECT_EQ(Glance(request).samples, 0) << "it will be refused";
  request.mutable_sampling()->set_spacing(0.1);
  EXPECT_TRUE(Glance(request).tells_samples) << "no more than 100";
  request.mutable_sampling()->clear_max_count();
  EXPECT_FALSE(Glance(request).tells_samples);
  for (int i = 0; i < 7; ++i) request.mutable_sampling()->mutable_distances()->add_distance(i);
  EXPECT_EQ(Glance(request).samples, 7);
  EXPECT_FALSE(Glance(request).keeps_clearance);
  request.mutable_agent()->mutable_body()->set_clearance(0.5);
  EXPECT_TRUE(Glance(request).keeps_clearance);
}

TEST(WorkGlanceTest, SeesTheSameInMessages) {
  v1::AgentProfile agent;
  agent.mutable_body()->set_max_turn_radius(1);
  agent.mutable_body()->set_clearance(1);
  agent.mutable_manners()->set_corner_work_budget_s(0.125);
  v1::Sampling sampling;
  sampling.set_count(12);
  WorkGlance glance;
  GlanceAtAgent(agent, glance);
  GlanceAtSampling(sampling, glance);
  v1::PlanCorridorRequest request;
  *request.mutable_agent() = agent;
  *request.mutable_sampling() = sampling;
  const WorkGlance encoded = Glance(request);
  EXPECT_EQ(glance.corner_budget_s, encoded.corner_budget_s);
  EXPECT_EQ(glance.keeps_clearance, encoded.keeps_clearance);
  EXPECT_EQ(glance.samples, encoded.samples);
  EXPECT_EQ(glance.tells_samples, encoded.tells_samples);
}

TEST(WorkGlanceTest, CostsGrowWithWhatIsAsked) {
  v1::PlanCorridorRequest request = Request();
  const double least = Glance(request).PriorSeconds();
  EXPECT_GT(least, 0);
  request.mutable_sampling()->set_count(100'000);
  const double sampled = Glance(request).PriorSeconds();
  EXPECT_GT(sampled, 100 * least);
  request.mutable_agent()->mutable_body()->set_max_turn_radius(1);
  request.mutable_agent()->mutable_manners()->set_corner_work_budget_s(0.5);
  EXPECT_GT(Glance(request).PriorSeconds(), sampled + 0.4);
}

TEST(WorkGlanceTest, AnyBytesAreLookedAt) {
  std::string bytes = Request().SerializeAsString();
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    for (const WorkKind kind :
         {WorkKind::kCorridor, WorkKind::kWaypoints, WorkKind::kSpline, WorkKind::kSpeed}) {
      EXPECT_GT(GlanceAtWork(kind, bytes.substr(0, cut)).PriorSeconds(), 0);
      std::string odd = bytes;
      odd[cut] = '\xff';
      EXPECT_GT(GlanceAtWork(kind, odd).PriorSeconds(), 0);
    }
  }
}

}  // namespace
}  // namespace arclane
