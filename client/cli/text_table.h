// SPDX-License-Identifier: Apache-2.0
// Columns of text for people: numbers to the right, words to the left.
#ifndef ARCLANE_CLIENT_CLI_TEXT_TABLE_H_
#define ARCLANE_CLIENT_CLI_TEXT_TABLE_H_

#include <ostream>
#include <string>
#include <vector>

namespace arclane {

enum class Align { kLeft, kRight };

class TextTable {
 public:
  // Adds a column; before any row.
  void AddColumn(std::string title, Align align);
  // One cell a column.
  void AddRow(std::vector<std::string> cells);
  // Title line and rows, each indented by two spaces, without spaces at the ends of lines.
  void Print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;  // The first holds the titles.
  std::vector<Align> aligns_;
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_TEXT_TABLE_H_
