// SPDX-License-Identifier: Apache-2.0
// Plans on prepared corridors and curves are the same bytes as plans without.
#include "server/pipeline/prepared_plans.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "server/navmesh/navmesh_store.h"
#include "server/navmesh/registry.h"
#include "server/pipeline/plan_corridor.h"
#include "server/pipeline/plan_spline.h"
#include "tests/support/grid_mesh.h"
#include "tests/unit/pipeline/message_text.h"

namespace arclane {
namespace {

using testing::FromText;
using testing::GridMesh;

// Keeps everything, and never looks at stamps.
class KeepAll final : public PreparedPlans {
 public:
  std::shared_ptr<const PreparedRefs> FindCorridor(std::string_view key,
                                                   const NavMeshView&) override {
    const auto it = corridors.find(std::string(key));
    if (it == corridors.end()) return nullptr;
    ++hits;
    return it->second;
  }
  bool WantsCorridor(std::string_view, const NavMeshView&) override { return true; }
  void KeepCorridor(std::string_view key, const NavMeshView&,
                    std::shared_ptr<const PreparedRefs> corridor) override {
    corridors[std::string(key)] = std::move(corridor);
  }
  std::shared_ptr<const ArcLengthMap> FindCurve(std::string_view key) override {
    const auto it = curves.find(std::string(key));
    if (it == curves.end()) return nullptr;
    ++hits;
    return it->second;
  }
  bool WantsCurve(std::string_view) override { return true; }
  void KeepCurve(std::string_view key, std::shared_ptr<const ArcLengthMap> map) override {
    curves[std::string(key)] = std::move(map);
  }

  std::map<std::string, std::shared_ptr<const PreparedRefs>> corridors;
  std::map<std::string, std::shared_ptr<const ArcLengthMap>> curves;
  int hits = 0;
};

constexpr uint32_t kSide = 12;

class PreparedCorridorTest : public ::testing::TestWithParam<MeshUpAxis> {
 protected:
  PreparedCorridorTest() {
    registry_ = *NavMeshRegistry::Open({}, std::make_shared<NullStore>(), 0.0);
    NeutralMesh mesh = GridMesh({.width = kSide, .height = kSide, .tile = 4, .up = GetParam()});
    // Some vertices off the grid, so that cells are no squares.
    std::mt19937_64 random(7);
    auto& first = GetParam() == MeshUpAxis::kX ? mesh.y : mesh.x;
    auto& height = GetParam() == MeshUpAxis::kX   ? mesh.x
                   : GetParam() == MeshUpAxis::kY ? mesh.y
                                                  : mesh.z;
    height.resize(first.size());
    for (size_t i = 0; i < first.size(); ++i)
      height[i] = 0.01 * static_cast<double>(random() % 100);
    mesh.max_step = 10.0;
    const auto point = [](double a, double b) {
      switch (GetParam()) {
        case MeshUpAxis::kX:
          return MeshPoint{0.5, a, b};
        case MeshUpAxis::kY:
          return MeshPoint{a, 0.5, b};
        case MeshUpAxis::kZ:
          break;
      }
      return MeshPoint{a, b, 0.5};
    };
    // A jump from (2, 0) to (8, 0), both ways.
    mesh.links = {{.id = 1000,
                   .start = point(2.5, 0.5),
                   .end = point(8.5, 0.5),
                   .start_polygon = 2,
                   .end_polygon = 8,
                   .radius = 0.5,
                   .bidirectional = true}};
    PublishRequest publish;
    publish.navmesh_id = "map";
    publish.version = {1};
    publish.neutral = &mesh;
    const auto published = registry_->Publish(publish);
    EXPECT_TRUE(published.ok()) << published.status();
  }

  // A way over neighbours that never enters a square twice, now and then by the link.
  static std::vector<uint64_t> Walk(std::mt19937_64& random, size_t length) {
    std::vector<uint64_t> refs = {random() % (kSide * kSide)};
    while (refs.size() < length) {
      const uint64_t at = refs.back();
      std::vector<uint64_t> next;
      if (at == 1000) {
        next.push_back(refs[refs.size() - 2] == 2 ? 8 : 2);
      } else {
        const uint64_t x = at % kSide, y = at / kSide;
        if (x > 0) next.push_back(at - 1);
        if (x + 1 < kSide) next.push_back(at + 1);
        if (y > 0) next.push_back(at - kSide);
        if (y + 1 < kSide) next.push_back(at + kSide);
        if (at == 2 || at == 8) next.assign(3, 1000);
      }
      std::erase_if(next, [&](uint64_t ref) {
        return std::find(refs.begin(), refs.end(), ref) != refs.end();
      });
      if (next.empty()) break;
      refs.push_back(next[random() % next.size()]);
    }
    if (refs.back() == 1000) refs.pop_back();
    return refs;
  }

  // A point of a square, or beside it.
  static void Place(std::mt19937_64& random, uint64_t ref, v1::Point* point) {
    const auto at = [&](uint64_t corner) {
      const double offset = static_cast<double>(random() % 2401) / 2000.0 - 0.1;
      return static_cast<double>(corner) + (random() % 4 == 0 ? std::round(offset) : offset);
    };
    const double a = at(ref % kSide), b = at(ref / kSide);
    const double height = static_cast<double>(random() % 3);
    point->set_x(GetParam() == MeshUpAxis::kX ? height : a);
    point->set_y(GetParam() == MeshUpAxis::kX ? a : GetParam() == MeshUpAxis::kY ? height : b);
    point->set_z(GetParam() == MeshUpAxis::kZ ? height : b);
    if (random() % 50 == 0) point->set_z(1e15);
  }

  // The answer, or the failure's fields.
  std::string Answer(const v1::PlanCorridorRequest& request, PreparedPlans* prepared) {
    const auto view = registry_->View("map", {}, "", 0.0);
    v1::PlanCorridorResponse response;
    ReadSet reads;
    const auto failure = AnswerPlanCorridorByRef(
        request, *view, RequestLimits(), [] { return std::nullopt; }, response, reads, nullptr,
        prepared);
    if (!failure) return response.SerializeAsString();
    std::string text = failure->message;
    for (const FieldViolation& violation : failure->violations)
      text += violation.field + violation.description;
    return text;
  }

  std::unique_ptr<NavMeshRegistry> registry_;
};

TEST_P(PreparedCorridorTest, GiveTheSameAnswers) {
  const uint64_t seed = 20260731;
  std::mt19937_64 random(seed);
  KeepAll prepared;
  int planned = 0;
  for (int corridor = 0; corridor < 60; ++corridor) {
    const std::vector<uint64_t> refs = Walk(random, 2 + random() % 40);
    v1::PlanCorridorRequest request;
    request.mutable_navmesh()->set_navmesh_id("map");
    request.mutable_corridor()->mutable_refs()->mutable_ref()->Assign(refs.begin(), refs.end());
    auto* limits = request.mutable_agent()->mutable_limits();
    limits->set_max_speed(2);
    limits->set_max_acceleration(4);
    limits->set_max_braking(4);
    if (corridor % 3 == 1) request.mutable_agent()->mutable_body()->set_clearance(0.2);
    if (corridor % 6 == 5) request.mutable_agent()->mutable_body()->set_radius(0.15);
    if (corridor % 4 == 2) request.mutable_agent()->mutable_body()->set_max_turn_radius(1.0);
    if (corridor % 5 == 3) request.mutable_frame()->mutable_origin()->set_x(0.3);
    request.mutable_sampling()->set_count(20);
    request.set_include_corridor(true);
    for (int ends = 0; ends < 12; ++ends) {
      Place(random, refs.front() == 1000 ? 2 : refs.front(), request.mutable_start());
      Place(random, refs.back(), request.mutable_goal());
      if (random() % 4 == 0) {
        request.set_max_endpoint_shift(0.5);
      } else {
        request.clear_max_endpoint_shift();
      }
      const std::string fresh = Answer(request, nullptr);
      ASSERT_EQ(Answer(request, &prepared), fresh)
          << "seed " << seed << ", corridor " << corridor << ": " << request.DebugString();
      ++planned;
    }
  }
  EXPECT_GT(prepared.hits, planned / 2);
  size_t built = 0, sections = 0;
  for (const auto& [key, corridor] : prepared.corridors) {
    if (!corridor->built) continue;
    ++built;
    for (const PortalSections::Open& open : corridor->built->sections.open) sections += open.lasts;
  }
  EXPECT_GT(built, 20u);
  EXPECT_GT(sections, 20u) << "portals whose distance from the walls is known";
}

INSTANTIATE_TEST_SUITE_P(Axes, PreparedCorridorTest,
                         ::testing::Values(MeshUpAxis::kX, MeshUpAxis::kY, MeshUpAxis::kZ));

TEST(PreparedCurveTest, GivesTheSameAnswers) {
  KeepAll prepared;
  const auto answer = [](const v1::PlanSplineRequest& request, PreparedPlans* kept) {
    v1::PlanSplineResponse response;
    const auto failure = AnswerPlanSpline(
        request, RequestLimits(), [] { return std::nullopt; }, response, nullptr, kept);
    EXPECT_FALSE(failure) << failure->message;
    return response.SerializeAsString();
  };
  auto request = FromText<v1::PlanSplineRequest>(
      "spline { catmull_rom {} control { x: [0, 1, 3, 4, 7] y: [0, 2, -1, 0, 3] } } "
      "sampling { count: 4 }");
  for (const uint32_t count : {4u, 4u, 4000u, 4u, 4000u}) {
    request.mutable_sampling()->set_count(count);
    EXPECT_EQ(answer(request, &prepared), answer(request, nullptr)) << count;
  }
  EXPECT_EQ(prepared.curves.size(), 2u);  // Few and many samples take other maps.
  EXPECT_EQ(prepared.hits, 3);
  request.mutable_agent()->mutable_limits()->set_max_speed(2);
  request.mutable_agent()->mutable_limits()->set_max_acceleration(1);
  request.mutable_agent()->mutable_limits()->set_max_braking(1);
  for (const double bound : {1e-9, 1e-6, 1e-9}) {
    request.set_length_error_bound(bound);
    EXPECT_EQ(answer(request, &prepared), answer(request, nullptr)) << bound;
  }
  EXPECT_EQ(prepared.curves.size(), 3u);
}

}  // namespace
}  // namespace arclane
