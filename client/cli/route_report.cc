// SPDX-License-Identifier: Apache-2.0
#include "client/cli/route_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/report_tables.h"
#include "client/cli/text_table.h"
#include "client/sdk/column_views.h"

namespace arclane {
namespace {

std::string SegmentKindName(int kind) {
  return ShortName(kind, v1::SegmentKind_Name(static_cast<v1::SegmentKind>(kind)), "SEGMENT_KIND_");
}
std::string PointText(const v1::Point& point, const Numbers& numbers) {
  return absl::StrCat("(", numbers.Length(point.x()), ", ", numbers.Length(point.y()), ", ",
                      numbers.Length(point.z()), ")");
}

std::string_view OutcomeText(int outcome) {
  switch (outcome) {
    case v1::OUTCOME_COMPLETE:
      return "the route reaches the goal";
    case v1::OUTCOME_PARTIAL:
      return "the route reaches the end of a partial corridor";
    case v1::OUTCOME_CANNOT_STOP:
      return "the agent is too fast; the route is its braking path";
    case v1::OUTCOME_START_OFF_ROUTE:
      return "the agent moves off the first line; the route is its braking path";
    case v1::OUTCOME_GATE_CLOSED:
      return "a closed gate blocks the corridor; there is no route";
    case v1::OUTCOME_NEEDS_MOTION_PLANNING:
      return "a corner cannot be driven without a turn in place; there is no route";
    case v1::OUTCOME_GOAL_SPEED_UNREACHABLE:
      return "the route reaches the goal slower than asked";
    default:
      return "an outcome that this client does not know; drive no such route";
  }
}

void PrintBraking(const v1::Braking& braking, const Numbers& numbers, std::ostream& out) {
  out << "braking: from speed " << numbers.Length(braking.start_speed()) << " takes "
      << numbers.Length(braking.stop_distance()) << " of "
      << numbers.Length(braking.available_distance()) << " available";
  if (braking.overrun() > 0) out << ", " << numbers.Length(braking.overrun()) << " too far";
  out << "; at rest at " << PointText(braking.rest_position(), numbers)
      << (braking.inside_corridor() ? ", inside the corridor" : ", outside the corridor") << '\n';
  if (braking.max_start_speed() > 0) {
    out << "         highest feasible start speed " << numbers.Length(braking.max_start_speed())
        << '\n';
  }
  if (braking.heading_error_rad() != 0) {
    out << "         start velocity " << numbers.Degrees(braking.heading_error_rad())
        << " degrees off the first line\n";
  }
}

void PrintBlocked(const v1::Blocked& blocked, std::ostream& out) {
  out << "blocked: portal " << blocked.portal_index();
  if (blocked.gate_id() != 0) out << ", gate " << blocked.gate_id();
  if (blocked.has_corner_index()) {
    out << ", corner " << blocked.corner_index() << " (" << CornerReasonName(blocked.reason())
        << ")";
  }
  if (!blocked.detail().empty()) out << ": " << blocked.detail();
  out << '\n';
}

void PrintHead(const v1::Route& route, const v1::AnswerInfo& answer, const Numbers& numbers,
               std::ostream& out) {
  out << OutcomeName(route.outcome()) << ": " << OutcomeText(route.outcome()) << '\n';
  out << "length " << numbers.Length(route.length()) << ", shortest "
      << numbers.Length(route.shortest_length()) << ", duration "
      << numbers.Time(route.duration_s()) << " s, " << StopCount(route) << " of "
      << route.corners().kind_size() << " corners are stops";
  PrintCacheOutcome(answer, out);
  out << '\n';
  if (route.has_braking()) PrintBraking(route.braking(), numbers, out);
  if (route.has_blocked()) PrintBlocked(route.blocked(), out);
  if (route.outcome() == v1::OUTCOME_GOAL_SPEED_UNREACHABLE) {
    out << "goal speed reached: " << numbers.Length(route.goal_speed_reached()) << '\n';
  }
  if (route.start_shift() > 0) {
    out << "start moved by " << numbers.Length(route.start_shift()) << " into the corridor\n";
  }
  if (route.goal_shift() > 0) {
    out << "goal moved by " << numbers.Length(route.goal_shift()) << " into the corridor\n";
  }
  const v1::ClearanceShortfallColumns& shortfall = route.clearance_shortfall();
  if (shortfall.measured_size() > 0) {
    out << "clearance not kept on " << shortfall.measured_size() << " stretches, nearest "
        << numbers.Length(
               *std::min_element(shortfall.measured().begin(), shortfall.measured().end()))
        << '\n';
  }
  // Without walls there is nothing to leave, and no tolerance.
  if (route.has_verification() && route.verification().tolerance() > 0) {
    out << absl::StrFormat("verified: leaves the corridor by at most %.3g (tolerance %.3g)\n",
                           route.verification().largest_deviation(),
                           route.verification().tolerance());
  }
}

// `place` is what portal_index counts.
void PrintCorners(const CornerView& corners, const char* place, const Numbers& numbers,
                  size_t max_rows, std::ostream& out) {
  TextTable table;
  AddColumns(table, {"#", "distance", "x", "y", "z", "turn_deg", "radius", place}, Align::kRight);
  AddColumns(table, {"kind", "reason"}, Align::kLeft);
  const size_t omitted = ForRows(corners.size, max_rows, [&](size_t i) {
    table.AddRow({absl::StrCat(i), numbers.Length(corners.distance[i]),
                  numbers.Length(corners.position.x(i)), numbers.Length(corners.position.y(i)),
                  numbers.Length(corners.position.z(i)), numbers.Degrees(corners.turn_angle_rad[i]),
                  numbers.Length(corners.radius[i]), absl::StrCat(corners.portal_index[i]),
                  CornerKindName(corners.kind[i]),
                  corners.reason[i] == 0 ? "" : CornerReasonName(corners.reason[i])});
  });
  PrintTable("corners", corners.size, omitted, table, out);
}

void PrintSegments(const SegmentView& segments, const Numbers& numbers, size_t max_rows,
                   std::ostream& out) {
  TextTable table;
  AddColumns(table, {"#"}, Align::kRight);
  AddColumns(table, {"kind"}, Align::kLeft);
  AddColumns(table, {"from", "length", "x", "y", "z", "heading_deg", "radius", "turn_deg"},
             Align::kRight);
  const size_t omitted = ForRows(segments.size, max_rows, [&](size_t i) {
    const double curvature = segments.curvature[i];
    table.AddRow({absl::StrCat(i), SegmentKindName(segments.kind[i]),
                  numbers.Length(segments.start_distance[i]), numbers.Length(segments.length[i]),
                  numbers.Length(segments.start.x(i)), numbers.Length(segments.start.y(i)),
                  numbers.Length(segments.start.z(i)), numbers.Degrees(segments.heading_rad[i]),
                  curvature == 0 ? "-" : numbers.Length(1 / std::abs(curvature)),
                  numbers.Degrees(segments.turn_angle_rad[i])});
  });
  PrintTable("segments", segments.size, omitted, table, out);
}

void PrintSamples(const SampleView& samples, const Numbers& numbers, size_t max_rows,
                  std::ostream& out) {
  std::vector<SampleText> texts = {{"#", [](size_t i) { return absl::StrCat(i); }}};
  AddSampleText("distance", samples.distance, &Numbers::Length, numbers, texts);
  AddSampleText("surface", samples.surface_distance, &Numbers::Length, numbers, texts);
  AddSampleText("time_s", samples.time_s, &Numbers::Time, numbers, texts);
  AddPositionTexts(samples.position, numbers, texts);
  AddSampleText("heading_deg", samples.heading_rad, &Numbers::Degrees, numbers, texts);
  AddSampleText("speed", samples.speed, &Numbers::Length, numbers, texts);
  AddSampleText("curvature", samples.curvature, &Numbers::Length, numbers, texts);
  if (!samples.portal_index.empty()) {
    const auto portals = samples.portal_index;
    texts.push_back({"portal", [=](size_t i) { return absl::StrCat(portals[i]); }});
  }
  PrintSampleTexts(texts, samples.size, max_rows, out);
}

absl::Status PrintRoute(const v1::Route& route, const v1::AnswerInfo& answer, const char* place,
                        size_t max_rows, std::ostream& out) {
  const auto corners = CornerView::Of(route);
  if (!corners.ok()) return corners.status();
  const auto segments = SegmentView::Of(route);
  if (!segments.ok()) return segments.status();
  const auto phases = PhaseView::Of(route);
  if (!phases.ok()) return phases.status();
  const auto samples = SampleView::Of(route);
  if (!samples.ok()) return samples.status();

  const Numbers numbers(route.length());
  PrintHead(route, answer, numbers, out);
  if (corners->size > 0) PrintCorners(*corners, place, numbers, max_rows, out);
  if (segments->size > 0) PrintSegments(*segments, numbers, max_rows, out);
  if (phases->size > 0) PrintPhases(*phases, "segment", numbers, max_rows, out);
  if (samples->size > 0) PrintSamples(*samples, numbers, max_rows, out);
  return absl::OkStatus();
}

AnswerSummary SummaryOfRoute(const v1::Route& route) {
  return {OutcomeName(route.outcome()), route.length(), route.duration_s(),
          static_cast<size_t>(route.corners().kind_size()), StopCount(route)};
}

}  // namespace

std::string OutcomeName(int outcome) {
  return ShortName(outcome, v1::Outcome_Name(static_cast<v1::Outcome>(outcome)), "OUTCOME_");
}
std::string CornerKindName(int kind) {
  return ShortName(kind, v1::CornerKind_Name(static_cast<v1::CornerKind>(kind)), "CORNER_KIND_");
}
std::string CornerReasonName(int reason) {
  return ShortName(reason, v1::CornerReason_Name(static_cast<v1::CornerReason>(reason)),
                   "CORNER_REASON_");
}

size_t StopCount(const v1::Route& route) {
  const auto& kinds = route.corners().kind();
  return static_cast<size_t>(
      std::count(kinds.begin(), kinds.end(), static_cast<int>(v1::CORNER_KIND_STOP)));
}

absl::Status PrintAnswer(const v1::PlanCorridorResponse& response, size_t max_rows,
                         std::ostream& out) {
  return PrintRoute(response.route(), response.answer(), "portal", max_rows, out);
}
absl::Status PrintAnswer(const v1::PlanWaypointsResponse& response, size_t max_rows,
                         std::ostream& out) {
  return PrintRoute(response.route(), response.answer(), "waypoint", max_rows, out);
}

AnswerSummary SummaryOf(const v1::PlanCorridorResponse& response) {
  return SummaryOfRoute(response.route());
}
AnswerSummary SummaryOf(const v1::PlanWaypointsResponse& response) {
  return SummaryOfRoute(response.route());
}

}  // namespace arclane
