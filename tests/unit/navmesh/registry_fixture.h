// SPDX-License-Identifier: Apache-2.0
// A registry over a store in memory, and a small navmesh with gates and a link for it.
#ifndef ARCLANE_TESTS_UNIT_NAVMESH_REGISTRY_FIXTURE_H_
#define ARCLANE_TESTS_UNIT_NAVMESH_REGISTRY_FIXTURE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "server/navmesh/registry.h"
#include "tests/support/grid_mesh.h"

namespace arclane {

// 6 x 4 squares in tiles of 2 x 2; gate 1 between squares 1 and 2 (tiles 1000 and 1001), gate 2
// closed between 0 and 6 (both in tile 1000); link 100 from square 0 to square 23.
inline NeutralMesh TestMesh(uint64_t first_id = 0) {
  NeutralMesh mesh = testing::GridMesh({.width = 6, .height = 4, .tile = 2, .first_id = first_id});
  mesh.gates = {{{1}, "front", {{{first_id + 1}, {first_id + 2}}}, true},
                {{2}, "back", {{{first_id}, {first_id + 6}}}, false}};
  mesh.links = {{.id = first_id + 100,
                 .start = {0.5, 0.5, 0},
                 .end = {5.5, 3.5, 0},
                 .start_polygon = first_id,
                 .end_polygon = first_id + 23}};
  return mesh;
}

// One tile of the grid anew: squares of tile (x, y) with ids from `first_id`, numbered within the
// tile.
inline NeutralMesh TileMesh(int32_t x, int32_t y, uint64_t first_id) {
  NeutralMesh mesh = testing::GridMesh({.width = 2, .height = 2, .tile = 2, .first_id = first_id});
  for (double& v : mesh.x) v += 2 * x;
  for (double& v : mesh.y) v += 2 * y;
  mesh.neighbour.clear();
  mesh.tiles = {{static_cast<uint64_t>(1000 + y * 3 + x), {x, y, 0}}};
  return mesh;
}

class RegistryTest : public ::testing::Test {
 protected:
  void SetUp() override { Reopen(); }
  void Reopen() {
    registry_.reset();
    auto opened = NavMeshRegistry::Open(options_, store_, 0.0);
    ASSERT_TRUE(opened.ok()) << opened.status();
    registry_ = *std::move(opened);
  }
  NavMeshResult<PublishResult> Publish(uint64_t version, const NeutralMesh& mesh,
                                       bool activate = true) {
    PublishRequest request;
    request.navmesh_id = "map";
    request.version = {version};
    request.neutral = &mesh;
    request.activate = activate;
    return registry_->Publish(request);
  }
  NavMeshResult<PublishResult> Update(uint64_t version, const NeutralMesh& mesh,
                                      std::vector<GateDefinition> gates = {}) {
    UpdateTilesRequest request;
    request.navmesh_id = "map";
    request.version = {version};
    request.neutral = &mesh;
    request.gates = std::move(gates);
    return registry_->UpdateTiles(request);
  }
  NavMeshResult<PublishResult> UpdateFrom(uint64_t base, uint64_t version,
                                          const NeutralMesh& mesh) {
    UpdateTilesRequest request;
    request.navmesh_id = "map";
    request.base_version = {base};
    request.version = {version};
    request.neutral = &mesh;
    request.activate = false;
    return registry_->UpdateTiles(request);
  }
  NavMeshResult<ApplyResult> Apply(std::vector<StateChange> changes, std::string world = "",
                                   std::string id = "",
                                   std::optional<uint64_t> expected = std::nullopt) {
    ApplyRequest request;
    request.navmesh_id = "map";
    request.world_id = world;
    request.request_id = id;
    if (expected) request.expected_epoch = Epoch{*expected};
    request.changes = std::move(changes);
    return registry_->ApplyChanges(request, 0.0);
  }
  NavMeshView View(uint64_t version = 0, std::string world = "") {
    auto view = registry_->View("map", {version}, world, 0.0);
    EXPECT_TRUE(view.ok()) << view.status();
    return *std::move(view);
  }
  NavMeshReason ReasonOf(uint64_t version, std::string world = "", std::string id = "map") {
    const auto view = registry_->View(id, {version}, world, 0.0);
    EXPECT_FALSE(view.ok());
    return view.ok() ? NavMeshReason::kMalformed : view.failure().reason;
  }

  RegistryOptions options_;
  std::shared_ptr<NavMeshStore> store_ = std::make_shared<InMemoryStore>();
  std::unique_ptr<NavMeshRegistry> registry_;
};

}  // namespace arclane

#endif  // ARCLANE_TESTS_UNIT_NAVMESH_REGISTRY_FIXTURE_H_
