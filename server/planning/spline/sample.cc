// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/sample.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/planning/spline/hodograph.h"
#include "server/planning/spline/lanes.h"
#include "server/planning/spline/limit_direction.h"
#include "server/planning/spline/sample_kernels.h"

namespace arclane {
namespace {

// Samples are written in blocks that stay in the first-level cache.
constexpr int kBlock = 128;

// The end of a run is searched in steps of this many samples.
constexpr int kStride = 8;

// With fewer samples a span than this, sorted ones are no runs and are looked up one by one.
constexpr size_t kLeastRun = 4;

// Writes one block after the other, straight into the columns.
class CurveSampler {
 public:
  CurveSampler(const ArcLengthMap& map, const SampleLayout& layout, const SampleColumns& columns)
      : map_(map),
        layout_(layout),
        columns_(columns),
        spans_(map.spans()),
        pieces_(map.curve().pieces()),
        dimension_(map.curve().dimension()) {
    for (int c = 0; c < 3; ++c) frame_.origin[c] = map.curve().origin()[c];
    frame_.inverse_scale = map.curve().inverse_scale();
    directions_ = !columns.tangent_x.empty() || !columns.tangent_y.empty() ||
                  !columns.tangent_z.empty() || !columns.curvature.empty() ||
                  !columns.marks.empty();
    kernels_ = SelectKernels(dimension_, pieces_[0].degree, pieces_[0].rational, directions_);
    wanted_[0] = columns.x;
    wanted_[1] = columns.y;
    wanted_[2] = columns.z;
    wanted_[3] = columns.tangent_x;
    wanted_[4] = columns.tangent_y;
    wanted_[5] = columns.tangent_z;
    wanted_[6] = columns.curvature;
    std::fill_n(parameter_, kRow, 0.0);
    std::fill_n(local_, kRow, 0.0);
  }

  void Run(size_t first, size_t count) {
    total_ = count;
    runs_ = layout_.sorted && count / kLeastRun >= spans_.size();
    for (size_t done = 0; done < count; done += kBlock) {
      const int block = static_cast<int>(std::min<size_t>(kBlock, count - done));
      at_ = done;
      PlaceBlock(first + done, block);
      std::fill_n(local_ + block, kStride, std::numeric_limits<double>::infinity());
      if (spans_.empty()) {
        WritePoint(block);
      } else {
        WriteBlock(block);
      }
    }
  }

 private:
  static constexpr int kRow = kBlock + kParameterGroup;
  using Row = double[kRow];

  // Local distances of the samples; those in the caller's unit go into their column. The scale is
  // a power of two: the order of products changes no bit.
  void PlaceBlock(size_t first, int count) {
    const Lanes unit = SplatLanes(frame_.inverse_scale);
    if (layout_.distances.empty()) {
      const Lanes last = SplatLanes(layout_.last), step = SplatLanes(layout_.step);
      Lanes index = SplatLanes(static_cast<double>(first)) + Lanes{0.0, 1.0};
      for (int i = 0; i < count; i += 2 * kLaneCount) {
        const Lanes next = index + SplatLanes(2.0);
        StoreLanes(local_ + i, MinLanes(index * step, last) * unit);
        StoreLanes(local_ + i + kLaneCount, MinLanes(next * step, last) * unit);
        index += SplatLanes(4.0);
      }
      if (first + count == layout_.count) local_[count - 1] = layout_.last * frame_.inverse_scale;
      if (columns_.distance.empty()) return;
      for (int i = 0; i < count; ++i) {
        columns_.distance[at_ + i] =
            std::min(static_cast<double>(first + i) * layout_.step, layout_.last);
      }
      if (first + count == layout_.count) columns_.distance[at_ + count - 1] = layout_.last;
    } else {
      map_.NormalizeAll(layout_.distances.subspan(first, count), local_);
      CopyOut(local_, count, columns_.distance);
      for (int i = 0; i < count; i += kLaneCount) {
        StoreLanes(local_ + i, LoadLanes(local_ + i) * unit);
      }
    }
  }

  void WriteBlock(int count) {
    least_squared_ = std::numeric_limits<double>::infinity();
    if (runs_) {
      WriteRuns(count);
    } else {
      WriteScattered(count);
    }
    CopyOut(parameter_, count, columns_.parameter);
    if (dimension_ == 2) {
      FillOut(0.0, count, columns_.z);
      FillOut(0.0, count, columns_.tangent_z);
    }
    FillOut(uint8_t{0}, count, columns_.marks);
    if (directions_ && !(least_squared_ > SquaredFloor())) MarkSlowSamples(count);
    PinPositions(count);
  }

  // At the curve's ends the positions are its end points, to the bit.
  void PinPositions(int count) const {
    const auto pin = [&](int i) {
      const bool at_start = local_[i] <= 0.0, at_end = local_[i] >= map_.local_length();
      if (!at_start && !at_end) return false;
      const auto& point = at_start ? map_.curve().start_point() : map_.curve().end_point();
      for (int c = 0; c < dimension_; ++c) {
        if (!wanted_[c].empty()) wanted_[c][at_ + i] = point[c];
      }
      return true;
    };
    if (!layout_.sorted) {
      for (int i = 0; i < count; ++i) pin(i);
      return;
    }
    for (int i = 0; i < count && pin(i);) ++i;
    for (int i = count - 1; i >= 0 && pin(i);) --i;
  }

  template <typename T>
  void CopyOut(const T* row, int count, std::span<T> column) const {
    if (!column.empty()) std::copy_n(row, count, column.begin() + at_);
  }
  template <typename T>
  void FillOut(T value, int count, std::span<T> column) const {
    if (!column.empty()) std::fill_n(column.begin() + at_, count, value);
  }

  // Runs of samples in one span get their parameters together, runs on one piece their points.
  // What a kernel writes beyond its run is written again later.
  void WriteRuns(int count) {
    int piece_first = 0;
    int32_t segment = -1;
    for (int i = 0; i < count;) {
      AdvanceTo(local_[i]);
      const ArcSpan& span = spans_[span_];
      const int limit = RunLimit(i, count, map_.SearchEnd(span_));
      if (span.segment != segment) {
        if (i > 0) WriteRun(segment, piece_first, i - piece_first);
        piece_first = i;
        segment = span.segment;
      }
      FindParameters(span, i, limit - i);
      i = limit;
    }
    WriteRun(segment, piece_first, count - piece_first);
  }

  int RunLimit(int first, int count, double end) const {
    int limit = first + 1;
    while (limit + kStride <= count && local_[limit + kStride - 1] < end) limit += kStride;
    int inside = 0;
    for (int k = 0; k < kStride; ++k) inside += local_[limit + k] < end;
    return std::min(limit + inside, count);
  }

  void AdvanceTo(double local) {
    if (span_ >= 0 && local >= spans_[span_].begin) {
      if (local < map_.SearchEnd(span_)) return;
      if (local < map_.SearchEnd(span_ + 1)) {
        ++span_;
        return;
      }
    }
    span_ = map_.FindSpan(local);
  }

  void FindParameters(const ArcSpan& span, int first, int count) {
    if (map_.inverse_mode() == InverseMode::kTabulated) {
      kernels_.parameters(span, local_ + first, count, parameter_ + first);
    } else {
      for (int i = first; i < first + count; ++i) InvertSample(span_, i);
    }
    // The two ends of the curve are exact.
    for (int i = first; i < first + count && local_[i] <= 0.0; ++i) PinEnds(i);
    for (int i = first + count - 1; i >= first && local_[i] >= map_.local_length(); --i) PinEnds(i);
  }

  void InvertSample(int index, int i) {
    const ArcSpan& span = spans_[index];
    parameter_[i] = InvertForward(span, map_.forward()[index], local_[i] - span.begin);
  }

  void PinEnds(int i) {
    if (local_[i] <= 0.0) parameter_[i] = spans_.front().t_begin;
    if (local_[i] >= map_.local_length()) parameter_[i] = spans_.back().t_end;
  }

  // All lookups first, then all evaluations: the latencies of one sample overlap with those of the
  // next.
  void WriteScattered(int count) {
    double least = local_[0], greatest = local_[0];
    for (int i = 0; i < count; ++i) {
      span_of_[i] = map_.FindSpan(local_[i]);
      least = std::min(least, local_[i]);
      greatest = std::max(greatest, local_[i]);
    }
    if (map_.inverse_mode() == InverseMode::kTabulated) {
      ScatteredParameters(spans_.data(), span_of_, local_, count, parameter_);
    } else {
      for (int i = 0; i < count; ++i) InvertSample(span_of_[i], i);
    }
    if (least <= 0.0 || greatest >= map_.local_length()) {
      for (int i = 0; i < count; ++i) PinEnds(i);
    }
    const RunColumns out = ColumnsAt(0);
    const DerivativeRows rows = {{derivative_[0], derivative_[1], derivative_[2]},
                                 {derivative_[3], derivative_[4], derivative_[5]}};
    kernels_.scattered_points(pieces_.data(), spans_.data(), span_of_, frame_, parameter_, count,
                              out.position, directions_ ? &rows : nullptr);
    if (directions_) {
      const auto directions = [&](int first, int run, const RunColumns& to) {
        DerivativeRows from = rows;
        for (int c = 0; c < 3; ++c) from.first[c] += first, from.second[c] += first;
        return kernels_.directions(from, frame_, run, to);
      };
      Write(0, count, /*first_column=*/3, directions);
    }
    if (columns_.segment.empty()) return;
    for (int i = 0; i < count; ++i) columns_.segment[at_ + i] = spans_[span_of_[i]].segment;
  }

  void WriteRun(int segment, int first, int count) {
    const CurvePiece& piece = pieces_[segment];
    const auto points = [&](int begin, int run, const RunColumns& to) {
      return kernels_.points(piece, frame_, parameter_ + begin, run, to);
    };
    Write(first, count, /*first_column=*/0, points);
    if (!columns_.segment.empty()) {
      std::fill_n(columns_.segment.begin() + at_ + first, count, segment);
    }
  }

  // Lets a kernel write whole vectors: straight into the columns while they have room, the last
  // ones of all by way of a scratch row.
  template <typename Kernel>
  void Write(int first, int count, int first_column, const Kernel& kernel) {
    const size_t room = total_ - at_ - static_cast<size_t>(first);
    const int whole = count - count % kSampleVector;
    const bool fits = whole == count || room >= static_cast<size_t>(whole + kSampleVector);
    const int direct = fits ? count : whole;
    double least = least_squared_;
    if (direct > 0) least = std::min(least, kernel(first, direct, ColumnsAt(first)));
    if (direct < count) {
      Row tail[7];
      RunColumns to = {{tail[0], tail[1], tail[2]},
                       {tail[3], tail[4], tail[5]},
                       tail[6],
                       squared_ + first + direct};
      least = std::min(least, kernel(first + direct, count - direct, to));
      for (int k = first_column; k < 7; ++k) {
        if (wanted_[k].empty() || (dimension_ == 2 && (k == 2 || k == 5))) continue;
        std::copy_n(tail[k], count - direct, wanted_[k].begin() + at_ + first + direct);
      }
    }
    least_squared_ = least;
  }

  // Columns nobody asked for share one row that nobody reads.
  RunColumns ColumnsAt(int first) {
    double* to[7];
    for (int k = 0; k < 7; ++k) {
      to[k] = wanted_[k].empty() ? unwanted_ : wanted_[k].data() + at_;
      to[k] += first;
    }
    return {{to[0], to[1], to[2]}, {to[3], to[4], to[5]}, to[6], squared_ + first};
  }

  static double SquaredImprecise(const CurvePiece& piece) {
    return piece.imprecise_speed * piece.imprecise_speed;
  }

  // Of all pieces: the test of a block. Each sample is then tested against that of its own piece.
  double SquaredFloor() {
    if (squared_floor_ < 0.0) {
      for (const CurvePiece& piece : pieces_) {
        squared_floor_ = std::max(squared_floor_, SquaredImprecise(piece));
      }
    }
    return squared_floor_;
  }

  // Tangents and curvatures where dr/dt is 0, or so small that the kernels lose their digits.
  void MarkSlowSamples(int count) {
    for (int i = 0; i < count; ++i) {
      if (squared_[i] > squared_floor_) continue;
      const CurvePiece& piece = pieces_[spans_[map_.FindSpan(local_[i])].segment];
      if (squared_[i] > SquaredImprecise(piece)) continue;
      const HodographPoint point = EvaluateHodograph(piece, dimension_, parameter_[i]);
      if (SpeedOf(point) > piece.speed_floor) {
        WriteDirection(point, i);
        continue;
      }
      const TravelSide side = parameter_[i] < 1.0 ? TravelSide::kLeaving : TravelSide::kArriving;
      const auto direction = LimitDirection(piece, dimension_, parameter_[i], side, 2);
      for (int c = 0; c < dimension_; ++c) {
        if (!wanted_[3 + c].empty()) wanted_[3 + c][at_ + i] = direction[c];
      }
      if (!columns_.curvature.empty()) {
        columns_.curvature[at_ + i] = std::numeric_limits<double>::quiet_NaN();
      }
      if (!columns_.marks.empty()) columns_.marks[at_ + i] = kCurvatureUndefined;
    }
  }

  void WriteDirection(const HodographPoint& point, int i) const {
    const double speed = SpeedOf(point) * point.weight * point.weight;
    for (int c = 0; c < dimension_; ++c) {
      if (!wanted_[3 + c].empty()) wanted_[3 + c][at_ + i] = point.value[c] / speed;
    }
    if (!columns_.curvature.empty()) {
      columns_.curvature[at_ + i] = CurvatureOf(point, dimension_) * frame_.inverse_scale;
    }
  }

  // A curve of length zero.
  void WritePoint(int count) const {
    const CurvePoint point = map_.curve().Evaluate(0, 0.0);
    FillOut(point.position[0], count, columns_.x);
    FillOut(point.position[1], count, columns_.y);
    FillOut(point.position[2], count, columns_.z);
    FillOut(0.0, count, columns_.tangent_x);
    FillOut(0.0, count, columns_.tangent_y);
    FillOut(0.0, count, columns_.tangent_z);
    FillOut(std::numeric_limits<double>::quiet_NaN(), count, columns_.curvature);
    FillOut(int32_t{0}, count, columns_.segment);
    FillOut(0.0, count, columns_.parameter);
    FillOut(static_cast<uint8_t>(kTangentUndefined | kCurvatureUndefined), count, columns_.marks);
  }

  const ArcLengthMap& map_;
  const SampleLayout& layout_;
  const SampleColumns& columns_;
  const std::span<const ArcSpan> spans_;
  const std::span<const CurvePiece> pieces_;
  const int dimension_;
  SampleFrame frame_;
  SampleKernels kernels_;
  std::span<double> wanted_[7];  // Position, tangent, curvature.
  bool directions_ = false;
  bool runs_ = false;
  size_t total_ = 0;
  size_t at_ = 0;  // Of the block in the columns.
  int span_ = -1;
  double least_squared_ = 0.0;  // Of the squared speeds of the block.
  double squared_floor_ = -1.0;
  // Scratch rows of the block.
  alignas(64) Row local_;
  alignas(64) Row parameter_;
  alignas(64) Row squared_;
  alignas(64) Row unwanted_;
  alignas(64) Row derivative_[6];
  int32_t span_of_[kBlock];
};

}  // namespace

void SampleCurve(const ArcLengthMap& map, const SampleLayout& layout,
                 const SampleColumns& columns) {
  SampleCurveRange(map, layout, 0, layout.count, columns);
}

void SampleCurveRange(const ArcLengthMap& map, const SampleLayout& layout, size_t first,
                      size_t count, const SampleColumns& columns) {
  CurveSampler(map, layout, columns).Run(first, count);
}

}  // namespace arclane
