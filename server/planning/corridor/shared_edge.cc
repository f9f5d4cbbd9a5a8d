// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/shared_edge.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace arclane {
namespace {

// Above this many pairs of edges near one another they are sorted instead of tried pair by pair.
constexpr size_t kMaxTriedPairs = 4096;

struct Box {
  double min_x = std::numeric_limits<double>::infinity();
  double min_y = std::numeric_limits<double>::infinity();
  double max_x = -std::numeric_limits<double>::infinity();
  double max_y = -std::numeric_limits<double>::infinity();
};

Box BoundingBox(std::span<const Vec2> points) {
  Box box;
  for (const Vec2 p : points) {
    box.min_x = std::min(box.min_x, p.x);
    box.max_x = std::max(box.max_x, p.x);
    box.min_y = std::min(box.min_y, p.y);
    box.max_y = std::max(box.max_y, p.y);
  }
  return box;
}

Box Intersection(const Box& a, const Box& b, double margin) {
  return {std::max(a.min_x, b.min_x) - margin, std::max(a.min_y, b.min_y) - margin,
          std::min(a.max_x, b.max_x) + margin, std::min(a.max_y, b.max_y) + margin};
}

void EdgesInBox(std::span<const Vec2> polygon, const Box& box, std::vector<uint32_t>* edges) {
  edges->clear();
  const size_t n = polygon.size();
  for (size_t i = 0; i < n; ++i) {
    const Vec2 a = polygon[i];
    const Vec2 b = polygon[i + 1 == n ? 0 : i + 1];
    if (std::max(a.x, b.x) >= box.min_x && std::min(a.x, b.x) <= box.max_x &&
        std::max(a.y, b.y) >= box.min_y && std::min(a.y, b.y) <= box.max_y) {
      edges->push_back(static_cast<uint32_t>(i));
    }
  }
}

SharedEdge WholeEdge(const PolygonView& p, size_t i, size_t next) {
  return {p.vertices[i], p.vertices[next], p.heights[i], p.heights[next], true};
}

// The edge whose ends are vertices of both polygons, if there is one.
std::optional<SharedEdge> FindWholeEdge(const PolygonView& p, const PolygonView& q) {
  const size_t n = p.vertices.size();
  const size_t m = q.vertices.size();
  size_t previous = n - 1;
  for (size_t i = 0; i < n; ++i) {
    const Vec2 b = p.vertices[i];
    for (size_t j = 0; j < m; ++j) {
      if (q.vertices[j] != b) continue;
      if (q.vertices[j + 1 == m ? 0 : j + 1] == p.vertices[previous]) {
        return WholeEdge(p, previous, i);
      }
      break;  // Vertices are distinct.
    }
    previous = i;
  }
  return std::nullopt;
}

}  // namespace

std::optional<SharedEdge> SharedEdgeFinder::Find(const PolygonView& p, const PolygonView& q,
                                                 double tolerance) {
  // An edge alone on its line on one side cannot be part of a longer overlap.
  if (p.strictly_convex || q.strictly_convex) {
    if (p.vertices.size() * q.vertices.size() <= kMaxTriedPairs) {
      if (std::optional<SharedEdge> whole = FindWholeEdge(p, q)) return whole;
    }
  }
  overlaps_.clear();
  CollectOverlaps(p, q, tolerance);
  if (overlaps_.empty()) return std::nullopt;
  const auto longest =
      std::max_element(overlaps_.begin(), overlaps_.end(),
                       [](const Overlap& a, const Overlap& b) { return a.length < b.length; });
  SharedEdge shared = longest->edge;
  const Vec2 origin = shared.from;
  const Vec2 along = (shared.to - shared.from) * (1.0 / longest->length);
  double low = 0.0;
  double high = longest->length;
  for (const Overlap& other : overlaps_) {
    const double from = Dot(other.edge.from - origin, along);
    const double to = Dot(other.edge.to - origin, along);
    if (from < low) {
      low = from;
      shared.from = other.edge.from;
      shared.from_height = other.edge.from_height;
    }
    if (to > high) {
      high = to;
      shared.to = other.edge.to;
      shared.to_height = other.edge.to_height;
    }
  }
  return shared;
}

void SharedEdgeFinder::CollectOverlaps(const PolygonView& p, const PolygonView& q,
                                       double tolerance) {
  const Box box = Intersection(BoundingBox(p.vertices), BoundingBox(q.vertices), tolerance);
  if (box.min_x > box.max_x || box.min_y > box.max_y) return;
  EdgesInBox(p.vertices, box, &edges_p_);
  EdgesInBox(q.vertices, box, &edges_q_);
  if (edges_p_.size() * edges_q_.size() > kMaxTriedPairs) {
    SweepOverlaps(p, q, tolerance);
    return;
  }
  for (const uint32_t i : edges_p_) {
    for (const uint32_t j : edges_q_) AddOverlap(p, i, q, j, tolerance);
  }
}

// Edges that lie within the tolerance of each other have almost one direction, so both are rather
// flat or both rather steep (edges shorter than a few tolerances, whose direction says nothing,
// count as both). At any x a convex polygon has only two flat edges, at any y two steep ones: a
// sweep along that axis meets few pairs.
void SharedEdgeFinder::SweepOverlaps(const PolygonView& p, const PolygonView& q, double tolerance) {
  const double short_edge = 16.0 * tolerance;
  for (const bool flat : {true, false}) {
    const auto collect = [&](const PolygonView& polygon, const std::vector<uint32_t>& edges,
                             std::vector<EdgeSpan>* spans) {
      spans->clear();
      const size_t n = polygon.vertices.size();
      for (const uint32_t i : edges) {
        const Vec2 a = polygon.vertices[i];
        const Vec2 b = polygon.vertices[i + 1 == n ? 0 : i + 1];
        const double dx = std::abs(b.x - a.x);
        const double dy = std::abs(b.y - a.y);
        // Each class reaches past the diagonal, so that two edges next to it share a class.
        const bool belongs = flat ? 2.0 * dx >= dy : dy > 2.0 * dx || 2.0 * dy >= dx;
        if (!belongs && std::max(dx, dy) > short_edge) continue;
        const double u = flat ? a.x : a.y;
        const double v = flat ? b.x : b.y;
        spans->push_back({std::min(u, v) - tolerance, std::max(u, v), i});
      }
      std::sort(spans->begin(), spans->end(), [](const EdgeSpan& s, const EdgeSpan& t) {
        return s.low != t.low ? s.low < t.low : s.index < t.index;
      });
    };
    collect(p, edges_p_, &spans_p_);
    collect(q, edges_q_, &spans_q_);
    active_.clear();
    size_t next = 0;
    for (const EdgeSpan& span : spans_p_) {
      while (next < spans_q_.size() && spans_q_[next].low <= span.high) {
        active_.push_back(static_cast<uint32_t>(next++));
      }
      std::erase_if(active_, [&](uint32_t k) { return spans_q_[k].high < span.low; });
      for (const uint32_t k : active_) AddOverlap(p, span.index, q, spans_q_[k].index, tolerance);
    }
  }
}

void SharedEdgeFinder::AddOverlap(const PolygonView& p, size_t i, const PolygonView& q, size_t j,
                                  double tolerance) {
  const size_t i_next = i + 1 == p.vertices.size() ? 0 : i + 1;
  const size_t j_next = j + 1 == q.vertices.size() ? 0 : j + 1;
  const Vec2 a = p.vertices[i];
  const Vec2 b = p.vertices[i_next];
  const Vec2 c = q.vertices[j];
  const Vec2 d = q.vertices[j_next];
  const double length = Distance(a, b);
  const Vec2 along = (b - a) * (1.0 / length);
  const double at_c = Dot(c - a, along);
  const double at_d = Dot(d - a, along);
  if (!(at_c > at_d)) return;
  const double low = std::max(0.0, at_d);
  const double high = std::min(length, at_c);
  if (high - low <= tolerance) return;
  const double off_c = Cross(along, c - a);
  const double off_d = Cross(along, d - a);
  const double slope = (off_c - off_d) / (at_c - at_d);
  if (std::abs(off_d + slope * (low - at_d)) > tolerance) return;
  if (std::abs(off_d + slope * (high - at_d)) > tolerance) return;
  Overlap overlap;
  overlap.length = high - low;
  const bool from_p = at_d <= tolerance;
  const bool to_p = at_c >= length - tolerance;
  overlap.edge.from = from_p ? a : d;
  overlap.edge.from_height = from_p ? p.heights[i] : q.heights[j_next];
  overlap.edge.to = to_p ? b : c;
  overlap.edge.to_height = to_p ? p.heights[i_next] : q.heights[j];
  overlaps_.push_back(overlap);
}

}  // namespace arclane
