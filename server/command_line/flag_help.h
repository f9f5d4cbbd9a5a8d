// SPDX-License-Identifier: Apache-2.0
// What a program tells of its flags when it is asked for help: Abseil's own help ends it with exit
// code 1, as if something had gone wrong.
#ifndef ARCLANE_SERVER_COMMAND_LINE_FLAG_HELP_H_
#define ARCLANE_SERVER_COMMAND_LINE_FLAG_HELP_H_

#include <string>

#include "absl/strings/string_view.h"

namespace arclane {

// Whether --help or a form of it stands before a "--".
bool AsksForHelp(int argc, char** argv);

// "  --name" and the text below, broken into lines between words.
void AppendHelp(absl::string_view name, absl::string_view help, std::string& text);

}  // namespace arclane

#endif  // ARCLANE_SERVER_COMMAND_LINE_FLAG_HELP_H_
