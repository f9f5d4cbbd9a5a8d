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

// The end of a run is searched in steps of this many samples.
constexpr int kStride = 8;

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
      CopyOut(distance_, block, columns_.distance, done);
      if (map_.spans().empty()) {
        WritePoint(done, block);
      } else {
        WriteBlock(done, block);
      }
    }
  }

 private:
  using Row = double[kBlock + kGroup];

  // Distances of the samples in the caller's unit, and local.
  void PlaceBlock(size_t first, int count) {
    if (layout_.distances.empty()) {
      const Lanes last = SplatLanes(layout_.last), step = SplatLanes(layout_.step);
      const double start = static_cast<double>(first);
      for (int i = 0; i < count; i += kLaneCount) {
        const Lanes index = SplatLanes(start + i) + Lanes{0.0, 1.0};
        StoreLanes(distance_ + i, MinLanes(index * step, last));
      }
      if (first + count == layout_.count) distance_[count - 1] = layout_.last;
    } else {
      for (int i = 0; i < count; ++i) {
        distance_[i] = map_.Normalize(layout_.distances[first + i]);
      }
    }
    for (int i = 0; i < count; i += kLaneCount) {
      StoreLanes(local_ + i, LoadLanes(distance_ + i) * SplatLanes(frame_.inverse_scale));
    }
  }

  void WriteBlock(size_t at, int count) {
    slow_ = false;
    if (layout_.sorted) {
      EvaluateSorted(count);
    } else {
      EvaluateUnsorted(count);
    }
    uint8_t* marks = columns_.marks.empty() ? nullptr : &columns_.marks[at];
    if (marks != nullptr) std::fill_n(marks, count, uint8_t{0});
    if (slow_) MarkSlowSamples(count, marks);
    CopyOut(row_[0], count, columns_.x, at);
    CopyOut(row_[1], count, columns_.y, at);
    if (dimension_ == 3) {
      CopyOut(row_[2], count, columns_.z, at);
    } else if (!columns_.z.empty()) {
      std::fill_n(columns_.z.begin() + at, count, 0.0);
    }
    CopyOut(row_[3], count, columns_.tangent_x, at);
    CopyOut(row_[4], count, columns_.tangent_y, at);
    if (dimension_ == 3) {
      CopyOut(row_[5], count, columns_.tangent_z, at);
    } else if (!columns_.tangent_z.empty()) {
      std::fill_n(columns_.tangent_z.begin() + at, count, 0.0);
    }
    CopyOut(row_[6], count, columns_.curvature, at);
    CopyOut(parameter_, count, columns_.parameter, at);
    if (columns_.segment.empty()) return;
    for (int i = 0; i < count; ++i) {
      columns_.segment[at + i] = map_.spans()[span_of_[i]].segment;
    }
  }

  static void CopyOut(const double* row, int count, std::span<double> column, size_t at) {
    if (!column.empty()) std::copy_n(row, count, column.begin() + at);
  }

  // Runs of samples in one span. A kernel may write a little beyond its run: what follows is
  // written later.
  void EvaluateSorted(int count) {
    int i = 0;
    while (i < count) {
      AdvanceTo(local_[i]);
      const ArcSpan& span = map_.spans()[span_];
      int limit = i + 1;
      while (limit + kStride <= count && local_[limit + kStride - 1] < span.end) limit += kStride;
      while (limit < count && local_[limit] < span.end) ++limit;
      FindParameters(span, i, limit - i);
      std::fill(span_of_ + i, span_of_ + limit, span_);
      EvaluateRun(span.segment, i, limit - i);
      i = limit;
    }
  }

  // All lookups first, then all evaluations: the latencies of one sample overlap with those of the
  // next.
  void EvaluateUnsorted(int count) {
    for (int i = 0; i < count; ++i) span_of_[i] = map_.FindSpan(local_[i]);
    if (map_.inverse_mode() == InverseMode::kTabulated) {
      for (int i = 0; i < count; ++i) {
        parameter_[i] = ParameterOfSpan(map_.spans()[span_of_[i]], local_[i]);
      }
    } else {
      for (int i = 0; i < count; ++i) InvertSample(i);
    }
    for (int i = 0; i < count; ++i) {
      PinEnds(i);
      EvaluateRun(map_.spans()[span_of_[i]].segment, i, 1);
    }
  }

  void FindParameters(const ArcSpan& span, int first, int count) {
    if (map_.inverse_mode() == InverseMode::kTabulated) {
      if (count == 1) {
        parameter_[first] = ParameterOfSpan(span, local_[first]);
      } else {
        ParametersOfSpan(span, local_ + first, count, parameter_ + first);
      }
    } else {
      for (int i = first; i < first + count; ++i) {
        span_of_[i] = span_;
        InvertSample(i);
      }
    }
    PinEnds(first);
    for (int i = first + count - 1; i > first && local_[i] >= map_.local_length(); --i) {
      parameter_[i] = span.t_end;
    }
  }

  void InvertSample(int i) {
    const ArcSpan& span = map_.spans()[span_of_[i]];
    parameter_[i] = InvertForward(span, map_.forward()[span_of_[i]], local_[i] - span.begin);
  }

  // The two ends of the curve are exact.
  void PinEnds(int i) {
    if (local_[i] <= 0.0) parameter_[i] = map_.spans().front().t_begin;
    if (local_[i] >= map_.local_length()) parameter_[i] = map_.spans().back().t_end;
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

  void EvaluateRun(int segment, int first, int count) {
    RunColumns out;
    for (int c = 0; c < 3; ++c) {
      out.position[c] = row_[c] + first;
      out.tangent[c] = row_[3 + c] + first;
    }
    out.curvature = row_[6] + first;
    out.squared_speed = row_[7] + first;
    const CurvePiece& piece = map_.curve().piece(segment);
    if (dimension_ == 2) {
      SamplesOfPiece<2>(piece, frame_, parameter_ + first, count, directions_, out);
    } else {
      SamplesOfPiece<3>(piece, frame_, parameter_ + first, count, directions_, out);
    }
    if (!directions_) return;
    const double floor = piece.speed_floor * piece.speed_floor;
    int slow = 0;
    for (int i = 0; i < count; ++i) slow += out.squared_speed[i] <= floor;
    slow_ |= slow > 0;
  }

  // Tangents and curvatures where dr/dt = 0.
  void MarkSlowSamples(int count, uint8_t* marks) {
    for (int i = 0; i < count; ++i) {
      const int32_t segment = map_.spans()[span_of_[i]].segment;
      const CurvePiece& piece = map_.curve().piece(segment);
      if (row_[7][i] > piece.speed_floor * piece.speed_floor) continue;
      const TravelSide side = parameter_[i] < 1.0 ? TravelSide::kLeaving : TravelSide::kArriving;
      const auto direction = LimitDirection(piece, dimension_, parameter_[i], side, 2);
      for (int c = 0; c < dimension_; ++c) row_[3 + c][i] = direction[c];
      row_[6][i] = std::numeric_limits<double>::quiet_NaN();
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

  const ArcLengthMap& map_;
  const SampleLayout& layout_;
  const SampleColumns& columns_;
  const int dimension_;
  SampleFrame frame_;
  bool directions_ = false;
  bool slow_ = false;  // Some sample of the block has a vanishing speed.
  int span_ = -1;
  // Scratch rows: x, y, z, tangents, curvature, squared speed. Zero at first, because kernels touch
  // lanes beyond a run.
  alignas(64) Row distance_ = {};
  alignas(64) Row local_ = {};
  alignas(64) Row parameter_ = {};
  alignas(64) double row_[8][kBlock + kGroup] = {};
  int span_of_[kBlock];
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
