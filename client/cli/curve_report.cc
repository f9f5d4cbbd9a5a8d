// SPDX-License-Identifier: Apache-2.0
#include "client/cli/curve_report.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/text_table.h"
#include "client/sdk/column_views.h"

namespace arclane {
namespace {

std::string SpeedOutcomeName(v1::SpeedOutcome outcome) {
  return ShortName(outcome, v1::SpeedOutcome_Name(outcome), "SPEED_OUTCOME_");
}

std::string_view SpeedOutcomeText(v1::SpeedOutcome outcome) {
  switch (outcome) {
    case v1::SPEED_OUTCOME_OK:
      return "the plan holds every limit";
    case v1::SPEED_OUTCOME_INFEASIBLE_START:
      return "the start speed is above what braking allows; there is no plan";
    case v1::SPEED_OUTCOME_INFEASIBLE_END:
      return "the end speed cannot be had; there is no plan";
    default:
      return "an outcome that this client does not know; drive no such plan";
  }
}

absl::StatusOr<PhaseView> PhasesOf(const v1::SpeedPlan& plan) {
  // Rows of length 0 are left out of the columns but keep their number, which nothing here bounds.
  size_t places = 0;
  for (const uint32_t index : plan.phases().segment_index()) {
    places = std::max(places, size_t{index} + 1);
  }
  return PhaseView::Of(plan.phases(), places);
}

// Phases that begin at rest, the first one aside; a stop with a dwell has one phase behind it, too.
size_t CurveStopCount(const v1::SpeedPlan& plan) {
  size_t stops = 0;
  for (int i = 1; i < plan.phases().speed_size(); ++i) {
    if (plan.phases().speed(i) == 0 && plan.phases().length_size() > i &&
        plan.phases().length(i) > 0) {
      ++stops;
    }
  }
  return stops;
}

void PrintSpeedHead(const v1::SpeedPlan& plan, const Numbers& numbers, std::ostream& out) {
  if (plan.outcome() == v1::SPEED_OUTCOME_INFEASIBLE_START) {
    const v1::BrakeNow& brake = plan.brake_now();
    out << "highest feasible start speed " << numbers.Length(plan.max_start_speed())
        << "; braking at once takes " << numbers.Length(brake.stop_distance());
    if (brake.overrun() > 0) out << ", " << numbers.Length(brake.overrun()) << " too far";
    if (brake.speed_at_end() > 0) {
      out << ", speed at the end " << numbers.Length(brake.speed_at_end());
    }
    out << '\n';
  }
  if (plan.outcome() == v1::SPEED_OUTCOME_INFEASIBLE_END) {
    out << "highest feasible end speed " << numbers.Length(plan.max_end_speed()) << '\n';
  }
  if (plan.clipped().start_distance_size() > 0) {
    out << "slower than wished for on " << plan.clipped().start_distance_size() << " stretches\n";
  }
}

absl::Status CheckStops(const v1::CurveStopColumns& stops) {
  if (stops.distance_size() == stops.turn_angle_rad_size()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("stops: turn_angle_rad has ", stops.turn_angle_rad_size(),
                                          " elements, distance has ", stops.distance_size()));
}

void PrintCurveSegments(const v1::CurvePlan& plan, const Numbers& numbers, size_t max_rows,
                        std::ostream& out) {
  TextTable table;
  AddColumns(table, {"#", "length"}, Align::kRight);
  const auto count = static_cast<size_t>(plan.segment_length_size());
  const size_t omitted = ForRows(count, max_rows, [&](size_t i) {
    table.AddRow({absl::StrCat(i), numbers.Length(plan.segment_length(static_cast<int>(i)))});
  });
  PrintTable("curve segments", count, omitted, table, out);
}

void PrintStops(const v1::CurveStopColumns& stops, const Numbers& numbers, size_t max_rows,
                std::ostream& out) {
  TextTable table;
  AddColumns(table, {"#", "distance", "turn_deg"}, Align::kRight);
  const auto count = static_cast<size_t>(stops.distance_size());
  const size_t omitted = ForRows(count, max_rows, [&](size_t i) {
    const int k = static_cast<int>(i);
    table.AddRow({absl::StrCat(i), numbers.Length(stops.distance(k)),
                  numbers.Degrees(stops.turn_angle_rad(k))});
  });
  PrintTable("stops where the direction jumps", count, omitted, table, out);
}

void PrintCurveSamples(const CurveSampleView& samples, const Numbers& numbers, size_t max_rows,
                       std::ostream& out) {
  std::vector<SampleText> texts = {{"#", [](size_t i) { return absl::StrCat(i); }}};
  AddSampleText("distance", samples.distance, &Numbers::Length, numbers, texts);
  AddSampleText("time_s", samples.time_s, &Numbers::Time, numbers, texts);
  AddPositionTexts(samples.position, numbers, texts);
  AddSampleText("heading_deg", samples.heading_rad, &Numbers::Degrees, numbers, texts);
  AddSampleText("speed", samples.speed, &Numbers::Length, numbers, texts);
  AddSampleText("curvature", samples.curvature, &Numbers::Length, numbers, texts);
  if (!samples.segment_index.empty()) {
    const auto segments = samples.segment_index;
    texts.push_back({"segment", [=](size_t i) { return absl::StrCat(segments[i]); }});
  }
  AddSampleText("parameter", samples.parameter, &Numbers::Length, numbers, texts);
  PrintSampleTexts(texts, samples.size, max_rows, out);
}

// The columns of a speed plan's rows.
absl::Status CheckRows(const v1::SpeedPlan& plan) {
  const int rows = plan.peak_speed_size();
  const bool fits = plan.brake_start_distance_size() == rows && plan.piece_time_s_size() == rows &&
                    plan.piece_index_size() == rows &&
                    (rows == 0 || plan.boundary_speed_size() == rows + 1);
  return fits ? absl::OkStatus()
              : absl::DataLossError("the columns of the speed plan's rows differ in length");
}

void PrintRows(const v1::SpeedPlan& plan, const Numbers& numbers, size_t max_rows,
               std::ostream& out) {
  TextTable table;
  AddColumns(table, {"#", "piece", "speed_in", "peak", "speed_out", "brake_from", "time_s"},
             Align::kRight);
  const auto count = static_cast<size_t>(plan.peak_speed_size());
  const size_t omitted = ForRows(count, max_rows, [&](size_t i) {
    const int k = static_cast<int>(i);
    const double brake = plan.brake_start_distance(k);
    table.AddRow(
        {absl::StrCat(i), absl::StrCat(plan.piece_index(k)), numbers.Length(plan.boundary_speed(k)),
         numbers.Length(plan.peak_speed(k)), numbers.Length(plan.boundary_speed(k + 1)),
         std::isnan(brake) ? "-" : numbers.Length(brake), numbers.Time(plan.piece_time_s(k))});
  });
  PrintTable("pieces", count, omitted, table, out);
}

}  // namespace

absl::Status PrintAnswer(const v1::PlanSplineResponse& response, size_t max_rows,
                         std::ostream& out) {
  const v1::CurvePlan& plan = response.plan();
  const auto samples = CurveSampleView::Of(plan);
  if (!samples.ok()) return samples.status();
  const auto phases = PhasesOf(plan.speed());
  if (!phases.ok()) return phases.status();
  if (absl::Status status = CheckStops(plan.stops()); !status.ok()) return status;

  const Numbers numbers(plan.length());
  if (plan.has_speed()) {
    out << SpeedOutcomeName(plan.speed().outcome()) << ": "
        << SpeedOutcomeText(plan.speed().outcome()) << '\n';
  } else {
    out << "NO_SPEED_PLAN: the request names no agent\n";
  }
  out << "length " << numbers.Length(plan.length())
      << absl::StrFormat(" (off by at most %.2g), ", plan.length_error_bound());
  if (plan.has_speed()) out << "duration " << numbers.Time(plan.speed().duration_s()) << " s, ";
  out << plan.stops().distance_size() << " stops where the direction jumps";
  PrintCacheOutcome(response.answer(), out);
  out << '\n';
  if (plan.has_speed()) PrintSpeedHead(plan.speed(), numbers, out);
  if (plan.segment_length_size() > 0) PrintCurveSegments(plan, numbers, max_rows, out);
  if (plan.stops().distance_size() > 0) PrintStops(plan.stops(), numbers, max_rows, out);
  if (phases->size > 0) PrintPhases(*phases, "interval", numbers, max_rows, out);
  if (samples->size > 0) PrintCurveSamples(*samples, numbers, max_rows, out);
  return absl::OkStatus();
}

absl::Status PrintAnswer(const v1::PlanSpeedResponse& response, size_t max_rows,
                         std::ostream& out) {
  const v1::SpeedPlan& plan = response.plan();
  const auto phases = PhasesOf(plan);
  if (!phases.ok()) return phases.status();
  if (absl::Status status = CheckRows(plan); !status.ok()) return status;
  const Numbers numbers(plan.length());
  out << SpeedOutcomeName(plan.outcome()) << ": " << SpeedOutcomeText(plan.outcome()) << '\n';
  out << "length " << numbers.Length(plan.length()) << ", duration "
      << numbers.Time(plan.duration_s()) << " s";
  PrintCacheOutcome(response.answer(), out);
  out << '\n';
  PrintSpeedHead(plan, numbers, out);
  if (plan.peak_speed_size() > 0) PrintRows(plan, numbers, max_rows, out);
  if (phases->size > 0) PrintPhases(*phases, "piece", numbers, max_rows, out);
  return absl::OkStatus();
}

AnswerSummary SummaryOf(const v1::PlanSplineResponse& response) {
  const v1::CurvePlan& plan = response.plan();
  AnswerSummary summary;
  summary.outcome = plan.has_speed() ? SpeedOutcomeName(plan.speed().outcome()) : "NO_SPEED_PLAN";
  summary.length = plan.length();
  if (plan.has_speed()) summary.duration_s = plan.speed().duration_s();
  summary.corners = static_cast<size_t>(plan.stops().distance_size());
  summary.stops = CurveStopCount(plan.speed());
  return summary;
}

AnswerSummary SummaryOf(const v1::PlanSpeedResponse& response) {
  const v1::SpeedPlan& plan = response.plan();
  return {SpeedOutcomeName(plan.outcome()), plan.length(), plan.duration_s(), std::nullopt,
          CurveStopCount(plan)};
}

}  // namespace arclane
