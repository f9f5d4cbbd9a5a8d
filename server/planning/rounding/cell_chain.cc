// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/cell_chain.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "server/planning/rounding/angle.h"

namespace arclane {
namespace {

// A half-plane's value is formed from products of coordinates and a unit normal: the normal, the
// offset, the tangent points and the product itself each err by a few units in the last place of
// the largest coordinate.
constexpr double kHalfPlaneUlps = 64.0;

// The work of forming a cell's half-planes from one of its points, in half-plane tests.
constexpr uint64_t kPointWork = 20;
// The work of two inverse functions and two sorted cuts, in half-plane tests.
constexpr uint64_t kCutWork = 8;

// Parts of a cell's share of an arc beyond this are refused. A convex polygon of v sides cuts a
// circle into at most v parts; arcs of a route meet few of them.
constexpr int kMaxParts = 12;

// Hull vertices that stand out by less than this many units in the last place are dropped. It is
// well below the tolerance, and well above rounding, so that a mirrored cell keeps the same
// vertices.
constexpr double kFlatUlps = 8.0;

// Andrew's monotone chain; points that stand out by no more than `flat` are dropped. `points` is
// reordered. Degenerate input gives two or one points.
void ConvexHull(std::vector<Vec2>& points, double flat, std::vector<Vec2>& hull) {
  std::sort(points.begin(), points.end(),
            [](Vec2 a, Vec2 b) { return a.x < b.x || (a.x == b.x && a.y < b.y); });
  points.erase(std::unique(points.begin(), points.end()), points.end());
  hull.clear();
  if (points.size() < 3) {
    hull = points;
    return;
  }
  const auto extend = [&hull, flat](Vec2 p, size_t keep) {
    while (hull.size() >= keep + 2) {
      const Vec2 before = hull[hull.size() - 2];
      if (Cross(hull.back() - before, p - hull.back()) > flat * Distance(before, p)) break;
      hull.pop_back();
    }
    hull.push_back(p);
  };
  for (const Vec2 p : points) extend(p, 0);
  const size_t lower = hull.size() - 1;
  for (size_t i = points.size() - 1; i-- > 0;) extend(points[i], lower);
  hull.pop_back();
}

// A closed stretch of an element's parameter that lies in a cell, and the earliest parameter at
// which the path can be in it; none yet: infinite. Left uninitialised on purpose: `count` says what
// is set.
struct Part {
  double begin;
  double end;
  double entry;
};

struct Parts {
  std::array<Part, kMaxParts + 1> part;
  int count;
  bool reached;
};

// Enters the parts of a cell from those of the cell before it, at a common parameter.
void EnterFrom(const Parts& before, Parts& parts) {
  for (int i = 0; i < parts.count; ++i) {
    Part& part = parts.part[i];
    for (int j = 0; j < before.count; ++j) {
      const Part& from = before.part[j];
      const double entry = std::max(from.entry, part.begin);
      if (entry <= from.end && entry <= part.end) part.entry = std::min(part.entry, entry);
    }
    if (part.entry <= part.end) parts.reached = true;
  }
}

// Walks forward over the cells that can be reached, asking `parts_in(cell, at_begin, parts)` for
// each: it fills the parts and says whether the element's end lies in the cell. `at_begin`: the
// path is known to be in the cell at parameter 0.
template <typename PartsIn>
CellRuns WalkCells(const CellRuns& runs, size_t cell_count, const PartsIn& parts_in) {
  CellRuns reached;
  Parts slots[2];
  int current = 0;
  slots[1].reached = false;
  int run = 0;
  uint32_t cell = runs.count > 0 ? runs.run[0].first : 0;
  while (cell < cell_count) {
    while (run < runs.count && runs.run[run].last < cell) ++run;
    const bool at_begin = run < runs.count && cell >= runs.run[run].first;
    Parts& before = slots[1 - current];
    if (!at_begin && !before.reached) {
      if (run >= runs.count) break;
      cell = runs.run[run].first;
      continue;
    }
    Parts& parts = slots[current];
    parts.reached = false;
    const bool end_inside = parts_in(cell, at_begin, parts);
    if (at_begin && parts.count > 0) {
      parts.part[0].entry = 0.0;
      parts.reached = true;
    }
    if (before.reached) EnterFrom(before, parts);
    if (end_inside && parts.count > 0) {
      const Part& last = parts.part[parts.count - 1];
      if (last.entry <= last.end) reached.Append(cell);
    }
    current = 1 - current;
    ++cell;
  }
  return reached;
}

// The stretch outside one half-plane, as an open interval of the turned angle.
struct Cut {
  double begin;
  double end;
};

struct Cuts {
  std::array<Cut, kMaxParts> cut;
  int count = 0;
  bool overflow = false;

  void Add(double begin, double end, double sweep) {
    if (end <= 0.0 || begin >= sweep) return;
    if (count == kMaxParts) {
      overflow = true;
      return;
    }
    int at = count++;
    for (; at > 0 && cut[at - 1].begin > begin; --at) cut[at] = cut[at - 1];
    cut[at] = {begin, end};
  }
};

// What is left of [0, sweep] without the cuts. Knowledge about the two ends overrides the rounding
// of the cuts.
void Complement(const Cuts& cuts, double sweep, bool at_begin, bool end_inside, Parts& parts) {
  parts.count = 0;
  if (cuts.overflow) return;
  const auto add = [&parts](double begin, double end) {
    if (parts.count <= kMaxParts) {
      parts.part[parts.count++] = {begin, end, std::numeric_limits<double>::infinity()};
    }
  };
  double from = 0.0;
  if (at_begin && cuts.count > 0 && cuts.cut[0].begin < 0.0) add(0.0, 0.0);
  for (int i = 0; i < cuts.count; ++i) {
    if (cuts.cut[i].begin >= from) add(from, cuts.cut[i].begin);
    from = std::max(from, cuts.cut[i].end);
  }
  if (from <= sweep) {
    add(from, sweep);
  } else if (end_inside) {
    add(sweep, sweep);
  }
}

}  // namespace

bool CellRuns::Contains(uint32_t cell) const {
  for (int i = 0; i < count; ++i) {
    if (cell >= run[i].first && cell <= run[i].last) return true;
  }
  return false;
}

bool CellRuns::Includes(const CellRuns& other) const {
  int i = 0;
  for (int j = 0; j < other.count; ++j) {
    while (i < count && run[i].last < other.run[j].first) ++i;
    if (i == count || run[i].first > other.run[j].first || run[i].last < other.run[j].last) {
      return false;
    }
  }
  return true;
}

bool operator==(const CellRuns& a, const CellRuns& b) {
  return a.count == b.count && std::equal(a.run.begin(), a.run.begin() + a.count, b.run.begin());
}

CellChain::CellChain(const Corridor& corridor, bool reversed, PacedStopCheck* stop) {
  double largest = 0.0;
  const auto grow = [&largest](Vec2 p) {
    largest = std::max({largest, std::abs(p.x), std::abs(p.y)});
  };
  grow(corridor.start);
  grow(corridor.goal);
  for (const Vec2 p : corridor.cell_vertices) grow(p);
  for (const Portal& portal : corridor.portals) {
    grow(portal.left);
    grow(portal.right);
  }
  tolerance_ = kHalfPlaneUlps * std::numeric_limits<double>::epsilon() * largest;
  const double flat = kFlatUlps * std::numeric_limits<double>::epsilon() * largest;

  const size_t count = corridor.cell_count();
  begin_.reserve(count + 1);
  begin_.push_back(0);
  std::vector<Vec2> points;
  std::vector<Vec2> hull;
  const auto add_plane = [this](Vec2 normal, Vec2 through) {
    planes_.push_back({normal.x, normal.y, tolerance_ - Dot(normal, through)});
  };
  for (size_t i = 0; i < count; ++i) {
    const size_t k = reversed ? count - 1 - i : i;
    const auto cell = corridor.cell(k);
    points.assign(cell.begin(), cell.end());
    if (k > 0) {
      points.push_back(corridor.portals[k - 1].left);
      points.push_back(corridor.portals[k - 1].right);
    }
    if (k + 1 < count) {
      points.push_back(corridor.portals[k].left);
      points.push_back(corridor.portals[k].right);
    }
    if (k == 0) points.push_back(corridor.start);
    if (k + 1 == count) points.push_back(corridor.goal);
    if (stop != nullptr && stop->After(kPointWork * points.size())) return;
    ConvexHull(points, flat, hull);
    if (hull.size() == 1) {
      for (const Vec2 axis : {Vec2{1, 0}, Vec2{-1, 0}, Vec2{0, 1}, Vec2{0, -1}}) {
        add_plane(axis, hull[0]);
      }
    } else {
      for (size_t i = 0; i < hull.size(); ++i) {
        const Vec2 a = hull[i];
        const Vec2 b = hull[(i + 1) % hull.size()];
        const double length = Distance(a, b);
        if (!(length > 0.0)) continue;
        const Vec2 along = (b - a) * (1.0 / length);
        // The middle of the edge, so that a mirrored cell has exactly mirrored half-planes.
        add_plane(LeftNormal(along), (a + b) * 0.5);
        if (hull.size() == 2) add_plane(along, a);
      }
    }
    begin_.push_back(static_cast<uint32_t>(planes_.size()));
  }
}

CellRuns CellChain::RunsAtStart(Vec2 start, uint64_t& work) const {
  CellRuns runs;
  runs.Append(0);
  for (uint32_t cell = 1; cell < cell_count(); ++cell) {
    work += begin_[cell + 1] - begin_[cell];
    for (uint32_t i = begin_[cell]; i < begin_[cell + 1]; ++i) {
      if (planes_[i].nx * start.x + planes_[i].ny * start.y + planes_[i].offset < 0.0) return runs;
    }
    runs.Append(cell);
  }
  return runs;
}

CellRuns CellChain::AlongLine(const CellRuns& runs, Vec2 from, Vec2 to, uint64_t& work) const {
  return WalkCells(runs, cell_count(), [&](uint32_t cell, bool at_begin, Parts& parts) {
    double begin = 0.0;
    double end = 1.0;
    bool end_inside = true;
    parts.count = 0;
    // Counted as a whole: the order of a cell's half-planes must not show in the work.
    work += begin_[cell + 1] - begin_[cell];
    for (uint32_t i = begin_[cell]; i < begin_[cell + 1]; ++i) {
      const HalfPlane& plane = planes_[i];
      double at_from = plane.nx * from.x + plane.ny * from.y + plane.offset;
      const double at_to = plane.nx * to.x + plane.ny * to.y + plane.offset;
      if (at_begin && at_from < 0.0) at_from = 0.0;
      if (at_from >= 0.0 && at_to >= 0.0) continue;
      if (at_from < 0.0 && at_to < 0.0) return false;
      const double cut = at_from / (at_from - at_to);
      if (at_to < 0.0) {
        end = std::min(end, cut);
        end_inside = false;
      } else {
        begin = std::max(begin, cut);
      }
    }
    if (begin > end) return false;
    parts.part[0] = {begin, end, std::numeric_limits<double>::infinity()};
    parts.count = 1;
    return end_inside;
  });
}

CellRuns CellChain::AlongArc(const CellRuns& runs, Vec2 center, double radius, Vec2 in, Vec2 out,
                             double sweep, uint64_t& work) const {
  const double side = radius < 0.0 ? -1.0 : 1.0;
  const double size = std::abs(radius);
  // Unit vectors from the centre to the begin and the end of the arc.
  const Vec2 to_begin = -side * LeftNormal(in);
  const Vec2 to_end = -side * LeftNormal(out);
  const bool beyond_half = sweep > std::numbers::pi;
  return WalkCells(runs, cell_count(), [&](uint32_t cell, bool at_begin, Parts& parts) {
    Cuts cuts;
    bool end_inside = true;
    uint64_t cut_work = 0;
    work += begin_[cell + 1] - begin_[cell];
    for (uint32_t i = begin_[cell]; i < begin_[cell + 1]; ++i) {
      const Vec2 normal = {planes_[i].nx, planes_[i].ny};
      const double middle = Dot(normal, center) + planes_[i].offset;
      if (middle >= size) continue;
      if (middle < -size) {
        parts.count = 0;
        return false;
      }
      const bool begin_in = middle + size * Dot(normal, to_begin) >= 0.0;
      const bool end_in = middle + size * Dot(normal, to_end) >= 0.0;
      if (!end_in) end_inside = false;
      const double across = -side * Cross(to_begin, normal);
      if (begin_in && end_in) {
        // Outside only if the arc passes the direction opposite to the normal.
        const bool after_begin = across >= 0.0;
        const bool before_end = -side * Cross(normal, to_end) >= 0.0;
        if (beyond_half ? !(after_begin || before_end) : !(after_begin && before_end)) continue;
      }
      cut_work += kCutWork;
      double worst = AngleOf(across, -Dot(to_begin, normal));
      if (worst < 0.0) worst += 2.0 * std::numbers::pi;
      // The arc cosine of middle / size.
      const double half = AngleOf(std::sqrt((size - middle) * (size + middle)), middle);
      // The stretch outside, and its copies a turn before and after: it may hold the begin.
      for (const double turn : {-2.0 * std::numbers::pi, 0.0, 2.0 * std::numbers::pi}) {
        cuts.Add(worst - half + turn, worst + half + turn, sweep);
      }
    }
    work += cut_work;
    Complement(cuts, sweep, at_begin, end_inside, parts);
    return end_inside;
  });
}

}  // namespace arclane
