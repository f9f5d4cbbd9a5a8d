// SPDX-License-Identifier: Apache-2.0
#include "server/command_line/flag_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/flags/flag.h"

ABSL_FLAG(std::string, test_text, "", "A text.");
ABSL_FLAG(bool, test_switch, false, "A switch.");

namespace arclane {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Checked {
  std::vector<std::string> words;
  std::vector<std::string> errors;
};

Checked Check(std::vector<std::string> line) {
  line.insert(line.begin(), "program");
  std::vector<char*> argv;
  for (std::string& word : line) argv.push_back(word.data());
  Checked checked;
  const auto words = CheckedFlagWords(static_cast<int>(argv.size()), argv.data(), checked.errors);
  checked.words.assign(words.begin() + 1, words.end());
  return checked;
}

TEST(FlagWordsTest, FlagsThatExistStayWithUnderscores) {
  const Checked checked =
      Check({"--test-text=a-b", "-test_text", "--x-y", "--test-switch", "--notest-switch",
             "--test_switch=false", "word", "-", "--help", "--version", "--", "--other-one"});
  EXPECT_THAT(checked.words, ElementsAre("--test_text=a-b", "-test_text", "--x-y", "--test_switch",
                                         "--notest_switch", "--test_switch=false", "word", "-",
                                         "--help", "--version", "--", "--other-one"));
  EXPECT_THAT(checked.errors, IsEmpty());
}

TEST(FlagWordsTest, AllThatAbseilWouldEndForIsTold) {
  const Checked checked = Check({"--other-one=1", "-x", "--notest-text", "--test-switch=perhaps",
                                 "--test_switch=", "--test_text=", "--test_text"});
  EXPECT_THAT(checked.words, ElementsAre("--test_text="));
  EXPECT_THAT(
      checked.errors,
      ElementsAre("--other_one: there is no such flag", "--x: there is no such flag",
                  "--notest_text: there is no such flag",
                  "--test_switch: must be true or false, got \"perhaps\"",
                  "--test_switch: must be true or false, got \"\"", "--test_text: needs a value"));
}

TEST(FlagWordsTest, UnknownFlagsThatAreFineAreLeft) {
  const Checked checked = Check({"--undefok=other", "--other=1"});
  EXPECT_THAT(checked.words, ElementsAre("--undefok=other", "--other=1"));
  EXPECT_THAT(checked.errors, IsEmpty());
}

}  // namespace
}  // namespace arclane
