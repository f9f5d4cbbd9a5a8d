// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/curve_plot.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/plot/curve_scene.h"

namespace arclane {
namespace {

std::string Heading(const v1::PlanSplineRequest& request, const v1::CurvePlan& plan) {
  switch (plan.speed().outcome()) {
    case v1::SPEED_OUTCOME_INFEASIBLE_START:
      return "No speed plan: too fast at the start";
    case v1::SPEED_OUTCOME_INFEASIBLE_END:
      return "No speed plan: the end speed cannot be had";
    default:
      return request.spline().closed() ? "Closed curve" : "Curve";
  }
}

std::string CurveSubheading(const v1::CurvePlan& plan, const Scene& scene) {
  std::string text = absl::StrFormat("length %.6g", plan.length());
  if (plan.has_speed()) absl::StrAppendFormat(&text, ", %.4g s", plan.speed().duration_s());
  const int jumps = plan.stops().distance_size();
  absl::StrAppend(&text, ", ", scene.control.size(), " control points");
  if (jumps > 0) absl::StrAppend(&text, ", ", jumps, jumps == 1 ? " stop" : " stops");
  return text;
}

}  // namespace

void AskForCurveSamples(v1::PlanSplineRequest& request) {
  v1::Sampling& sampling = *request.mutable_sampling();
  if (sampling.rule_case() == v1::Sampling::RULE_NOT_SET) sampling.set_count(kCurveSampleCount);
  if (sampling.columns().empty()) return;  // All.
  for (const v1::SampleColumn column : {v1::SAMPLE_COLUMN_DISTANCE, v1::SAMPLE_COLUMN_POSITION,
                                        v1::SAMPLE_COLUMN_TANGENT, v1::SAMPLE_COLUMN_CURVATURE}) {
    const auto& columns = sampling.columns();
    if (std::find(columns.begin(), columns.end(), column) == columns.end()) {
      sampling.add_columns(column);
    }
  }
}

absl::StatusOr<std::string> PlotCurve(const v1::PlanSplineRequest& request,
                                      const v1::PlanSplineResponse& response,
                                      const RoutePlotOptions& options) {
  const absl::StatusOr<Scene> scene = BuildScene(request, response);
  if (!scene.ok()) return scene.status();
  return DrawPage(*scene, Heading(request, response.plan()),
                  CurveSubheading(response.plan(), *scene), options);
}

}  // namespace arclane
