// SPDX-License-Identifier: Apache-2.0
#include "client/cli/server_commands.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "absl/strings/str_format.h"
#include "client/cli/request_input.h"
#include "client/cli/server_connection.h"
#include "client/cli/text_table.h"

namespace arclane {
namespace {

constexpr uint32_t kMaxPingsShown = 10;

double Milliseconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

// One round trip; nullopt when it succeeded.
std::optional<ClientError> PingOnce(const PingFlags& flags, const std::string& payload,
                                    Client& client, PingSession* session) {
  if (session != nullptr) {
    auto answer = session->Exchange(payload, flags.response_size);
    return answer.ok() ? std::nullopt : std::optional(std::move(answer).error());
  }
  auto answer = client.Ping(payload, flags.response_size);
  return answer.ok() ? std::nullopt : std::optional(std::move(answer).error());
}

void PrintSpread(std::vector<double> times_ms, std::ostream& out) {
  std::sort(times_ms.begin(), times_ms.end());
  const size_t count = times_ms.size();
  out << absl::StrFormat("%d pings: fastest %.3f ms, median %.3f ms, slowest %.3f ms\n", count,
                         times_ms.front(), times_ms[count / 2], times_ms.back());
}

std::unique_ptr<Client> ConnectOrReport(const ServerFlags& server, std::ostream& err) {
  auto client = ConnectTo(server);
  if (client.ok()) return *std::move(client);
  err << client.status().message() << '\n';
  return nullptr;
}

}  // namespace

ExitCode RunPing(const PingFlags& flags, const ServerFlags& server, CliStreams streams) {
  const auto client = ConnectOrReport(server, streams.err);
  if (client == nullptr) return ExitCode::kUsage;
  const std::string payload(flags.request_size, '\0');
  CallOptions stream_options;
  stream_options.deadline = server.deadline;
  const auto session = flags.stream ? client->OpenPingStream(stream_options) : nullptr;
  std::vector<double> times_ms;
  for (uint32_t i = 0; i < flags.count; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    if (const auto error = PingOnce(flags, payload, *client, session.get())) {
      ReportError(*error, server, "", streams.err);
      return ExitCodeOf(*error);
    }
    times_ms.push_back(Milliseconds(std::chrono::steady_clock::now() - begin));
    if (flags.count <= kMaxPingsShown) {
      streams.out << absl::StrFormat("%d: %.3f ms%s\n", i, times_ms.back(),
                                     i == 0 ? " (with connecting)" : "");
    }
  }
  if (session != nullptr) {
    if (const auto finished = session->Finish(); !finished.ok()) {
      ReportError(finished.error(), server, "", streams.err);
      return ExitCodeOf(finished.error());
    }
  }
  PrintSpread(std::move(times_ms), streams.out);
  return ExitCode::kOk;
}

ExitCode RunLimits(bool json, const ServerFlags& server, CliStreams streams) {
  const auto client = ConnectOrReport(server, streams.err);
  if (client == nullptr) return ExitCode::kUsage;
  const auto limits = client->GetLimits();
  if (!limits.ok()) {
    ReportError(limits.error(), server, "", streams.err);
    return ExitCodeOf(limits.error());
  }
  if (json) {
    streams.out << ToJson(*limits, JsonLayout::kIndented) << '\n';
    return ExitCode::kOk;
  }
  // Whatever limits this server's version has.
  TextTable table;
  table.AddColumn("limit", Align::kLeft);
  table.AddColumn("value", Align::kRight);
  const auto* descriptor = limits->GetDescriptor();
  const auto* reflection = limits->GetReflection();
  using Field = google::protobuf::FieldDescriptor;
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const Field* field = descriptor->field(i);
    std::string value;
    switch (field->cpp_type()) {
      case Field::CPPTYPE_UINT32:
        value = absl::StrFormat("%d", reflection->GetUInt32(*limits, field));
        break;
      case Field::CPPTYPE_UINT64:
        value = absl::StrFormat("%d", reflection->GetUInt64(*limits, field));
        break;
      case Field::CPPTYPE_DOUBLE:
        value = absl::StrFormat("%g", reflection->GetDouble(*limits, field));
        break;
      default:
        continue;
    }
    table.AddRow({field->name(), value});
  }
  table.Print(streams.out);
  return ExitCode::kOk;
}

ExitCode RunHealth(const std::string& service, const ServerFlags& server, CliStreams streams) {
  const auto client = ConnectOrReport(server, streams.err);
  if (client == nullptr) return ExitCode::kUsage;
  const auto state = client->CheckHealth(service);
  if (!state.ok()) {
    ReportError(state.error(), server, "", streams.err);
    return ExitCodeOf(state.error());
  }
  switch (*state) {
    case ServingState::kServing:
      streams.out << "SERVING\n";
      return ExitCode::kOk;
    case ServingState::kNotServing:
      streams.out << "NOT_SERVING\n";
      return ExitCode::kUnavailable;
    case ServingState::kUnknown:
      break;
  }
  streams.out << "UNKNOWN\n";
  streams.err << "the server knows no service \"" << service
              << "\"; Arclane's are \"\", \"arclane.v1.PathPlanner\" and \"liveness\"\n";
  return ExitCode::kUnavailable;
}

}  // namespace arclane
