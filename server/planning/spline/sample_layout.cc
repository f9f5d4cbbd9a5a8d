// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/sample.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

// A last gap shorter than this part of the spacing is the rounding of length / spacing and is
// merged.
constexpr double kMergedGap = 1e-9;

constexpr size_t kMaxListedDistances = 100;

std::string NumberText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return absl::StrCat(value);
}

absl::Status TooMany(double wanted, size_t limit) {
  return absl::ResourceExhaustedError(
      absl::StrCat("max_count: the request needs ", wanted, " samples, the limit is ", limit));
}

absl::StatusOr<SampleLayout> LayOutSpacing(const ArcLengthMap& map, const SampleRequest& request) {
  if (!(request.spacing > 0.0) || std::isinf(request.spacing)) {
    return absl::InvalidArgumentError(
        absl::StrCat("spacing: must be > 0 and finite, got ", NumberText(request.spacing)));
  }
  const double length = map.length();
  const double ratio = length / request.spacing;
  if (!(ratio < static_cast<double>(request.max_count))) {
    return TooMany(ratio + 1.0, request.max_count);
  }
  SampleLayout layout;
  layout.last = length;
  if (request.mode == SampleSpacing::kFittedSpacing) {
    const double gaps = std::max(1.0, std::round(ratio));
    layout.count = static_cast<size_t>(gaps) + 1;
    layout.step = length / gaps;
  } else {
    double gaps = std::floor(ratio);
    if (gaps > 0.0 && length - gaps * request.spacing <= kMergedGap * request.spacing) gaps -= 1.0;
    layout.count = static_cast<size_t>(gaps) + 2;
    layout.step = request.spacing;
  }
  return layout;
}

absl::StatusOr<SampleLayout> LayOutCount(const ArcLengthMap& map, const SampleRequest& request) {
  if (request.count == 0) return absl::InvalidArgumentError("count: must be > 0, got 0");
  SampleLayout layout;
  layout.count = request.count;
  if (request.count > 1) {
    layout.step = map.length() / static_cast<double>(request.count - 1);
    layout.last = map.length();
  }
  return layout;
}

absl::StatusOr<SampleLayout> LayOutDistances(const ArcLengthMap& map,
                                             const SampleRequest& request) {
  // A length that went through another computation may differ by the map's own error.
  const double limit = map.length() + map.error_bound();
  const bool bounded = request.out_of_range == OutOfRange::kError && !map.curve().closed();
  SampleLayout layout;
  layout.count = request.distances.size();
  layout.distances = request.distances;
  std::string text;
  size_t violations = 0;
  double last = 0.0;
  for (size_t i = 0; i < request.distances.size(); ++i) {
    const double distance = request.distances[i];
    const bool inside = distance >= 0.0 && distance <= limit;
    if (!std::isfinite(distance) || (bounded && !inside)) {
      if (++violations > kMaxListedDistances) continue;
      absl::StrAppend(&text, text.empty() ? "" : "; ", "distances[", i, "]: must be ",
                      std::isfinite(distance) ? absl::StrCat("in [0, ", map.length(), "]")
                                              : std::string("finite"),
                      ", got ", NumberText(distance));
      continue;
    }
    const double place = map.Normalize(distance);
    if (place < last) layout.sorted = false;
    last = place;
  }
  if (violations > kMaxListedDistances) {
    absl::StrAppend(&text, "; and ", violations - kMaxListedDistances, " more");
  }
  if (violations > 0) return absl::InvalidArgumentError(text);
  return layout;
}

}  // namespace

absl::StatusOr<SampleLayout> LayOutSamples(const ArcLengthMap& map, const SampleRequest& request) {
  absl::StatusOr<SampleLayout> layout;
  switch (request.mode) {
    case SampleSpacing::kSpacing:
    case SampleSpacing::kFittedSpacing:
      layout = LayOutSpacing(map, request);
      break;
    case SampleSpacing::kCount:
      layout = LayOutCount(map, request);
      break;
    case SampleSpacing::kDistances:
      layout = LayOutDistances(map, request);
      break;
    default:
      return absl::InvalidArgumentError("mode: must be a known way of spacing");
  }
  if (!layout.ok()) return layout;
  if (!(map.length() > 0.0) && request.mode != SampleSpacing::kDistances) {
    layout->count = 1;
    layout->step = layout->last = 0.0;
  }
  if (layout->count > request.max_count) {
    return TooMany(static_cast<double>(layout->count), request.max_count);
  }
  return layout;
}

}  // namespace arclane
