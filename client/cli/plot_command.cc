// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot_command.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/error_report.h"
#include "client/cli/json_text.h"
#include "client/cli/output_file.h"
#include "client/cli/plan_method.h"
#include "client/cli/request_input.h"
#include "client/cli/server_connection.h"

namespace arclane {
namespace {

template <typename Method>
struct Plan {
  typename Method::Request request;
  std::optional<typename Method::Response> response;
};

// The text of a file, and where its request stands in it.
struct PlanText {
  const RequestText& source;
  const std::string& file;
  std::optional<JsonExtent> request;  // nullopt: the text is the request.

  bool Has(const char* member) const {
    const std::string path = request ? absl::StrCat("request.", member) : member;
    return FindJsonMember(source.text, path).has_value();
  }
};

template <typename Method>
absl::StatusOr<Plan<Method>> ReadPlan(const PlanText& plan_text) {
  Plan<Method> plan;
  const RequestText& source = plan_text.source;
  const std::string_view text = source.text;
  const auto parse = [&](const JsonExtent& part, google::protobuf::Message& message) {
    const size_t line = source.line + PositionOf(text, part.begin).line - 1;
    return ParseJson(text.substr(part.begin, part.end - part.begin), plan_text.file, line, message);
  };
  if (!plan_text.request) {
    absl::Status status = ParseJson(text, plan_text.file, source.line, plan.request);
    if (!status.ok()) return status;
    return plan;
  }
  if (absl::Status status = parse(*plan_text.request, plan.request); !status.ok()) return status;
  if (const std::optional<JsonExtent> response = FindJsonMember(text, "response")) {
    if (absl::Status status = parse(*response, plan.response.emplace()); !status.ok()) {
      return status;
    }
  }
  return plan;
}

// What a file that holds no request holds instead.
absl::Status CheckHasRequest(const PlanText& plan) {
  if (plan.request) return absl::OkStatus();
  const std::string_view text = plan.source.text;
  if (plan.Has("response") || plan.Has("route") || plan.Has("plan")) {
    return absl::InvalidArgumentError(
        absl::StrCat(plan.file,
                     " holds an answer without its request; write both with `--json "
                     "--with-request` of the plan commands"));
  }
  if (const auto error = FindJsonMember(text, "error")) {
    return absl::InvalidArgumentError(
        absl::StrCat(plan.file, " holds no plan but an error: ",
                     std::string(text.substr(error->begin, error->end - error->begin))));
  }
  return absl::OkStatus();
}

template <typename Method>
ExitCode Draw(const PlanText& text, const PlotFlags& flags, const ServerFlags& server,
              CliStreams streams) {
  absl::StatusOr<Plan<Method>> plan = ReadPlan<Method>(text);
  if (!plan.ok()) return Report(plan.status(), ExitCode::kBadInput, streams.err);
  auto output = OutputFile::Open(flags.out_file, streams.out);
  if (!output.ok()) return Report(output.status(), ExitCode::kBadInput, streams.err);
  if (!plan->response) {
    const auto client = ConnectTo(server);
    if (!client.ok()) return Report(client.status(), ExitCode::kUsage, streams.err);
    Method::AskForPicture(plan->request);
    auto answer = Method::Call(**client, plan->request);
    if (!answer.ok()) {
      ReportError(answer.error(), server, "", streams.err);
      return ExitCodeOf(answer.error());
    }
    plan->response = *std::move(answer);
  }
  RoutePlotOptions options;
  options.title = flags.title;
  options.width = flags.width;
  options.charts = !flags.no_charts;
  const absl::StatusOr<std::string> svg = Method::Plot(plan->request, *plan->response, options);
  if (!svg.ok()) return Report(svg.status(), ExitCode::kBadInput, streams.err);
  output->stream() << *svg;
  if (absl::Status closed = output->Close(); !closed.ok()) {
    return Report(closed, ExitCode::kBadInput, streams.err);
  }
  return ExitCode::kOk;
}

}  // namespace

ExitCode RunPlot(const PlotFlags& flags, const ServerFlags& server, CliStreams streams) {
  const auto input = RequestInput::Open(flags.file, InputLayout::kDetect, streams.in);
  if (!input.ok()) return Report(input.status(), ExitCode::kBadInput, streams.err);
  const RequestText source = *(*input)->Next();
  const PlanText plan = {source, (*input)->name(), FindJsonMember(source.text, "request")};
  if (absl::Status status = CheckHasRequest(plan); !status.ok()) {
    return Report(status, ExitCode::kBadInput, streams.err);
  }
  // Each kind of request has a member that no other has.
  if (plan.Has("spline")) return Draw<SplineMethod>(plan, flags, server, streams);
  if (plan.Has("waypoints")) return Draw<WaypointsMethod>(plan, flags, server, streams);
  if (plan.Has("pieces") || plan.Has("profile")) {
    return Report(absl::InvalidArgumentError(
                      absl::StrCat(plan.file, " holds a speed request, which has no map to draw")),
                  ExitCode::kBadInput, streams.err);
  }
  return Draw<CorridorMethod>(plan, flags, server, streams);
}

}  // namespace arclane
