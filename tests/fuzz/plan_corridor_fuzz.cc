// SPDX-License-Identifier: Apache-2.0
// Any bytes through the PlanCorridor pipeline: parse, check, plan, verify, sample, encode. What it
// must keep: it ends, it says why it refuses, its answers are whole, and equal requests get equal
// bytes.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "server/pipeline/plan_corridor.h"

namespace {

// Small, so that one input takes milliseconds.
arclane::RequestLimits SmallLimits() {
  arclane::RequestLimits limits;
  limits.max_portals = 2000;
  limits.max_vertices = 8000;
  limits.max_samples = 2000;
  limits.max_dependencies = 2000;
  return limits;
}

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

// Columns that were asked for have one length.
void RequireEqualColumns(const arclane::v1::SampleColumns& samples) {
  int count = 0;
  for (const int size :
       {samples.distance_size(), samples.surface_distance_size(), samples.time_s_size(),
        samples.position().x_size(), samples.position().y_size(), samples.position().z_size(),
        samples.heading_rad_size(), samples.speed_size(), samples.curvature_size(),
        samples.portal_index_size()}) {
    if (size == 0) continue;
    Require(count == 0 || count == size, "sample columns of different lengths");
    count = size;
  }
}

void RequireWholeAnswer(const arclane::v1::Route& route) {
  Require(route.outcome() != arclane::v1::OUTCOME_UNSPECIFIED, "an outcome");
  Require(std::isfinite(route.length()) && route.length() >= 0, "a finite length");
  Require(std::isfinite(route.duration_s()) && route.duration_s() >= 0, "a finite duration");
  RequireEqualColumns(route.samples());
  const auto& segments = route.segments();
  Require(segments.kind_size() == segments.length_size() &&
              segments.kind_size() == segments.start_distance_size(),
          "segment columns of one length");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const arclane::RequestLimits limits = SmallLimits();
  arclane::v1::PlanCorridorRequest request;
  if (!request.ParseFromArray(data, static_cast<int>(size))) return 0;
  const auto go_on = []() -> std::optional<arclane::FailureReason> { return std::nullopt; };
  arclane::v1::PlanCorridorResponse first;
  const auto failure = arclane::AnswerPlanCorridor(request, limits, go_on, first);
  if (failure) {
    Require(!failure->message.empty(), "a refusal with a message");
    Require(failure->reason == arclane::FailureReason::kInvalidField ||
                failure->reason == arclane::FailureReason::kTooLarge,
            "a refusal for the request's own sake");
    Require(!failure->violations.empty() || !failure->metadata.empty(),
            "a refusal that names what is wrong");
    return 0;
  }
  RequireWholeAnswer(first.route());
  arclane::v1::PlanCorridorResponse second;
  Require(!arclane::AnswerPlanCorridor(request, limits, go_on, second), "the same answer again");
  Require(first.SerializeAsString() == second.SerializeAsString(), "the same bytes again");
  return 0;
}
