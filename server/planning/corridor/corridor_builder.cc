// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/corridor_builder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/planning/corridor/corridor_cells.h"
#include "server/planning/corridor/sent_portals.h"
#include "server/planning/geometry/distance.h"
#include "server/planning/geometry/polygon.h"

namespace arclane {
namespace {

std::string PolygonField(size_t k) { return absl::StrCat("polygons[", k, "]"); }

}  // namespace

// One call of Build: the stages in order, with what they share.
class CorridorBuilder::Run {
 public:
  Run(CorridorBuilder* builder, const CorridorInput& input, Corridor* corridor,
      Violations* violations)
      : builder_(*builder),
        polygons_(builder->polygons_),
        input_(input),
        corridor_(*corridor),
        violations_(*violations) {}

  void Begin(double magnitude) {
    // What subtracting the origin rounds counts too.
    const double origin = std::max(std::abs(input_.origin.x), std::abs(input_.origin.y));
    corridor_.tolerance = std::max(input_.precision.ToleranceAt(magnitude),
                                   CoordinatePrecision::Double().ToleranceAt(origin));
    corridor_.has_polygons = input_.has_polygons;
    corridor_.start = input_.start - input_.origin;
    corridor_.goal = input_.goal - input_.origin;
    corridor_.start_height = input_.start_height - input_.origin_height;
    corridor_.goal_height = input_.goal_height - input_.origin_height;
    corridor_.start_shift = 0.0;
    corridor_.goal_shift = 0.0;
    corridor_.turns_back = false;
    corridor_.portals.clear();
    corridor_.cell_vertices.clear();
    corridor_.cell_heights.clear();
    corridor_.cell_begin.clear();
  }

  void TakePolygons() { polygons_.Assign(input_, tolerance(), &violations_); }

  // Derives the portals from the polygons. Faulty polygons are passed over: their own fault is
  // known already.
  void DerivePortals() {
    const size_t count = polygons_.size();
    corridor_.portals.resize(count - 1);
    for (size_t k = 0; k < count; ++k) {
      if (polygons_[k].usable && polygons_[k].is_link()) DecideLinkOrder(k);
    }
    for (size_t i = 0; i + 1 < count; ++i) DerivePortal(i);
  }

  void PlaceEnds() {
    corridor_.start_shift = PlaceEnd("start", 0, &corridor_.start, &corridor_.start_height);
    corridor_.goal_shift =
        PlaceEnd("goal", polygons_.size() - 1, &corridor_.goal, &corridor_.goal_height);
  }

  // Of the first cell is used that it lies behind the first portal, and of the last that it lies in
  // front of the last; without polygons no more is known of them.
  void PlaceEndsByPortals() {
    const std::vector<Portal>& portals = corridor_.portals;
    if (portals.empty()) return;
    corridor_.start_shift =
        PlaceBehind("start", 0, portals.front().left, portals.front().right, &corridor_.start);
    corridor_.goal_shift = PlaceBehind("goal", portals.size() - 1, portals.back().right,
                                       portals.back().left, &corridor_.goal);
  }

  void FindTurnsBack() {
    const std::vector<Portal>& portals = corridor_.portals;
    const double squared_tolerance = tolerance() * tolerance();
    for (size_t i = 1; i < portals.size() && !corridor_.turns_back; ++i) {
      if (SquaredNorm(portals[i].left - portals[i - 1].right) > squared_tolerance) continue;
      corridor_.turns_back =
          SquaredNorm(portals[i].right - portals[i - 1].left) <= squared_tolerance &&
          SquaredNorm(portals[i].right - portals[i].left) > squared_tolerance;
    }
  }

 private:
  double tolerance() const { return corridor_.tolerance; }
  std::span<Vec2> Vertices(size_t k) { return polygons_.Vertices(k); }
  std::span<double> Heights(size_t k) { return polygons_.Heights(k); }

  std::string PointText(Vec2 p) const {
    const Vec2 sent = p + input_.origin;
    return absl::StrCat("(", sent.x, ", ", sent.y, ")");
  }

  // --- Links ---

  // The distance, in the plane and in height, of a link's end from its neighbour.
  struct LinkFit {
    double distance = 0.0;
    double height = 0.0;
  };

  LinkFit FitOf(Vec2 end, double height, size_t neighbour) {
    if (neighbour >= polygons_.size() || !polygons_[neighbour].usable) return {};
    if (polygons_[neighbour].is_link()) {
      // Of an earlier link the far end is decided; of a later one either may be meant.
      const std::span<Vec2> ends = Vertices(neighbour);
      const double to_second = Distance(end, ends[1]);
      const double to_first = neighbour_is_earlier_ ? to_second : Distance(end, ends[0]);
      const size_t nearest = to_first < to_second ? 0 : 1;
      return {std::min(to_first, to_second), std::abs(height - Heights(neighbour)[nearest])};
    }
    return {DistanceToConvex(Vertices(neighbour), end),
            std::abs(height - ConvexSurfaceHeight(Vertices(neighbour), Heights(neighbour), end))};
  }

  // Puts the end that lies on the previous polygon first.
  void DecideLinkOrder(size_t k) {
    const std::span<Vec2> ends = Vertices(k);
    const std::span<double> heights = Heights(k);
    const auto fit = [&](size_t first) {
      neighbour_is_earlier_ = true;
      const LinkFit entry =
          FitOf(ends[first], heights[first], k - 1);  // k == 0 wraps: no neighbour.
      neighbour_is_earlier_ = false;
      const LinkFit exit = FitOf(ends[1 - first], heights[1 - first], k + 1);
      return LinkFit{entry.distance + exit.distance, entry.height + exit.height};
    };
    const LinkFit as_sent = fit(0);
    const LinkFit reversed = fit(1);
    const bool same_place = std::abs(as_sent.distance - reversed.distance) <= 2.0 * tolerance();
    const bool reverse =
        same_place ? reversed.height < as_sent.height : reversed.distance < as_sent.distance;
    if (!reverse) return;
    std::swap(ends[0], ends[1]);
    std::swap(heights[0], heights[1]);
  }

  // --- Portals from polygons ---

  void DerivePortal(size_t i) {
    CleanPolygon& p = polygons_[i];
    CleanPolygon& q = polygons_[i + 1];
    if (!p.usable || !q.usable) return;
    if (q.is_link()) {
      DeriveLinkPortal(i, i + 1, 0, PortalKind::kLinkEntry);
    } else if (p.is_link()) {
      DeriveLinkPortal(i, i, 1, PortalKind::kLinkExit);
    } else if (const std::optional<SharedEdge> shared = builder_.shared_edges_.Find(
                   polygons_.View(i), polygons_.View(i + 1), tolerance())) {
      corridor_.portals[i] = {shared->to, shared->from, shared->to_height, shared->from_height,
                              PortalKind::kEdge};
      p.needs_hull |= !shared->is_whole_edge;
      q.needs_hull |= !shared->is_whole_edge;
    } else {
      const std::span<const Vec2> a = Vertices(i);
      const std::span<const Vec2> b = Vertices(i + 1);
      if (std::is_permutation(a.begin(), a.end(), b.begin(), b.end())) {
        violations_.Add(ViolationReason::kGap, PolygonField(i),
                        absl::StrCat("is the same polygon as polygons[", i + 1,
                                     "]: a polygon must not follow itself"));
        return;
      }
      violations_.Add(ViolationReason::kGap, PolygonField(i),
                      absl::StrCat("shares no edge with polygons[", i + 1,
                                   "]: no edges of the two overlap within ", tolerance()));
    }
  }

  void DeriveLinkPortal(size_t i, size_t link, size_t end, PortalKind kind) {
    const Vec2 point = Vertices(link)[end];
    const double height = Heights(link)[end];
    corridor_.portals[i] = {point, point, height, height, kind};
    const size_t other = link == i ? i + 1 : i;
    neighbour_is_earlier_ = other == i;
    const double distance = FitOf(point, height, other).distance;
    polygons_[other].needs_hull |= distance > 0.0;
    if (distance <= tolerance()) return;
    violations_.Add(ViolationReason::kGap, PolygonField(i),
                    absl::StrCat("does not meet polygons[", i + 1, "]: the end ", PointText(point),
                                 " of the link polygons[", link, "] lies ", distance,
                                 " outside polygons[", other, "]"));
  }

  // --- Start and goal ---

  double PlaceEnd(const char* field, size_t k, Vec2* point, double* height) {
    CleanPolygon& polygon = polygons_[k];
    if (!polygon.usable) return 0.0;
    const Vec2 nearest = ClosestPointInConvex(Vertices(k), *point);
    *height = ConvexSurfaceHeight(Vertices(k), Heights(k), nearest);
    if (nearest == *point) return 0.0;
    polygon.needs_hull = true;
    const double shift = Distance(nearest, *point);
    const double allowed = std::max(input_.max_end_shift, tolerance());
    if (shift > allowed) {
      violations_.Add(
          ViolationReason::kOffCorridor, field,
          absl::StrCat("lies ", shift, " outside polygons[", k, "], allowed are ", allowed));
    }
    if (input_.has_portals) return 0.0;  // Stays; its cell reaches out to it.
    *point = nearest;
    return shift;
  }

  // Moves a point that lies to the right of right -> left onto that line.
  double PlaceBehind(const char* field, size_t i, Vec2 left, Vec2 right, Vec2* point) {
    const Vec2 across = right - left;
    const double length = Norm(across);
    if (length <= tolerance()) return 0.0;
    const double in_front = Cross(across, *point - right) / length;
    if (in_front <= tolerance()) return 0.0;
    if (in_front > input_.max_end_shift) {
      violations_.Add(ViolationReason::kOffCorridor, field,
                      absl::StrCat("lies ", in_front, " beyond portals[", i, "], allowed are ",
                                   std::max(input_.max_end_shift, tolerance())));
    }
    *point = *point - LeftNormal(across) * (in_front / length);
    return in_front;
  }

  CorridorBuilder& builder_;
  CleanPolygons& polygons_;
  const CorridorInput& input_;
  Corridor& corridor_;
  Violations& violations_;
  bool neighbour_is_earlier_ = false;
};

bool CorridorBuilder::Build(const CorridorInput& input, const CorridorLimits& limits,
                            Corridor* corridor, Violations* violations) {
  const size_t faults_before = violations->total();
  const auto is_faulty = [&] { return violations->total() > faults_before; };
  const double magnitude = ValidateCorridorInput(input, limits, violations);
  if (is_faulty()) return false;
  Run run(this, input, corridor, violations);
  run.Begin(magnitude);
  polygons_.clear();
  if (input.has_polygons) {
    run.TakePolygons();
    run.PlaceEnds();
  }
  if (input.has_portals) {
    TakeSentPortals(input, order_, polygons_, *corridor, *violations);
  } else {
    run.DerivePortals();
  }
  if (input.has_portals && !is_faulty()) run.PlaceEndsByPortals();
  if (is_faulty()) return false;
  run.FindTurnsBack();
  EmitCells(polygons_, hull_, *corridor);
  return true;
}

}  // namespace arclane
