// SPDX-License-Identifier: Apache-2.0
#include "client/cli/error_report.h"

#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace arclane {
namespace {

std::string Hint(const ClientError& error, const ServerFlags& server) {
  switch (error.code) {
    case absl::StatusCode::kUnavailable:
      return "Start a server with `arclane-server`, or name a running one with --server HOST:PORT "
             "or ARCLANE_SERVER. A server that speaks TLS needs --tls-ca, or --tls.";
    case absl::StatusCode::kPermissionDenied:
      return "The server's setting `authorize` says who may; --tls-certificate and --tls-key say "
             "who "
             "is asking.";
    case absl::StatusCode::kDeadlineExceeded:
      return absl::StrCat("The limit was ", absl::FormatDuration(server.deadline),
                          "; allow more with --deadline.");
    case absl::StatusCode::kUnimplemented:
      return absl::StrCat("What answers at ", server.target,
                          " does not know this call: is it an Arclane server of this version?");
    case absl::StatusCode::kResourceExhausted:
      if (error.retry_delay) {
        return absl::StrCat("The server is busy; try again in ",
                            absl::FormatDuration(*error.retry_delay), ".");
      }
      return "`arclane limits` shows the limits of the server.";
    default:
      return "";
  }
}

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppend(&quoted, absl::StrFormat("\\u%04x", static_cast<unsigned char>(c)));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string Member(const char* name, const std::string& json) {
  return absl::StrCat("\"", name, "\":", json);
}

}  // namespace

ExitCode Report(const absl::Status& status, ExitCode code, std::ostream& err) {
  err << status.message() << '\n';
  return code;
}

void ReportError(const ClientError& error, const ServerFlags& server, const std::string& place,
                 std::ostream& err) {
  const bool unreachable = error.code == absl::StatusCode::kUnavailable && error.reason.empty();
  err << place;
  if (unreachable) {
    err << "no server answers at " << server.target << " (" << error.message << ")\n";
  } else {
    err << absl::StatusCodeToString(error.code);
    if (!error.reason.empty()) err << ' ' << error.reason;
    // The list below says what the message repeats.
    if (error.violations.empty()) {
      err << ": " << error.message;
    } else {
      err << ": " << error.violations.size()
          << (error.violations.size() == 1 ? " field is wrong" : " fields are wrong");
    }
    err << '\n';
  }
  for (const FieldViolation& violation : error.violations) {
    err << "  " << violation.field << ": " << violation.description << '\n';
  }
  for (const auto& [key, value] : error.metadata) err << "  " << key << " = " << value << '\n';
  if (const std::string hint = Hint(error, server); !hint.empty()) err << hint << '\n';
}

ExitCode ExitCodeOf(const ClientError& error) {
  switch (error.code) {
    case absl::StatusCode::kUnavailable:
      return ExitCode::kUnavailable;
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kDeadline;
    default:
      return ExitCode::kRefused;
  }
}

std::string ErrorToJson(const ClientError& error) {
  std::vector<std::string> members = {Member("code", Quoted(absl::StatusCodeToString(error.code)))};
  if (!error.reason.empty()) members.push_back(Member("reason", Quoted(error.reason)));
  members.push_back(Member("message", Quoted(error.message)));
  if (!error.violations.empty()) {
    std::vector<std::string> violations;
    for (const FieldViolation& violation : error.violations) {
      violations.push_back(absl::StrCat("{", Member("field", Quoted(violation.field)), ",",
                                        Member("description", Quoted(violation.description)), "}"));
    }
    members.push_back(
        Member("field_violations", absl::StrCat("[", absl::StrJoin(violations, ","), "]")));
  }
  if (error.retry_delay) {
    members.push_back(
        Member("retry_delay_s", absl::StrCat(absl::ToDoubleSeconds(*error.retry_delay))));
  }
  if (!error.metadata.empty()) {
    std::vector<std::string> entries;
    for (const auto& [key, value] : error.metadata) {
      entries.push_back(absl::StrCat(Quoted(key), ":", Quoted(value)));
    }
    members.push_back(Member("metadata", absl::StrCat("{", absl::StrJoin(entries, ","), "}")));
  }
  return absl::StrCat("{", absl::StrJoin(members, ","), "}");
}

}  // namespace arclane
