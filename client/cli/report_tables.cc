// SPDX-License-Identifier: Apache-2.0
#include "client/cli/report_tables.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace arclane {
namespace {

constexpr double kDegreesPerRadian = 180.0 / std::numbers::pi;

std::string Fixed(double value, int decimals) {
  std::string text = absl::StrFormat("%.*f", decimals, value);
  // -0.000 is 0.000.
  if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) {
    text.erase(0, 1);
  }
  return text;
}

std::string PhaseKindName(int kind) {
  return ShortName(kind, v1::PhaseKind_Name(static_cast<v1::PhaseKind>(kind)), "PHASE_KIND_");
}

}  // namespace

std::string ShortName(int value, const std::string& name, std::string_view prefix) {
  if (name.empty()) return absl::StrCat(value);
  return name.substr(prefix.size());
}

Numbers::Numbers(double length) {
  const double magnitude = length > 0 && std::isfinite(length) ? std::log10(length) : 1.0;
  decimals_ = std::clamp(4 - static_cast<int>(std::floor(magnitude)), 2, 12);
}
std::string Numbers::Length(double value) const { return Fixed(value, decimals_); }
std::string Numbers::Degrees(double rad) const { return Fixed(rad * kDegreesPerRadian, 2); }
std::string Numbers::Time(double seconds) const { return Fixed(seconds, 3); }

void AddColumns(TextTable& table, std::initializer_list<const char*> titles, Align align) {
  for (const char* title : titles) table.AddColumn(title, align);
}

void PrintTable(const char* title, size_t count, size_t omitted, const TextTable& table,
                std::ostream& out) {
  out << '\n' << title << " (" << count;
  if (omitted > 0) out << ", the middle " << omitted << " not shown";
  out << ")\n";
  table.Print(out);
}

void PrintPhases(const PhaseView& phases, const char* place, const Numbers& numbers,
                 size_t max_rows, std::ostream& out) {
  TextTable table;
  AddColumns(table, {"#"}, Align::kRight);
  AddColumns(table, {"kind"}, Align::kLeft);
  AddColumns(table, {place, "from", "length", "time_s", "duration_s", "speed", "acceleration"},
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

void AddSampleText(const char* title, std::span<const double> column,
                   std::string (Numbers::*format)(double) const, const Numbers& numbers,
                   std::vector<SampleText>& texts) {
  if (column.empty()) return;
  texts.push_back({title, [=, &numbers](size_t i) { return (numbers.*format)(column[i]); }});
}

void AddPositionTexts(const PointsView& position, const Numbers& numbers,
                      std::vector<SampleText>& texts) {
  if (position.empty()) return;
  texts.push_back({"x", [=, &numbers](size_t i) { return numbers.Length(position.x(i)); }});
  texts.push_back({"y", [=, &numbers](size_t i) { return numbers.Length(position.y(i)); }});
  texts.push_back({"z", [=, &numbers](size_t i) { return numbers.Length(position.z(i)); }});
}

void PrintSampleTexts(const std::vector<SampleText>& texts, size_t count, size_t max_rows,
                      std::ostream& out) {
  TextTable table;
  for (const SampleText& column : texts) table.AddColumn(column.title, Align::kRight);
  const size_t omitted = ForRows(count, max_rows, [&](size_t i) {
    std::vector<std::string> cells;
    for (const SampleText& column : texts) cells.push_back(column.text(i));
    table.AddRow(std::move(cells));
  });
  PrintTable("samples", count, omitted, table, out);
}

void PrintCacheOutcome(const v1::AnswerInfo& answer, std::ostream& out) {
  if (answer.cache() == v1::CACHE_OUTCOME_UNSPECIFIED) return;
  out << ", cache "
      << ShortName(answer.cache(), v1::CacheOutcome_Name(answer.cache()), "CACHE_OUTCOME_");
}

void PrintSummaryTitles(std::ostream& out) {
  out << absl::StrFormat("%6s  %-22s %12s %12s %8s %8s\n", "line", "outcome", "length",
                         "duration_s", "corners", "stops");
}

void PrintSummary(size_t line, const AnswerSummary& summary, std::ostream& out) {
  out << absl::StrFormat("%6d  %-22s %12.6g %12s %8s %8d\n", line, summary.outcome, summary.length,
                         summary.duration_s ? absl::StrFormat("%.6g", *summary.duration_s) : "-",
                         summary.corners ? absl::StrCat(*summary.corners) : "-", summary.stops);
}

void PrintSummaryError(size_t line, const std::string& error, std::ostream& out) {
  out << absl::StrFormat("%6d  %s\n", line, error);
}

}  // namespace arclane
