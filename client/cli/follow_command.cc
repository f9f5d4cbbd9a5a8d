// SPDX-License-Identifier: Apache-2.0
#include "client/cli/follow_command.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "client/cli/error_report.h"
#include "client/cli/output_file.h"
#include "client/cli/plan_method.h"
#include "client/cli/request_input.h"
#include "client/cli/server_connection.h"

namespace arclane {
namespace {

absl::Status ReadGateClosings(const std::vector<std::string>& texts,
                              std::vector<GateClosing>& gates) {
  for (const std::string& text : texts) {
    const std::vector<std::string> parts = absl::StrSplit(text, '@');
    GateClosing gate;
    if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &gate.gate_id) ||
        !absl::SimpleAtod(parts[1], &gate.time_s) || !(gate.time_s >= 0.0)) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", text, "\" is no gate and time; write 7@2.5 for gate 7 at 2.5 s"));
    }
    gates.push_back(gate);
  }
  return absl::OkStatus();
}

Integrator IntegratorOf(const std::string& name) {
  if (name == "ramp") return Integrator::kRamp;
  if (name == "delay") return Integrator::kDelay;
  return Integrator::kHold;
}

void PrintLog(const FollowRun& run, double every_s, std::ostream& out) {
  out << absl::StrFormat("%8s  %-19s %9s %9s %7s %7s %9s %8s %6s\n", "time", "status", "distance",
                         "deviation", "speed", "ceiling", "to stop", "overrun", "portal");
  double next_s = 0.0;
  for (size_t i = 0; i < run.rows.size(); ++i) {
    const FollowLogRow& row = run.rows[i];
    const bool changed = i == 0 || row.status != run.rows[i - 1].status;
    if (!changed && row.time_s < next_s && i + 1 < run.rows.size()) continue;
    while (next_s <= row.time_s) next_s += every_s;
    out << absl::StrFormat("%8.3f  %-19s %9.3f %9.2g %7.3f %7.3f %9.3f %8.3g %6u\n", row.time_s,
                           FollowStatusName(row.status), row.distance, row.deviation, row.speed,
                           row.ceiling, row.distance_to_stop, row.overrun, row.portal);
  }
}

}  // namespace

ExitCode RunFollow(const FollowFlags& flags, const ServerFlags& server, CliStreams streams) {
  FollowScenario scenario = flags.scenario;
  scenario.options.integrator = IntegratorOf(flags.integrator);
  if (absl::Status status = ReadGateClosings(flags.close_gates, scenario.gates); !status.ok()) {
    return Report(status, ExitCode::kUsage, streams.err);
  }
  const auto input = RequestInput::Open(flags.file, InputLayout::kDetect, streams.in);
  if (!input.ok()) return Report(input.status(), ExitCode::kBadInput, streams.err);
  const RequestText text = *(*input)->Next();
  v1::PlanCorridorRequest request;
  if (absl::Status status = ParseJson(text.text, (*input)->name(), text.line, request);
      !status.ok()) {
    return Report(status, ExitCode::kBadInput, streams.err);
  }
  request.set_include_corridor(true);
  auto log = OutputFile::Open(flags.out_file, streams.out);
  if (!log.ok()) return Report(log.status(), ExitCode::kBadInput, streams.err);
  auto picture = OutputFile::Open(flags.svg_file, streams.out);
  if (!picture.ok()) return Report(picture.status(), ExitCode::kBadInput, streams.err);
  const auto client = ConnectTo(server);
  if (!client.ok()) return Report(client.status(), ExitCode::kUsage, streams.err);
  const auto answer = (*client)->PlanCorridor(request);
  if (!answer.ok()) {
    ReportError(answer.error(), server, "", streams.err);
    return ExitCodeOf(answer.error());
  }
  const auto route = FollowedRouteOf(request, *answer, 1);
  if (!route.ok()) return Report(route.status(), ExitCode::kRefused, streams.err);

  for (const GateClosing& gate : scenario.gates) {
    const auto& reads = (*route)->read_set;
    const bool known = std::any_of(reads.begin(), reads.end(), [&](const auto& read) {
      return read.kind == v1::DEPENDENCY_KIND_GATE && read.id == gate.gate_id;
    });
    if (known) continue;
    return Report(absl::InvalidArgumentError(absl::StrCat(
                      "--close-gate ", gate.gate_id, ": no gate of the corridor's dependencies")),
                  ExitCode::kUsage, streams.err);
  }
  FollowRun run = SimulateFollowing(*route, scenario);
  const double end_s = run.rows.empty() ? 0.0 : run.rows.back().time_s;
  run.track.title = absl::StrCat("Following: ", FollowStatusName(run.end));
  run.track.subtitle = absl::StrFormat("%.4g s, planned %.4g s; integrator %s, step %.4g s%s",
                                       end_s, answer->route().duration_s(), flags.integrator,
                                       scenario.dt_s, run.rests ? "" : "; still moving");
  const double tolerance = request.agent().manners().corner_distance_tolerance();
  if (!run.rests && scenario.position_noise > tolerance) {
    streams.err << "note: with --noise " << scenario.position_noise
                << " the agent is never surely within its corner_distance_tolerance of "
                << tolerance << " (agent.manners): give it several times the noise\n";
  }
  PrintLog(run, flags.log_every_s, log->stream());
  log->stream() << FollowStatusName(run.end) << ": " << run.track.subtitle << '\n';
  if (absl::Status status = log->Close(); !status.ok()) {
    return Report(status, ExitCode::kBadInput, streams.err);
  }
  if (flags.svg_file.empty()) return ExitCode::kOk;
  RoutePlotOptions options;
  options.title = flags.title;
  options.width = flags.width;
  const auto svg = PlotFollowTrack(request, *answer, run.track, options);
  if (!svg.ok()) return Report(svg.status(), ExitCode::kBadInput, streams.err);
  picture->stream() << *svg;
  if (absl::Status status = picture->Close(); !status.ok()) {
    return Report(status, ExitCode::kBadInput, streams.err);
  }
  return ExitCode::kOk;
}

}  // namespace arclane
