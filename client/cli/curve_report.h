// SPDX-License-Identifier: Apache-2.0
// A plan along a curve, and a speed plan, in words and tables.
#ifndef ARCLANE_CLIENT_CLI_CURVE_REPORT_H_
#define ARCLANE_CLIENT_CLI_CURVE_REPORT_H_

#include <ostream>

#include "absl/status/status.h"
#include "arclane/v1/planner.pb.h"
#include "client/cli/report_tables.h"

namespace arclane {

// The length with its proven error and how the speed plan ended, then the sender's segments, the
// stops, the speed phases and the samples as tables; of more than `max_rows` rows the first and
// last ones. kDataLoss, printing nothing, when the answer's columns do not fit together.
absl::Status PrintAnswer(const v1::PlanSplineResponse& response, size_t max_rows,
                         std::ostream& out);
// How the plan ended and its numbers, then its rows, its phases and where it was clipped.
absl::Status PrintAnswer(const v1::PlanSpeedResponse& response, size_t max_rows, std::ostream& out);

// The outcome of a curve without agent is "NO_SPEED_PLAN". A curve's corners are the places where
// its direction jumps. Stops are those on the way.
AnswerSummary SummaryOf(const v1::PlanSplineResponse& response);
AnswerSummary SummaryOf(const v1::PlanSpeedResponse& response);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_CURVE_REPORT_H_
