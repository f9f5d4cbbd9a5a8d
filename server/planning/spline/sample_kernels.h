// SPDX-License-Identifier: Apache-2.0
// The inner loops of sampling: t(s), then positions and derivatives at t.
//
// Every sample goes through the same operations in the same order, whatever kernel computes it,
// however many samples stand around it and whatever the machine's vectors are: its bits are the
// same. No kernel contracts a product and a sum.
#ifndef ARCLANE_SERVER_PLANNING_SPLINE_SAMPLE_KERNELS_H_
#define ARCLANE_SERVER_PLANNING_SPLINE_SAMPLE_KERNELS_H_

#include <cstdint>

#include "server/planning/spline/arc_span.h"
#include "server/planning/spline/curve.h"

namespace arclane {

// Kernels on runs work on whole vectors of samples: they may read and write this many values beyond
// `count`, less one. Parameters are read in larger groups.
inline constexpr int kSampleVector = 4;
inline constexpr int kParameterGroup = 16;

// Frame of the curve as the kernels need it.
struct SampleFrame {
  double origin[3];
  double inverse_scale;
};

// Where the values of a run of samples go. All pointers of the dimension are set; tangents,
// curvature and squared_speed only for kernels with directions.
struct RunColumns {
  double* position[3];
  double* tangent[3];
  double* curvature;
  double* squared_speed;  // |dr/dt|^2, local units.
};

// t of local distances that all lie in the span. Both rows have room for kParameterGroup - 1 values
// more.
using ParametersKernel = void (*)(const ArcSpan& span, const double* distance, int count,
                                  double* parameter);
// Points at parameters on one piece; returns the smallest squared speed met, or infinity without
// directions.
using PointsKernel = double (*)(const CurvePiece& piece, const SampleFrame& frame, const double* t,
                                int count, const RunColumns& out);

// t of local distances, each in the span of its own index. Exactly `count` values are written.
void ScatteredParameters(const ArcSpan* spans, const int32_t* span_of, const double* distance,
                         int count, double* parameter);

// Derivatives of scattered samples, components x, y, z.
struct DerivativeRows {
  double* first[3];
  double* second[3];
};
// Positions at t[i] on the piece of span_of[i], and derivatives when `derivatives` is not null.
// Exactly `count` values of each are written.
using ScatteredPointsKernel = void (*)(const CurvePiece* pieces, const ArcSpan* spans,
                                       const int32_t* span_of, const SampleFrame& frame,
                                       const double* t, int count, double* const* position,
                                       const DerivativeRows* derivatives);
// Tangents, curvatures and squared speeds from derivatives, as a PointsKernel would.
using DirectionsKernel = double (*)(const DerivativeRows& rows, const SampleFrame& frame, int count,
                                    const RunColumns& out);

// The kernels for curves of one shape: all pieces have the same degree, and all or none are
// rational.
struct SampleKernels {
  ParametersKernel parameters;
  PointsKernel points;
  DirectionsKernel directions;
  ScatteredPointsKernel scattered_points;
};

// Widest vectors of the machine, or the two lanes that every x86-64 has. Equal bits either way.
enum class KernelWidth : uint8_t { kBest, kTwoLanes };
SampleKernels SelectKernels(int dimension, int degree, bool rational, bool directions,
                            KernelWidth width = KernelWidth::kBest);

// t of one distance in the span.
double ParameterOfSpan(const ArcSpan& span, double distance);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_SPLINE_SAMPLE_KERNELS_H_
