// SPDX-License-Identifier: Apache-2.0
// What the reports of all plans share: numbers, tables with a middle left out, names of values, the
// speed phases, and the one-line summary of an answer.
#ifndef ARCLANE_CLIENT_CLI_REPORT_TABLES_H_
#define ARCLANE_CLIENT_CLI_REPORT_TABLES_H_

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arclane/v1/planner.pb.h"
#include "client/cli/text_table.h"
#include "client/sdk/column_views.h"

namespace arclane {

// `name` without the enum's own prefix; the number when the value has no name here.
std::string ShortName(int value, const std::string& name, std::string_view prefix);

// Writes the numbers of one plan: lengths get as many decimals as 5 digits of its length ask for.
class Numbers {
 public:
  explicit Numbers(double length);
  std::string Length(double value) const;
  std::string Degrees(double rad) const;
  std::string Time(double seconds) const;

 private:
  int decimals_;
};

void AddColumns(TextTable& table, std::initializer_list<const char*> titles, Align align);

// Calls `add(i)` for the rows to print; returns how many in the middle were left out.
template <typename Add>
size_t ForRows(size_t count, size_t max_rows, Add add) {
  const size_t head = count <= max_rows ? count : max_rows - max_rows / 2;
  const size_t tail = count <= max_rows ? 0 : max_rows / 2;
  for (size_t i = 0; i < head; ++i) add(i);
  for (size_t i = count - tail; i < count; ++i) add(i);
  return count - head - tail;
}

// An empty line, "title (count)", and the table.
void PrintTable(const char* title, size_t count, size_t omitted, const TextTable& table,
                std::ostream& out);

// `place` is what segment_index counts.
void PrintPhases(const PhaseView& phases, const char* place, const Numbers& numbers,
                 size_t max_rows, std::ostream& out);

// A column of samples with its text of row i.
struct SampleText {
  const char* title;
  std::function<std::string(size_t)> text;
};
// Adds a column; none when it was not asked for.
void AddSampleText(const char* title, std::span<const double> column,
                   std::string (Numbers::*format)(double) const, const Numbers& numbers,
                   std::vector<SampleText>& texts);
void AddPositionTexts(const PointsView& position, const Numbers& numbers,
                      std::vector<SampleText>& texts);
void PrintSampleTexts(const std::vector<SampleText>& texts, size_t count, size_t max_rows,
                      std::ostream& out);

// ", cache HIT"; nothing when the answer does not tell.
void PrintCacheOutcome(const v1::AnswerInfo& answer, std::ostream& out);

// An answer in one row.
struct AnswerSummary {
  std::string outcome;
  double length = 0;
  std::optional<double> duration_s;  // Unset without a speed plan.
  std::optional<size_t> corners;     // Unset where the plan knows none.
  size_t stops = 0;
};

// One row a request: PrintSummaryTitles once, then PrintSummary for each.
void PrintSummaryTitles(std::ostream& out);
void PrintSummary(size_t line, const AnswerSummary& summary, std::ostream& out);
// The row of a request that has no answer.
void PrintSummaryError(size_t line, const std::string& error, std::ostream& out);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_REPORT_TABLES_H_
