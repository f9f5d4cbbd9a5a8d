// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/neutral_mesh.h"

#include <atomic>
#include <filesystem>
#include <random>
#include <set>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/grid_mesh.h"
#include "tests/support/reference_data.h"

namespace arclane {
namespace {

using ::arclane::testing::GridMesh;
using ::testing::UnorderedElementsAre;

std::set<std::string> Places(const NavMeshFailure& failure) {
  std::set<std::string> places;
  for (const MeshViolation& v : failure.violations) places.insert(v.place);
  return places;
}

NavMeshResult<std::shared_ptr<const NavMeshSnapshot>> Assemble(const NeutralMesh& mesh) {
  const auto content = BuildNeutralTiles(mesh);
  if (!content.ok()) return content.failure();
  std::vector<std::shared_ptr<const Tile>> tiles;
  for (const ReadTile& tile : content->tiles) tiles.push_back(tile.tile);
  std::atomic<uint64_t> stamp{1};
  return NavMeshSnapshot::Assemble(content->info, tiles, std::make_shared<GateTable>(mesh.gates),
                                   nullptr, stamp);
}

// Squares of a grid with 2 x 2 squares a tile: each square is linked to those beside it, in both
// directions.
TEST(NeutralMeshTest, LinksSquaresAcrossTiles) {
  for (const MeshUpAxis up : {MeshUpAxis::kX, MeshUpAxis::kY, MeshUpAxis::kZ}) {
    for (const bool clockwise : {false, true}) {
      const auto snapshot = Assemble(
          GridMesh({.width = 6, .height = 4, .tile = 2, .up = up, .clockwise = clockwise}));
      ASSERT_TRUE(snapshot.ok()) << snapshot.status();
      EXPECT_EQ((*snapshot)->tile_count(), 6u);
      EXPECT_EQ((*snapshot)->polygon_count(), 24u);
      EXPECT_EQ((*snapshot)->CountLinks(), 2u * (5 * 4 + 6 * 3));
    }
  }
}

// The portal from square (0, 0) to square (1, 0) has its left end where heading grows: larger
// second coordinate.
TEST(NeutralMeshTest, DerivesLeftFromTravel) {
  for (const bool clockwise : {false, true}) {
    const auto snapshot =
        *Assemble(GridMesh({.width = 4, .height = 4, .tile = 2, .clockwise = clockwise}));
    for (const uint64_t from : {0u, 1u}) {  // Within a tile and across two.
      const auto crossing =
          snapshot->CrossingBetween(*snapshot->Find({from}), *snapshot->Find({from + 1}));
      ASSERT_TRUE(crossing);
      EXPECT_EQ(crossing->ends.left, (MeshPoint{from + 1.0, 1.0, 0.0}));
      EXPECT_EQ(crossing->ends.right, (MeshPoint{from + 1.0, 0.0, 0.0}));
    }
  }
}

// Without a neighbour column the same links come from equal edges.
TEST(NeutralMeshTest, FindsNeighboursByTheirEdges) {
  NeutralMesh mesh = GridMesh({.width = 5, .height = 5, .tile = 5});
  const size_t declared = (*Assemble(mesh))->CountLinks();
  mesh.neighbour.clear();
  EXPECT_EQ((*Assemble(mesh))->CountLinks(), declared);
}

//   +---+---+
//   | 1 |   |     Tile (1, 0) is one rectangle; each of the squares 0 and 1 of tile (0, 0) opens on
//   a part of its side.
//   +---+ 2 |
//   | 0 |   |
//   +---+---+
TEST(NeutralMeshTest, LinksPartsOfEdgesAcrossTiles) {
  NeutralMesh mesh;
  mesh.x = {0, 1, 1, 0, 1, 0, 2, 2};
  mesh.y = {0, 0, 1, 1, 2, 2, 0, 2};
  mesh.vertex_count = {4, 4, 4};
  mesh.vertex_index = {0, 1, 2, 3, 3, 2, 4, 5, 1, 6, 7, 4};
  mesh.polygon_tile = {0, 0, 1};
  mesh.tiles = {{10, {0, 0, 0}}, {11, {1, 0, 0}}};
  const auto snapshot = Assemble(mesh);
  ASSERT_TRUE(snapshot.ok()) << snapshot.status();
  EXPECT_EQ((*snapshot)->CountLinks(), 6u);
  const auto crossing =
      (*snapshot)->CrossingBetween(*(*snapshot)->Find({2}), *(*snapshot)->Find({0}));
  ASSERT_TRUE(crossing);
  EXPECT_EQ(crossing->ends.right, (MeshPoint{1, 1, 0}));
  EXPECT_EQ(crossing->ends.left, (MeshPoint{1, 0, 0}));
}

TEST(NeutralMeshTest, CrossesLinksInTheirDirections) {
  NeutralMesh mesh = GridMesh({.width = 4, .height = 2, .tile = 2});
  mesh.links = {{.id = 100,
                 .start = {0.5, 0.5, 0},
                 .end = {3.5, 1.5, 0},
                 .start_polygon = 0,
                 .end_polygon = 7},
                {.id = 101,
                 .start = {0.5, 1.5, 0},
                 .end = {2.5, 0.5, 0},
                 .start_polygon = 4,
                 .end_polygon = 2,
                 .bidirectional = true}};
  const auto loaded = Assemble(mesh);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const NavMeshSnapshot& snapshot = **loaded;
  const auto crossing = [&](uint64_t a, uint64_t b) {
    return snapshot.CrossingBetween(*snapshot.Find({a}), *snapshot.Find({b}));
  };
  ASSERT_TRUE(crossing(0, 100));
  EXPECT_EQ(crossing(0, 100)->kind, CrossingKind::kLinkEntry);
  ASSERT_TRUE(crossing(100, 7));
  EXPECT_EQ(crossing(100, 7)->kind, CrossingKind::kLinkExit);
  EXPECT_EQ(crossing(100, 7)->ends.left, (MeshPoint{3.5, 1.5, 0}));
  EXPECT_FALSE(crossing(7, 100));
  EXPECT_FALSE(crossing(100, 0));
  EXPECT_TRUE(crossing(2, 101));
  EXPECT_TRUE(crossing(101, 4));
  EXPECT_FALSE(crossing(4, 100));
}

TEST(NeutralMeshTest, ListsEveryViolation) {
  NeutralMesh mesh = GridMesh({.width = 4, .height = 3, .tile = 2});
  std::swap(mesh.vertex_index[4 * 2], mesh.vertex_index[4 * 2 + 1]);  // Polygon 2 crosses itself.
  mesh.polygon_id[5] = 4;
  mesh.links = {
      {.id = 3, .start = {0.5, 0.5, 0}, .end = {9, 9, 0}, .start_polygon = 0, .end_polygon = 6},
      {.id = 90, .start = {}, .end = {}, .start_polygon = 77, .end_polygon = 0}};
  const auto content = BuildNeutralTiles(mesh);
  ASSERT_FALSE(content.ok());
  EXPECT_EQ(content.failure().reason, NavMeshReason::kBrokenMesh);
  EXPECT_THAT(Places(content.failure()),
              UnorderedElementsAre("vertex_count[2]", "polygon_ref[5]", "links.link_ref[0]",
                                   "links.end[0]", "links.start_polygon[1]"));
}

TEST(NeutralMeshTest, RefusesLinksThatAreNotAnswered) {
  NeutralMesh mesh = GridMesh({.width = 4, .height = 3, .tile = 4});
  mesh.neighbour[4 * 5 + 1] = 999;           // Dangling; its neighbour's answer is then one-sided.
  mesh.neighbour[4 * 0 + 1] = kNoNeighbour;  // One-sided: polygon 1 still names 0.
  mesh.neighbour[4 * 10 + 0] = 10;           // Its own neighbour.
  const auto content = BuildNeutralTiles(mesh);
  ASSERT_FALSE(content.ok());
  const auto places = Places(content.failure());
  EXPECT_TRUE(places.contains("neighbour[21]")) << content.status();
  EXPECT_TRUE(places.contains("neighbour[7]")) << content.status();
  EXPECT_TRUE(places.contains("neighbour[40]")) << content.status();
}

TEST(NeutralMeshTest, RefusesColumnsOfOtherLengths) {
  NeutralMesh mesh = GridMesh({.width = 2, .height = 2, .tile = 2});
  mesh.area = {1};
  mesh.y.pop_back();
  mesh.vertex_index[3] = 1000;
  const auto content = BuildNeutralTiles(mesh);
  ASSERT_FALSE(content.ok());
  EXPECT_THAT(Places(content.failure()), UnorderedElementsAre("vertices.y", "area"));
}

TEST(NeutralMeshTest, NamesGatesWithoutBorder) {
  NeutralMesh mesh = GridMesh({.width = 3, .height = 3, .tile = 3});
  mesh.gates = {{{5}, "a", {{{0}, {1}}}, true},
                {{6}, "b", {{{0}, {8}}}, true},
                {{7}, "c", {{{0}, {88}}}, true},
                {{5}, "d", {}, true}};
  const auto snapshot = Assemble(mesh);
  ASSERT_FALSE(snapshot.ok());
  EXPECT_THAT(Places(snapshot.failure()), UnorderedElementsAre("gate 5", "gate 6", "gate 7"));
}

TEST(NeutralMeshTest, ReadsItsStoredFormBack) {
  NeutralMesh mesh = GridMesh({.width = 4, .height = 4, .tile = 2});
  mesh.links = {{.id = 100,
                 .start = {0.5, 0.5, 0},
                 .end = {3.5, 1.5, 0},
                 .start_polygon = 0,
                 .end_polygon = 7,
                 .area = 3}};
  const auto content = BuildNeutralTiles(mesh);
  for (const ReadTile& tile : content->tiles) {
    const auto again = DecodeNeutralTile(tile.stored);
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->digest, tile.tile->digest);
    EXPECT_EQ(EncodeNeutralTile(*again), tile.stored);
    for (size_t length = 0; length < tile.stored.size(); ++length) {
      EXPECT_EQ(DecodeNeutralTile(std::string_view(tile.stored).substr(0, length)), nullptr);
    }
  }
}

// Street and game maps: weakly convex polygons with neighbours by edge.
TEST(NeutralMeshTest, ReadsTheReferenceMaps) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  int maps = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir + "/maps/meshes")) {
    const auto map = nlohmann::json::parse(::arclane::testing::ReadFile(entry.path()));
    NeutralMesh mesh;
    for (const auto& v : map["vertices"]) {
      mesh.x.push_back(v[0]);
      mesh.y.push_back(v[1]);
    }
    for (const auto& polygon : map["polygons"]) {
      mesh.vertex_count.push_back(polygon.size());
      for (const auto& v : polygon) mesh.vertex_index.push_back(v);
    }
    size_t declared = 0;
    for (const auto& neighbours : map["neighbours"]) {
      for (const auto& n : neighbours) {
        const int64_t id = n;
        mesh.neighbour.push_back(id < 0 ? kNoNeighbour : id);
        declared += id >= 0;
      }
    }
    mesh.float32_coordinates = true;
    const auto snapshot = Assemble(mesh);
    ASSERT_TRUE(snapshot.ok()) << entry.path() << ": "
                               << std::string(snapshot.status().message()).substr(0, 600);
    EXPECT_EQ((*snapshot)->CountLinks(), declared) << entry.path();
    ++maps;
  }
  EXPECT_GT(maps, 0);
}

}  // namespace
}  // namespace arclane
