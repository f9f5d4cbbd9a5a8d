// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/navmesh_plot.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/plot/map_axes.h"
#include "client/cli/plot/map_projection.h"
#include "client/cli/plot/route_trace.h"
#include "client/cli/plot/svg_writer.h"

namespace arclane {
namespace {

constexpr double kMargin = 20;
constexpr double kLeft = 64;  // Tick labels of the second axis.
constexpr double kTop = 76;   // Title, summary, and the second axis's title.
constexpr double kBottom = 48;
constexpr double kLegendWidth = 178;
constexpr double kLegendLine = 22;
constexpr int kMostGrounds = 12;  // Areas in the legend.
constexpr double kLowest = 300, kHighest = 2400;

constexpr char kStyle[] =
    "text{font-family:sans-serif;font-size:13px;fill:#333}"
    ".title{font-size:18px}.axis{font-size:11px;fill:#666}.axis-title,.legend{font-size:12px}"
    ".frame{fill:none;stroke:#9aa4ad}.tick{stroke:#9aa4ad}.bar{stroke:#333;stroke-width:1.5}"
    ".ground{stroke:#8a97a3;stroke-width:0.6}"
    ".seam{stroke:#5d6b78;stroke-width:1.4}.link{stroke:#7b3fb0;stroke-width:2;fill:none}"
    ".disabled{stroke:#b0413e;stroke-dasharray:4 3}"
    ".open{stroke:#1c8a4a;stroke-width:4}.closed{stroke:#c62f2b;stroke-width:4}"
    ".gate{font-size:11px;font-weight:bold;paint-order:stroke;stroke:#fff;stroke-width:3px}";

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
        map_(MapArea(extent_, options.width)),
        project_(extent_, map_),
        title_(options.title),
        svg_(options.width, map_.y + map_.height + kBottom, options.title, Summary(), kStyle) {}

  std::string Draw() {
    svg_.Rect({0, 0}, 1e5, 1e5, R"(fill="#ffffff")");
    svg_.Text({kMargin, 24}, title_, R"(class="title")");
    svg_.Text({kMargin, 44}, Summary(), "");
    for (const v1::NavMeshTile* tile : tiles_) DrawGround(*tile);
    for (const v1::NavMeshTile* tile : tiles_) DrawSeams(*tile);
    for (const v1::NavMeshTile* tile : tiles_) DrawLinks(*tile);
    DrawGates();
    svg_.Rect({map_.x, map_.y}, map_.width, map_.height, R"(class="frame")");
    DrawMapAxes(PlaneAxes(overview_.up_axis()), project_, map_, svg_);
    DrawLegend();
    return svg_.Finish();
  }

 private:
  static PanelArea MapArea(const Extent& extent, double width) {
    PanelArea area{kLeft, kTop, width - kLeft - 2 * kMargin - kLegendWidth, 0};
    area.height = MapHeight(extent, area.width, kLowest, kHighest);
    return area;
  }

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
      std::optional<Pixel> middle;
      for (const v1::NavMeshTile* tile : tiles_) DrawBorders(*tile, borders, is_closed, middle);
      if (middle) {
        svg_.Text({middle->x + 6, middle->y - 6}, absl::StrCat(gate.gate_id()), R"(class="gate")");
      }
    }
  }

  // *middle: of the first border that was drawn.
  void DrawBorders(const v1::NavMeshTile& tile,
                   const std::set<std::pair<uint64_t, uint64_t>>& borders, bool is_closed,
                   std::optional<Pixel>& middle) {
    for (int i = 0; i < tile.links().from_polygon_size(); ++i) {
      const uint64_t from = tile.polygon_ref(static_cast<int>(tile.links().from_polygon(i)));
      if (!borders.contains({from, tile.links().to_ref(i)})) continue;
      const auto [left, right] = Portal(tile.links(), i);
      svg_.Line(left, right, is_closed ? R"(class="closed")" : R"(class="open")");
      if (!middle) middle = Pixel{0.5 * (left.x + right.x), 0.5 * (left.y + right.y)};
    }
  }

  // What is in the picture, and how often.
  void DrawLegend() {
    const double x = map_.x + map_.width + kMargin;
    double y = map_.y + 10;
    const auto line = [&](const std::string& text, auto symbol) {
      symbol(Pixel{x + 13, y});
      svg_.Text({x + 34, y + 4}, text, R"(class="legend")");
      y += kLegendLine;
    };
    const auto stroke = [&](const char* style) {
      return [this, style](Pixel middle) {
        svg_.Line({middle.x - 13, middle.y}, {middle.x + 13, middle.y}, style);
      };
    };
    std::map<uint32_t, int> grounds;
    int links = 0;
    for (const v1::NavMeshTile* tile : tiles_) {
      for (int p = 0; p < tile->area_size(); ++p) {
        if (static_cast<uint32_t>(p) < tile->ground_count()) ++grounds[tile->area(p)];
      }
      links += SizeOf(tile->link_start());
    }
    int told = 0;
    for (const auto& [area, count] : grounds) {
      if (++told > kMostGrounds) {
        svg_.Text({x, y + 4}, absl::StrCat("and ", grounds.size() - kMostGrounds, " more areas"),
                  R"(class="legend")");
        y += kLegendLine;
        break;
      }
      line(absl::StrCat("area ", area, ": ", count, " polygons"), [&, area = area](Pixel middle) {
        svg_.Rect(
            {middle.x - 13, middle.y - 7}, 26, 14,
            absl::StrCat("class=\"ground\" fill=\"", kGround[area % std::size(kGround)], "\""));
      });
    }
    if (tiles_.size() > 1) line("seam between tiles", stroke(R"(class="seam")"));
    const int closed = overview_.closed_gates_size();
    if (overview_.gates_size() > closed)
      line(absl::StrCat("gate, open: ", overview_.gates_size() - closed),
           stroke(R"(class="open")"));
    if (closed > 0) line(absl::StrCat("gate, closed: ", closed), stroke(R"(class="closed")"));
    const int disabled = overview_.disabled_links_size();
    if (links > disabled)
      line(absl::StrCat("off-mesh link: ", links - disabled), stroke(R"(class="link")"));
    if (disabled > 0)
      line(absl::StrCat("link, disabled: ", disabled), stroke(R"(class="link disabled")"));
  }

  const v1::NavMeshOverview& overview_;
  const Plane plane_;
  const std::vector<const v1::NavMeshTile*> tiles_;
  const Extent extent_;
  const PanelArea map_;
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
