// SPDX-License-Identifier: Apache-2.0
// Sampling at exact arc lengths against two usual approximations, on the same curves and distances:
//   Article: float, segment lengths by three-point Gauss quadrature in a table, Newton steps until
//   the length is within
//            0.01, as in "Moving along a curve with specified speed" (Eberly) and the many engines
//            that follow it;
//   Table:   256 entries of t by distance for the whole curve, linear interpolation.
// The counter `per_item` is the time of one sample, of one segment for set-up, or of one knot.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"
#include "server/planning/route/curve_speed.h"
#include "server/planning/spline/arc_length.h"
#include "server/planning/spline/curvature_knots.h"
#include "server/planning/spline/curve.h"
#include "server/planning/spline/sample.h"

namespace arclane {
namespace {

// A fixed linear congruence: the same shapes on every platform.
class Sequence {
 public:
  double Uniform(double low, double high) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * static_cast<double>(state_ >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_ = 88172645463325252u;
};

struct Columns {
  std::vector<double> x, y, z;
};

// A road of random bends through points about ten units apart.
Columns RoadPoints(int count, bool spatial) {
  Sequence sequence;
  Columns columns;
  double x = 0.0, y = 0.0, z = 0.0, heading = 0.0;
  for (int i = 0; i < count; ++i) {
    columns.x.push_back(x);
    columns.y.push_back(y);
    if (spatial) columns.z.push_back(z);
    heading += sequence.Uniform(-1.2, 1.2);
    const double step = sequence.Uniform(6.0, 14.0);
    x += step * std::cos(heading);
    y += step * std::sin(heading);
    z += sequence.Uniform(-2.0, 2.0);
  }
  return columns;
}

Curve MakeRoad(int segments, bool spatial) {
  const Columns points = RoadPoints(segments + 1, spatial);
  CurveInput input;
  input.kind = CurveKind::kCatmullRom;
  input.control = {points.x, points.y, points.z};
  return *Curve::Create(input);
}

Curve MakeBezierChain(const std::array<std::array<double, 2>, 4>& shape, int segments) {
  Columns points;
  for (int i = 0; i < segments; ++i) {
    // Every other segment runs backwards, so that the chain is connected.
    for (int j = i == 0 ? 0 : 1; j < 4; ++j) {
      const auto& p = shape[i % 2 == 0 ? j : 3 - j];
      points.x.push_back(p[0]);
      points.y.push_back(p[1]);
    }
  }
  CurveInput input;
  input.control = {points.x, points.y, {}};
  return *Curve::Create(input);
}

Curve Chain2D() { return MakeRoad(6, false); }
Curve Chain3D() { return MakeRoad(80, true); }
Curve RandomBeziers() {
  Sequence sequence;
  Columns points;
  for (int i = 0; i < 3 * 60 + 1; ++i) {
    points.x.push_back(sequence.Uniform(-100.0, 100.0));
    points.y.push_back(sequence.Uniform(-100.0, 100.0));
  }
  CurveInput input;
  input.control = {points.x, points.y, {}};
  return *Curve::Create(input);
}
Curve Cusps() { return MakeBezierChain({{{0, 0}, {24, -36}, {-6, -6}, {30, -30}}}, 60); }
Curve NearCusps(double gap) {
  return MakeBezierChain({{{0, 0}, {1.0 + gap, 1}, {0, 1}, {1, 0}}}, 60);
}

void ReportPerItem(benchmark::State& state, double items) {
  state.counters["per_item"] = benchmark::Counter(
      items, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

std::vector<double> EvenDistances(double length, size_t count) {
  std::vector<double> distances(count);
  for (size_t i = 0; i < count; ++i) {
    distances[i] = length * static_cast<double>(i) / static_cast<double>(count - 1);
  }
  return distances;
}

std::vector<double> ShuffledDistances(double length, size_t count) {
  std::vector<double> distances = EvenDistances(length, count);
  Sequence sequence;
  for (size_t i = count - 1; i > 0; --i) {
    std::swap(distances[i], distances[static_cast<size_t>(sequence.Uniform(0.0, i + 1.0))]);
  }
  return distances;
}

struct Output {
  explicit Output(size_t count) {
    for (auto& column : columns) column.resize(count);
  }
  std::array<std::vector<double>, 7> columns;
};

enum class Wanted { kPosition, kAll };

void Sample(benchmark::State& state, const ArcLengthMap& map, const SampleRequest& request,
            Wanted wanted) {
  const auto layout = LayOutSamples(map, request);
  Output output(layout->count);
  SampleColumns columns;
  columns.x = output.columns[0];
  columns.y = output.columns[1];
  const bool spatial = map.curve().dimension() == 3;
  if (spatial) columns.z = output.columns[2];
  if (wanted == Wanted::kAll) {
    columns.tangent_x = output.columns[3];
    columns.tangent_y = output.columns[4];
    if (spatial) columns.tangent_z = output.columns[5];
    columns.curvature = output.columns[6];
  }
  for (auto _ : state) {
    SampleCurve(map, *layout, columns);
    benchmark::DoNotOptimize(output.columns[0].data());
    benchmark::ClobberMemory();
  }
  ReportPerItem(state, static_cast<double>(layout->count));
}

void EvenSamples(benchmark::State& state, Curve curve, Wanted wanted) {
  const auto map = ArcLengthMap::Create(std::move(curve));
  SampleRequest request;
  request.mode = SampleSpacing::kCount;
  request.count = static_cast<size_t>(state.range(0));
  Sample(state, *map, request, wanted);
}

void ShuffledSamples(benchmark::State& state, Curve curve, Wanted wanted) {
  const auto map = ArcLengthMap::Create(std::move(curve));
  const auto distances = ShuffledDistances(map->length(), static_cast<size_t>(state.range(0)));
  SampleRequest request;
  request.mode = SampleSpacing::kDistances;
  request.distances = distances;
  Sample(state, *map, request, wanted);
}

// Set-up and samples together, by direct inversion, for few samples.
void DirectSamples(benchmark::State& state, const Curve& curve, InverseMode mode) {
  Output output(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    const auto map = ArcLengthMap::Create(curve, {1e-9, mode});
    SampleRequest request;
    request.mode = SampleSpacing::kCount;
    request.count = static_cast<size_t>(state.range(0));
    const auto layout = LayOutSamples(*map, request);
    SampleColumns columns;
    columns.x = output.columns[0];
    columns.y = output.columns[1];
    columns.z = output.columns[2];
    SampleCurve(*map, *layout, columns);
    benchmark::ClobberMemory();
  }
  ReportPerItem(state, static_cast<double>(state.range(0)));
}

void SetUp(benchmark::State& state, const Curve& curve, double bound) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(ArcLengthMap::Create(curve, {bound}));
  }
  const auto map = ArcLengthMap::Create(curve, {bound});
  ReportPerItem(state, curve.segment_count());
  state.counters["spans"] = static_cast<double>(map->spans().size()) / curve.segment_count();
}

void Knots(benchmark::State& state, Curve curve) {
  const auto map = ArcLengthMap::Create(std::move(curve));
  size_t knots = 0;
  for (auto _ : state) {
    const auto refined = RefineCurvature(*map);
    knots = refined->distance.size();
    benchmark::DoNotOptimize(refined);
  }
  ReportPerItem(state, static_cast<double>(knots));
}

// The speed along a curve, from its map: knots, envelope and plans. Accelerations are those at
// which about half of the curve is at the lateral limit, or all of it.
void CurveSpeedPlan(benchmark::State& state, Curve curve, double acceleration, BudgetMode mode) {
  const auto map = ArcLengthMap::Create(std::move(curve));
  CurveSpeedRequest request;
  SpeedLimits& limits = request.agent.limits;
  limits.max_speed = 1000.0;
  limits.max_acceleration = limits.max_braking = acceleration;
  limits.max_lateral_acceleration = 4.0;
  if (mode == BudgetMode::kCoupled) limits.max_total_acceleration = 4.0;
  limits.budget_mode = mode;
  CurvatureWorkspace workspace;
  CurveSpeed speed;
  for (auto _ : state) {
    benchmark::DoNotOptimize(RefineProfile(*map, request, speed).ok());
    PlanCurveSpeed(*map, request, workspace, speed);
    benchmark::DoNotOptimize(speed.plan.duration_s);
  }
  if (speed.plan.status != SpeedPlanStatus::kOk) state.SkipWithError("no plan");
  state.counters["nodes"] = static_cast<double>(speed.distance.size());
  ReportPerItem(state, map->curve().segment_count());
}

// The article's method, all in float.
class ArticleCurve {
 public:
  explicit ArticleCurve(const Curve& curve) {
    for (const CurvePiece& piece : curve.pieces()) {
      Segment segment{};
      for (int c = 0; c < 3; ++c) {
        for (int j = 0; j < 4; ++j) {
          segment.power[c][j] = static_cast<float>(piece.power[j][c]);
        }
      }
      segments_.push_back(segment);
      lengths_.push_back(Length(segment, 1.0f));
      total_ += lengths_.back();
    }
  }

  float total() const { return total_; }

  std::array<float, 3> At(float distance) const {
    size_t i = 0;
    while (i + 1 < lengths_.size() && distance > lengths_[i]) distance -= lengths_[i++];
    const Segment& segment = segments_[i];
    float t = distance / lengths_[i];
    constexpr float kTolerance = 0.01f;
    constexpr int kMaxSteps = 20;
    for (int step = 0; step < kMaxSteps; ++step) {
      const float error = Length(segment, t) - distance;
      if (std::abs(error) < kTolerance) break;
      t -= error / Speed(segment, t);
    }
    std::array<float, 3> point;
    for (int c = 0; c < 3; ++c) {
      const auto& p = segment.power[c];
      point[c] = ((p[3] * t + p[2]) * t + p[1]) * t + p[0];
    }
    return point;
  }

 private:
  struct Segment {
    float power[3][4];
  };

  static float Speed(const Segment& segment, float t) {
    float sum = 0.0f;
    for (int c = 0; c < 3; ++c) {
      const auto& p = segment.power[c];
      const float d = (3.0f * p[3] * t + 2.0f * p[2]) * t + p[1];
      sum += d * d;
    }
    return std::sqrt(sum);
  }

  static float Length(const Segment& segment, float t) {
    constexpr float kNode = 0.7745966692f;
    const float half = 0.5f * t;
    return half * (5.0f / 9.0f * Speed(segment, half * (1.0f - kNode)) +
                   8.0f / 9.0f * Speed(segment, half) +
                   5.0f / 9.0f * Speed(segment, half * (1.0f + kNode)));
  }

  std::vector<Segment> segments_;
  std::vector<float> lengths_;
  float total_ = 0.0f;
};

// 256 chords of equal parameter steps over the whole curve.
class TableCurve {
 public:
  explicit TableCurve(const Curve& curve) : curve_(curve) {
    std::array<double, 3> last = curve.Evaluate(0, 0.0).position;
    distance_[0] = 0.0;
    for (int k = 1; k <= kEntries; ++k) {
      const auto point = PointAt(static_cast<double>(k) / kEntries);
      distance_[k] =
          distance_[k - 1] + std::hypot(point[0] - last[0], point[1] - last[1], point[2] - last[2]);
      last = point;
    }
  }

  double total() const { return distance_[kEntries]; }

  std::array<double, 3> At(double distance) const {
    const auto above = std::upper_bound(distance_.begin() + 1, distance_.end() - 1, distance);
    const auto k = above - distance_.begin() - 1;
    const double part = (distance - distance_[k]) / (distance_[k + 1] - distance_[k]);
    return PointAt((static_cast<double>(k) + part) / kEntries);
  }

 private:
  static constexpr int kEntries = 256;

  std::array<double, 3> PointAt(double u) const {
    const double scaled = u * curve_.segment_count();
    const int segment = std::min(static_cast<int>(scaled), curve_.segment_count() - 1);
    const double t = scaled - segment;
    const CurvePiece& piece = curve_.piece(segment);
    std::array<double, 3> point;
    for (int c = 0; c < 3; ++c) {
      const auto& p = piece.power;
      point[c] = ((p[3][c] * t + p[2][c]) * t + p[1][c]) * t + p[0][c];
    }
    return point;
  }

  const Curve& curve_;
  std::array<double, kEntries + 1> distance_;
};

// The largest distance to the true points, of the length: what the baseline's speed buys.
template <typename Baseline>
double RelativeError(const Curve& curve, const Baseline& baseline) {
  const auto map = ArcLengthMap::Create(curve, {1e-12});
  double worst = 0.0;
  constexpr int kProbes = 2000;
  for (int i = 0; i <= kProbes; ++i) {
    const double s = map->length() * i / kProbes;
    const CurveLocation at = map->LocationAt(s);
    const auto truth = curve.Evaluate(at.segment, at.parameter).position;
    const auto point = baseline.At(std::min<double>(s, baseline.total()));
    worst =
        std::max(worst, std::hypot(point[0] - truth[0], point[1] - truth[1], point[2] - truth[2]));
  }
  return worst / map->length();
}

template <typename Baseline>
void BaselineSamples(benchmark::State& state, const Curve& curve, bool shuffled) {
  const Baseline baseline(curve);
  const auto count = static_cast<size_t>(state.range(0));
  const auto distances = shuffled ? ShuffledDistances(baseline.total(), count)
                                  : EvenDistances(baseline.total(), count);
  Output output(count);
  for (auto _ : state) {
    for (size_t i = 0; i < count; ++i) {
      const auto point = baseline.At(distances[i]);
      for (int c = 0; c < 3; ++c) output.columns[c][i] = point[c];
    }
    benchmark::ClobberMemory();
  }
  ReportPerItem(state, static_cast<double>(count));
  state.counters["error"] = RelativeError(curve, baseline);
}

void Sizes(benchmark::internal::Benchmark* b) { b->Arg(100)->Arg(1000)->Arg(10000)->Arg(100000); }

void BM_Position_Chain2D(benchmark::State& s) { EvenSamples(s, Chain2D(), Wanted::kPosition); }
void BM_Position_Chain3D(benchmark::State& s) { EvenSamples(s, Chain3D(), Wanted::kPosition); }
void BM_All_Chain2D(benchmark::State& s) { EvenSamples(s, Chain2D(), Wanted::kAll); }
void BM_All_Chain3D(benchmark::State& s) { EvenSamples(s, Chain3D(), Wanted::kAll); }
void BM_Shuffled_Chain2D(benchmark::State& s) { ShuffledSamples(s, Chain2D(), Wanted::kPosition); }
void BM_Shuffled_Chain3D(benchmark::State& s) { ShuffledSamples(s, Chain3D(), Wanted::kPosition); }
void BM_ShuffledAll_Chain3D(benchmark::State& s) { ShuffledSamples(s, Chain3D(), Wanted::kAll); }
BENCHMARK(BM_Position_Chain2D)->Apply(Sizes);
BENCHMARK(BM_Position_Chain3D)->Apply(Sizes);
BENCHMARK(BM_All_Chain2D)->Apply(Sizes);
BENCHMARK(BM_All_Chain3D)->Apply(Sizes);
BENCHMARK(BM_Shuffled_Chain2D)->Apply(Sizes);
BENCHMARK(BM_Shuffled_Chain3D)->Apply(Sizes);
BENCHMARK(BM_ShuffledAll_Chain3D)->Apply(Sizes);

void BM_Article_Chain2D(benchmark::State& s) { BaselineSamples<ArticleCurve>(s, Chain2D(), false); }
void BM_Article_Chain3D(benchmark::State& s) { BaselineSamples<ArticleCurve>(s, Chain3D(), false); }
void BM_Table_Chain2D(benchmark::State& s) { BaselineSamples<TableCurve>(s, Chain2D(), false); }
void BM_Table_Chain3D(benchmark::State& s) { BaselineSamples<TableCurve>(s, Chain3D(), false); }
void BM_ArticleShuffled_Chain3D(benchmark::State& s) {
  BaselineSamples<ArticleCurve>(s, Chain3D(), true);
}
void BM_TableShuffled_Chain3D(benchmark::State& s) {
  BaselineSamples<TableCurve>(s, Chain3D(), true);
}
BENCHMARK(BM_Article_Chain2D)->Apply(Sizes);
BENCHMARK(BM_Article_Chain3D)->Apply(Sizes);
BENCHMARK(BM_Table_Chain2D)->Apply(Sizes);
BENCHMARK(BM_Table_Chain3D)->Apply(Sizes);
BENCHMARK(BM_ArticleShuffled_Chain3D)->Apply(Sizes);
BENCHMARK(BM_TableShuffled_Chain3D)->Apply(Sizes);

void BM_SetUp_Chain2D(benchmark::State& s) { SetUp(s, Chain2D(), 1e-9); }
void BM_SetUp_Chain3D(benchmark::State& s) { SetUp(s, Chain3D(), 1e-9); }
void BM_SetUp_RandomBeziers(benchmark::State& s) { SetUp(s, RandomBeziers(), 1e-9); }
void BM_SetUp_Cusps(benchmark::State& s) { SetUp(s, Cusps(), 1e-9); }
void BM_SetUp_NearCusps(benchmark::State& s) {
  SetUp(s, NearCusps(std::pow(10.0, -static_cast<double>(s.range(0)))), 1e-9);
}
void BM_SetUp_Chain3DTight(benchmark::State& s) { SetUp(s, Chain3D(), 1e-12); }
void BM_Direct_Chain3D(benchmark::State& s) { DirectSamples(s, Chain3D(), InverseMode::kDirect); }
void BM_Tabulated_Chain3D(benchmark::State& s) {
  DirectSamples(s, Chain3D(), InverseMode::kTabulated);
}
void BM_Knots_Chain3D(benchmark::State& s) { Knots(s, Chain3D()); }
void BM_CurveSpeed_Chain3D_Gentle(benchmark::State& s) {
  CurveSpeedPlan(s, Chain3D(), 0.2, BudgetMode::kIndependent);
}
void BM_CurveSpeed_Chain3D_AtTheLimit(benchmark::State& s) {
  CurveSpeedPlan(s, Chain3D(), 1e3, BudgetMode::kIndependent);
}
void BM_CurveSpeed_Chain3D_Coupled(benchmark::State& s) {
  CurveSpeedPlan(s, Chain3D(), 3.0, BudgetMode::kCoupled);
}
BENCHMARK(BM_SetUp_Chain2D);
BENCHMARK(BM_SetUp_Chain3D);
BENCHMARK(BM_SetUp_RandomBeziers);
BENCHMARK(BM_SetUp_Cusps);
BENCHMARK(BM_SetUp_NearCusps)->DenseRange(1, 9, 1);
BENCHMARK(BM_SetUp_Chain3DTight);
BENCHMARK(BM_Direct_Chain3D)->Arg(80)->Arg(400)->Arg(800)->Arg(1360)->Arg(2400);
BENCHMARK(BM_Tabulated_Chain3D)->Arg(80)->Arg(400)->Arg(800)->Arg(1360)->Arg(2400);
BENCHMARK(BM_Knots_Chain3D);
BENCHMARK(BM_CurveSpeed_Chain3D_Gentle);
BENCHMARK(BM_CurveSpeed_Chain3D_AtTheLimit);
BENCHMARK(BM_CurveSpeed_Chain3D_Coupled);

}  // namespace
}  // namespace arclane
