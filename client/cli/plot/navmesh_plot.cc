// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/navmesh_plot.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/plot/map_panel.h"
#include "client/cli/plot/svg_writer.h"

namespace arclane {
namespace {

constexpr double kMargin = 20;
constexpr double kTop = 56;
constexpr double kLowest = 300, kHighest = 2400;

constexpr char kStyle[] =
    "text{font-family:sans-serif;font-size:13px;fill:#333}"
    ".title{font-size:18px}.ground{stroke:#8a97a3;stroke-width:0.6}"
    ".seam{stroke:#5d6b78;stroke-width:1.4}.link{stroke:#7b3fb0;stroke-width:2;fill:none}"
    ".disabled{stroke:#b0413e;stroke-dasharray:4 3}"
    ".open{stroke:#1c8a4a;stroke-width:4}.closed{stroke:#c62f2b;stroke-width:4}";

// Pale colours that tell kinds of ground apart; more kinds begin again.
constexpr const char* kGround[] = {"#e6ecf1", "#dcefd9", "#fbe9c6", "#d7e7fb",
                                   "#f6d9d5", "#e6dcf5", "#d3f0ee", "#f1ead9"};

class Plane {
 public:
  explicit Plane(v1::UpAxis up) : up_(up) {}
  PlanePoint operator()(const v1::PointColumns& points, int i) const {
    const auto at = [i](const auto& column) { return i < column.size() ? column.Get(i) : 0.0; };
    switch (up_) {
      case v1::UP_AXIS_X:
        return {at(points.y()), at(points.z())};
      case v1::UP_AXIS_Y:
        return {at(points.x()), at(points.z())};
      default:
        return {at(points.x()), at(points.y())};
    }
  }

 private:
  v1::UpAxis up_;
};

int SizeOf(const v1::PointColumns& points) {
  return std::max({points.x_size(), points.y_size(), points.z_size()});
}

absl::Status CheckTile(const v1::NavMeshTile& tile) {
  int64_t corners = 0;
  for (const uint32_t count : tile.vertex_count()) corners += count;
  const int polygons = tile.vertex_count_size();
  const int links = tile.links().from_polygon_size();
  const bool sizes_fit = corners == tile.vertex_index_size() &&
                         tile.polygon_ref_size() == polygons && tile.area_size() == polygons &&
                         tile.links().to_ref_size() == links &&
                         tile.links().tile_side_size() == links;
  const bool indices_fit =
      std::all_of(tile.vertex_index().begin(), tile.vertex_index().end(),
                  [&](uint32_t v) { return v < static_cast<uint32_t>(SizeOf(tile.vertices())); }) &&
      std::all_of(tile.links().from_polygon().begin(), tile.links().from_polygon().end(),
                  [&](uint32_t p) { return p < static_cast<uint32_t>(polygons); });
  if (sizes_fit && indices_fit) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("tile ", tile.tile_ref(), " contradicts itself"));
}

class NavMeshPicture {
 public:
  NavMeshPicture(const v1::NavMeshOverview& overview, std::vector<const v1::NavMeshTile*> tiles,
                 const NavMeshPlotOptions& options)
      : overview_(overview),
        plane_(overview.up_axis()),
        tiles_(std::move(tiles)),
        extent_(ExtentOf()),
        height_(MapHeight(extent_, options.width - 2 * kMargin, kLowest, kHighest)),
        project_(extent_, {kMargin, kTop, options.width - 2 * kMargin, height_}),
        title_(options.title),
        svg_(options.width, kTop + height_ + kMargin, options.title, Summary(), kStyle) {}

  std::string Draw() {
    svg_.Rect({0, 0}, 1e5, 1e5, R"(fill="#ffffff")");
    svg_.Text({kMargin, 24}, title_, R"(class="title")");
    svg_.Text({kMargin, 44}, Summary(), "");
    for (const v1::NavMeshTile* tile : tiles_) DrawGround(*tile);
    for (const v1::NavMeshTile* tile : tiles_) DrawSeams(*tile);
    for (const v1::NavMeshTile* tile : tiles_) DrawLinks(*tile);
    DrawGates();
    return svg_.Finish();
  }

 private:
  std::string Summary() const {
    return absl::StrCat("version ", overview_.version(), ", epoch ", overview_.epoch(), ": ",
                        overview_.tile_count(), " tiles, ", overview_.polygon_count(),
                        " polygons, ", overview_.gates_size(), " gates (",
                        overview_.closed_gates_size(), " closed), ",
                        overview_.disabled_links_size(), " links disabled");
  }

  Extent ExtentOf() const {
    constexpr double kFar = std::numeric_limits<double>::max();
    Extent extent{{kFar, kFar}, {-kFar, -kFar}};
    for (const v1::NavMeshTile* tile : tiles_) {
      for (int i = 0; i < SizeOf(tile->vertices()); ++i) {
        const PlanePoint p = plane_(tile->vertices(), i);
        extent.low = {std::min(extent.low.first, p.first), std::min(extent.low.second, p.second)};
        extent.high = {std::max(extent.high.first, p.first),
                       std::max(extent.high.second, p.second)};
      }
    }
    return extent.low.first <= extent.high.first ? extent : Extent{};
  }

  void DrawGround(const v1::NavMeshTile& tile) {
    int begin = 0;
    for (int p = 0; p < tile.vertex_count_size(); ++p) {
      const int count = static_cast<int>(tile.vertex_count(p));
      std::vector<Pixel> corners;
      for (int k = begin; k < begin + count; ++k)
        corners.push_back(
            project_(plane_(tile.vertices(), static_cast<int>(tile.vertex_index(k)))));
      begin += count;
      if (static_cast<uint32_t>(p) >= tile.ground_count()) continue;
      svg_.Polygon(corners, absl::StrCat("class=\"ground\" fill=\"",
                                         kGround[tile.area(p) % std::size(kGround)], "\""));
    }
  }

  // A portal by its index among a tile's links.
  std::pair<Pixel, Pixel> Portal(const v1::TileLinks& links, int i) const {
    return {project_(plane_(links.left(), i)), project_(plane_(links.right(), i))};
  }

  void DrawSeams(const v1::NavMeshTile& tile) {
    constexpr uint32_t kWithinTile = 255;
    for (int i = 0; i < tile.links().from_polygon_size(); ++i) {
      if (tile.links().tile_side(i) == kWithinTile) continue;
      const auto [left, right] = Portal(tile.links(), i);
      svg_.Line(left, right, R"(class="seam")");
    }
  }

  void DrawLinks(const v1::NavMeshTile& tile) {
    const std::set<uint64_t> disabled(overview_.disabled_links().begin(),
                                      overview_.disabled_links().end());
    for (int i = 0; i < SizeOf(tile.link_start()); ++i) {
      const int polygon = static_cast<int>(tile.ground_count()) + i;
      if (polygon >= tile.polygon_ref_size()) return;
      const bool is_disabled = disabled.contains(tile.polygon_ref(polygon));
      const char* style = is_disabled ? R"(class="link disabled")" : R"(class="link")";
      const Pixel start = project_(plane_(tile.link_start(), i));
      const Pixel end = project_(plane_(tile.link_end(), i));
      svg_.Line(start, end, style);
      svg_.Circle(start, 3, style);
      svg_.Circle(end, 1.5, style);
    }
  }

  void DrawGates() {
    const std::set<uint64_t> closed(overview_.closed_gates().begin(),
                                    overview_.closed_gates().end());
    for (const v1::Gate& gate : overview_.gates()) {
      std::set<std::pair<uint64_t, uint64_t>> borders;
      for (int b = 0; b < std::min(gate.from_polygon_size(), gate.to_polygon_size()); ++b)
        borders.emplace(gate.from_polygon(b), gate.to_polygon(b));
      const bool is_closed = closed.contains(gate.gate_id());
      for (const v1::NavMeshTile* tile : tiles_) DrawBorders(*tile, borders, is_closed);
    }
  }

  void DrawBorders(const v1::NavMeshTile& tile,
                   const std::set<std::pair<uint64_t, uint64_t>>& borders, bool is_closed) {
    for (int i = 0; i < tile.links().from_polygon_size(); ++i) {
      const uint64_t from = tile.polygon_ref(static_cast<int>(tile.links().from_polygon(i)));
      if (!borders.contains({from, tile.links().to_ref(i)})) continue;
      const auto [left, right] = Portal(tile.links(), i);
      svg_.Line(left, right, is_closed ? R"(class="closed")" : R"(class="open")");
    }
  }

  const v1::NavMeshOverview& overview_;
  const Plane plane_;
  const std::vector<const v1::NavMeshTile*> tiles_;
  const Extent extent_;
  const double height_;
  const MapProjection project_;
  const std::string title_;
  SvgWriter svg_;
};

}  // namespace

absl::StatusOr<std::string> DrawNavMesh(const std::vector<v1::ReadNavMeshResponse>& parts,
                                        const NavMeshPlotOptions& options) {
  const v1::NavMeshOverview* overview = nullptr;
  std::vector<const v1::NavMeshTile*> tiles;
  for (const v1::ReadNavMeshResponse& part : parts) {
    if (part.has_overview()) overview = &part.overview();
    if (!part.has_tile()) continue;
    if (absl::Status status = CheckTile(part.tile()); !status.ok()) return status;
    tiles.push_back(&part.tile());
  }
  if (overview == nullptr) return absl::InvalidArgumentError("the navmesh has no overview");
  if (tiles.empty()) return absl::InvalidArgumentError("the navmesh has no tiles to draw");
  return NavMeshPicture(*overview, std::move(tiles), options).Draw();
}

}  // namespace arclane
