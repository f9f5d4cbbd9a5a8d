// SPDX-License-Identifier: Apache-2.0
#include "server/planning/spline/curvature_envelope.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "server/planning/spline/curvature_reader.h"

namespace arclane {
namespace {

// Least width of a part, of the length: distances keep four digits of it.
constexpr double kLeastPart = 1e-12;

// A part that is a parabola above or below its line has the measured middle as its extreme. A cubic
// term shows as a difference `change` to the middle of the part beside it; with D(t) = t (1 - t) (4
// middle + 4 change (t - 1/2)) the largest value is at most
//   middle + 0.2 change             where middle >= 0, since t (1 - t) |t - 1/2| <= 0.0482, and
//   max(0, middle + change / 2)     else.
double LargestAbove(double middle, double change) {
  if (middle >= 0.0) return middle + 0.2 * change;
  return std::clamp(middle + 0.5 * change, 0.0, 0.2 * change);
}

class Cutter {
 public:
  Cutter(const ArcLengthMap& map, const CurvatureKnots& knots, CurvatureKnots& finer)
      : map_(map), knots_(knots), finer_(finer), reader_(map) {}

  void Keep(size_t i) {
    finer_.excess.push_back(knots_.excess[i]);
    finer_.deviation.push_back(knots_.deviation[i]);
    finer_.distance.push_back(knots_.distance[i + 1]);
    finer_.curvature.push_back(knots_.curvature[i + 1]);
  }

  void Cut(size_t i, size_t parts) {
    const double width = knots_.distance[i + 1] - knots_.distance[i];
    const size_t first = finer_.deviation.size();
    double last = knots_.curvature[i];
    constexpr size_t kBatch = CurvatureReader::kMostAtOnce / 2;
    for (size_t done = 0; done < parts; done += kBatch) {
      const size_t batch = std::min(kBatch, parts - done);
      // Middles and ends in turn; the very end is known.
      reader_.ReadEvenly(knots_.distance[i], width, 2 * parts, 2 * done + 1,
                         static_cast<int>(2 * batch - (done + batch == parts ? 1 : 0)),
                         values_.data());
      for (size_t k = 0; k < batch; ++k) {
        const bool at_end = done + k + 1 == parts;
        const double next = at_end ? knots_.curvature[i + 1] : values_[2 * k + 1];
        Append(i, done + k + 1, parts, width, next);
        finer_.deviation.push_back(std::abs(values_[2 * k]) - 0.5 * std::abs(last + next));
        last = next;
      }
    }
    MeasureExcess(i, first, width / static_cast<double>(parts));
  }

 private:
  void Append(size_t i, size_t part, size_t parts, double width, double curvature) {
    const double share = static_cast<double>(part) / static_cast<double>(parts);
    finer_.distance.push_back(part == parts ? knots_.distance[i + 1]
                                            : knots_.distance[i] + width * share);
    finer_.curvature.push_back(curvature);
  }

  // From the signed differences in the middles, which become magnitudes.
  void MeasureExcess(size_t i, size_t first, double width) {
    const size_t limit = finer_.deviation.size();
    const double doubt = map_.error_bound() / width;
    double before = finer_.deviation[first];
    for (size_t k = first; k < limit; ++k) {
      const double middle = finer_.deviation[k];
      const double after = k + 1 < limit ? finer_.deviation[k + 1] : middle;
      double change = std::max(std::abs(middle - before), std::abs(after - middle));
      if (limit - first == 1) change = knots_.deviation[i];
      const double rise = std::abs(finer_.curvature[k + 1] - finer_.curvature[k]);
      finer_.excess.push_back(LargestAbove(middle, change) + rise * doubt);
      finer_.deviation[k] = std::abs(middle);
      before = middle;
    }
  }

  const ArcLengthMap& map_;
  const CurvatureKnots& knots_;
  CurvatureKnots& finer_;
  CurvatureReader reader_;
  std::array<double, CurvatureReader::kMostAtOnce> values_;
};

}  // namespace

void CutIntervals(const ArcLengthMap& map, const CurvatureKnots& knots,
                  std::span<const uint32_t> parts, CurvatureKnots& finer) {
  finer.distance.assign(1, knots.distance[0]);
  finer.curvature.assign(1, knots.curvature[0]);
  finer.excess.clear();
  finer.deviation.clear();
  finer.stops = knots.stops;
  if (parts.empty()) return;
  Cutter cutter(map, knots, finer);
  const double least = kLeastPart * map.length();
  for (size_t i = 0; i < parts.size(); ++i) {
    const double most = (knots.distance[i + 1] - knots.distance[i]) / least;
    const double wanted = std::min(static_cast<double>(parts[i]), most);
    if (wanted >= 2.0) {
      cutter.Cut(i, static_cast<size_t>(wanted));
    } else {
      cutter.Keep(i);
    }
  }
}

void RaiseToEnvelope(const CurvatureKnots& knots, std::vector<double>& curvature) {
  curvature.resize(knots.curvature.size());
  double before = 0.0;
  for (size_t i = 0; i < curvature.size(); ++i) {
    const double after = i < knots.excess.size() ? knots.excess[i] : 0.0;
    const double own = knots.curvature[i];
    curvature[i] = own + std::copysign(std::max(before, after), own);
    before = after;
  }
}

}  // namespace arclane
