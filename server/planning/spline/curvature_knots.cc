// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/curvature_knots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/planning/spline/curvature_reader.h"
#include "server/planning/spline/hodograph.h"
#include "server/planning/spline/limit_direction.h"

namespace arclane {
namespace {

using Direction = std::array<double, 3>;

// Distance between the two knots of a jump, and the least width of an interval that is refined, of
// the length: the finest that a bound of 1e-9 on distances tells apart.
constexpr double kFinestPart = 1e-9;

// Curvature beyond this over the length is not resolved: distances keep four digits of such radii.
constexpr double kUnresolvedTurn = 1e12;

// A jump of curvature below this part of it is rounding.
constexpr double kJump = 1e-7;
// So is one below this, over the length: the curve turns by so many radians if it lasts all along.
constexpr double kJumpTurn = 1e-10;

// A cell is read at this many even steps, and its parts are judged while they have so many.
constexpr int kParts = 16;
constexpr int kLeastParts = 4;

// Ample for regula falsi on a curvature that is all but linear.
constexpr int kRootSteps = 12;

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
  double turn_angle_rad = 0.0;
  double cusp = 0.0;  // Of a stop: CuspCurvature.
};

class CurvatureRefiner {
 public:
  CurvatureRefiner(const ArcLengthMap& map, const CurvatureOptions& options)
      : map_(map),
        options_(options),
        dimension_(map.curve().dimension()),
        length_(map.length()),
        finest_(kFinestPart * map.length()),
        reader_(map) {}

  absl::StatusOr<CurvatureKnots> Run() && {
    CollectBoundaries();
    // Every boundary that is left has a knot at least: what cannot fit is not begun.
    left_ = boundaries_.size();
    if (left_ > options_.max_knots) return TooMany();
    for (size_t i = 0; i < boundaries_.size(); ++i) {
      const Boundary& boundary = boundaries_[i];
      left_ = boundaries_.size() - i;
      if (boundary.stop) knots_.stops.push_back({boundary.distance, boundary.turn_angle_rad});
      if (i > 0) {
        const Boundary& last = boundaries_[i - 1];
        if (!Refine(last.distance, last.after, boundary.distance, boundary.before)) {
          return TooMany();
        }
      }
      AppendBoundary(boundary, i == 0, i + 1 == boundaries_.size());
    }
    MoveSeamStop();
    return std::move(knots_);
  }

 private:
  absl::Status TooMany() const {
    return absl::ResourceExhaustedError(
        absl::StrCat("max_knots: ", options_.max_knots, " knots do not hold the tolerance"));
  }

  bool IsFull() const { return knots_.distance.size() + left_ > options_.max_knots; }

  // Where the span's speed vanishes at this end, the order of its zero; else 0.
  static int ZeroOrder(const ArcSpan& span, bool at_end) {
    return span.from_end == at_end ? span.slow_order : 0;
  }

  // 0 but at cusps: infinite where the speed vanishes, the curvature where it is low and the tip is
  // not resolved.
  double CuspCurvature(const ArcSpan& span, bool at_end) const {
    const CurvePiece& piece = map_.curve().piece(span.segment);
    const double t = at_end ? span.t_end : span.t_begin;
    const HodographPoint point = EvaluateHodograph(piece, dimension_, t);
    if (SpeedOf(point) > piece.imprecise_speed) return 0.0;
    if (SpeedVanishes(piece, dimension_, t)) return std::numeric_limits<double>::infinity();
    const double curvature =
        std::abs(CurvatureOf(point, dimension_)) * map_.curve().inverse_scale();
    return IsResolved(curvature) ? 0.0 : curvature;
  }

  bool IsCusp(const ArcSpan& span, bool at_end) const { return CuspCurvature(span, at_end) > 0.0; }

  bool IsResolved(double curvature) const {
    return std::abs(curvature) * length_ <= kUnresolvedTurn;
  }

  // At a cusp that of the first derivative behind the one that vanishes. The zero's order as the
  // map found it tells a derivative that should be zero from one that only is not by the rounding
  // of the parameter.
  Direction EndDirection(const ArcSpan& span, bool at_end) const {
    const int vanishing = IsCusp(span, at_end) ? std::max(ZeroOrder(span, at_end), 1) : 0;
    return LimitDirection(map_.curve().piece(span.segment), dimension_,
                          at_end ? span.t_end : span.t_begin,
                          at_end ? TravelSide::kArriving : TravelSide::kLeaving, vanishing + 1);
  }

  // Curvature at an end of a span: the limit, or where that is not resolved the value one finest
  // interval away.
  double EndCurvature(const ArcSpan& span, bool at_end) const {
    if (!IsCusp(span, at_end)) {
      const double t = at_end ? span.t_end : span.t_begin;
      const double curvature = reader_.AtParameter(span.segment, t);
      if (IsResolved(curvature)) return curvature;
    }
    const double scale = map_.curve().scale();
    const double distance = at_end ? std::max(span.end * scale - finest_, 0.0)
                                   : std::min(span.begin * scale + finest_, length_);
    return reader_.AtDistance(distance);
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
      if (before != nullptr) boundary.before = EndCurvature(*before, true);
      if (after != nullptr) boundary.after = EndCurvature(*after, false);
      if (before == nullptr) boundary.before = boundary.after;
      if (after == nullptr) boundary.after = boundary.before;
      AddBoundary(boundary, after == nullptr);
    }
  }

  void FindStop(const ArcSpan& before, const ArcSpan& after, Boundary& boundary) const {
    const double jump =
        TurnAngle3(EndDirection(before, true), EndDirection(after, false), dimension_);
    if (std::abs(jump) <= options_.stop_angle_rad) return;
    boundary.stop = true;
    boundary.turn_angle_rad = jump;
    boundary.cusp = std::max(CuspCurvature(before, true), CuspCurvature(after, false));
  }

  // Spans may be shorter than the finest interval; of places in one neighbourhood the one of
  // largest curvature is enough where nothing else happens.
  void AddBoundary(const Boundary& boundary, bool last) {
    const double reach = 2.0 * finest_;
    if (!boundaries_.empty() && !last && boundary.distance - boundaries_.back().distance < reach) {
      const Boundary& previous = boundaries_.back();
      // Places beside an unresolved tip are as little resolved: the sharpest is the tip.
      const bool one_tip = boundary.cusp > 0.0 && previous.cusp > 0.0 &&
                           std::isfinite(std::min(boundary.cusp, previous.cusp));
      const bool is_idle = one_tip || (!boundary.stop && !IsJump(boundary));
      const bool gives_way =
          one_tip || (boundaries_.size() > 1 && !previous.stop && !IsJump(previous));
      const bool is_sharper = one_tip ? boundary.cusp > previous.cusp
                                      : std::abs(boundary.after) > std::abs(previous.after);
      if (is_idle && !(gives_way && is_sharper)) return;
      if (gives_way) boundaries_.pop_back();
    }
    boundaries_.push_back(boundary);
  }

  double Tolerance(double curvature) const {
    return options_.relative_tolerance * std::abs(curvature) +
           options_.absolute_tolerance / length_;
  }

  bool IsJump(const Boundary& boundary) const {
    const double larger = std::max(std::abs(boundary.before), std::abs(boundary.after));
    return std::abs(boundary.before - boundary.after) > kJump * larger + kJumpTurn / length_;
  }

  void AppendBoundary(const Boundary& boundary, bool first, bool last) {
    if (first || last || !IsJump(boundary)) {
      const double value =
          std::abs(boundary.after) > std::abs(boundary.before) ? boundary.after : boundary.before;
      return Append(boundary.distance, value);
    }
    const double width = finest_;
    const bool rises = std::abs(boundary.after) > std::abs(boundary.before);
    Append(rises ? boundary.distance - width : boundary.distance, boundary.before);
    Append(rises ? boundary.distance : boundary.distance + width, boundary.after);
  }

  // Ends the interval that was measured last, if there is one. Knots that rounding or tiny segments
  // would put on top of each other become one with the larger magnitude.
  void Append(double distance, double curvature) {
    const double excess = std::exchange(excess_, 0.0);
    const double deviation = std::exchange(deviation_, 0.0);
    if (!knots_.distance.empty() && !(distance > knots_.distance.back())) {
      double& last = knots_.curvature.back();
      if (std::abs(curvature) > std::abs(last)) last = curvature;
      return;
    }
    if (!knots_.distance.empty()) {
      knots_.excess.push_back(excess);
      knots_.deviation.push_back(deviation);
    }
    knots_.distance.push_back(distance);
    knots_.curvature.push_back(curvature);
  }

  // A stretch between two places with its curvatures at kParts even steps.
  struct Cell {
    double begin, end;
    std::array<double, kParts + 1> curvature;

    double Place(int part) const {
      if (part == kParts) return end;
      return begin + (end - begin) * (static_cast<double>(part) / kParts);
    }
  };

  // Appends the knots strictly between two places; false when they are too many.
  bool Refine(double begin, double curvature_begin, double end, double curvature_end) {
    end_ = end;
    RefineCell(begin, curvature_begin, end, curvature_end);
    return !IsFull();
  }

  // Halves of a cell are judged by its own values while enough of them lie inside; what is shorter
  // is a cell of its own. The recursion ends at the finest width.
  void RefineCell(double begin, double curvature_begin, double end, double curvature_end) {
    if (IsFull()) return;
    Cell cell = {begin, end, {}};
    cell.curvature.front() = curvature_begin;
    cell.curvature.back() = curvature_end;
    reader_.ReadEvenly(begin, end - begin, kParts, 1, kParts - 1, &cell.curvature[1]);
    RefinePart(cell, 0, kParts);
  }

  void RefinePart(const Cell& cell, int from, int to) {
    const double begin = cell.Place(from), end = cell.Place(to);
    const double at_begin = cell.curvature[from], at_end = cell.curvature[to];
    if (end - begin <= finest_) return AppendInterval(cell, from, to);
    if (IsLinear(cell, from, to)) {
      double root = 0.0;
      if (!FindRoot(cell, from, to, root)) return AppendInterval(cell, from, to);
      RefineCell(begin, at_begin, root, 0.0);
      RefineCell(root, 0.0, end, at_end);
      return;
    }
    const int middle = (from + to) / 2;
    if (to - from > kLeastParts) {
      RefinePart(cell, from, middle);
      RefinePart(cell, middle, to);
    } else {
      RefineCell(begin, at_begin, cell.Place(middle), cell.curvature[middle]);
      RefineCell(cell.Place(middle), cell.curvature[middle], end, at_end);
    }
  }

  bool IsLinear(const Cell& cell, int from, int to) const {
    const auto& curvature = cell.curvature;
    const double slope = (curvature[to] - curvature[from]) / (to - from);
    for (int k = from + 1; k < to; ++k) {
      const double line = curvature[from] + slope * (k - from);
      if (!(std::abs(line - curvature[k]) <= Tolerance(curvature[k]))) return false;
    }
    return true;
  }

  // Where the curvature changes sign in a part that is all but linear; a knot there keeps the
  // magnitude all but linear too.
  bool FindRoot(const Cell& cell, int from, int to, double& root) const {
    const double begin = cell.Place(from), end = cell.Place(to);
    double low = begin, high = end;
    double at_low = cell.curvature[from], at_high = cell.curvature[to];
    if (!(at_low * at_high < 0.0)) return false;
    for (int i = 0; i < kRootSteps && high - low > finest_; ++i) {
      // Regula falsi; the side that stays is halved (Illinois).
      root = low - at_low * ((high - low) / (at_high - at_low));
      const double value = reader_.AtDistance(root);
      if (std::abs(value) <= Tolerance(0.0)) break;
      if ((value > 0.0) == (at_high > 0.0)) {
        high = root;
        at_high = value;
        at_low *= 0.5;
      } else {
        low = root;
        at_low = value;
        at_high *= 0.5;
      }
    }
    return root - begin > finest_ && end - root > finest_;
  }

  // Between the values that were read the magnitude rises above the larger of them by an eighth of
  // the second difference; the rest of the factor is for a second difference that changes.
  void AppendInterval(const Cell& cell, int from, int to) {
    constexpr double kBetweenParts = 0.25;
    const auto& curvature = cell.curvature;
    const double begin = cell.Place(from), end = cell.Place(to);
    const double slope = (curvature[to] - curvature[from]) / (to - from);
    double above = 0.0, deviation = 0.0, bend = 0.0, last = 0.0, before_last = 0.0;
    for (int k = from + 1; k <= to; ++k) {
      const double line = curvature[from] + slope * (k - from);
      const double difference = k == to ? 0.0 : std::abs(curvature[k]) - std::abs(line);
      above = std::max(above, difference);
      deviation = std::max(deviation, std::abs(difference));
      if (k > from + 1) bend = std::max(bend, std::abs(difference - 2.0 * last + before_last));
      before_last = last;
      last = difference;
    }
    // The point at a distance is known to error_bound() along the curve, and so is its curvature.
    const double doubt =
        std::abs(curvature[to] - curvature[from]) / (end - begin) * map_.error_bound();
    excess_ = above + kBetweenParts * bend + doubt;
    deviation_ = deviation;
    if (end < end_) Append(end, curvature[to]);
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
  const double finest_;
  CurvatureReader reader_;
  std::vector<Boundary> boundaries_;
  size_t left_ = 0;         // Boundaries that have no knot yet.
  double end_ = 0.0;        // Of the stretch that is being refined.
  double excess_ = 0.0;     // Of the interval that the next knot ends.
  double deviation_ = 0.0;  // Likewise.
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
  check("stop_angle_rad", options.stop_angle_rad);
  if (!text.empty()) return absl::InvalidArgumentError(text);
  if (map.spans().empty()) return CurvatureKnots{{0.0}, {0.0}, {}, {}, {}};
  return CurvatureRefiner(map, options).Run();
}

}  // namespace arclane
