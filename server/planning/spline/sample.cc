// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/sample.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/planning/spline/limit_direction.h"
#include "server/planning/spline/sample_kernels.h"

namespace arclane {
namespace {

// Samples are written in blocks that stay in the first-level cache.
constexpr int kBlock = 128;

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
  const size_t gaps = map.curve().closed() ? request.count : request.count - 1;
  if (gaps > 0) layout.step = map.length() / static_cast<double>(gaps);
  layout.last = map.curve().closed() ? layout.step * static_cast<double>(request.count - 1)
                                     : (request.count > 1 ? map.length() : 0.0);
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

// Writes one block after the other; owns the scratch columns that stand in for those nobody asked
// for.
class CurveSampler {
 public:
  CurveSampler(const ArcLengthMap& map, const SampleLayout& layout, const SampleColumns& columns)
      : map_(map), layout_(layout), columns_(columns), dimension_(map.curve().dimension()) {
    for (int c = 0; c < 3; ++c) frame_.origin[c] = map.curve().origin()[c];
    frame_.scale = map.curve().scale();
    frame_.inverse_scale = map.curve().inverse_scale();
    directions_ = !columns.tangent_x.empty() || !columns.tangent_y.empty() ||
                  !columns.tangent_z.empty() || !columns.curvature.empty() ||
                  !columns.marks.empty();
  }

  void Run(size_t first, size_t count) {
    for (size_t done = 0; done < count; done += kBlock) {
      const int block = static_cast<int>(std::min<size_t>(kBlock, count - done));
      PlaceBlock(first + done, block);
      if (!columns_.distance.empty()) {
        std::copy_n(distance_, block, columns_.distance.begin() + done);
      }
      if (map_.spans().empty()) {
        WritePoint(done, block);
      } else {
        WriteBlock(done, block);
      }
    }
  }

 private:
  // Distances of the samples in the caller's unit, and local.
  void PlaceBlock(size_t first, int count) {
    if (layout_.distances.empty()) {
      const double last = layout_.last;
      for (int i = 0; i < count; ++i) {
        const double distance = static_cast<double>(static_cast<int64_t>(first + i)) * layout_.step;
        distance_[i] = distance < last ? distance : last;
      }
      if (first + count == layout_.count) distance_[count - 1] = last;
    } else {
      for (int i = 0; i < count; ++i) {
        distance_[i] = map_.Normalize(layout_.distances[first + i]);
      }
    }
    for (int i = 0; i < count; ++i) local_[i] = distance_[i] * frame_.inverse_scale;
  }

  void WriteBlock(size_t at, int count) {
    RunColumns out = ColumnsAt(at);
    double* parameter = columns_.parameter.empty() ? parameter_ : &columns_.parameter[at];
    int32_t* segment = columns_.segment.empty() ? nullptr : &columns_.segment[at];
    uint8_t* marks = columns_.marks.empty() ? nullptr : &columns_.marks[at];
    if (marks != nullptr) std::fill_n(marks, count, uint8_t{0});
    if (layout_.sorted) {
      WriteSorted(count, out, parameter, segment);
    } else {
      WriteUnsorted(count, out, parameter, segment);
    }
    if (directions_) MarkSlowSamples(count, out, parameter, marks);
  }

  void WriteSorted(int count, RunColumns out, double* parameter, int32_t* segment) {
    int i = 0;
    while (i < count) {
      AdvanceTo(local_[i]);
      const ArcSpan& span = map_.spans()[span_];
      int limit = i + 1;
      while (limit < count && local_[limit] < span.end) ++limit;
      const int run = limit - i;
      FindParameters(span, local_ + i, run, parameter);
      if (segment != nullptr) {
        std::fill_n(segment, run, span.segment);
        segment += run;
      }
      std::fill_n(span_of_ + i, run, span_);
      WriteRun(span.segment, parameter, run, out);
      Shift(out, run);
      parameter += run;
      i = limit;
    }
  }

  // All lookups first, then all evaluations: independent chains of one sample overlap with those of
  // the next.
  void WriteUnsorted(int count, RunColumns out, double* parameter, int32_t* segment) {
    for (int i = 0; i < count; ++i) span_of_[i] = map_.FindSpan(local_[i]);
    for (int i = 0; i < count; ++i) {
      span_ = span_of_[i];
      FindParameters(map_.spans()[span_], local_ + i, 1, parameter + i);
    }
    for (int i = 0; i < count; ++i) {
      const int32_t piece = map_.spans()[span_of_[i]].segment;
      if (segment != nullptr) segment[i] = piece;
      WriteRun(piece, parameter + i, 1, out);
      Shift(out, 1);
    }
  }

  void FindParameters(const ArcSpan& span, const double* local, int count,
                      double* parameter) const {
    if (map_.inverse_mode() == InverseMode::kTabulated) {
      ParametersOfSpan(span, local, count, parameter);
    } else {
      const ArcSpanForward& forward = map_.forward()[span_];
      for (int i = 0; i < count; ++i) {
        parameter[i] = InvertForward(span, forward, local[i] - span.begin);
      }
    }
    // The two ends of the curve are exact.
    if (local[0] <= 0.0) parameter[0] = span.t_begin;
    for (int i = count - 1; i >= 0 && local[i] >= map_.local_length(); --i) {
      parameter[i] = span.t_end;
    }
  }

  void AdvanceTo(double local) {
    const auto spans = map_.spans();
    const int last = static_cast<int>(spans.size()) - 1;
    if (span_ >= 0 && local < spans[span_].end && local >= spans[span_].begin) return;
    if (span_ >= 0 && span_ < last && local >= spans[span_].end && local < spans[span_ + 1].end) {
      ++span_;
      return;
    }
    span_ = map_.FindSpan(local);
  }

  void WriteRun(int segment, const double* parameter, int count, const RunColumns& out) const {
    const CurvePiece& piece = map_.curve().piece(segment);
    if (dimension_ == 2) {
      PieceSamples<2>(piece, frame_, parameter, count, directions_, out);
    } else {
      PieceSamples<3>(piece, frame_, parameter, count, directions_, out);
    }
  }

  // Tangents and curvatures where dr/dt = 0.
  void MarkSlowSamples(int count, const RunColumns& out, const double* parameter, uint8_t* marks) {
    for (int i = 0; i < count; ++i) {
      const int32_t segment = map_.spans()[span_of_[i]].segment;
      const CurvePiece& piece = map_.curve().piece(segment);
      if (out.squared_speed[i] > piece.speed_floor * piece.speed_floor) continue;
      const TravelSide side = parameter[i] < 1.0 ? TravelSide::kLeaving : TravelSide::kArriving;
      const auto direction = LimitDirection(piece, dimension_, parameter[i], side, 2);
      for (int c = 0; c < dimension_; ++c) out.tangent[c][i] = direction[c];
      out.curvature[i] = std::numeric_limits<double>::quiet_NaN();
      if (marks != nullptr) marks[i] = kCurvatureUndefined;
    }
  }

  // A curve of length zero.
  void WritePoint(size_t at, int count) {
    const CurvePoint point = map_.curve().Evaluate(0, 0.0);
    const auto fill = [&](auto column, auto value) {
      if (!column.empty()) std::fill_n(column.begin() + at, count, value);
    };
    fill(columns_.x, point.position[0]);
    fill(columns_.y, point.position[1]);
    fill(columns_.z, point.position[2]);
    fill(columns_.tangent_x, 0.0);
    fill(columns_.tangent_y, 0.0);
    fill(columns_.tangent_z, 0.0);
    fill(columns_.curvature, std::numeric_limits<double>::quiet_NaN());
    fill(columns_.segment, int32_t{0});
    fill(columns_.parameter, 0.0);
    fill(columns_.marks, static_cast<uint8_t>(kTangentUndefined | kCurvatureUndefined));
  }

  RunColumns ColumnsAt(size_t at) {
    RunColumns out;
    const std::span<double> position[3] = {columns_.x, columns_.y, columns_.z};
    const std::span<double> tangent[3] = {columns_.tangent_x, columns_.tangent_y,
                                          columns_.tangent_z};
    for (int c = 0; c < 3; ++c) {
      out.position[c] = position[c].empty() ? scratch_[c] : &position[c][at];
      out.tangent[c] = tangent[c].empty() ? scratch_[3 + c] : &tangent[c][at];
    }
    out.curvature = columns_.curvature.empty() ? scratch_[6] : &columns_.curvature[at];
    out.squared_speed = scratch_[7];
    return out;
  }

  static void Shift(RunColumns& out, int count) {
    for (int c = 0; c < 3; ++c) {
      out.position[c] += count;
      out.tangent[c] += count;
    }
    out.curvature += count;
    out.squared_speed += count;
  }

  const ArcLengthMap& map_;
  const SampleLayout& layout_;
  const SampleColumns& columns_;
  const int dimension_;
  SampleFrame frame_;
  bool directions_ = false;
  int span_ = -1;
  double distance_[kBlock];
  double local_[kBlock];
  double parameter_[kBlock];
  int span_of_[kBlock];
  double scratch_[8][kBlock];
};

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

void SampleCurve(const ArcLengthMap& map, const SampleLayout& layout,
                 const SampleColumns& columns) {
  SampleCurveRange(map, layout, 0, layout.count, columns);
}

void SampleCurveRange(const ArcLengthMap& map, const SampleLayout& layout, size_t first,
                      size_t count, const SampleColumns& columns) {
  CurveSampler(map, layout, columns).Run(first, count);
}

}  // namespace arclane
