// SPDX-License-Identifier: Apache-2.0
// A planned route in words and tables.
#ifndef ARCLANE_CLIENT_CLI_ROUTE_REPORT_H_
#define ARCLANE_CLIENT_CLI_ROUTE_REPORT_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "arclane/v1/planner.pb.h"
#include "client/cli/report_tables.h"

namespace arclane {

// The name of an enum value without the enum's own prefix: "NO_ROOM" for CORNER_REASON_NO_ROOM; the
// number when it is unknown.
std::string OutcomeName(int outcome);
std::string CornerKindName(int kind);
std::string CornerReasonName(int reason);

// How many corners of the route are stops.
size_t StopCount(const v1::Route& route);

// The outcome and its numbers, then the corners, the segments with their speed phases, and the
// samples as tables; of more than `max_rows` rows the first and last ones. kDataLoss, printing
// nothing, when the answer's columns do not fit together.
absl::Status PrintAnswer(const v1::PlanCorridorResponse& response, size_t max_rows,
                         std::ostream& out);
absl::Status PrintAnswer(const v1::PlanWaypointsResponse& response, size_t max_rows,
                         std::ostream& out);

AnswerSummary SummaryOf(const v1::PlanCorridorResponse& response);
AnswerSummary SummaryOf(const v1::PlanWaypointsResponse& response);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_ROUTE_REPORT_H_
