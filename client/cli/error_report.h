// SPDX-License-Identifier: Apache-2.0
// Errors of calls as the user of the command line needs them: what happened, and what to do next.
#ifndef ARCLANE_CLIENT_CLI_ERROR_REPORT_H_
#define ARCLANE_CLIENT_CLI_ERROR_REPORT_H_

#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cli/exit_code.h"
#include "client/sdk/client_error.h"

namespace arclane {

// Where and how calls are made; the flags of all commands.
struct ServerFlags {
  std::string target = "localhost:50051";
  absl::Duration deadline = absl::Seconds(10);
  // TLS when `tls` or any of the others is given.
  bool tls = false;
  std::string tls_ca;
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_server_name;
};

// Prints what went wrong before or after a call, and returns `code`.
ExitCode Report(const absl::Status& status, ExitCode code, std::ostream& err);

// Prints the error behind `place` ("plan.jsonl:3: ", or nothing) with its violations as a list and
// a hint.
void ReportError(const ClientError& error, const ServerFlags& server, const std::string& place,
                 std::ostream& err);

ExitCode ExitCodeOf(const ClientError& error);

// {"code": ..., "reason": ..., "message": ..., "field_violations": [{"field": ..., "description":
// ...}], "retry_delay_s": ..., "metadata": {...}} on one line; what is empty is left out.
std::string ErrorToJson(const ClientError& error);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_ERROR_REPORT_H_
