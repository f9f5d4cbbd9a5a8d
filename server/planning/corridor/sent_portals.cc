// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/sent_portals.h"

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/planning/geometry/polygon.h"
#include "server/planning/geometry/vec2.h"

namespace arclane {
namespace {

std::string PortalField(size_t i) { return absl::StrCat("portals[", i, "]"); }

class PortalReader {
 public:
  PortalReader(const CorridorInput& input, std::vector<int8_t>& order, CleanPolygons& polygons,
               Corridor& corridor, Violations& violations)
      : input_(input),
        order_(order),
        polygons_(polygons),
        corridor_(corridor),
        violations_(violations) {}

  void Take() {
    const PortalColumns& columns = input_.portals;
    const size_t count = columns.left.size();
    corridor_.portals.resize(count);
    for (size_t i = 0; i < count; ++i) {
      corridor_.portals[i] = {columns.left.point(i) - input_.origin,
                              columns.right.point(i) - input_.origin,
                              columns.left.height_at(i) - LeftHeightOrigin(),
                              columns.right.height_at(i) - RightHeightOrigin(), PortalKind::kEdge};
    }
    MarkLinks();
    OrderPortals();
    for (size_t k = 0; k < polygons_.size(); ++k) CheckPortalsInCell(k);
  }

 private:
  double tolerance() const { return corridor_.tolerance; }
  // Columns without heights mean height 0, which no origin moves.
  double HeightOrigin(const PointColumns& columns) const {
    return columns.has_height() ? input_.origin_height : 0.0;
  }
  double LeftHeightOrigin() const { return HeightOrigin(input_.portals.left); }
  double RightHeightOrigin() const { return HeightOrigin(input_.portals.right); }

  std::span<Vec2> Vertices(size_t k) { return polygons_.Vertices(k); }

  void MarkLinks() {
    const size_t count = corridor_.portals.size();
    const auto mark = [&](size_t i, PortalKind kind) {
      if (i >= count) return;
      Portal& portal = corridor_.portals[i];
      // Between two links the portal is the second one's entry.
      if (portal.kind != PortalKind::kLinkEntry) portal.kind = kind;
      if (SquaredNorm(portal.left - portal.right) <= tolerance() * tolerance()) {
        portal.right = portal.left;
        portal.right_height = portal.left_height;
        return;
      }
      violations_.Add(ViolationReason::kConflict, PortalField(i),
                      "must have no length: an off-mesh link begins or ends here");
    };
    for (const uint32_t entry : input_.portals.link_entries) {
      mark(entry, PortalKind::kLinkEntry);
      if (entry + size_t{1} < count && corridor_.portals[entry + 1].kind == PortalKind::kEdge) {
        mark(entry + 1, PortalKind::kLinkExit);
      }
    }
    for (size_t k = 0; k < polygons_.size(); ++k) {
      if (!polygons_[k].is_link() || !polygons_[k].usable) continue;
      if (k > 0) mark(k - 1, PortalKind::kLinkEntry);
      mark(k, PortalKind::kLinkExit);
    }
  }

  // Distances of points from a portal's line, positive for points in front of it when `left` is on
  // the left.
  class FrontSum {
   public:
    FrontSum(const Portal& portal, double scale)
        : right_(portal.right), across_((portal.right - portal.left) * scale) {}
    void AddInFront(Vec2 p) { sum_ += Cross(across_, p - right_); }
    void AddBehind(Vec2 p) { sum_ -= Cross(across_, p - right_); }
    double sum() const { return sum_; }

   private:
    Vec2 right_;
    Vec2 across_;
    double sum_ = 0.0;
  };

  double FrontOf(size_t i) {
    const std::vector<Portal>& portals = corridor_.portals;
    const double length = Distance(portals[i].left, portals[i].right);
    if (length <= tolerance()) return 0.0;
    FrontSum front(portals[i], 1.0 / length);
    if (input_.has_polygons) {
      if (polygons_[i].usable) {
        for (const Vec2 p : Vertices(i)) front.AddBehind(p);
      }
      if (polygons_[i + 1].usable) {
        for (const Vec2 p : Vertices(i + 1)) front.AddInFront(p);
      }
      return front.sum();
    }
    front.AddBehind(i == 0 ? corridor_.start : portals[i - 1].left);
    front.AddBehind(i == 0 ? corridor_.start : portals[i - 1].right);
    const bool is_last = i + 1 == portals.size();
    front.AddInFront(is_last ? corridor_.goal : portals[i + 1].left);
    front.AddInFront(is_last ? corridor_.goal : portals[i + 1].right);
    return front.sum();
  }

  // Derives each portal's order and turns a mirrored list round.
  void OrderPortals() {
    const size_t count = corridor_.portals.size();
    order_.resize(count);
    size_t as_sent = 0;
    size_t mirrored = 0;
    for (size_t i = 0; i < count; ++i) {
      const double front = FrontOf(i);
      // Four points or more, each off by up to the tolerance, decide nothing.
      const bool unknown = std::abs(front) <= 4.0 * tolerance();
      order_[i] = static_cast<int8_t>(unknown ? 0 : front > 0.0 ? 1 : -1);
      as_sent += order_[i] > 0;
      mirrored += order_[i] < 0;
    }
    if (as_sent > 0 && mirrored > 0) {
      ReportMixedOrder(as_sent >= mirrored ? -1 : 1);
    } else if (mirrored > 0) {
      for (Portal& portal : corridor_.portals) {
        std::swap(portal.left, portal.right);
        std::swap(portal.left_height, portal.right_height);
      }
    }
  }

  // Without polygons the order of the outer portals shows on start and goal alone.
  const char* WrongSideOfEnd(size_t i) const {
    if (input_.has_polygons) return "";
    if (i == 0) return ", or the start lies beyond it";
    return i + 1 == corridor_.portals.size() ? ", or the goal lies before it" : "";
  }

  void ReportMixedOrder(int8_t minority) {
    for (size_t i = 0; i < order_.size(); ++i) {
      if (order_[i] != minority) continue;
      violations_.Add(ViolationReason::kMixedOrder, PortalField(i),
                      absl::StrCat("has left and right exchanged against the other portals",
                                   WrongSideOfEnd(i)));
    }
  }

  void CheckPortalsInCell(size_t k) {
    CleanPolygon& polygon = polygons_[k];
    if (!polygon.usable || polygon.needs_hull || polygon.is_link()) return;
    for (size_t i = k == 0 ? 0 : k - 1; i <= k && i < corridor_.portals.size(); ++i) {
      polygon.needs_hull |= !ConvexContains(Vertices(k), corridor_.portals[i].left) ||
                            !ConvexContains(Vertices(k), corridor_.portals[i].right);
    }
  }

  const CorridorInput& input_;
  std::vector<int8_t>& order_;
  CleanPolygons& polygons_;
  Corridor& corridor_;
  Violations& violations_;
};

}  // namespace

void TakeSentPortals(const CorridorInput& input, std::vector<int8_t>& order,
                     CleanPolygons& polygons, Corridor& corridor, Violations& violations) {
  PortalReader(input, order, polygons, corridor, violations).Take();
}

}  // namespace arclane
