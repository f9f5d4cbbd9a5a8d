// SPDX-License-Identifier: Apache-2.0
// Proof that a chain of lines and arcs is a route through a corridor, by code that shares nothing
// with the code that made it: it knows the corridor's original portals and cells, and the segments,
// nothing else. Lines alone are proven faster by corridor/verification.h.
//
// A chain is a route when distances t_0 <= t_1 <= ... exist such that it lies in cell i from
// t_(i-1) to t_i and stands in both cells at t_i. Cells are convex, so an element leaves a cell
// only where it crosses the line of one of its edges: every such crossing is found in closed form
// (lines: one, arcs: two an edge) and the middle between two successive crossings decides. Nothing
// is sampled. Cell i counts as its polygon together with its two portals, which closes seams.
#ifndef ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_VERIFICATION_H_
#define ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_VERIFICATION_H_

#include <cstdint>
#include <span>
#include <vector>

#include "server/planning/corridor/corridor.h"
#include "server/planning/corridor/verification.h"
#include "server/planning/route/segment.h"

namespace arclane {

// Keeps its buffers; not thread-safe; one for each thread.
class RouteVerifier {
 public:
  // The largest deviation of the segments (start distances laid out, from the corridor's start to
  // its goal), with one crossing a portal, ascending, when it is at most `tolerance` > 0. Otherwise
  // `distance` is above the tolerance, right to a factor of two, and `crossings` is unspecified.
  // O(sum over cells of vertices * (elements within the cell + 1)).
  Deviation Verify(const Corridor& corridor, std::span<const Segment> segments, double tolerance,
                   std::vector<PortalCrossing>* crossings);

 private:
  struct Edge {
    Vec2 normal;    // Unit, inward.
    double offset;  // dot(normal, p) + offset >= 0 inside.
  };
  // The chain can be in the cell from `from` to `to`, having come into it between `from` and
  // `entered_by`.
  struct Stay {
    double from;
    double entered_by;
    double to;
  };

  // A cell, or the point before it in which it is entered.
  struct Place {
    uint32_t cell;
    bool is_point;
  };

  void ListPlaces(const Corridor& corridor);
  bool Walk(const Corridor& corridor, double tolerance);
  void LoadPlace(const Corridor& corridor, Place place);
  void LoadCell(const Corridor& corridor, size_t k);
  void AddEnds(Vec2 a, Vec2 b);
  bool Inside(Vec2 p, double tolerance) const;
  void CollectCuts(const Segment& segment, double tolerance);
  size_t SegmentAt(double distance) const;
  double StayUntil(double from, double tolerance);
  void CollectStays(double from, double to, double tolerance);
  void AddStay(double from, double entered_by, double tolerance);
  void ChooseCrossings(std::vector<PortalCrossing>* crossings) const;
  Deviation Measure(const Corridor& corridor, std::span<const PortalCrossing> crossings);

  std::span<const Segment> segments_;
  double length_ = 0.0;
  std::vector<Edge> edges_;
  std::vector<Vec2> points_;
  std::vector<uint32_t> hull_;
  std::vector<double> cuts_;
  std::vector<Place> places_;
  std::vector<Stay> stays_;          // Of all places, one after another.
  std::vector<size_t> stays_begin_;  // Where each place's stays begin.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUTE_ROUTE_VERIFICATION_H_
