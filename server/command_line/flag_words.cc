// SPDX-License-Identifier: Apache-2.0
#include "server/command_line/flag_words.h"

#include <algorithm>
#include <cstring>

#include "absl/flags/commandlineflag.h"
#include "absl/flags/marshalling.h"
#include "absl/flags/reflection.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace arclane {
namespace {

// Words that Abseil knows although they are no flags.
constexpr absl::string_view kUsageWords[] = {"help",      "helpfull",       "helpshort",
                                             "helpmatch", "helpon",         "helppackage",
                                             "version",   "only_check_args"};

void UseUnderscores(char* word) {
  if (std::strncmp(word, "--", 2) != 0) return;
  for (char* c = word + 2; *c != '\0' && *c != '='; ++c) {
    if (*c == '-') *c = '_';
  }
}

struct FlagWord {
  absl::string_view name;
  bool has_value = false;  // "--name=", also with nothing behind it.
  absl::string_view value;
};

FlagWord Split(absl::string_view word) {
  word.remove_prefix(absl::StartsWith(word, "--") ? 2 : 1);
  const size_t equals = word.find('=');
  if (equals == absl::string_view::npos) return {word};
  return {word.substr(0, equals), true, word.substr(equals + 1)};
}

bool IsUsageWord(absl::string_view name) {
  return std::find(std::begin(kUsageWords), std::end(kUsageWords), name) != std::end(kUsageWords);
}

// The flag that a word sets, also as --noname; null when there is none.
const absl::CommandLineFlag* FlagOf(const FlagWord& word) {
  if (const absl::CommandLineFlag* flag = absl::FindCommandLineFlag(word.name)) return flag;
  if (word.has_value || !absl::StartsWith(word.name, "no")) return nullptr;
  const absl::CommandLineFlag* flag = absl::FindCommandLineFlag(word.name.substr(2));
  return flag != nullptr && flag->IsOfType<bool>() ? flag : nullptr;
}

}  // namespace

std::vector<char*> CheckedFlagWords(int argc, char** argv, std::vector<std::string>& errors) {
  std::vector<char*> words(argv, argv + std::min(argc, 1));
  bool undefined_are_fine = false;
  for (int i = 1; i < argc; ++i) {
    undefined_are_fine |= absl::StartsWith(argv[i], "--undefok");
  }
  for (int i = 1; i < argc; ++i) {
    char* const word = argv[i];
    if (std::strcmp(word, "--") == 0) {
      words.insert(words.end(), argv + i, argv + argc);
      break;
    }
    if (word[0] != '-' || word[1] == '\0') {
      words.push_back(word);
      continue;
    }
    UseUnderscores(word);
    const FlagWord split = Split(word);
    const absl::CommandLineFlag* const flag = FlagOf(split);
    if (flag == nullptr) {
      if (undefined_are_fine || IsUsageWord(split.name)) {
        words.push_back(word);
      } else {
        errors.push_back(absl::StrCat("--", split.name, ": there is no such flag"));
      }
      continue;
    }
    if (flag->IsOfType<bool>()) {
      bool value = false;
      std::string why;
      if (split.has_value && !absl::ParseFlag(split.value, &value, &why)) {
        errors.push_back(
            absl::StrCat("--", split.name, ": must be true or false, got \"", split.value, "\""));
      } else {
        words.push_back(word);
      }
      continue;
    }
    if (!split.has_value && i + 1 == argc) {
      errors.push_back(absl::StrCat("--", split.name, ": needs a value"));
      continue;
    }
    words.push_back(word);
    if (!split.has_value) words.push_back(argv[++i]);
  }
  return words;
}

}  // namespace arclane
