// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/arc_length.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/planning/spline/lanes.h"
#include "server/planning/spline/sample_kernels.h"

namespace arclane {
namespace {

// Shares of the wanted error given to the sum of length errors and to the error within a span.
constexpr double kLengthShare = 0.125;
constexpr double kLocalShare = 0.5;
// Beside cusps and hairpins spans are short, and curvature varies by its own size over a span's
// length: there the error has to be small beside the span, at 1e-9 of the curve by 1e-7.
constexpr double kSpanShare = 20.0;

// When the measured bound misses the request, everything is built again with this much less
// allowed.
constexpr double kTightening = 1.0 / 16;
constexpr int kMaxBuilds = 3;

// Rounding of the prefix sums and of positions within the frame, of the length.
constexpr double kRoundingShare = 16 * 0x1p-53;

// Distances this close to the end, of the length, are the end: a few roundings of the caller's
// arithmetic.
constexpr double kEndRounding = 0x1p-50;

// Tabulating t(s) costs about as much as inverting s(t) this many times a segment.
constexpr size_t kBreakEvenSamples = 14;

// Buckets of the index a span; more of them make lookups shorter.
constexpr size_t kBucketsPerSpan = 4;

// Buckets begin this much earlier than they are, relatively: the rounding of a distance's bucket
// never skips its span.
constexpr double kBucketSlack = 0x1p-48;

// Length of a polygon through points of the piece: never more than the piece's length, and positive
// unless that is zero. A polynomial of degree p with more than p equal values is constant.
template <int kChords>
double PolygonLength(const CurvePiece& piece, double unit) {
  Lanes last_xy = SplatLanes(0.0), last_zw = SplatLanes(0.0);
  double length = 0.0;
  for (int k = 0; k <= kChords; ++k) {
    const Lanes t = SplatLanes(static_cast<double>(k) / kChords);
    // The constant term is left out: it may be far from the curve's frame.
    Lanes xy = SplatLanes(0.0), zw = SplatLanes(0.0);
    for (int j = piece.degree; j >= 1; --j) {
      xy = (xy + LoadAlignedLanes(&piece.power[j][0])) * t;
      zw = (zw + LoadAlignedLanes(&piece.power[j][2])) * t;
    }
    if (piece.rational) {
      xy = (xy + LoadAlignedLanes(&piece.power[0][0])) / SplatLanes(zw[1] + piece.power[0][3]);
      zw = (zw + LoadAlignedLanes(&piece.power[0][2])) / SplatLanes(zw[1] + piece.power[0][3]);
    }
    const Lanes chord_xy = (xy - last_xy) * SplatLanes(unit);
    const Lanes chord_z = (zw - last_zw) * SplatLanes(unit);
    const Lanes squares = chord_xy * chord_xy;
    if (k > 0) length += std::sqrt(squares[0] + squares[1] + chord_z[0] * chord_z[0]);
    last_xy = xy;
    last_zw = zw;
  }
  return length;
}

// In local units; `unit` is the frame's inverse scale.
double InscribedLength(const CurvePiece& piece, double unit) {
  return piece.degree <= 3 && !piece.rational ? PolygonLength<4>(piece, unit)
                                              : PolygonLength<8>(piece, unit);
}

}  // namespace

InverseMode ChooseInverseMode(const Curve& curve, size_t sample_count) {
  const size_t break_even = kBreakEvenSamples * static_cast<size_t>(curve.segment_count());
  return sample_count < break_even ? InverseMode::kDirect : InverseMode::kTabulated;
}

absl::StatusOr<ArcLengthMap> ArcLengthMap::Create(Curve curve, const ArcLengthOptions& options) {
  if (!(options.relative_error >= kMinRelativeError &&
        options.relative_error <= kMaxRelativeError)) {
    return absl::InvalidArgumentError(absl::StrCat("relative_error: must be in [",
                                                   kMinRelativeError, ", ", kMaxRelativeError,
                                                   "], got ", options.relative_error));
  }
  ArcLengthMap map;
  map.curve_ = std::move(curve);
  map.inverse_mode_ = options.inverse_mode;
  double share = 1.0;
  for (int build = 0; build < kMaxBuilds; ++build, share *= kTightening) {
    map.BuildSpans(options.relative_error * share);
    if (map.error_bound_ <= options.relative_error * map.length_) break;
  }
  map.BuildIndex();
  return map;
}

void ArcLengthMap::BuildSpans(double relative_error) {
  const int segments = curve_.segment_count();
  PieceSpans built;
  built.spans.reserve(4 * static_cast<size_t>(segments));
  built.forward.reserve(4 * static_cast<size_t>(segments));
  built.length.reserve(4 * static_cast<size_t>(segments));
  segment_first_span_.assign(segments + 1, 0);
  segment_start_.assign(segments + 1, 0.0);
  for (int i = 0; i < segments; ++i) {
    ArcSpanBudget budget;
    budget.piece_length = InscribedLength(curve_.piece(i), curve_.inverse_scale());
    budget.length_error = kLengthShare * relative_error * budget.piece_length;
    budget.local_error = kLocalShare * relative_error * budget.piece_length;
    budget.span_error = kSpanShare * relative_error;
    budget.with_inverse = inverse_mode_ == InverseMode::kTabulated;
    if (budget.piece_length > 0.0) {
      AppendPieceSpans(curve_.piece(i), curve_.dimension(), i, budget, built);
    }
    segment_first_span_[i + 1] = static_cast<int32_t>(built.spans.size());
  }
  spans_ = std::move(built.spans);
  forward_ = std::move(built.forward);
  PlaceSpans(built.length);
  const double local_error =
      built.length_error + built.local_error + kRoundingShare * local_length_;
  length_ = local_length_ * curve_.scale();
  error_bound_ = local_error * curve_.scale();
}

// Prefix sums with Neumaier's compensation: the start of the last span is as exact as that of the
// first.
void ArcLengthMap::PlaceSpans(std::span<const double> lengths) {
  double sum = 0.0, compensation = 0.0, end = 0.0;
  size_t span = 0;
  for (int segment = 0; segment < curve_.segment_count(); ++segment) {
    segment_start_[segment] = end;
    for (; span < static_cast<size_t>(segment_first_span_[segment + 1]); ++span) {
      const double next = sum + lengths[span];
      compensation +=
          sum >= lengths[span] ? (sum - next) + lengths[span] : (lengths[span] - next) + sum;
      sum = next;
      spans_[span].begin = end;
      end = std::max(end, sum + compensation);
      spans_[span].end = end;
      spans_[span].base += spans_[span].from_end ? end : spans_[span].begin;
    }
  }
  segment_start_.back() = end;
  local_length_ = end;
}

void ArcLengthMap::BuildIndex() {
  bucket_first_.clear();
  if (spans_.empty()) return;
  // The last span of positive length takes everything from its begin on, so that searches end
  // there.
  search_end_.resize(spans_.size());
  size_t last = spans_.size() - 1;
  while (last > 0 && !(spans_[last].begin < spans_[last].end)) --last;
  for (size_t i = 0; i < spans_.size(); ++i) {
    search_end_[i] = i < last ? spans_[i].end : std::numeric_limits<double>::infinity();
  }
  const size_t buckets = kBucketsPerSpan * spans_.size();
  bucket_scale_ = static_cast<double>(buckets) / local_length_;
  bucket_first_.resize(buckets + 1);
  size_t span = 0;
  for (size_t b = 0; b <= buckets; ++b) {
    const double start = static_cast<double>(b) / bucket_scale_ * (1.0 - kBucketSlack);
    while (search_end_[span] <= start) ++span;
    bucket_first_[b] = static_cast<int32_t>(span);
  }
}

int ArcLengthMap::FindSpan(double local_distance) const {
  const double scaled = local_distance * bucket_scale_;
  const int last_bucket = static_cast<int>(bucket_first_.size()) - 2;
  int bucket = static_cast<int>(scaled);
  bucket = bucket < last_bucket ? bucket : last_bucket;
  int low = bucket_first_[bucket];
  constexpr int kLinearSteps = 8;
  if (bucket_first_[bucket + 1] - low > kLinearSteps) {
    const auto begin = search_end_.begin();
    return static_cast<int>(
        std::upper_bound(begin + low, begin + bucket_first_[bucket + 1], local_distance) - begin);
  }
  low += search_end_[low] <= local_distance;
  while (search_end_[low] <= local_distance) ++low;
  return low;
}

double ArcLengthMap::SegmentLength(int segment) const {
  return (segment_start_[segment + 1] - segment_start_[segment]) * curve_.scale();
}

double ArcLengthMap::DistanceAt(int segment, double parameter) const {
  const int first = segment_first_span_[segment];
  const int limit = segment_first_span_[segment + 1];
  if (!(parameter > 0.0) || first == limit) return StartOfSegment(segment);
  if (parameter >= 1.0) return StartOfSegment(segment + 1);
  const auto at =
      std::upper_bound(spans_.begin() + first, spans_.begin() + limit, parameter,
                       [](double value, const ArcSpan& span) { return value < span.t_begin; });
  const size_t index = static_cast<size_t>(at - spans_.begin()) - 1;
  const ArcSpan& span = spans_[index];
  const double u = (parameter - span.t_begin) / (span.t_end - span.t_begin);
  const double x = span.from_end ? 1.0 - 2.0 * u : 2.0 * u - 1.0;
  const double from_slow = EvaluateForward(forward_[index], std::clamp(x, -1.0, 1.0)).distance;
  const double distance = span.from_end ? span.end - from_slow : span.begin + from_slow;
  return std::clamp(distance, span.begin, span.end) * curve_.scale();
}

double ArcLengthMap::Normalize(double distance) const {
  if (distance >= 0.0 && distance < length_ - kEndRounding * length_) return distance;
  // Lengths and distances that went through another computation: the end, not the start of the next
  // lap.
  if (std::abs(distance - length_) <= std::max(error_bound_, kEndRounding * length_) &&
      distance >= length_ - kEndRounding * length_) {
    return length_;
  }
  if (distance < 0.0 && distance >= -error_bound_) return 0.0;
  if (!curve_.closed() || !std::isfinite(distance) || !(length_ > 0.0)) {
    return distance > length_ ? length_ : 0.0;
  }
  const double wrapped = std::fmod(distance, length_);
  return wrapped < 0.0 ? std::min(wrapped + length_, length_) : wrapped;
}

void ArcLengthMap::NormalizeAll(std::span<const double> distances, double* out) const {
  const double limit = length_ - kEndRounding * length_;
  int outside = 0;
  for (size_t i = 0; i < distances.size(); ++i) {
    out[i] = distances[i];
    outside += (distances[i] >= 0.0 ? 0 : 1) + (distances[i] < limit ? 0 : 1);
  }
  if (outside == 0) return;
  for (size_t i = 0; i < distances.size(); ++i) out[i] = Normalize(distances[i]);
}

CurveLocation ArcLengthMap::LocationAt(double distance) const {
  if (spans_.empty()) return {0, 0.0};
  const double local = Normalize(distance) * curve_.inverse_scale();
  const int index = FindSpan(local);
  const ArcSpan& span = spans_[index];
  if (local >= span.end) return {span.segment, span.t_end};
  if (local <= 0.0) return {span.segment, span.t_begin};
  if (inverse_mode_ == InverseMode::kDirect) {
    return {span.segment, InvertForward(span, forward_[index], local - span.begin)};
  }
  return {span.segment, ParameterOfSpan(span, local)};
}

}  // namespace arclane
