// SPDX-License-Identifier: Apache-2.0
#include "client/cli/text_table.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace arclane {

void TextTable::AddColumn(std::string title, Align align) {
  if (rows_.empty()) rows_.emplace_back();
  rows_.front().push_back(std::move(title));
  aligns_.push_back(align);
}

void TextTable::AddRow(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

void TextTable::Print(std::ostream& out) const {
  std::vector<size_t> widths(aligns_.size(), 0);
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows_) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      line += "  ";
      line += aligns_[i] == Align::kRight ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

}  // namespace arclane
