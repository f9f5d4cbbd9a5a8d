// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plan_command.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/curve_report.h"
#include "client/cli/output_file.h"
#include "client/cli/request_input.h"
#include "client/cli/route_report.h"
#include "client/cli/server_connection.h"
#include "client/sdk/client.h"

namespace arclane {
namespace {

constexpr auto kProgressInterval = std::chrono::seconds(2);

template <typename Method>
class PlanRun {
 public:
  PlanRun(const PlanFlags& flags, const ServerFlags& server, CliStreams streams, Client& client,
          RequestInput& input, std::ostream& out)
      : flags_(flags),
        server_(server),
        streams_(streams),
        client_(client),
        input_(input),
        out_(out) {}

  ExitCode Run() {
    while (true) {
      while (pending_.size() < static_cast<size_t>(flags_.parallel)) {
        std::optional<RequestText> text = input_.Next();
        if (!text) break;
        Send(*text);
      }
      if (pending_.empty()) break;
      Tell(pending_.front());
      pending_.pop_front();
      ReportProgress();
    }
    if (progress_shown_) ShowProgress();
    return exit_code_;
  }

 private:
  using Request = typename Method::Request;
  using Response = typename Method::Response;

  // A request on its way, or one that never left because its text is wrong.
  struct Pending {
    RequestText source;
    Request request;
    absl::Status parsed;
    std::future<Result<Response>> answer;
  };

  void Send(const RequestText& text) {
    Pending& pending = pending_.emplace_back();
    pending.source = text;
    pending.parsed =
        ParseJson(pending.source.text, input_.name(), pending.source.line, pending.request);
    if (!pending.parsed.ok()) return;
    if constexpr (Method::kHasSampling) {
      if (flags_.spacing) pending.request.mutable_sampling()->set_spacing(*flags_.spacing);
      if (flags_.count) pending.request.mutable_sampling()->set_count(*flags_.count);
      if (!flags_.svg_file.empty()) Method::AskForPicture(pending.request);
    }
    auto promise = std::make_shared<std::promise<Result<Response>>>();
    pending.answer = promise->get_future();
    Method::Start(client_, pending.request,
                  [promise](Result<Response> result) { promise->set_value(std::move(result)); });
  }

  void Tell(Pending& pending) {
    ++told_;
    if (!pending.parsed.ok()) {
      streams_.err << pending.parsed.message() << '\n';
      ClientError error;
      error.code = absl::StatusCode::kInvalidArgument;
      error.message = std::string(pending.parsed.message());
      TellFailure(pending, error, ExitCode::kBadInput);
      return;
    }
    const Result<Response> answer = pending.answer.get();
    if (!answer.ok()) {
      const std::string place =
          pending.source.is_line ? absl::StrCat(input_.name(), ":", pending.source.line, ": ") : "";
      ReportError(answer.error(), server_, place, streams_.err);
      TellFailure(pending, answer.error(), ExitCodeOf(answer.error()));
      return;
    }
    TellAnswer(pending, *answer);
  }

  void TellFailure(const Pending& pending, const ClientError& error, ExitCode code) {
    Fail(code);
    if (flags_.json && pending.source.is_line) {
      out_ << "{\"error\":" << ErrorToJson(error) << "}\n";
    } else if (pending.source.is_line) {
      TitlesOnce();
      PrintSummaryError(
          pending.source.line,
          error.violations.empty()
              ? absl::StrCat(absl::StatusCodeToString(error.code), ": ", error.message)
              : absl::StrCat(error.violations[0].field, ": ", error.violations[0].description),
          out_);
    }
  }

  void TellAnswer(const Pending& pending, const Response& response) {
    if constexpr (Method::kHasSampling) {
      if (!flags_.svg_file.empty()) Draw(pending, response);
    }
    if (flags_.json) {
      const JsonLayout layout =
          pending.source.is_line ? JsonLayout::kOneLine : JsonLayout::kIndented;
      if (flags_.with_request) {
        out_ << "{\"request\":" << ToJson(pending.request, layout)
             << ",\"response\":" << ToJson(response, layout) << "}\n";
      } else {
        out_ << ToJson(response, layout) << '\n';
      }
    } else if (pending.source.is_line) {
      TitlesOnce();
      PrintSummary(pending.source.line, SummaryOf(response), out_);
    } else if (absl::Status status = PrintAnswer(response, flags_.max_rows, out_); !status.ok()) {
      streams_.err << "the answer is malformed: " << status.message() << '\n';
      Fail(ExitCode::kRefused);
    }
  }

  // "routes-12.svg" for line 12 and "routes.svg".
  std::string SvgPathOf(const RequestText& source) const {
    if (!source.is_line) return flags_.svg_file;
    const size_t folder = flags_.svg_file.rfind('/');
    size_t dot = flags_.svg_file.rfind('.');
    if (dot == std::string::npos || (folder != std::string::npos && dot < folder)) {
      dot = flags_.svg_file.size();
    }
    return absl::StrCat(flags_.svg_file.substr(0, dot), "-", source.line,
                        flags_.svg_file.substr(dot));
  }

  void Draw(const Pending& pending, const Response& response) {
    absl::StatusOr<std::string> svg = Method::Plot(pending.request, response, {});
    absl::Status status = svg.status();
    if (status.ok()) {
      auto file = OutputFile::Open(SvgPathOf(pending.source), streams_.out);
      status = file.status();
      if (file.ok()) {
        file->stream() << *svg;
        status = file->Close();
      }
    }
    if (status.ok()) return;
    streams_.err << status.message() << '\n';
    Fail(ExitCode::kBadInput);
  }

  void TitlesOnce() {
    if (!titles_told_) PrintSummaryTitles(out_);
    titles_told_ = true;
  }

  void Fail(ExitCode code) {
    ++failed_;
    if (exit_code_ == ExitCode::kOk) exit_code_ = code;
  }

  void ReportProgress() {
    const auto now = std::chrono::steady_clock::now();
    if (flags_.quiet || now - last_progress_ < kProgressInterval) return;
    last_progress_ = now;
    progress_shown_ = true;
    ShowProgress();
  }
  void ShowProgress() {
    streams_.err << "planned " << told_;
    if (input_.count()) streams_.err << " of " << *input_.count();
    if (failed_ > 0) streams_.err << ", " << failed_ << " failed";
    streams_.err << std::endl;
  }

  const PlanFlags& flags_;
  const ServerFlags& server_;
  const CliStreams streams_;
  Client& client_;
  RequestInput& input_;
  std::ostream& out_;
  std::deque<Pending> pending_;
  ExitCode exit_code_ = ExitCode::kOk;
  size_t told_ = 0;
  size_t failed_ = 0;
  bool titles_told_ = false;
  bool progress_shown_ = false;
  std::chrono::steady_clock::time_point last_progress_ = std::chrono::steady_clock::now();
};

}  // namespace

template <typename Method>
ExitCode RunPlan(const PlanFlags& flags, const ServerFlags& server, CliStreams streams) {
  const auto input = RequestInput::Open(
      flags.file, flags.lines ? InputLayout::kLines : InputLayout::kDetect, streams.in);
  if (!input.ok()) {
    streams.err << input.status().message() << '\n';
    return ExitCode::kBadInput;
  }
  auto output = OutputFile::Open(flags.out_file, streams.out);
  if (!output.ok()) {
    streams.err << output.status().message() << '\n';
    return ExitCode::kBadInput;
  }
  // Tells before the first request that the folder takes no picture; those of lines have names of
  // their own.
  const auto picture = OutputFile::Open(flags.svg_file, streams.out);
  if (!picture.ok()) {
    streams.err << picture.status().message() << '\n';
    return ExitCode::kBadInput;
  }
  const auto client = ConnectTo(server);
  if (!client.ok()) {
    streams.err << client.status().message() << '\n';
    return ExitCode::kUsage;
  }
  const ExitCode code =
      PlanRun<Method>(flags, server, streams, **client, **input, output->stream()).Run();
  if (const absl::Status closed = output->Close(); !closed.ok()) {
    streams.err << closed.message() << '\n';
    return ExitCode::kBadInput;
  }
  return code;
}

template ExitCode RunPlan<CorridorMethod>(const PlanFlags&, const ServerFlags&, CliStreams);
template ExitCode RunPlan<WaypointsMethod>(const PlanFlags&, const ServerFlags&, CliStreams);
template ExitCode RunPlan<SplineMethod>(const PlanFlags&, const ServerFlags&, CliStreams);
template ExitCode RunPlan<SpeedMethod>(const PlanFlags&, const ServerFlags&, CliStreams);

}  // namespace arclane
