// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/map_marks.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "client/cli/plot/map_symbols.h"

namespace arclane {
namespace {

constexpr double kMarkCell = 2;   // Pixels; two marks in one cell cannot be told apart.
constexpr int kMostLabels = 200;  // More reasons cannot be read anyway.
constexpr double kLabelHeight = 13;
constexpr double kLabelWidthPerCharacter = 6.4;

void DrawCornerMark(const SceneCorner& corner, Pixel at, SvgWriter& svg) {
  if (corner.blocked) {
    DrawCross(at, 6, svg);
  } else if (corner.kind == v1::CORNER_KIND_STOP) {
    DrawStop(at, 5.5, svg);
  } else if (corner.kind == v1::CORNER_KIND_ROUNDED || corner.kind == v1::CORNER_KIND_MERGED) {
    svg.Circle(at, 3.5, "class=\"rounded\"");
  } else {
    svg.Circle(at, 1.8, "class=\"passed\"");
  }
}

// "no room" for CORNER_REASON_NO_ROOM.
std::string ReasonText(int reason) {
  const std::string name = v1::CornerReason_Name(static_cast<v1::CornerReason>(reason));
  if (name.empty()) return absl::StrCat("reason ", reason);
  const std::string bare = name.substr(std::string("CORNER_REASON_").size());
  return absl::StrReplaceAll(absl::AsciiStrToLower(bare), {{"_", " "}});
}

// A corner whose rounding was tried and refused.
bool IsRejected(const SceneCorner& corner) {
  return corner.reason != v1::CORNER_REASON_UNSPECIFIED &&
         corner.reason != v1::CORNER_REASON_NOT_REQUESTED;
}

// Sets labels beside marks so that no two overlap; a label without room is left out.
class LabelPlacer {
 public:
  LabelPlacer(const PanelArea& area, SvgWriter& svg) : area_(area), svg_(svg) {}

  void Occupy(Pixel center, double radius) {
    taken_.push_back({center.x - radius, center.y - radius, 2 * radius, 2 * radius});
  }
  void Place(Pixel mark, const std::string& text, const char* attributes) {
    constexpr double kGap = 9;
    const double width = kLabelWidthPerCharacter * static_cast<double>(text.size());
    const double above = mark.y - kGap - kLabelHeight;
    const double below = mark.y + kGap;
    const Pixel corners[] = {{mark.x + kGap, mark.y - kLabelHeight / 2},
                             {mark.x - kGap - width, mark.y - kLabelHeight / 2},
                             {mark.x - width / 2, above},
                             {mark.x - width / 2, below},
                             {mark.x, above},
                             {mark.x, below},
                             {mark.x - width, above},
                             {mark.x - width, below}};
    for (const Pixel corner : corners) {
      const PanelArea box = {corner.x, corner.y, width, kLabelHeight};
      if (!IsFree(box)) continue;
      taken_.push_back(box);
      svg_.Text({corner.x, corner.y + kLabelHeight - 3}, text, attributes);
      return;
    }
  }

 private:
  bool IsFree(const PanelArea& box) const {
    if (box.x < area_.x || box.y < area_.y || box.x + box.width > area_.x + area_.width ||
        box.y + box.height > area_.y + area_.height) {
      return false;
    }
    return std::none_of(taken_.begin(), taken_.end(), [&](const PanelArea& other) {
      return box.x < other.x + other.width && other.x < box.x + box.width &&
             box.y < other.y + other.height && other.y < box.y + box.height;
    });
  }

  const PanelArea area_;
  SvgWriter& svg_;
  std::vector<PanelArea> taken_;
};

// Keeps labels off the route.
void OccupyRoute(const Scene& scene, const MapProjection& projection, LabelPlacer& labels) {
  constexpr double kSpacing = 10;
  constexpr double kMostBoxes = 2000;
  double length = 0;
  for (const TraceSegment& segment : scene.trace.segments) length += segment.length;
  const double step = std::max(kSpacing / projection.pixels_per_unit(), length / kMostBoxes);
  double next = 0;
  for (const TraceSegment& segment : scene.trace.segments) {
    for (; next < segment.length; next += step) {
      labels.Occupy(projection(PointAlong(segment, next)), 4);
    }
    next -= segment.length;
  }
}

}  // namespace

void DrawMarks(const Scene& scene, const MapProjection& projection, const PanelArea& area,
               SvgWriter& svg) {
  LabelPlacer labels(area, svg);
  OccupyRoute(scene, projection, labels);
  std::set<std::pair<int, int>> marked;  // Of marks that hide each other one is drawn.
  for (const SceneCorner& corner : scene.corners) {
    const Pixel at = projection(corner.position);
    const auto cell =
        std::pair(static_cast<int>(at.x / kMarkCell), static_cast<int>(at.y / kMarkCell));
    if (!corner.blocked && !marked.insert(cell).second) continue;
    DrawCornerMark(corner, at, svg);
    labels.Occupy(at, 5);
  }
  if (scene.start) {
    svg.Circle(projection(*scene.start), 6, "class=\"start\"");
    labels.Occupy(projection(*scene.start), 7);
  }
  if (scene.goal && !scene.is_loop) {
    const Pixel goal = projection(*scene.goal);
    svg.Circle(goal, 7, "class=\"goal\"");
    svg.Circle(goal, 3, "class=\"goal-dot\"");
    labels.Occupy(goal, 8);
  }
  if (scene.rest) {
    const Pixel rest = projection(*scene.rest);
    DrawStop(rest, 6.5, svg);
    labels.Place(rest, "at rest", "class=\"label reject\"");
  }
  if (scene.start) {
    labels.Place(projection(*scene.start), scene.is_loop ? "start and end" : "start",
                 "class=\"label end\"");
  }
  if (scene.goal && !scene.is_loop) {
    labels.Place(projection(*scene.goal), scene.IsCurve() ? "end" : "goal", "class=\"label end\"");
  }
  int tried = 0;
  for (const SceneCorner& corner : scene.corners) {
    if (corner.blocked || (corner.kind == v1::CORNER_KIND_STOP && IsRejected(corner))) {
      if (++tried > kMostLabels) break;
      labels.Place(projection(corner.position), ReasonText(corner.reason),
                   "class=\"label reject\"");
    }
  }
}

}  // namespace arclane
