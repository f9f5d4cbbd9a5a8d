// SPDX-License-Identifier: Apache-2.0
// The rules of a curve description, every violation named by the path of its field.
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/planning/spline/curve.h"
#include "server/planning/spline/curve_reduction.h"

namespace arclane {
namespace {

std::string NumberText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return absl::StrCat(value);
}

class CurveRules {
 public:
  CurveRules(const CurveInput& input, const CurveLimits& limits, absl::string_view prefix)
      : input_(input), limits_(limits), prefix_(prefix) {}

  std::vector<CurveViolation> Check() && {
    switch (input_.kind) {
      case CurveKind::kBezier:
      case CurveKind::kHermite:
      case CurveKind::kCatmullRom:
      case CurveKind::kBSpline:
      case CurveKind::kNurbs:
        break;
      default:
        Add("kind", "must be a known kind of curve");
        return Finish();
    }
    const bool sizes_fit = CheckColumns("control", input_.control);
    const size_t count = input_.control.x.size();
    if (count > limits_.max_control_points) {
      // Nothing more is read of an oversized curve.
      Add("control",
          absl::StrCat("must have at most ", limits_.max_control_points, " points, got ", count));
      return Finish();
    }
    CheckValues("control", input_.control);
    CheckCount(count);
    CheckTangents(count);
    if (input_.kind == CurveKind::kCatmullRom && !(input_.alpha >= 0.0 && input_.alpha <= 1.0)) {
      Add("alpha", absl::StrCat("must be in [0, 1], got ", NumberText(input_.alpha)));
    }
    CheckKnots(count);
    CheckWeights(count);
    if (sizes_fit && violation_count_ == 0 && input_.closed) CheckClosure();
    return Finish();
  }

 private:
  bool IsBSpline() const {
    return input_.kind == CurveKind::kBSpline || input_.kind == CurveKind::kNurbs;
  }

  void Add(absl::string_view field, std::string description) {
    if (++violation_count_ > limits_.max_violations) return;
    violations_.push_back(
        {absl::StrCat(prefix_, prefix_.empty() ? "" : ".", field), std::move(description)});
  }

  std::vector<CurveViolation> Finish() {
    if (violation_count_ > limits_.max_violations) {
      violations_.push_back(
          {std::string(prefix_), absl::StrCat("has ", violation_count_ - limits_.max_violations,
                                              " more violations that are not listed")});
    }
    return std::move(violations_);
  }

  // Columns of one length; z may be absent.
  bool CheckColumns(absl::string_view field, const CoordinateColumns& columns) {
    const size_t count = columns.x.size();
    bool fit = true;
    if (columns.y.size() != count) {
      Add(absl::StrCat(field, ".y"),
          absl::StrCat("must have as many values as x (", count, "), got ", columns.y.size()));
      fit = false;
    }
    if (!columns.z.empty() && columns.z.size() != count) {
      Add(absl::StrCat(field, ".z"), absl::StrCat("must be empty or have as many values as x (",
                                                  count, "), got ", columns.z.size()));
      fit = false;
    }
    return fit;
  }

  void CheckValues(absl::string_view field, const CoordinateColumns& columns) {
    CheckColumnValues(absl::StrCat(field, ".x"), columns.x);
    CheckColumnValues(absl::StrCat(field, ".y"), columns.y);
    CheckColumnValues(absl::StrCat(field, ".z"), columns.z);
  }

  void CheckColumnValues(const std::string& field, std::span<const double> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::abs(values[i]) <= limits_.max_coordinate) continue;
      const absl::string_view rule =
          std::isfinite(values[i]) ? "must be at most " : "must be finite";
      std::string text(rule);
      if (std::isfinite(values[i])) {
        absl::StrAppend(&text, NumberText(limits_.max_coordinate), " in magnitude");
      }
      Add(absl::StrCat(field, "[", i, "]"), absl::StrCat(text, ", got ", NumberText(values[i])));
    }
  }

  void CheckCount(size_t count) {
    size_t least = 2;
    switch (input_.kind) {
      case CurveKind::kBezier:
        if (count < 4 || count % 3 != 1) {
          Add("control", absl::StrCat("must have 3 n + 1 points, n >= 1, got ", count));
        }
        return;
      case CurveKind::kHermite:
        break;
      case CurveKind::kCatmullRom:
        if (input_.closed) least = 3;
        break;
      case CurveKind::kBSpline:
      case CurveKind::kNurbs:
        if (input_.degree < 1 || input_.degree > kMaxCurveDegree) {
          Add("degree", absl::StrCat("must be in [1, ", kMaxCurveDegree, "], got ", input_.degree));
          return;
        }
        least = input_.degree + 1;
        break;
    }
    if (count < least) {
      Add("control", absl::StrCat("must have at least ", least, " points, got ", count));
    }
  }

  void CheckTangents(size_t count) {
    const CoordinateColumns& tangents = input_.tangents;
    if (input_.kind != CurveKind::kHermite) {
      if (!tangents.x.empty() || !tangents.y.empty() || !tangents.z.empty()) {
        Add("tangents", "must be empty: only Hermite curves have tangents");
      }
      return;
    }
    const auto check_column = [&](absl::string_view axis, size_t wanted, size_t got) {
      if (wanted == got) return;
      Add(absl::StrCat("tangents.", axis),
          absl::StrCat("must have as many values as control.", axis, " (", wanted, "), got ", got));
    };
    check_column("x", count, tangents.x.size());
    check_column("y", input_.control.y.size(), tangents.y.size());
    check_column("z", input_.control.z.size(), tangents.z.size());
    if (tangents.x.size() <= limits_.max_control_points) CheckValues("tangents", tangents);
  }

  void CheckKnots(size_t count) {
    const std::span<const double> knots = input_.knots;
    if (!IsBSpline()) {
      if (!knots.empty()) Add("knots", "must be empty: only B-splines and NURBS have knots");
      return;
    }
    if (knots.empty() || input_.degree < 1 || input_.degree > kMaxCurveDegree) return;
    const size_t wanted = count + input_.degree + 1;
    if (knots.size() != wanted) {
      Add("knots",
          absl::StrCat("must have points + degree + 1 = ", wanted, " values, got ", knots.size()));
      return;
    }
    bool ordered = true;
    size_t multiplicity = 1;
    for (size_t i = 0; i < knots.size(); ++i) {
      // Differences of knots are divided by: they must not overflow.
      if (!(std::abs(knots[i]) <= limits_.max_coordinate)) {
        Add(absl::StrCat("knots[", i, "]"),
            absl::StrCat("must be finite and at most ", NumberText(limits_.max_coordinate),
                         " in magnitude, got ", NumberText(knots[i])));
        ordered = false;
        continue;
      }
      if (i == 0) continue;
      if (knots[i] < knots[i - 1]) {
        Add(absl::StrCat("knots[", i, "]"),
            absl::StrCat("must not be below the knot before it, got ", NumberText(knots[i]),
                         " after ", NumberText(knots[i - 1])));
        ordered = false;
      }
      multiplicity = knots[i] == knots[i - 1] ? multiplicity + 1 : 1;
      if (multiplicity == static_cast<size_t>(input_.degree) + 2) {
        Add(absl::StrCat("knots[", i, "]"),
            absl::StrCat("must repeat at most degree + 1 = ", input_.degree + 1, " times"));
      }
    }
    if (ordered && count > static_cast<size_t>(input_.degree) &&
        !(knots[input_.degree] < knots[count])) {
      Add("knots",
          absl::StrCat("must leave a domain: knots[", input_.degree, "] < knots[", count, "]"));
    }
  }

  void CheckWeights(size_t count) {
    const std::span<const double> weights = input_.weights;
    if (input_.kind != CurveKind::kNurbs) {
      if (!weights.empty()) Add("weights", "must be empty: only NURBS have weights");
      return;
    }
    if (weights.size() != count) {
      Add("weights",
          absl::StrCat("must have one value a control point (", count, "), got ", weights.size()));
      return;
    }
    double least = 0.0, greatest = 0.0;
    bool valid = true;
    for (size_t i = 0; i < weights.size(); ++i) {
      if (!(weights[i] > 0.0 && weights[i] <= limits_.max_coordinate)) {
        Add(absl::StrCat("weights[", i, "]"),
            absl::StrCat("must be > 0 and finite, got ", NumberText(weights[i])));
        valid = false;
        continue;
      }
      least = i == 0 ? weights[i] : std::min(least, weights[i]);
      greatest = std::max(greatest, weights[i]);
    }
    if (valid && greatest > least * limits_.max_weight_ratio) {
      Add("weights",
          absl::StrCat("must differ by a ratio of at most ", NumberText(limits_.max_weight_ratio),
                       ", got ", NumberText(greatest / least)));
    }
  }

  void CheckClosure() {
    const double gap = ClosureGap(CurveReducer::Reduce(input_));
    if (gap > kMaxClosureGap) {
      Add("closed", absl::StrCat("must end where it starts; the ends lie ", NumberText(gap),
                                 " of the curve's extent apart"));
    }
  }

  const CurveInput& input_;
  const CurveLimits& limits_;
  absl::string_view prefix_;
  std::vector<CurveViolation> violations_;
  size_t violation_count_ = 0;
};

}  // namespace

std::vector<CurveViolation> ValidateCurve(const CurveInput& input, const CurveLimits& limits,
                                          absl::string_view field_prefix) {
  return CurveRules(input, limits, field_prefix).Check();
}

}  // namespace arclane
