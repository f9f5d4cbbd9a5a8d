// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/fillet_polyline.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/planning/rounding/fillet.h"
#include "server/planning/rounding/polygon_union.h"

namespace arclane {
namespace {

// Waypoints closer than this many units in the last place of the largest coordinate are one: the
// direction between them is rounding. Radii below it are none.
constexpr double kSamePointUlps = 64.0;
// Turns within this of a half turn are reversals: rounding of unit directions alone gives 1e-16,
// and the trims of an arc would be more than 1e8 radii.
constexpr double kReversal = 1e-8;
// Of the stop check: an arctangent, a tangent and some square roots.
constexpr uint64_t kCornerSteps = 16;

absl::Status Validate(std::span<const Vec2> waypoints, std::span<const double> radius_request,
                      const FilletPolylineOptions& options) {
  if (waypoints.empty()) return absl::InvalidArgumentError("waypoints: at least one is needed");
  for (size_t i = 0; i < waypoints.size(); ++i) {
    if (!std::isfinite(waypoints[i].x) || !std::isfinite(waypoints[i].y)) {
      return absl::InvalidArgumentError(absl::StrCat("waypoints[", i, "]: must be finite"));
    }
  }
  const size_t corners =
      options.closed ? waypoints.size() : waypoints.size() - std::min<size_t>(2, waypoints.size());
  if (radius_request.size() != 1 && radius_request.size() != corners) {
    return absl::InvalidArgumentError(absl::StrCat("radius_request: must have one entry or ",
                                                   corners, ", got ", radius_request.size()));
  }
  for (size_t i = 0; i < radius_request.size(); ++i) {
    if (!(radius_request[i] >= 0.0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("radius_request[", i, "]: must be >= 0, got ", radius_request[i]));
    }
  }
  if (!(options.radius_min >= 0.0) || !std::isfinite(options.radius_min)) {
    return absl::InvalidArgumentError(
        absl::StrCat("radius_min: must be >= 0, got ", options.radius_min));
  }
  return absl::OkStatus();
}

// The waypoints without repeated neighbours.
struct Polyline {
  std::vector<Vec2> points;
  std::vector<uint32_t> index;  // Of the waypoint.
  std::vector<double> request;  // One a point; unused at the ends of an open polyline.
  std::vector<Vec2>
      direction;  // Of line i, from point i - 1 to point i (closed: line 0 from the last).
  std::vector<double> length;
  double same_point = 0.0;
};

Polyline MakePolyline(std::span<const Vec2> waypoints, std::span<const double> radius_request,
                      bool closed) {
  Polyline line;
  double largest = 0.0;
  for (const Vec2 p : waypoints) largest = std::max({largest, std::abs(p.x), std::abs(p.y)});
  line.same_point = kSamePointUlps * std::numeric_limits<double>::epsilon() * largest;
  const auto request = [&](size_t i) {
    if (radius_request.size() == 1) return radius_request[0];
    if (closed) return radius_request[i];
    return i > 0 && i + 1 < waypoints.size() ? radius_request[i - 1] : 0.0;
  };
  line.points.reserve(waypoints.size());
  line.index.reserve(waypoints.size());
  line.request.reserve(waypoints.size());
  for (size_t i = 0; i < waypoints.size(); ++i) {
    if (!line.points.empty() && Distance(waypoints[i], line.points.back()) <= line.same_point) {
      line.request.back() = request(i);
      // The goal stays exactly where it was sent.
      if (!closed && i + 1 == waypoints.size() && line.points.size() > 1)
        line.points.back() = waypoints[i];
      continue;
    }
    line.points.push_back(waypoints[i]);
    line.index.push_back(static_cast<uint32_t>(i));
    line.request.push_back(request(i));
  }
  while (closed && line.points.size() > 1 &&
         Distance(line.points.front(), line.points.back()) <= line.same_point) {
    line.points.pop_back();
    line.index.pop_back();
    line.request.pop_back();
  }
  const size_t count = line.points.size();
  line.length.reserve(count);
  line.direction.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const Vec2 step =
        i > 0 || closed ? line.points[i] - line.points[(i + count - 1) % count] : Vec2{};
    const double length = Norm(step);
    line.length.push_back(length);
    line.direction.push_back(length > 0.0 ? step * (1.0 / length) : Vec2{});
  }
  return line;
}

struct Corner {
  size_t point;
  Vec2 in;
  Vec2 out;
  double turn;
  double tan_half;
  CornerKind kind;
};

class PolylineFillet {
 public:
  PolylineFillet(Polyline line, const FilletPolylineOptions& options, StopCheck stop)
      : line_(std::move(line)), options_(options), stop_(stop) {
    if (!options.polygon_begin.empty())
      polygons_.emplace(options.polygon_vertices, options.polygon_begin, stop_);
  }

  absl::StatusOr<FilletedPolyline> Run() {
    FilletedPolyline result = Fillet();
    if (stop_.Now()) return absl::CancelledError("the caller gave up");
    return result;
  }

 private:
  // Ends early, with anything, once stopped.
  FilletedPolyline Fillet() {
    const size_t count = line_.points.size();
    if (count < 2) {
      if (polygons_ && !polygons_->ContainsLine(line_.points[0], line_.points[0])) {
        result_.uncontained_lines.push_back(line_.index[0]);
      }
      return std::move(result_);
    }
    FindCorners();
    FindIntervals();
    if (stop_.Now()) return std::move(result_);
    FilletProblem problem;
    problem.tan_half = tan_half_;
    problem.line_length = std::span(line_.length).subspan(options_.closed ? 0 : 1);
    problem.begin = begin_;
    problem.intervals = intervals_;
    problem.closed = options_.closed;
    radii_ = ChooseFilletRadii(problem, stop_).radius;
    if (!stop_.Now()) Emit();
    return std::move(result_);
  }

  // Closed: corner i lies at point i; open: at point i + 1.
  void FindCorners() {
    const size_t count = line_.points.size();
    const size_t first = options_.closed ? 0 : 1;
    const size_t limit = options_.closed ? count : count - 1;
    corners_.reserve(limit - first);
    tan_half_.reserve(limit - first);
    for (size_t i = first; i < limit; ++i) {
      if (stop_.After(kCornerSteps)) return;
      Corner corner{i,   line_.direction[i],  line_.direction[(i + 1) % count], 0.0,
                    0.0, CornerKind::kRounded};
      corner.turn = TurnAngle(corner.in, corner.out);
      // A corner that is no corner is a stop only where the smallest angle of corners is 0 and
      // radius 0 asks for one.
      const bool straight = corner.turn == 0.0 && line_.request[i] > 0.0;
      if (std::abs(corner.turn) < options_.corner_angle_min_rad || straight) {
        corner.kind = CornerKind::kDrivenThrough;
      } else if (std::abs(corner.turn) >= std::numbers::pi - kReversal) {
        corner.kind = CornerKind::kStopped;
      }
      // From the chord, exact for tiny turns as well.
      corner.tan_half = corner.kind == CornerKind::kStopped
                            ? std::numeric_limits<double>::infinity()
                            : std::tan(0.5 * std::abs(corner.turn));
      corners_.push_back(corner);
      tan_half_.push_back(corner.tan_half);
    }
  }

  double Fit(size_t c) const {
    const Corner& corner = corners_[c];
    const size_t count = line_.points.size();
    return std::min(line_.length[corner.point], line_.length[(corner.point + 1) % count]) /
           corner.tan_half;
  }

  void FindIntervals() {
    begin_.reserve(corners_.size() + 1);
    intervals_.reserve(corners_.size());
    begin_.push_back(0);
    for (size_t c = 0; c < corners_.size(); ++c) {
      const Corner& corner = corners_[c];
      if (stop_.After(kCornerSteps)) return;
      if (corner.kind == CornerKind::kRounded) {
        const double cap = std::min(line_.request[corner.point], Fit(c));
        if (!polygons_) {
          AddInterval({0.0, cap});
        } else if (cap > 0.0) {
          for (const RadiusInterval& interval :
               polygons_->FilletRadii(line_.points[corner.point], corner.in, corner.out, cap)) {
            AddInterval(interval);
          }
        }
      }
      begin_.push_back(static_cast<uint32_t>(intervals_.size()));
    }
  }

  void AddInterval(RadiusInterval interval) {
    // A minimum that is missed by rounding only is met.
    constexpr double kMissed = 1e-12;
    if (interval.high < options_.radius_min * (1.0 - kMissed) || interval.high <= line_.same_point)
      return;
    interval.low = std::min(std::max(interval.low, options_.radius_min), interval.high);
    intervals_.push_back(interval);
  }

  StopReason ReasonOf(size_t c) const {
    const Corner& corner = corners_[c];
    if (!(line_.request[corner.point] > 0.0)) return StopReason::kNone;
    if (corner.kind == CornerKind::kStopped) return StopReason::kHairpin;
    const double cap = std::min(line_.request[corner.point], Fit(c));
    if (begin_[c] < begin_[c + 1])
      return StopReason::kTooShort;  // Fits alone, not beside its neighbours.
    if (polygons_ && cap > 0.0) {
      const auto all =
          polygons_->FilletRadii(line_.points[corner.point], corner.in, corner.out, cap);
      if (all.empty()) return StopReason::kNoRoom;
    }
    return Fit(c) < options_.radius_min ? StopReason::kTooShort : StopReason::kMinimumRadius;
  }

  void AddLine(size_t line, double trim_begin, double trim_end) {
    const size_t count = line_.points.size();
    const Vec2 from = line_.points[(line + count - 1) % count];
    PathElement element;
    element.kind = PathElementKind::kLine;
    element.direction = line_.direction[line];
    element.start = from + trim_begin * element.direction;
    element.length = std::max(0.0, line_.length[line] - trim_begin - trim_end);
    if (polygons_ && !polygons_->ContainsLine(element.start,
                                              element.start + element.direction * element.length)) {
      result_.uncontained_lines.push_back(line_.index[(line + count - 1) % count]);
    }
    if (element.length > 0.0) result_.path.elements.push_back(element);
  }

  void AddCorner(size_t c) {
    const Corner& corner = corners_[c];
    CornerOutcome outcome;
    outcome.corner = line_.index[corner.point];
    outcome.position = line_.points[corner.point];
    outcome.turn_rad = corner.turn;
    outcome.kind = corner.kind;
    outcome.radius = radii_[c];
    PathElement element;
    element.direction = corner.in;
    if (radii_[c] > 0.0) {
      element.kind = PathElementKind::kArc;
      element.start = outcome.position - (radii_[c] * corner.tan_half) * corner.in;
      element.length = radii_[c] * std::abs(corner.turn);
      element.curvature = std::copysign(1.0 / radii_[c], corner.turn);
      element.turn_rad = corner.turn;
      result_.path.elements.push_back(element);
    } else if (corner.kind != CornerKind::kDrivenThrough) {
      outcome.kind = CornerKind::kStopped;
      outcome.reason = ReasonOf(c);
      const double fits = std::min(line_.request[corner.point], Fit(c));
      outcome.radius_that_fits = polygons_ || !(fits > 0.0) ? 0.0 : fits;
      element.kind = PathElementKind::kTurn;
      element.start = outcome.position;
      element.turn_rad = corner.turn;
      result_.path.elements.push_back(element);
      ++result_.path.stop_count;
      if (!options_.can_turn_in_place) result_.path.status = RoundingStatus::kNeedsMotionPlanning;
    }
    result_.path.corners.push_back(outcome);
  }

  double Trim(size_t c) const { return radii_[c] > 0.0 ? radii_[c] * corners_[c].tan_half : 0.0; }

  // An open path begins with line 1; a loop with the line that leaves waypoint 0's arc and ends
  // with that arc.
  void Emit() {
    const size_t count = line_.points.size();
    const size_t corner_count = corners_.size();
    result_.path.elements.reserve(count + corner_count);
    result_.path.corners.reserve(corner_count);
    if (options_.closed) {
      for (size_t i = 1; i <= count; ++i) {
        if (stop_.After(kCornerSteps)) return;
        AddLine(i % count, Trim(i - 1), Trim(i % count));
        AddCorner(i % count);
      }
      std::rotate(result_.path.corners.begin(), result_.path.corners.end() - 1,
                  result_.path.corners.end());
    } else {
      for (size_t i = 1; i < count; ++i) {
        if (stop_.After(kCornerSteps)) return;
        AddLine(i, i >= 2 ? Trim(i - 2) : 0.0, i - 1 < corner_count ? Trim(i - 1) : 0.0);
        if (i - 1 < corner_count) AddCorner(i - 1);
      }
    }
    double polyline_length = 0.0;
    for (const double length : line_.length) polyline_length += length;
    for (const PathElement& element : result_.path.elements) result_.path.length += element.length;
    result_.path.extra_length = result_.path.length - polyline_length;
  }

  Polyline line_;
  const FilletPolylineOptions& options_;
  PacedStopCheck stop_;
  std::optional<PolygonUnion> polygons_;
  std::vector<Corner> corners_;
  std::vector<double> tan_half_;
  std::vector<uint32_t> begin_;
  std::vector<RadiusInterval> intervals_;
  std::vector<double> radii_;
  FilletedPolyline result_;
};

}  // namespace

absl::StatusOr<FilletedPolyline> FilletPolyline(std::span<const Vec2> waypoints,
                                                std::span<const double> radius_request,
                                                const FilletPolylineOptions& options,
                                                StopCheck stop) {
  if (absl::Status status = Validate(waypoints, radius_request, options); !status.ok())
    return status;
  if (stop()) return absl::CancelledError("the caller gave up");
  return PolylineFillet(MakePolyline(waypoints, radius_request, options.closed), options, stop)
      .Run();
}

}  // namespace arclane
