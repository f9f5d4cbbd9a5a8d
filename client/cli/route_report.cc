// SPDX-License-Identifier: Apache-2.0
#include "client/cli/route_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/text_table.h"
#include "client/sdk/column_views.h"

namespace arclane {
namespace {

constexpr double kDegreesPerRadian = 180.0 / std::numbers::pi;

std::string ShortName(int value, const std::string& name, std::string_view prefix) {
  if (name.empty()) return absl::StrCat(value);
  return name.substr(prefix.size());
}

std::string SegmentKindName(int kind) {
  return ShortName(kind, v1::SegmentKind_Name(static_cast<v1::SegmentKind>(kind)), "SEGMENT_KIND_");
}
std::string PhaseKindName(int kind) {
  return ShortName(kind, v1::PhaseKind_Name(static_cast<v1::PhaseKind>(kind)), "PHASE_KIND_");
}
std::string CacheName(int cache) {
  return ShortName(cache, v1::CacheOutcome_Name(static_cast<v1::CacheOutcome>(cache)),
                   "CACHE_OUTCOME_");
}

// Writes numbers of one route.
class Numbers {
 public:
  explicit Numbers(double length) {
    const double magnitude = length > 0 && std::isfinite(length) ? std::log10(length) : 1.0;
    decimals_ = std::clamp(4 - static_cast<int>(std::floor(magnitude)), 2, 12);
  }
  std::string Length(double value) const { return Fixed(value, decimals_); }
  std::string Degrees(double rad) const { return Fixed(rad * kDegreesPerRadian, 2); }
  std::string Time(double seconds) const { return Fixed(seconds, 3); }

 private:
  static std::string Fixed(double value, int decimals) {
    std::string text = absl::StrFormat("%.*f", decimals, value);
    // -0.000 is 0.000.
    if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) {
      text.erase(0, 1);
    }
    return text;
  }
  int decimals_;
};

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

void PrintHead(const v1::PlanCorridorResponse& response, const Numbers& numbers,
               std::ostream& out) {
  const v1::Route& route = response.route();
  out << OutcomeName(route.outcome()) << ": " << OutcomeText(route.outcome()) << '\n';
  out << "length " << numbers.Length(route.length()) << ", shortest "
      << numbers.Length(route.shortest_length()) << ", duration "
      << numbers.Time(route.duration_s()) << " s, " << StopCount(route) << " of "
      << route.corners().kind_size() << " corners are stops";
  if (response.answer().cache() != v1::CACHE_OUTCOME_UNSPECIFIED) {
    out << ", cache " << CacheName(response.answer().cache());
  }
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
  if (route.has_verification()) {
    out << absl::StrFormat("verified: leaves the corridor by at most %.3g (tolerance %.3g)\n",
                           route.verification().largest_deviation(),
                           route.verification().tolerance());
  }
}

// Calls `add(i)` for the rows to print; returns how many in the middle were left out.
template <typename Add>
size_t ForRows(size_t count, size_t max_rows, Add add) {
  const size_t head = count <= max_rows ? count : max_rows - max_rows / 2;
  const size_t tail = count <= max_rows ? 0 : max_rows / 2;
  for (size_t i = 0; i < head; ++i) add(i);
  for (size_t i = count - tail; i < count; ++i) add(i);
  return count - head - tail;
}

void PrintTable(const char* title, size_t count, size_t omitted, const TextTable& table,
                std::ostream& out) {
  out << '\n' << title << " (" << count;
  if (omitted > 0) out << ", the middle " << omitted << " not shown";
  out << ")\n";
  table.Print(out);
}

void AddColumns(TextTable& table, std::initializer_list<const char*> titles, Align align) {
  for (const char* title : titles) table.AddColumn(title, align);
}

void PrintCorners(const CornerView& corners, const Numbers& numbers, size_t max_rows,
                  std::ostream& out) {
  TextTable table;
  AddColumns(table, {"#", "distance", "x", "y", "z", "turn_deg", "radius", "portal"},
             Align::kRight);
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

void PrintPhases(const PhaseView& phases, const Numbers& numbers, size_t max_rows,
                 std::ostream& out) {
  TextTable table;
  AddColumns(table, {"#"}, Align::kRight);
  AddColumns(table, {"kind"}, Align::kLeft);
  AddColumns(table, {"segment", "from", "length", "time_s", "duration_s", "speed", "acceleration"},
             Align::kRight);
  const size_t omitted = ForRows(phases.size, max_rows, [&](size_t i) {
    table.AddRow({absl::StrCat(i), PhaseKindName(phases.kind[i]),
                  absl::StrCat(phases.segment_index[i]), numbers.Length(phases.start_distance[i]),
                  numbers.Length(phases.length[i]), numbers.Time(phases.start_time_s[i]),
                  numbers.Time(phases.duration_s[i]), numbers.Length(phases.speed[i]),
                  numbers.Length(phases.acceleration[i])});
  });
  PrintTable("speed phases", phases.size, omitted, table, out);
}

// The columns that were asked for, each with its text of row i.
struct SampleText {
  const char* title;
  std::function<std::string(size_t)> text;
};

std::vector<SampleText> SampleTexts(const SampleView& samples, const Numbers& numbers) {
  std::vector<SampleText> texts = {{"#", [](size_t i) { return absl::StrCat(i); }}};
  using Format = std::string (Numbers::*)(double) const;
  const auto add = [&](const char* title, std::span<const double> column, Format format) {
    if (column.empty()) return;
    texts.push_back({title, [=](size_t i) { return (numbers.*format)(column[i]); }});
  };
  add("distance", samples.distance, &Numbers::Length);
  add("surface", samples.surface_distance, &Numbers::Length);
  add("time_s", samples.time_s, &Numbers::Time);
  if (!samples.position.empty()) {
    const PointsView position = samples.position;
    texts.push_back({"x", [=](size_t i) { return numbers.Length(position.x(i)); }});
    texts.push_back({"y", [=](size_t i) { return numbers.Length(position.y(i)); }});
    texts.push_back({"z", [=](size_t i) { return numbers.Length(position.z(i)); }});
  }
  add("heading_deg", samples.heading_rad, &Numbers::Degrees);
  add("speed", samples.speed, &Numbers::Length);
  add("curvature", samples.curvature, &Numbers::Length);
  if (!samples.portal_index.empty()) {
    const auto portals = samples.portal_index;
    texts.push_back({"portal", [=](size_t i) { return absl::StrCat(portals[i]); }});
  }
  return texts;
}

void PrintSamples(const SampleView& samples, const Numbers& numbers, size_t max_rows,
                  std::ostream& out) {
  const std::vector<SampleText> texts = SampleTexts(samples, numbers);
  TextTable table;
  for (const SampleText& column : texts) table.AddColumn(column.title, Align::kRight);
  const size_t omitted = ForRows(samples.size, max_rows, [&](size_t i) {
    std::vector<std::string> cells;
    for (const SampleText& column : texts) cells.push_back(column.text(i));
    table.AddRow(std::move(cells));
  });
  PrintTable("samples", samples.size, omitted, table, out);
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

absl::Status PrintRoute(const v1::PlanCorridorResponse& response, size_t max_rows,
                        std::ostream& out) {
  const v1::Route& route = response.route();
  const auto corners = CornerView::Of(route);
  if (!corners.ok()) return corners.status();
  const auto segments = SegmentView::Of(route);
  if (!segments.ok()) return segments.status();
  const auto phases = PhaseView::Of(route);
  if (!phases.ok()) return phases.status();
  const auto samples = SampleView::Of(route);
  if (!samples.ok()) return samples.status();

  const Numbers numbers(route.length());
  PrintHead(response, numbers, out);
  if (corners->size > 0) PrintCorners(*corners, numbers, max_rows, out);
  if (segments->size > 0) PrintSegments(*segments, numbers, max_rows, out);
  if (phases->size > 0) PrintPhases(*phases, numbers, max_rows, out);
  if (samples->size > 0) PrintSamples(*samples, numbers, max_rows, out);
  return absl::OkStatus();
}

void PrintSummaryTitles(std::ostream& out) {
  out << absl::StrFormat("%6s  %-22s %12s %12s %8s %8s\n", "line", "outcome", "length",
                         "duration_s", "corners", "stops");
}

void PrintSummary(size_t line, const v1::PlanCorridorResponse& response, std::ostream& out) {
  const v1::Route& route = response.route();
  out << absl::StrFormat("%6d  %-22s %12.6g %12.6g %8d %8d\n", line, OutcomeName(route.outcome()),
                         route.length(), route.duration_s(), route.corners().kind_size(),
                         StopCount(route));
}

void PrintSummaryError(size_t line, const std::string& error, std::ostream& out) {
  out << absl::StrFormat("%6d  %s\n", line, error);
}

}  // namespace arclane
