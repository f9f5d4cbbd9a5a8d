// SPDX-License-Identifier: Apache-2.0
// Detour files against what Detour itself made of them.
#include "server/navmesh/mset_reader.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "gtest/gtest.h"
#include "server/navmesh/detour_tile_layout.h"
#include "server/navmesh/snapshot.h"
#include "tests/support/reference_data.h"

namespace arclane {
namespace {

using ::arclane::testing::ReadFile;
using ::arclane::testing::ReadRecords;
using Json = nlohmann::json;
using SnapshotPtr = std::shared_ptr<const NavMeshSnapshot>;

NavMeshResult<SnapshotPtr> Load(std::string_view file) {
  NavMeshResult<MsetContent> content = ReadMset(file, {.keep_stored = false});
  if (!content.ok()) return content.failure();
  MeshInfo info;
  info.params = content->params;
  std::vector<std::shared_ptr<const Tile>> tiles;
  for (ReadTile& tile : content->tiles) tiles.push_back(std::move(tile.tile));
  std::atomic<uint64_t> stamp{1};
  return NavMeshSnapshot::Assemble(info, std::move(tiles),
                                   std::make_shared<GateTable>(std::vector<GateDefinition>{}),
                                   nullptr, stamp);
}

std::vector<std::string> BinFiles(const std::string& dir) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(dir + "/detour")) {
    if (entry.path().extension() == ".bin") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

MeshPoint Point(const Json& v) {
  return {static_cast<float>(v[0].get<double>()), static_cast<float>(v[1].get<double>()),
          static_cast<float>(v[2].get<double>())};
}
std::string PointText(const MeshPoint& p) {
  char text[100];
  std::snprintf(text, sizeof(text), "(%.9g %.9g %.9g)", p.x, p.y, p.z);
  return text;
}

TEST(MsetReaderTest, ReadsEveryReferenceFile) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  const auto files = BinFiles(dir);
  EXPECT_GE(files.size(), 20u);
  for (const std::string& file : files) {
    const auto snapshot = Load(ReadFile(file));
    ASSERT_TRUE(snapshot.ok()) << file << ": " << snapshot.status();
    EXPECT_GT((*snapshot)->polygon_count(), 0u) << file;
    EXPECT_LE((*snapshot)->ByteSize(), 4 * std::filesystem::file_size(file)) << file;
  }
}

// Every link of every polygon: target, edge, side, fractions and portal, in Detour's order.
TEST(MsetReaderTest, MakesTheLinksThatDetourMade) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  int meshes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(dir + "/detour")) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("mesh_")) continue;
    const Json mesh = Json::parse(ReadFile(entry.path()));
    const std::string bin = dir + "/detour/" + mesh["mesh"].get<std::string>() + ".bin";
    if (!std::filesystem::exists(bin)) continue;
    ++meshes;
    const auto loaded = Load(ReadFile(bin));
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    const NavMeshSnapshot& snapshot = **loaded;
    ASSERT_EQ(snapshot.polygon_count(), mesh["polygons"].size());
    std::vector<PolygonLocation> location;
    std::map<std::pair<uint32_t, uint32_t>, int> index;
    for (uint32_t slot = 0; slot < snapshot.slot_count(); ++slot) {
      for (uint32_t p = 0; p < snapshot.tile(slot)->tile->polygon_count(); ++p) {
        index[{slot, p}] = static_cast<int>(location.size());
        location.push_back({slot, p});
      }
    }
    size_t links = 0;
    std::set<std::vector<int>> tiles;
    for (size_t i = 0; i < location.size(); ++i) {
      const Json& polygon = mesh["polygons"][i];
      const Tile& tile = *snapshot.tile(location[i].slot)->tile;
      tiles.insert(polygon["tile"].get<std::vector<int>>());
      EXPECT_EQ(tile.area[location[i].polygon], polygon["area"].get<uint32_t>());
      EXPECT_EQ(tile.flags[location[i].polygon], polygon["flags"].get<uint32_t>());
      EXPECT_EQ(tile.is_link(location[i].polygon), polygon["type"] == "offmesh");
      const auto vertices = tile.vertices_of(location[i].polygon);
      ASSERT_EQ(vertices.size(), polygon["verts"].size());
      std::multiset<std::string> found, expected;
      snapshot.ForEachLink(location[i], [&](const PolygonLink& link) {
        const bool side = link.side != kNoSide;
        found.insert(std::to_string(index.at({link.to.slot, link.to.polygon})) + " e" +
                     std::to_string(link.edge) + " s" + std::to_string(side ? link.side : -1) +
                     " " + std::to_string(side ? link.low : 0) + "-" +
                     std::to_string(side ? link.high : 0) + PointText(link.ends.left) +
                     PointText(link.ends.right));
      });
      for (const Json& link : polygon["links"]) {
        expected.insert(std::to_string(link["to"].get<int>()) + " e" +
                        std::to_string(link["edge"].get<int>()) + " s" +
                        std::to_string(link["tile_side"].get<int>()) + " " +
                        std::to_string(link["bmin"].get<int>()) + "-" +
                        std::to_string(link["bmax"].get<int>()) + PointText(Point(link["left"])) +
                        PointText(Point(link["right"])));
      }
      EXPECT_EQ(found, expected) << name << " polygon " << i;
      links += expected.size();
    }
    EXPECT_EQ(snapshot.CountLinks(), links);
    EXPECT_EQ(snapshot.tile_count(), tiles.size());
  }
  EXPECT_GT(meshes, 0);
}

// The recorded portals of Detour's corridors, found by the geometry of their polygons, come out bit
// for bit.
TEST(MsetReaderTest, ReproducesEveryRecordedPortal) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  std::map<std::string, SnapshotPtr> meshes;
  std::map<std::string, std::map<std::vector<float>, PolygonLocation>> polygons;
  size_t portals = 0, records = 0, partial = 0;
  for (const char* set : {"corridors_dev", "corridors_offmesh"}) {
    for (const Json& record : ReadRecords(dir + "/detour/" + set + ".jsonl.gz")) {
      const std::string mesh = record["mesh"];
      const std::string bin = dir + "/detour/" + mesh + ".bin";
      if (!std::filesystem::exists(bin)) continue;
      auto& snapshot = meshes[mesh];
      if (snapshot == nullptr) {
        const auto loaded = Load(ReadFile(bin));
        ASSERT_TRUE(loaded.ok()) << loaded.status();
        snapshot = *loaded;
        for (uint32_t slot = 0; slot < snapshot->slot_count(); ++slot) {
          const Tile& tile = *snapshot->tile(slot)->tile;
          for (uint32_t p = 0; p < tile.polygon_count(); ++p) {
            std::vector<float> key;
            for (const uint32_t v : tile.vertices_of(p)) {
              MeshPoint point = tile.vertices[v];
              if (tile.is_link(p)) {
                const LandedLink& link = snapshot->landed({slot, p});
                point = key.empty() ? link.start : link.end;
              }
              for (const double c : {point.x, point.y, point.z})
                key.push_back(static_cast<float>(c));
            }
            polygons[mesh][key] = {slot, p};
          }
        }
      }
      std::vector<PolygonLocation> corridor;
      for (const Json& polygon : record["polygons"]) {
        std::vector<float> key;
        for (const Json& point : polygon) {
          for (const Json& c : point) key.push_back(static_cast<float>(c.get<double>()));
        }
        const auto it = polygons[mesh].find(key);
        ASSERT_NE(it, polygons[mesh].end()) << record["id"];
        corridor.push_back(it->second);
      }
      ++records;
      for (size_t i = 0; i + 1 < corridor.size(); ++i) {
        const auto crossing = snapshot->CrossingBetween(corridor[i], corridor[i + 1]);
        ASSERT_TRUE(crossing) << record["id"] << " portal " << i;
        const Json& portal = record["portals"][i];
        EXPECT_EQ(crossing->ends.left, Point(portal["left"])) << record["id"] << " portal " << i;
        EXPECT_EQ(crossing->ends.right, Point(portal["right"])) << record["id"] << " portal " << i;
        ++portals;
        partial += corridor[i].slot != corridor[i + 1].slot;
      }
    }
  }
  std::printf("%zu records, %zu portals, %zu of them across tiles\n", records, portals, partial);
  EXPECT_GT(portals, 1000u);
}

// A prefix or a flipped byte gives an error or a mesh, never a crash.
TEST(MsetReaderTest, SurvivesTruncatedFiles) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  const auto files = BinFiles(dir);
  std::mt19937_64 random(20240607);
  for (const std::string& path : files) {
    const std::string file = ReadFile(path);
    const bool all = path == files.front();
    const size_t count = all ? file.size() : 1000;
    for (size_t i = 0; i < count; ++i) {
      const size_t length = all ? i : random() % file.size();
      EXPECT_FALSE(ReadMset(std::string_view(file).substr(0, length)).ok())
          << path << " " << length;
    }
  }
}

TEST(MsetReaderTest, SurvivesFlippedBytes) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  std::mt19937_64 random(20240608);
  size_t meshes = 0;
  for (const std::string& path : BinFiles(dir)) {
    const std::string file = ReadFile(path);
    for (int i = 0; i < 1000; ++i) {
      std::string damaged = file;
      damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
      const auto loaded = Load(damaged);
      if (!loaded.ok()) {
        EXPECT_FALSE(loaded.status().message().empty());
        continue;
      }
      ++meshes;
      EXPECT_LE((*loaded)->ByteSize(), 4 * file.size());
      (*loaded)->CountLinks();
    }
  }
  EXPECT_GT(meshes, 0u);
}

TEST(MsetReaderTest, RefusesWhatIsNoDetourFile) {
  EXPECT_EQ(ReadMset("").failure().reason, NavMeshReason::kMalformed);
  EXPECT_EQ(ReadMset("navmesh navmesh navmesh navmesh navmesh").failure().reason,
            NavMeshReason::kMalformed);
}

// With 64-bit refs a tile's header is 16 bytes and its links are 16 bytes each.
TEST(MsetReaderTest, NamesSixtyFourBitRefs) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  std::string file = ReadFile(dir + "/detour/dungeon_solo_r0.6.bin");
  std::string wide = file.substr(0, 44) + std::string(4, '\0') + file.substr(44, 4) +
                     std::string(4, '\0') + file.substr(48);
  const auto by_header = ReadMset(wide);
  ASSERT_FALSE(by_header.ok());
  EXPECT_EQ(by_header.failure().reason, NavMeshReason::kUnsupported);
  EXPECT_NE(by_header.failure().message.find("64-bit"), std::string::npos);

  DetourTileHeader header;
  std::memcpy(&header, file.data() + 48, sizeof(header));
  const size_t links = 48 + sizeof(header) + header.vertex_count * 12u + header.polygon_count * 32u;
  std::string longer =
      file.substr(0, links) + std::string(header.max_link_count * 4u, '\0') + file.substr(links);
  const auto size = static_cast<int32_t>(longer.size() - 48);
  std::memcpy(longer.data() + 44, &size, 4);
  const auto by_links = ReadMset(longer);
  ASSERT_FALSE(by_links.ok());
  EXPECT_EQ(by_links.failure().reason, NavMeshReason::kUnsupported) << by_links.status();
}

TEST(MsetReaderTest, ListsEveryViolation) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  std::string file = ReadFile(dir + "/detour/dungeon_solo_r0.6.bin");
  DetourTileHeader header;
  std::memcpy(&header, file.data() + 48, sizeof(header));
  const size_t polygons = 48 + sizeof(header) + header.vertex_count * 12u;
  const auto at = [&](size_t polygon) { return polygons + polygon * sizeof(DetourPolygon); };
  for (const size_t polygon :
       {3u, 7u}) {  // Swapping two vertices makes it cross itself or turn around.
    DetourPolygon p;
    std::memcpy(&p, file.data() + at(polygon), sizeof(p));
    std::swap(p.vertices[0], p.vertices[1]);
    std::memcpy(file.data() + at(polygon), &p, sizeof(p));
  }
  const auto loaded = ReadMset(file);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.failure().reason, NavMeshReason::kBrokenMesh);
  std::set<std::string> places;
  for (const MeshViolation& v : loaded.failure().violations) places.insert(v.place);
  EXPECT_TRUE(places.contains("tiles[0].polygons[3]")) << loaded.status();
  EXPECT_TRUE(places.contains("tiles[0].polygons[7]")) << loaded.status();
}

}  // namespace
}  // namespace arclane
