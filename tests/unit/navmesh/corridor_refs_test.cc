// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/corridor_refs.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/navmesh/registry.h"
#include "tests/support/grid_mesh.h"
#include "tests/support/reference_data.h"

namespace arclane {
namespace {

using ::arclane::testing::GridMesh;
using ::testing::ElementsAre;
using Json = nlohmann::json;

constexpr size_t kMaxPolygons = 1000;

// 6 x 2 squares in tiles of 2 x 2; gate 1 between squares 2 and 3; link 100 from square 0 to square
// 11, both ways.
class CorridorRefsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    registry_ = *NavMeshRegistry::Open({}, std::make_shared<NullStore>(), 0.0);
    NeutralMesh mesh = GridMesh({.width = 6, .height = 2, .tile = 2});
    mesh.area = {0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    mesh.gates = {{{1}, "door", {{{2}, {3}}}, true}};
    mesh.links = {{.id = 100,
                   .start = {0.5, 0.5, 0},
                   .end = {5.5, 1.5, 0},
                   .start_polygon = 0,
                   .end_polygon = 11,
                   .bidirectional = true,
                   .area = 5}};
    PublishRequest request;
    request.navmesh_id = "map";
    request.version = {1};
    request.neutral = &mesh;
    ASSERT_TRUE(registry_->Publish(request).ok());
  }
  NavMeshResult<CorridorByRef> Resolve(std::vector<uint64_t> ids) {
    std::vector<PolygonRef> refs;
    for (const uint64_t id : ids) refs.push_back({id});
    return ResolveCorridor(*registry_->View("map", {}, "", 0), refs, kMaxPolygons);
  }
  void Apply(const StateChange& change) {
    ApplyRequest request;
    request.navmesh_id = "map";
    request.changes = {change};
    ASSERT_TRUE(registry_->ApplyChanges(request, 0).ok());
  }
  std::unique_ptr<NavMeshRegistry> registry_;
};

std::string ReadSetText(const ReadSet& reads) {
  std::string text;
  for (size_t i = 0; i < reads.dependencies.size(); ++i) {
    const Dependency& d = reads.dependencies[i];
    text += "?GTLA"[static_cast<int>(d.kind)] + std::to_string(d.id) + "@" +
            std::to_string(reads.portal_index[i]) + " ";
  }
  return text;
}

TEST_F(CorridorRefsTest, GivesCellsPortalsAndReads) {
  const auto corridor = Resolve({1, 2, 3, 9});
  ASSERT_TRUE(corridor.ok()) << corridor.status();
  EXPECT_THAT(corridor->columns.vertex_count, ElementsAre(4, 4, 4, 4));
  EXPECT_THAT(corridor->columns.left.x, ElementsAre(2, 3, 3));
  EXPECT_THAT(corridor->columns.left.y, ElementsAre(1, 1, 1));
  EXPECT_THAT(corridor->columns.right.x, ElementsAre(2, 3, 4));
  EXPECT_THAT(corridor->columns.right.y, ElementsAre(0, 0, 1));
  EXPECT_FALSE(corridor->blockage);
  EXPECT_EQ(ReadSetText(corridor->read_set), "G1@1 T1000@0 T1001@0 A0@0 A3@0 ");
}

TEST_F(CorridorRefsTest, NamesAClosedGate) {
  Apply(StateChange::Gate({1}, false));
  for (const auto& ids : {std::vector<uint64_t>{1, 2, 3, 4}, std::vector<uint64_t>{4, 3, 2, 1}}) {
    const auto corridor = Resolve(ids);
    ASSERT_TRUE(corridor.ok());
    ASSERT_TRUE(corridor->blockage);
    EXPECT_EQ(corridor->blockage->kind, DependencyKind::kGate);
    EXPECT_EQ(corridor->blockage->id, 1u);
    EXPECT_EQ(corridor->blockage->portal_index, 1u);
    EXPECT_EQ(corridor->read_set.dependencies[0].stamp, kClosedStamp);
  }
  EXPECT_FALSE(Resolve({1, 2})->blockage);
}

TEST_F(CorridorRefsTest, TravelsLinksInBothDirections) {
  const auto there = Resolve({6, 0, 100, 11, 10});
  ASSERT_TRUE(there.ok()) << there.status();
  EXPECT_THAT(there->columns.vertex_count, ElementsAre(4, 4, 2, 4, 4));
  EXPECT_THAT(there->columns.link_entry, ElementsAre(1));
  EXPECT_EQ(there->columns.vertices.x[8], 0.5);
  EXPECT_EQ(there->columns.vertices.x[9], 5.5);
  EXPECT_EQ(there->columns.left.x[1], 0.5);
  EXPECT_EQ(there->columns.right.x[2], 5.5);
  const auto back = Resolve({11, 100, 0});
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->columns.vertices.x[4], 5.5);
  EXPECT_EQ(back->columns.vertices.x[5], 0.5);
  EXPECT_EQ(Resolve({100, 0})->columns.vertices.x[0], 5.5);
  Apply(StateChange::Link({100}, false));
  EXPECT_EQ(Resolve({6, 0, 100, 11})->blockage->kind, DependencyKind::kLink);
  EXPECT_EQ(Resolve({6, 0, 100, 11})->blockage->portal_index, 1u);
}

TEST_F(CorridorRefsTest, ListsEveryWrongRef) {
  const auto unknown = Resolve({0, 77, 1, 78});
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.failure().reason, NavMeshReason::kUnknownPolygon);
  EXPECT_EQ(unknown.failure().violations.size(), 2u);
  EXPECT_EQ(unknown.failure().violations[1].place, "polygon_refs[3]");
  const auto apart = Resolve({0, 1, 1, 2, 4});
  ASSERT_FALSE(apart.ok());
  EXPECT_EQ(apart.failure().reason, NavMeshReason::kNotAdjacent);
  ASSERT_EQ(apart.failure().violations.size(), 2u);
  EXPECT_EQ(apart.failure().violations[0].place, "polygon_refs[2]");
  EXPECT_EQ(apart.failure().violations[1].place, "polygon_refs[4]");
  EXPECT_EQ(Resolve({}).failure().reason, NavMeshReason::kInvalidArgument);
  EXPECT_EQ(Resolve(std::vector<uint64_t>(kMaxPolygons + 1, 0)).failure().reason,
            NavMeshReason::kInvalidArgument);
}

// Corridors that Detour recorded, by the refs of their polygons: portals and cells as recorded.
TEST(CorridorRefsReferenceTest, GivesTheRecordedColumns) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  auto registry = *NavMeshRegistry::Open({}, std::make_shared<NullStore>(), 0.0);
  std::map<std::string, std::map<std::vector<float>, PolygonRef>> refs;
  const auto number = [](const Json& v) { return static_cast<float>(v.get<double>()); };
  size_t corridors = 0, portals = 0;
  for (const char* set : {"corridors_dev", "corridors_offmesh"}) {
    for (const Json& record :
         ::arclane::testing::ReadRecords(dir + "/detour/" + set + ".jsonl.gz")) {
      const std::string mesh = record["mesh"], path = dir + "/detour/" + mesh + ".bin";
      if (!std::filesystem::exists(path)) continue;
      if (!refs.contains(mesh)) {
        const std::string file = ::arclane::testing::ReadFile(path);
        PublishRequest request;
        request.navmesh_id = mesh;
        request.version = {1};
        request.mset = file;
        ASSERT_TRUE(registry->Publish(request).ok());
        const auto view = *registry->View(mesh, {}, "", 0);
        const NavMeshSnapshot& snapshot = view.snapshot();
        for (uint32_t slot = 0; slot < snapshot.slot_count(); ++slot) {
          for (uint32_t p = 0; p < snapshot.tile(slot)->tile->polygon_count(); ++p) {
            const PolygonRef ref = snapshot.RefOf({slot, p});
            const auto alone = ResolveCorridor(view, {&ref, 1}, 1);
            std::vector<float> key;
            for (size_t i = 0; i < alone->columns.vertices.size(); ++i) {
              for (const auto* column : {&alone->columns.vertices.x, &alone->columns.vertices.y,
                                         &alone->columns.vertices.z}) {
                key.push_back(static_cast<float>((*column)[i]));
              }
            }
            refs[mesh][key] = ref;
          }
        }
      }
      std::vector<PolygonRef> corridor;
      std::vector<float> vertices;
      for (const Json& polygon : record["polygons"]) {
        std::vector<float> key;
        for (const Json& point : polygon) {
          for (const Json& c : point) key.push_back(number(c));
        }
        vertices.insert(vertices.end(), key.begin(), key.end());
        ASSERT_TRUE(refs[mesh].contains(key)) << record["id"];
        corridor.push_back(refs[mesh][key]);
      }
      const auto resolved =
          ResolveCorridor(*registry->View(mesh, {}, "", 0), corridor, kMaxPolygons);
      ASSERT_TRUE(resolved.ok()) << record["id"] << resolved.status();
      const CorridorColumns& columns = resolved->columns;
      ASSERT_EQ(columns.left.size(), record["portals"].size());
      for (size_t i = 0; i < columns.left.size(); ++i, ++portals) {
        const Json &left = record["portals"][i]["left"], &right = record["portals"][i]["right"];
        ASSERT_EQ(columns.left.x[i], number(left[0])) << record["id"] << " " << i;
        ASSERT_EQ(columns.left.y[i], number(left[1])) << record["id"] << " " << i;
        ASSERT_EQ(columns.left.z[i], number(left[2])) << record["id"] << " " << i;
        ASSERT_EQ(columns.right.x[i], number(right[0])) << record["id"] << " " << i;
        ASSERT_EQ(columns.right.y[i], number(right[1])) << record["id"] << " " << i;
        ASSERT_EQ(columns.right.z[i], number(right[2])) << record["id"] << " " << i;
      }
      ASSERT_EQ(columns.vertices.size() * 3, vertices.size());
      for (size_t cell = 0, i = 0; cell < columns.vertex_count.size(); ++cell) {
        const size_t count = columns.vertex_count[cell];
        // Links are recorded from start to end, and resolved in the order of travel.
        const bool backwards = count == 2 && columns.vertices.x[i] != vertices[3 * i];
        for (size_t k = 0; k < count; ++k, ++i) {
          const size_t recorded = backwards ? (k == 0 ? i + 1 : i - 1) : i;
          ASSERT_EQ(columns.vertices.x[i], vertices[3 * recorded]);
          ASSERT_EQ(columns.vertices.y[i], vertices[3 * recorded + 1]);
          ASSERT_EQ(columns.vertices.z[i], vertices[3 * recorded + 2]);
        }
      }
      ++corridors;
    }
  }
  std::printf("%zu corridors, %zu portals\n", corridors, portals);
  EXPECT_GT(corridors, 500u);
}

}  // namespace
}  // namespace arclane
