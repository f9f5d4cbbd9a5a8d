// SPDX-License-Identifier: Apache-2.0
// The words of a command line before Abseil reads its flags: Abseil ends the program, with exit
// code 1, at flags that do not exist or lack a value, and hides every other error by that.
#ifndef ARCLANE_SERVER_COMMAND_LINE_FLAG_WORDS_H_
#define ARCLANE_SERVER_COMMAND_LINE_FLAG_WORDS_H_

#include <string>
#include <vector>

namespace arclane {

// The words for absl::ParseCommandLine: dashes in names of flags become underscores, in `argv`
// itself, and what Abseil would end the program for is left out and told in `errors`, as
// "--name: what is wrong". What stands in files of --flagfile is not looked at; with --undefok
// unknown flags are left to Abseil. The words point into `argv`.
std::vector<char*> CheckedFlagWords(int argc, char** argv, std::vector<std::string>& errors);

}  // namespace arclane

#endif  // ARCLANE_SERVER_COMMAND_LINE_FLAG_WORDS_H_
