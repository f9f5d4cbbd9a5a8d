// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/corridor_input.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace arclane {
namespace {

// The largest absolute value, or NaN when some value is NaN. Branch-free.
double MaxMagnitude(std::span<const double> values) {
  double largest = 0.0;
  double poison = 0.0;
  for (const double value : values) {
    const double magnitude = std::abs(value);
    largest = magnitude > largest ? magnitude : largest;
    poison += value * 0.0;  // NaN for NaN and infinity.
  }
  return poison == 0.0 ? largest : std::numeric_limits<double>::quiet_NaN();
}

class InputValidator {
 public:
  InputValidator(const CorridorInput& input, const CorridorLimits& limits, Violations* violations)
      : input_(input),
        limits_(limits),
        axes_(AxisNamesOf(input.up_axis)),
        violations_(violations) {}

  double Run() {
    CheckPoint("origin", input_.origin, input_.origin_height);
    CheckPoint("start", input_.start, input_.start_height);
    CheckPoint("goal", input_.goal, input_.goal_height);
    magnitude_ = 0.0;  // The origin is no coordinate of the corridor; start and goal may be.
    CheckSettings();
    if (!input_.has_polygons && !input_.has_portals) {
      violations_->Add(ViolationReason::kRequired, "", "polygons or portals must be given");
    }
    if (input_.has_polygons) CheckPolygons();
    if (input_.has_portals) CheckPortals();
    CountEnds();
    CheckScale();
    return magnitude_;
  }

 private:
  // Ends that lie in the corridor, as far outside as is allowed, belong to its coordinates. Ends
  // farther away are refused for that, and must not coarsen the corridor until its polygons are.
  void CountEnds() {
    const double reach = input_.has_polygons ? magnitude_ + input_.max_end_shift
                                             : std::numeric_limits<double>::infinity();
    double largest = magnitude_;
    for (const Vec2 end : {input_.start, input_.goal}) {
      for (const double value : {std::abs(end.x), std::abs(end.y)}) {
        if (value <= reach && value <= kMaxCoordinate) largest = std::max(largest, value);
      }
    }
    magnitude_ = largest;
  }

  void CheckScale() {
    if (!(magnitude_ > 0.0 && magnitude_ < kMinCoordinate)) return;
    violations_->Add(ViolationReason::kOutOfRange,
                     input_.has_polygons ? "polygons.vertices" : "portals.left",
                     absl::StrCat("all coordinates lie below ", kMinCoordinate, ", the largest is ",
                                  magnitude_, ": send them in a smaller unit"));
  }

  void CheckSettings() {
    const CoordinatePrecision& precision = input_.precision;
    if (precision.source == PrecisionSource::kLength &&
        !(precision.length > 0.0 && precision.length <= kMaxCoordinate)) {
      violations_->Add(ViolationReason::kOutOfRange, "coordinate_precision.length",
                       absl::StrCat("must be > 0 and finite, got ", precision.length));
    }
    if (!(input_.max_end_shift >= 0.0)) {
      violations_->Add(ViolationReason::kOutOfRange, "max_end_shift",
                       absl::StrCat("must be >= 0, got ", input_.max_end_shift));
    }
  }

  void CheckPoint(absl::string_view field, Vec2 point, double height) {
    CheckValue(point.x, [&] { return absl::StrCat(field, ".", Name(axes_.a)); });
    CheckValue(point.y, [&] { return absl::StrCat(field, ".", Name(axes_.b)); });
    CheckValue(height, [&] { return absl::StrCat(field, ".", Name(axes_.height)); });
  }

  template <typename FieldName>
  void CheckValue(double value, const FieldName& field) {
    const double size = std::abs(value);
    if (size <= kMaxCoordinate) {
      magnitude_ = std::max(magnitude_, size);
    } else if (!violations_->KeepsMore()) {
      violations_->Add(ViolationReason::kNotFinite, "", "");
    } else if (std::isfinite(value)) {
      violations_->Add(ViolationReason::kOutOfRange, field(),
                       absl::StrCat("magnitude must be <= ", kMaxCoordinate, ", got ", value));
    } else {
      violations_->Add(ViolationReason::kNotFinite, field(),
                       absl::StrCat("must be finite, got ", value));
    }
  }

  void CheckColumn(absl::string_view field, char axis, std::span<const double> column) {
    const double largest = MaxMagnitude(column);
    if (largest <= kMaxCoordinate) {
      magnitude_ = std::max(magnitude_, largest);
      return;
    }
    for (size_t i = 0; i < column.size(); ++i) {
      CheckValue(column[i], [&] { return absl::StrCat(field, ".", Name(axis), "[", i, "]"); });
    }
  }

  void CheckColumns(absl::string_view field, const PointColumns& points) {
    CheckColumnLength(field, axes_.b, points.b, points.a.size());
    if (points.has_height()) {
      CheckColumnLength(field, axes_.height, points.height, points.a.size());
    }
    CheckColumn(field, axes_.a, points.a);
    CheckColumn(field, axes_.b, points.b);
    CheckColumn(field, axes_.height, points.height);
  }

  void CheckColumnLength(absl::string_view field, char axis, std::span<const double> column,
                         size_t expected) {
    if (column.size() == expected) return;
    violations_->Add(ViolationReason::kLengthMismatch, absl::StrCat(field, ".", Name(axis)),
                     absl::StrCat("must have ", expected, " values as ", field, ".", Name(axes_.a),
                                  " has, got ", column.size()));
  }

  bool WithinLimit(absl::string_view field, absl::string_view what, size_t count, size_t limit) {
    if (count <= limit) return true;
    violations_->Add(ViolationReason::kLimitExceeded, std::string(field),
                     absl::StrCat("at most ", limit, " ", what, " are allowed, got ", count));
    return false;
  }

  void CheckPolygons() {
    const PolygonColumns& polygons = input_.polygons;
    if (polygons.vertex_count.empty()) {
      violations_->Add(ViolationReason::kRequired, "polygons", "at least one polygon is needed");
    }
    const bool polygons_fit = WithinLimit("polygons.vertex_count", "polygons",
                                          polygons.vertex_count.size(), limits_.max_polygons);
    const bool vertices_fit = WithinLimit("polygons.vertices", "vertices", polygons.vertices.size(),
                                          limits_.max_vertices);
    if (!polygons_fit || !vertices_fit) return;
    CheckColumns("polygons.vertices", polygons.vertices);
    size_t total = 0;
    for (size_t k = 0; k < polygons.vertex_count.size(); ++k) {
      const uint32_t count = polygons.vertex_count[k];
      total += count;
      if (count >= 2) continue;
      violations_->Add(ViolationReason::kTooFewVertices,
                       absl::StrCat("polygons.vertex_count[", k, "]"),
                       absl::StrCat("must be >= 2, got ", count));
    }
    if (total != polygons.vertices.size()) {
      violations_->Add(ViolationReason::kLengthMismatch, "polygons.vertex_count",
                       absl::StrCat("sums to ", total, ", but there are ", polygons.vertices.size(),
                                    " vertices"));
    }
  }

  void CheckPortals() {
    const PortalColumns& portals = input_.portals;
    const size_t count = portals.left.size();
    if (!WithinLimit("portals", "portals", std::max(count, portals.right.size()),
                     limits_.max_portals)) {
      return;
    }
    CheckColumns("portals.left", portals.left);
    CheckColumns("portals.right", portals.right);
    if (portals.right.size() != count) {
      violations_->Add(ViolationReason::kLengthMismatch, "portals.right",
                       absl::StrCat("must have ", count, " points as portals.left has, got ",
                                    portals.right.size()));
    }
    if (input_.has_polygons && count + 1 != input_.polygons.vertex_count.size()) {
      violations_->Add(ViolationReason::kLengthMismatch, "portals",
                       absl::StrCat("must be one less than the ",
                                    input_.polygons.vertex_count.size(), " polygons, got ", count));
    }
    for (size_t i = 0; i < portals.link_entries.size(); ++i) {
      const uint32_t entry = portals.link_entries[i];
      if (entry < count && (i == 0 || entry > portals.link_entries[i - 1])) continue;
      violations_->Add(ViolationReason::kOutOfRange, absl::StrCat("portals.link_entry[", i, "]"),
                       absl::StrCat("must be ascending indices below ", count, ", got ", entry));
    }
  }

  static absl::string_view Name(const char& axis) { return absl::string_view(&axis, 1); }

  const CorridorInput& input_;
  const CorridorLimits& limits_;
  const AxisNames axes_;
  Violations* violations_;
  double magnitude_ = 0.0;
};

}  // namespace

double ValidateCorridorInput(const CorridorInput& input, const CorridorLimits& limits,
                             Violations* violations) {
  return InputValidator(input, limits, violations).Run();
}

}  // namespace arclane
