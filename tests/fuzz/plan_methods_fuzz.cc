// SPDX-License-Identifier: Apache-2.0
// Any bytes through the pipelines of waypoints, curves and speeds; the first byte chooses. They
// end, say why they refuse, and answer equal requests with equal bytes. A client reads any answer.
#include <cstddef>
#include <cstdint>
#include <string>

#include "server/codec/float_columns.h"
#include "server/pipeline/plan_speed.h"
#include "server/pipeline/plan_spline.h"
#include "server/pipeline/plan_waypoints.h"
#include "tests/fuzz/small_requests.h"

using arclane::fuzz::Require;

namespace {

template <typename Request, typename Response, typename Answer>
void PlanTwice(const uint8_t* data, size_t size, Answer answer) {
  static const arclane::RequestLimits limits = arclane::fuzz::SmallLimits();
  Request request;
  if (!request.ParseFromArray(data, static_cast<int>(size))) return;
  Response first, second;
  const auto failure = answer(request, limits, first);
  if (failure) {
    arclane::fuzz::RequireTold(*failure);
    return;
  }
  Require(!answer(request, limits, second), "the same answer again");
  Require(first.SerializeAsString() == second.SerializeAsString(), "the same bytes again");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  switch (data[0] % 4) {
    case 0:
      PlanTwice<arclane::v1::PlanWaypointsRequest, arclane::v1::PlanWaypointsResponse>(
          data + 1, size - 1, [](const auto& request, const auto& limits, auto& response) {
            return arclane::AnswerPlanWaypoints(request, limits, arclane::fuzz::Never, response);
          });
      break;
    case 1:
      PlanTwice<arclane::v1::PlanSplineRequest, arclane::v1::PlanSplineResponse>(
          data + 1, size - 1, [](const auto& request, const auto& limits, auto& response) {
            return arclane::AnswerPlanSpline(request, limits, arclane::fuzz::Never, response);
          });
      break;
    case 2:
      PlanTwice<arclane::v1::PlanSpeedRequest, arclane::v1::PlanSpeedResponse>(
          data + 1, size - 1, [](const auto& request, const auto& limits, auto& response) {
            return arclane::AnswerPlanSpeed(request, limits, arclane::fuzz::Never, response);
          });
      break;
    default: {
      arclane::v1::PlanItemAnswer answer;
      if (!answer.ParseFromArray(data + 1, static_cast<int>(size - 1))) break;
      arclane::WidenColumns(&answer);
      Require(!answer.corridor().route().samples().has_floats() &&
                  !answer.spline().plan().samples().has_floats(),
              "columns of doubles");
    }
  }
  return 0;
}
