// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot_command.h"

#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "client/cli/json_text.h"
#include "client/cli/output_file.h"
#include "client/cli/plot/route_plot.h"
#include "client/cli/request_input.h"
#include "client/cli/server_connection.h"

namespace arclane {
namespace {

struct Plan {
  v1::PlanCorridorRequest request;
  std::optional<v1::PlanCorridorResponse> response;
};

absl::StatusOr<Plan> ReadPlan(const RequestText& source, const std::string& file) {
  Plan plan;
  const std::string_view text = source.text;
  const auto parse = [&](const JsonExtent& part, google::protobuf::Message& message) {
    const size_t line = source.line + PositionOf(text, part.begin).line - 1;
    return ParseJson(text.substr(part.begin, part.end - part.begin), file, line, message);
  };
  const std::optional<JsonExtent> request = FindJsonMember(text, "request");
  if (!request) {
    if (FindJsonMember(text, "response") || FindJsonMember(text, "route")) {
      return absl::InvalidArgumentError(
          absl::StrCat(file,
                       " holds an answer without its request; write both with "
                       "`arclane plan-corridor --json --with-request`"));
    }
    if (const auto error = FindJsonMember(text, "error")) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, " holds no route but an error: ",
                       std::string(text.substr(error->begin, error->end - error->begin))));
    }
    if (absl::Status status = ParseJson(text, file, source.line, plan.request); !status.ok()) {
      return status;
    }
    return plan;
  }
  if (absl::Status status = parse(*request, plan.request); !status.ok()) return status;
  if (const std::optional<JsonExtent> response = FindJsonMember(text, "response")) {
    if (absl::Status status = parse(*response, plan.response.emplace()); !status.ok()) {
      return status;
    }
  }
  return plan;
}

ExitCode Report(const absl::Status& status, ExitCode code, std::ostream& err) {
  err << status.message() << '\n';
  return code;
}

}  // namespace

ExitCode RunPlot(const PlotFlags& flags, const ServerFlags& server, CliStreams streams) {
  const auto input = RequestInput::Open(flags.file, InputLayout::kDetect, streams.in);
  if (!input.ok()) return Report(input.status(), ExitCode::kBadInput, streams.err);
  absl::StatusOr<Plan> plan = ReadPlan(*(*input)->Next(), (*input)->name());
  if (!plan.ok()) return Report(plan.status(), ExitCode::kBadInput, streams.err);
  if (!plan->response) {
    const auto client = ConnectTo(server);
    if (!client.ok()) return Report(client.status(), ExitCode::kUsage, streams.err);
    plan->request.set_include_corridor(true);
    auto answer = (*client)->PlanCorridor(plan->request);
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
  const absl::StatusOr<std::string> svg = PlotRoute(plan->request, *plan->response, options);
  if (!svg.ok()) return Report(svg.status(), ExitCode::kBadInput, streams.err);
  auto output = OutputFile::Open(flags.out_file, streams.out);
  if (!output.ok()) return Report(output.status(), ExitCode::kBadInput, streams.err);
  output->stream() << *svg;
  if (absl::Status closed = output->Close(); !closed.ok()) {
    return Report(closed, ExitCode::kBadInput, streams.err);
  }
  return ExitCode::kOk;
}

}  // namespace arclane
