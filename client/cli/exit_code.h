// SPDX-License-Identifier: Apache-2.0
// What `arclane` returns to the shell; told by `arclane --help`.
#ifndef ARCLANE_CLIENT_CLI_EXIT_CODE_H_
#define ARCLANE_CLIENT_CLI_EXIT_CODE_H_

namespace arclane {

// With many requests: the code of the first that failed.
enum class ExitCode : int {
  kOk = 0,           // Everything was answered; an outcome such as CANNOT_STOP is an answer.
  kRefused = 1,      // The server refused a request or failed at it.
  kUsage = 2,        // The command line is wrong.
  kBadInput = 3,     // A file cannot be read or written, or its text is no request.
  kUnavailable = 4,  // No server answers, or it is not serving.
  kDeadline = 5,     // The deadline passed.
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_EXIT_CODE_H_
