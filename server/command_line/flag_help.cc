// SPDX-License-Identifier: Apache-2.0
#include "server/command_line/flag_help.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace arclane {

bool AsksForHelp(int argc, char** argv) {
  for (int i = 1; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    const absl::string_view word = argv[i];
    if (word == "--help" || word == "-help" || word == "-h" || word == "--helpfull" ||
        word == "--helpshort") {
      return true;
    }
  }
  return false;
}

void AppendHelp(absl::string_view name, absl::string_view help, std::string& text) {
  constexpr size_t kMostColumns = 100;
  constexpr absl::string_view kIndent = "      ";
  absl::StrAppend(&text, "  --", name, "\n");
  size_t column = 0;
  for (absl::string_view word : absl::StrSplit(help, ' ', absl::SkipEmpty())) {
    if (column > 0 && column + 1 + word.size() > kMostColumns) {
      absl::StrAppend(&text, "\n");
      column = 0;
    }
    const absl::string_view before = column == 0 ? kIndent : " ";
    absl::StrAppend(&text, before, word);
    column += before.size() + word.size();
  }
  absl::StrAppend(&text, "\n");
}

}  // namespace arclane
