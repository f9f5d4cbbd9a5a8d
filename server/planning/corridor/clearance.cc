// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/clearance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "server/planning/geometry/distance.h"
#include "server/planning/geometry/nearness.h"

namespace arclane {
namespace {

// Sections are shortened by so much more than the clearance. Where two sections meet in a vertex at
// an angle of up to 2 acos(1 / 1.035) = 29.9 degrees the line between their ends keeps the
// clearance.
constexpr double kMargin = 0.035;
// A line that cannot be moved further than this part of the clearance by another section is as good
// as it gets.
constexpr double kWorthwhile = 0.01;
// So many sections are added at once across a stretch that is longer than this many clearances.
constexpr int kSectionsAtOnce = 3;
constexpr double kFarApart = 0.5;
// Each round halves the stretches that are too near; after so many the line is taken as it is.
constexpr int kMaxRounds = 10;
// How exactly the middle between both walls is found, as a part of the room, and in how many steps
// at most.
constexpr double kMiddleAccuracy = 1e-3;
constexpr int kMiddleSteps = 24;
// Of the stop check: the distances from the walls of a cell, and a portal of the funnel.
constexpr uint64_t kCellSteps = 16;
constexpr uint64_t kFunnelSteps = 4;

bool IsOpen(const Portal& portal, double tolerance) {
  return portal.kind == PortalKind::kEdge &&
         SquaredNorm(portal.left - portal.right) > tolerance * tolerance;
}

bool IsExchanged(const Portal& a, const Portal& b) {
  return a.left == b.right && a.right == b.left;
}

Vec2 Low(Vec2 a, Vec2 b) { return {std::min(a.x, b.x), std::min(a.y, b.y)}; }
Vec2 High(Vec2 a, Vec2 b) { return {std::max(a.x, b.x), std::max(a.y, b.y)}; }

double DistanceToAny(Vec2 p, std::span<const Wall> walls) {
  double distance = std::numeric_limits<double>::infinity();
  for (const Wall& wall : walls) {
    distance = std::min(distance, DistanceToSegment(p, wall.a, wall.b));
  }
  return distance;
}

}  // namespace

bool ClearancePlanner::FindPath(const Corridor& corridor, double clearance, CorridorPath* path,
                                std::vector<ClearanceShortfall>* shortfalls, StopCheck stop,
                                const PortalSections* known, PortalSections* placed) {
  PacedStopCheck paced(stop);
  stop_ = &paced;
  FindPathUnlessStopped(corridor, clearance, path, shortfalls, known, placed);
  stop_ = nullptr;
  return !paced.Now();
}

void ClearancePlanner::FindPathUnlessStopped(const Corridor& corridor, double clearance,
                                             CorridorPath* path,
                                             std::vector<ClearanceShortfall>* shortfalls,
                                             const PortalSections* known, PortalSections* placed) {
  shortfalls->clear();
  if (!(clearance > 0.0)) {
    funnel_.FindShortestPath(corridor, path);
    return;
  }
  clearance_ = clearance;
  walls_.Collect(corridor);
  PlacePortals(corridor, known, placed);
  RunFunnel(corridor, path);
  // Where the corridor turns back the line is unfolded by the equality of portals.
  for (int round = 0; round < kMaxRounds && !corridor.turns_back; ++round) {
    CrossSections(*path);
    if (!AddSections(corridor)) break;
    RunFunnel(corridor, path);
  }
  if (stop_->stopped()) return;
  NameCorners(corridor, path);
  points_.assign(1, path->start);
  distances_.assign(1, 0.0);
  const auto add = [this](Vec2 p) {
    distances_.push_back(distances_.back() + Distance(points_.back(), p));
    points_.push_back(p);
  };
  for (const PathCorner& corner : path->corners) add(corner.point);
  add(path->goal);
  VerifyLine(corridor, points_, 2.0 * corridor.tolerance, &crossings_);
  meter_.Measure(corridor, walls_, points_, distances_, crossings_, clearance, 0.0, *stop_,
                 shortfalls);
}

bool ClearancePlanner::Measure(const Corridor& corridor, std::span<const Vec2> points,
                               std::span<const double> distances,
                               std::span<const PortalCrossing> crossings, double clearance,
                               double slack, std::vector<ClearanceShortfall>* shortfalls,
                               StopCheck stop) {
  PacedStopCheck paced(stop);
  meter_.Measure(corridor, walls_, points, distances, crossings, clearance, slack, paced,
                 shortfalls);
  return !paced.Now();
}

// --- Sections ---

void ClearancePlanner::PlacePortals(const Corridor& corridor, const PortalSections* known,
                                    PortalSections* placed) {
  if (known != nullptr &&
      (known->clearance != clearance_ || known->open.size() != corridor.portals.size())) {
    known = nullptr;
  }
  if (placed != nullptr) {
    placed->clearance = clearance_;
    placed->open.clear();
  }
  sections_.clear();
  for (uint32_t i = 0; i < corridor.portals.size(); ++i) {
    const Portal& portal = corridor.portals[i];
    Section section;
    section.left = portal.left;
    section.right = portal.right;
    section.cell = section.portal = i;
    section.is_open = IsOpen(portal, corridor.tolerance);
    if (i > 0 && corridor.turns_back && IsExchanged(portal, corridor.portals[i - 1])) {
      section.low = 1.0 - sections_.back().high;
      section.high = 1.0 - sections_.back().low;
    } else if (known != nullptr && known->open[i].lasts) {
      section.low = known->open[i].low;
      section.high = known->open[i].high;
    } else {
      const bool lasts = PlaceSection(corridor, i, i + 1, section);
      if (placed != nullptr) {
        placed->open.resize(corridor.portals.size());
        placed->open[i] = {section.low, section.high, lasts};
      }
    }
    sections_.push_back(section);
    if (stop_->stopped()) return;
  }
}

// Finds what of the section, which lies in the cells [first, last], keeps the clearance.
bool ClearancePlanner::PlaceSection(const Corridor& corridor, uint32_t first_cell,
                                    uint32_t last_cell, Section& section) {
  section.low = 0.0;
  section.high = 1.0;
  if (!section.is_open) return true;
  const double length = Distance(section.left, section.right);
  // Whatever is further away than the section is long is no nearer than its other end.
  const double radius = std::min((1.0 + kMargin) * clearance_, length);
  const Vec2 low = Low(section.left, section.right);
  const Vec2 high = High(section.left, section.right);
  near_left_.clear();
  near_right_.clear();
  uint64_t cells = 0;
  size_t nearest_end = corridor.cell_count();  // How many cells lie between.
  VisitCellsNear(corridor, first_cell, last_cell, low, high, radius, [&](size_t cell) {
    ++cells;
    nearest_end = std::min({nearest_end, cell, corridor.cell_count() - 1 - cell});
    for (const BoxedWalls::BoxedWall& boxed : walls_.cell(cell)) {
      const ParameterInterval near = boxed.Near(section.left, section.right, low, high, radius);
      if (near.empty()) continue;
      const Wall& wall = boxed.wall;
      (wall.is_left ? near_left_ : near_right_).push_back(wall);
      // What is near again further on is no part of this end.
      if (wall.is_left) {
        if (near.low <= 0.5) section.low = std::max(section.low, near.high);
      } else {
        if (near.high >= 0.5) section.high = std::min(section.high, near.low);
      }
    }
  });
  Stopped(kCellSteps * cells);
  if (section.low >= section.high) {
    section.low = section.high = MiddleOf(section, section.high, section.low);
  }
  return nearest_end > 0;
}

// Where the walls on both sides, as collected last, are equally far: by false position (Illinois)
// on the difference of the distances, which grows from left to right. [low, high]: where it is.
double ClearancePlanner::MiddleOf(const Section& section, double low, double high) const {
  const auto distances = [&](double t) {
    const Vec2 p = section.At(t);
    return std::pair(DistanceToAny(p, near_left_), DistanceToAny(p, near_right_));
  };
  const auto difference = [&](double t) {
    const auto [left, right] = distances(t);
    return left - right;
  };
  double at_low = difference(low);
  double at_high = difference(high);
  if (!(at_low < 0.0 && at_high > 0.0)) return 0.5 * (low + high);
  int side = 0;
  double t = 0.5 * (low + high);
  for (int i = 0; i < kMiddleSteps; ++i) {
    t = (low * at_high - high * at_low) / (at_high - at_low);
    const auto [left, right] = distances(t);
    const double value = left - right;
    if (std::abs(value) <= kMiddleAccuracy * (left + right)) break;
    if (value > 0.0) {
      high = t;
      at_high = value;
      if (side == 1) at_low *= 0.5;
      side = 1;
    } else {
      low = t;
      at_low = value;
      if (side == -1) at_high *= 0.5;
      side = -1;
    }
  }
  return t;
}

void ClearancePlanner::RunFunnel(const Corridor& corridor, CorridorPath* path) {
  if (Stopped(kFunnelSteps * sections_.size())) return;
  open_.clear();
  for (const Section& section : sections_) {
    Portal portal;
    if (section.is_open) {
      portal.left = section.At(section.low);
      portal.right = section.low == section.high ? portal.left : section.At(section.high);
    } else {
      portal = corridor.portals[section.portal];
    }
    open_.push_back(portal);
  }
  funnel_.FindShortestPath(corridor.start, corridor.goal, open_, corridor.tolerance,
                           corridor.turns_back, path);
}

// --- Where the line is still too near ---

// The points at which the line crosses the sections.
void ClearancePlanner::CrossSections(const CorridorPath& path) {
  Vec2 a = path.start;
  size_t next = 0;
  for (size_t i = 0; i < sections_.size(); ++i) {
    while (next < path.corners.size() && path.corners[next].portal < i) {
      a = path.corners[next++].point;
    }
    const Vec2 b = next < path.corners.size() ? path.corners[next].point : path.goal;
    Section& section = sections_[i];
    Vec2 crossing = section.left;
    if (section.is_open) {
      const Vec2 across = section.right - section.left;
      const double denominator = Cross(across, b - a);
      const double t = denominator != 0.0 ? Cross(a - section.left, b - a) / denominator
                                          : Dot(b - section.left, across) / SquaredNorm(across);
      crossing = section.At(std::clamp(t, section.low, section.high));
    }
    if (!(crossing == section.crossing)) {
      section.crossing = crossing;
      section.settled = false;
      if (i > 0) sections_[i - 1].settled = false;
    }
  }
}

// One round: a section across every piece that comes too near to a wall; false when there is none.
bool ClearancePlanner::AddSections(const Corridor& corridor) {
  added_.clear();
  for (size_t i = 0; i + 1 < sections_.size(); ++i) {
    if (sections_[i].settled) continue;
    if (stop_->stopped()) return false;
    const size_t before = added_.size();
    AddSectionsBetween(corridor, i);
    sections_[i].settled = added_.size() == before;
  }
  if (added_.empty()) return false;
  merged_.clear();
  size_t next = 0;
  for (size_t i = 0; i < sections_.size(); ++i) {
    merged_.push_back(sections_[i]);
    for (; next < added_.size() && added_[next].after == i; ++next) {
      merged_.push_back(added_[next].section);
    }
  }
  sections_.swap(merged_);
  return true;
}

// Looks at the piece of line between a section and the next, which lies in one cell.
void ClearancePlanner::AddSectionsBetween(const Corridor& corridor, size_t index) {
  const Section& before = sections_[index];
  const Section& after = sections_[index + 1];
  const uint32_t cell = before.is_portal ? before.cell + 1 : before.cell;
  const Vec2 a = before.crossing;
  const Vec2 b = after.crossing;
  const double length = Distance(a, b);
  if (!(length > corridor.tolerance) || corridor.cell(cell).size() < 3) return;
  const Vec2 low = Low(a, b);
  const Vec2 high = High(a, b);
  // The longest stretch near one wall, for either side.
  struct Longest {
    ParameterInterval stretch{0.0, 0.0};
    const Wall* wall = nullptr;
  } longest[2];
  uint64_t cells = 0;
  const double radius = (1.0 - kClearanceAccuracy) * clearance_ - corridor.tolerance;
  VisitCellsNear(corridor, cell, cell, low, high, radius, [&](size_t k) {
    ++cells;
    for (const BoxedWalls::BoxedWall& boxed : walls_.cell(k)) {
      const ParameterInterval near = boxed.Near(a, b, low, high, radius);
      if (near.empty()) continue;
      Longest& side = longest[boxed.wall.is_left ? 0 : 1];
      if (near.high - near.low <= side.stretch.high - side.stretch.low) continue;
      side.stretch = near;
      side.wall = &boxed.wall;
    }
  });
  Stopped(kCellSteps * cells);
  const size_t before_adding = added_.size();
  for (const Longest& side : longest) {
    if (side.wall == nullptr || added_.size() > before_adding) continue;
    AddSectionsAcross(corridor, index, cell, side.stretch, *side.wall);
  }
}

void ClearancePlanner::AddSectionsAcross(const Corridor& corridor, size_t index, uint32_t cell,
                                         ParameterInterval stretch, const Wall& wall) {
  const Section& before = sections_[index];
  const Section& after = sections_[index + 1];
  const Vec2 a = before.crossing;
  const Vec2 b = after.crossing;
  const double longest = stretch.high - stretch.low;
  const double near_length = longest * Distance(a, b);
  if (near_length <= kWorthwhile * clearance_) return;
  const int count = near_length > kFarApart * clearance_ ? kSectionsAtOnce : 1;
  const size_t first_added = added_.size();
  for (int i = 0; i < count; ++i) {
    const double share = (i + 0.5) / count;
    const Vec2 through = Lerp(a, b, stretch.low + share * longest);
    const Section& last = added_.size() > first_added ? added_.back().section : before;
    Section section;
    section.cell = cell;
    section.is_portal = false;
    section.crossing = through;
    if (!CutAcross(corridor, last, after, through, wall, section)) continue;
    const double width = Distance(section.left, section.right);
    const double denominator = Cross(section.right - section.left, b - a);
    if (!(width > corridor.tolerance) || !(denominator > 0.0)) continue;
    PlaceSection(corridor, cell, cell, section);
    const double t = Cross(a - section.left, b - a) / denominator;
    if (!(t >= 0.0 && t <= 1.0)) continue;
    const double slack = kWorthwhile * clearance_ / width;
    if (t >= section.low - slack && t <= section.high + slack) continue;
    section.portal = PortalOfEnd(corridor, section, wall.is_left);
    added_.push_back({index, section});
  }
}

// A section from the wall through the point, between two others of the cell. False when there is
// none.
bool ClearancePlanner::CutAcross(const Corridor& corridor, const Section& before,
                                 const Section& after, Vec2 through, const Wall& wall,
                                 Section& section) const {
  const Vec2 nearest = ClosestPointOnSegment(through, wall.a, wall.b);
  Vec2 across = wall.is_left ? through - nearest : nearest - through;  // From left to right.
  if (!(SquaredNorm(across) > corridor.tolerance * corridor.tolerance))
    across = -LeftNormal(after.crossing - through);
  if (!CutCell(corridor, section.cell, through, across, section)) return false;
  // Sections do not cross: ends beyond a neighbour become its end.
  const auto beyond = [](const Section& other, Vec2 p) {
    return Cross(other.right - other.left, p - other.left);
  };
  if (after.is_open) {
    if (beyond(after, section.left) > 0.0) section.left = after.left;
    if (beyond(after, section.right) > 0.0) section.right = after.right;
  }
  if (before.is_open) {
    if (beyond(before, section.left) < 0.0) section.left = before.left;
    if (beyond(before, section.right) < 0.0) section.right = before.right;
  }
  const auto same = [&section](const Section& other) {
    return section.left == other.left && section.right == other.right;
  };
  return !same(before) && !same(after);
}

// The segment of the cell through the point, along a direction from left to right; what would end
// on a portal of the cell, or on a wall of the other side, ends at an end of a portal on its side.
// False when there is none.
bool ClearancePlanner::CutCell(const Corridor& corridor, uint32_t cell, Vec2 through, Vec2 along,
                               Section& section) const {
  const std::span<const Vec2> polygon = corridor.cell(cell);
  double from = -std::numeric_limits<double>::infinity();
  double to = std::numeric_limits<double>::infinity();
  Vec2 p = polygon.back();
  for (const Vec2 q : polygon) {
    const Vec2 edge = q - p;
    const double inside = Cross(edge, through - p);
    const double rate = Cross(edge, along);
    if (rate > 0.0) from = std::max(from, -inside / rate);
    if (rate < 0.0) to = std::min(to, -inside / rate);
    p = q;
  }
  if (!(from < to) || !std::isfinite(from) || !std::isfinite(to)) return false;
  section.left = through + along * from;
  section.right = through + along * to;
  const Portal& entry = corridor.portals[cell - 1];
  const Portal& exit = corridor.portals[cell];
  // The walls on a side are the cell's boundary beyond the line between the portals' ends there.
  const auto is_wall = [&](Vec2 p, Vec2 entry_end, Vec2 exit_end, double side) {
    const Vec2 line = exit_end - entry_end;
    const double length = Norm(line);
    return length > corridor.tolerance &&
           side * Cross(line, p - entry_end) >= -corridor.tolerance * length;
  };
  const auto nearer = [](Vec2 p, Vec2 q, Vec2 r) {
    return Distance(p, q) <= Distance(p, r) ? q : r;
  };
  if (!is_wall(section.left, entry.left, exit.left, 1.0)) {
    section.left = nearer(section.left, entry.left, exit.left);
  }
  if (!is_wall(section.right, entry.right, exit.right, -1.0)) {
    section.right = nearer(section.right, entry.right, exit.right);
  }
  return true;
}

// --- Corners ---

// The portal of the section's cell whose end is the nearer to the section's.
uint32_t ClearancePlanner::PortalOfEnd(const Corridor& corridor, const Section& section,
                                       bool is_left) const {
  const Vec2 end = is_left ? section.left : section.right;
  const auto distance = [&](uint32_t portal) {
    const Portal& p = corridor.portals[portal];
    return Distance(end, is_left ? p.left : p.right);
  };
  const uint32_t entry = section.cell - 1;
  return distance(section.cell) < distance(entry) ? section.cell : entry;
}

// From sections to portals, ascending; a section that is a point is no corner where the line goes
// straight on.
void ClearancePlanner::NameCorners(const Corridor& corridor, CorridorPath* path) const {
  Vec2 before = corridor.start;
  uint32_t portal = 0;
  size_t kept = 0;
  for (size_t i = 0; i < path->corners.size(); ++i) {
    PathCorner corner = path->corners[i];
    const Section& section = sections_[corner.portal];
    const Vec2 after = i + 1 < path->corners.size() ? path->corners[i + 1].point : corridor.goal;
    if (corner.side == CornerSide::kPoint && section.is_open) {
      if (DistanceToSegment(corner.point, before, after) <= corridor.tolerance) continue;
      const bool turns_left = Cross(corner.point - before, after - corner.point) >= 0.0;
      corner.side = turns_left ? CornerSide::kLeft : CornerSide::kRight;
    }
    portal = corner.portal = std::max(portal, section.portal);
    before = corner.point;
    path->corners[kept++] = corner;
  }
  path->corners.resize(kept);
  path->length = PathLength(*path);
}

}  // namespace arclane
