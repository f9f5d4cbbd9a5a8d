// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/curvature_knots.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/planning/spline/limit_direction.h"
#include "server/planning/spline/sample_kernels.h"

namespace arclane {
namespace {

using Direction = std::array<double, 3>;

// Distance between the two knots of a jump, of the length.
constexpr double kJumpWidth = 1e-9;

// Reversals closer than this to pi have no side: they turn left.
constexpr double kReversalSlack = 1e-9;

double TurnAngle3(const Direction& a, const Direction& b, int dimension) {
  const double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const double z = a[0] * b[1] - a[1] * b[0];
  if (dimension == 2) {
    const double angle = std::atan2(z, dot);
    return angle < kReversalSlack - M_PI ? M_PI : angle;
  }
  const double x = a[1] * b[2] - a[2] * b[1];
  const double y = a[2] * b[0] - a[0] * b[2];
  return std::atan2(std::sqrt(x * x + y * y + z * z), dot);
}

// A place between two spans (or the start, or the end) with what holds on either side. Distances in
// the caller's unit.
struct Boundary {
  double distance = 0.0;
  double before = 0.0;  // Curvature arriving.
  double after = 0.0;   // Curvature leaving.
  bool stop = false;
  bool point_turn = false;  // A stop only because the bend is too sharp.
  double turn_angle_rad = 0.0;
};

class CurvatureRefiner {
 public:
  CurvatureRefiner(const ArcLengthMap& map, const CurvatureOptions& options)
      : map_(map),
        options_(options),
        dimension_(map.curve().dimension()),
        length_(map.length()),
        least_interval_(options.min_interval * map.length()) {
    const CurvePiece& shape = map.curve().piece(0);
    kernels_ = SelectKernels(dimension_, shape.degree, shape.rational, /*directions=*/true);
  }

  absl::StatusOr<CurvatureKnots> Run() && {
    CollectBoundaries();
    for (size_t i = 0; i < boundaries_.size(); ++i) {
      const Boundary& boundary = boundaries_[i];
      if (boundary.stop) knots_.stops.push_back({boundary.distance, boundary.turn_angle_rad});
      if (i > 0) {
        const Boundary& last = boundaries_[i - 1];
        if (!Refine(last.distance, last.after, boundary.distance, boundary.before)) {
          return absl::ResourceExhaustedError(
              absl::StrCat("max_knots: ", options_.max_knots, " knots do not hold the tolerance"));
        }
      }
      AppendBoundary(boundary, i == 0, i + 1 == boundaries_.size());
    }
    MoveSeamStop();
    return std::move(knots_);
  }

 private:
  // Where the span's speed vanishes at this end, the order of its zero; else 0.
  static int ZeroOrder(const ArcSpan& span, bool at_end) {
    return span.from_end == at_end ? span.slow_order : 0;
  }

  Direction EndDirection(const ArcSpan& span, bool at_end) const {
    return LimitDirection(
        map_.curve().piece(span.segment), dimension_, at_end ? span.t_end : span.t_begin,
        at_end ? TravelSide::kArriving : TravelSide::kLeaving, ZeroOrder(span, at_end) + 1);
  }

  double CurvatureAtParameter(int segment, double t) const {
    const CurvePoint p = map_.curve().Evaluate(segment, t);
    // Local units, so that powers of extreme lengths stay finite.
    const double unit = map_.curve().inverse_scale();
    std::array<double, 3> d, e;
    for (int c = 0; c < 3; ++c) {
      d[c] = p.first[c] * unit;
      e[c] = p.second[c] * unit;
    }
    const double speed = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    if (!(speed > map_.curve().piece(segment).speed_floor)) return 0.0;
    const double x = d[1] * e[2] - d[2] * e[1];
    const double y = d[2] * e[0] - d[0] * e[2];
    const double z = d[0] * e[1] - d[1] * e[0];
    const double cross = dimension_ == 2 ? z : std::sqrt(x * x + y * y + z * z);
    return cross / speed / speed / speed * unit;
  }

  double CurvatureAtDistance(double distance) const {
    const CurveLocation at = map_.LocationAt(distance);
    return CurvatureAtParameter(at.segment, at.parameter);
  }

  Direction DirectionAtDistance(double distance) const {
    const CurveLocation at = map_.LocationAt(distance);
    return LimitDirection(map_.curve().piece(at.segment), dimension_, at.parameter,
                          TravelSide::kLeaving, 1);
  }

  // Curvature at an end of a span: the limit, or beside a vanishing speed the value one least
  // interval away.
  double EndCurvature(const ArcSpan& span, bool at_end, bool cut_off) const {
    const double t = at_end ? span.t_end : span.t_begin;
    if (ZeroOrder(span, at_end) == 0 && !cut_off) return CurvatureAtParameter(span.segment, t);
    const double scale = map_.curve().scale();
    const double distance = at_end ? std::max(span.end * scale - least_interval_, 0.0)
                                   : std::min(span.begin * scale + least_interval_, length_);
    return CurvatureAtDistance(distance);
  }

  void CollectBoundaries() {
    const auto spans = map_.spans();
    const double scale = map_.curve().scale();
    for (size_t i = 0; i <= spans.size(); ++i) {
      Boundary boundary;
      const ArcSpan* before = i > 0 ? &spans[i - 1] : nullptr;
      const ArcSpan* after = i < spans.size() ? &spans[i] : nullptr;
      boundary.distance = after != nullptr ? after->begin * scale : length_;
      const bool seam = map_.curve().closed() && after == nullptr;
      if (before != nullptr && (after != nullptr || seam)) {
        FindStop(*before, seam ? spans.front() : *after, boundary);
      }
      if (before != nullptr) boundary.before = EndCurvature(*before, true, boundary.point_turn);
      if (after != nullptr) boundary.after = EndCurvature(*after, false, boundary.point_turn);
      if (before == nullptr) boundary.before = boundary.after;
      if (after == nullptr) boundary.after = boundary.before;
      AddBoundary(boundary, after == nullptr);
    }
  }

  void FindStop(const ArcSpan& before, const ArcSpan& after, Boundary& boundary) const {
    const double jump =
        TurnAngle3(EndDirection(before, true), EndDirection(after, false), dimension_);
    if (std::abs(jump) > options_.stop_angle_rad) {
      boundary.stop = true;
      boundary.turn_angle_rad = jump;
      return;
    }
    const double s = boundary.distance;
    if (s < least_interval_ || s > length_ - least_interval_) return;
    const double bend = TurnAngle3(DirectionAtDistance(s - least_interval_),
                                   DirectionAtDistance(s + least_interval_), dimension_);
    if (std::abs(bend) > options_.point_turn_rad) {
      boundary.stop = boundary.point_turn = true;
      boundary.turn_angle_rad = bend;
    }
  }

  // Spans may be shorter than the least interval beside an unresolved bend; one boundary in its
  // neighbourhood is enough.
  void AddBoundary(const Boundary& boundary, bool last) {
    const double reach = 2.0 * least_interval_;
    while (last && boundaries_.size() > 1 && boundaries_.back().point_turn &&
           boundary.distance - boundaries_.back().distance <= least_interval_) {
      boundaries_.pop_back();
    }
    if (!boundaries_.empty() && !last && boundary.distance - boundaries_.back().distance < reach) {
      Boundary& previous = boundaries_.back();
      const bool exact = boundary.stop && !boundary.point_turn;
      const bool sharper = boundary.point_turn && previous.point_turn &&
                           std::abs(boundary.turn_angle_rad) > std::abs(previous.turn_angle_rad);
      // A place where nothing happens gives way to a bend.
      const bool first_bend =
          boundary.point_turn && !previous.stop && !IsJump(previous) && boundaries_.size() > 1;
      if (((exact || sharper) && previous.point_turn) || first_bend) {
        previous = boundary;
        return;
      }
      const bool idle = boundary.point_turn || (!boundary.stop && !IsJump(boundary));
      if (idle && (previous.stop || boundary.point_turn || boundaries_.size() == 1)) return;
    }
    boundaries_.push_back(boundary);
  }

  double Tolerance(double curvature) const {
    return options_.relative_tolerance * std::abs(curvature) +
           options_.absolute_tolerance / length_;
  }

  bool IsJump(const Boundary& boundary) const {
    const double larger = std::max(std::abs(boundary.before), std::abs(boundary.after));
    return std::abs(boundary.before - boundary.after) > Tolerance(larger);
  }

  void AppendBoundary(const Boundary& boundary, bool first, bool last) {
    if (first || last || !IsJump(boundary)) {
      const double value =
          std::abs(boundary.after) > std::abs(boundary.before) ? boundary.after : boundary.before;
      return Append(boundary.distance, value);
    }
    const double width = kJumpWidth * length_;
    const bool rises = std::abs(boundary.after) > std::abs(boundary.before);
    Append(rises ? boundary.distance - width : boundary.distance, boundary.before);
    Append(rises ? boundary.distance : boundary.distance + width, boundary.after);
  }

  // Knots that rounding or tiny segments would put on top of each other become one with the larger
  // magnitude.
  void Append(double distance, double curvature) {
    if (!knots_.distance.empty() && !(distance > knots_.distance.back())) {
      double& last = knots_.curvature.back();
      if (std::abs(curvature) > std::abs(last)) last = curvature;
      return;
    }
    knots_.distance.push_back(distance);
    knots_.curvature.push_back(curvature);
  }

  // Appends the knots strictly between two places; false when they are too many.
  bool Refine(double begin, double curvature_begin, double end, double curvature_end) {
    struct Interval {
      double begin, curvature_begin, end, curvature_end;
    };
    std::vector<Interval> stack = {{begin, curvature_begin, end, curvature_end}};
    while (!stack.empty()) {
      const Interval interval = stack.back();
      stack.pop_back();
      const double width = interval.end - interval.begin;
      double middle_curvature = 0.0;
      if (width > least_interval_ &&
          !IsLinear(interval.begin, interval.curvature_begin, interval.end, interval.curvature_end,
                    middle_curvature)) {
        const double middle = interval.begin + 0.5 * width;
        stack.push_back({middle, middle_curvature, interval.end, interval.curvature_end});
        stack.push_back({interval.begin, interval.curvature_begin, middle, middle_curvature});
        continue;
      }
      if (interval.end < end) Append(interval.end, interval.curvature_end);
      if (knots_.distance.size() > options_.max_knots) return false;
    }
    return true;
  }

  bool IsLinear(double begin, double curvature_begin, double end, double curvature_end,
                double& middle) const {
    constexpr double kParts[] = {0.25, 0.5, 0.75};
    double curvature[3];
    CurvaturesBetween(begin, end - begin, kParts, curvature);
    middle = curvature[1];
    for (int k = 0; k < 3; ++k) {
      const double line = curvature_begin + kParts[k] * (curvature_end - curvature_begin);
      if (!(std::abs(line - curvature[k]) <= Tolerance(curvature[k]))) return false;
    }
    return true;
  }

  // Curvatures at begin + part * width. Within one span, the ordinary case, they are evaluated
  // together.
  void CurvaturesBetween(double begin, double width, const double (&parts)[3],
                         double* curvature) const {
    const double unit = map_.curve().inverse_scale();
    const ArcSpan& span = map_.spans()[map_.FindSpan((begin + parts[0] * width) * unit)];
    if (map_.inverse_mode() != InverseMode::kTabulated ||
        !((begin + parts[2] * width) * unit < span.end)) {
      for (int k = 0; k < 3; ++k) curvature[k] = CurvatureAtDistance(begin + parts[k] * width);
      return;
    }
    constexpr int kRow = 3 + kParameterGroup;
    double local[kRow] = {}, t[kRow] = {}, rows[8][kRow];
    for (int k = 0; k < 3; ++k) local[k] = (begin + parts[k] * width) * unit;
    kernels_.parameters(span, local, 3, t);
    const CurvePiece& piece = map_.curve().piece(span.segment);
    const SampleFrame frame = {{0.0, 0.0, 0.0}, unit};
    const RunColumns out = {
        {rows[0], rows[1], rows[2]}, {rows[3], rows[4], rows[5]}, rows[6], rows[7]};
    kernels_.points(piece, frame, t, 3, out);
    for (int k = 0; k < 3; ++k) {
      const bool moving = rows[7][k] > piece.speed_floor * piece.speed_floor;
      curvature[k] = moving ? rows[6][k] : 0.0;
    }
  }

  // The seam was judged at the end; it is listed at the start.
  void MoveSeamStop() {
    auto& stops = knots_.stops;
    if (!map_.curve().closed() || stops.empty() || stops.back().distance != length_) return;
    std::rotate(stops.begin(), stops.end() - 1, stops.end());
    stops.front().distance = 0.0;
  }

  const ArcLengthMap& map_;
  const CurvatureOptions& options_;
  const int dimension_;
  const double length_;
  const double least_interval_;
  SampleKernels kernels_;
  std::vector<Boundary> boundaries_;
  CurvatureKnots knots_;
};

}  // namespace

absl::StatusOr<CurvatureKnots> RefineCurvature(const ArcLengthMap& map,
                                               const CurvatureOptions& options) {
  std::string text;
  const auto check = [&](const char* field, double value) {
    if (value > 0.0 && std::isfinite(value)) return;
    absl::StrAppend(&text, text.empty() ? "" : "; ", field, ": must be > 0 and finite, got ",
                    value);
  };
  check("relative_tolerance", options.relative_tolerance);
  check("absolute_tolerance", options.absolute_tolerance);
  check("min_interval", options.min_interval);
  check("stop_angle_rad", options.stop_angle_rad);
  check("point_turn_rad", options.point_turn_rad);
  if (!text.empty()) return absl::InvalidArgumentError(text);
  if (map.spans().empty()) return CurvatureKnots{{0.0}, {0.0}, {}};
  return CurvatureRefiner(map, options).Run();
}

}  // namespace arclane
