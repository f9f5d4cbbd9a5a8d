// SPDX-License-Identifier: Apache-2.0
#include "client/cli/batch_command.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/curve_report.h"
#include "client/cli/output_file.h"
#include "client/cli/report_tables.h"
#include "client/cli/request_input.h"
#include "client/cli/route_report.h"
#include "client/cli/server_connection.h"
#include "client/sdk/client.h"

namespace arclane {
namespace {

struct BatchItems {
  std::vector<v1::PlanItem> items;
  std::vector<size_t> lines;  // Where each stands in the file.
};

// The part of an item that a line of this kind is.
google::protobuf::Message* PartOf(const std::string& kind, v1::PlanItem& item) {
  if (kind == "corridor") return item.mutable_corridor();
  if (kind == "waypoints") return item.mutable_waypoints();
  if (kind == "spline") return item.mutable_spline();
  if (kind == "speed") return item.mutable_speed();
  return &item;
}

ExitCode ReadItems(const BatchFlags& flags, CliStreams streams, BatchItems& read) {
  const auto input = RequestInput::Open(flags.file, InputLayout::kDetect, streams.in);
  if (!input.ok()) {
    streams.err << input.status().message() << '\n';
    return ExitCode::kBadInput;
  }
  ExitCode code = ExitCode::kOk;
  while (const auto text = (*input)->Next()) {
    v1::PlanItem item;
    const absl::Status parsed =
        ParseJson(text->text, (*input)->name(), text->line, *PartOf(flags.kind, item));
    if (!parsed.ok()) {
      streams.err << parsed.message() << '\n';
      code = ExitCode::kBadInput;
    }
    read.items.push_back(std::move(item));
    read.lines.push_back(text->line);
  }
  return code;
}

ExitCode ReadShared(const BatchFlags& flags, CliStreams streams, v1::PlanShared& shared) {
  if (!flags.shared_file.empty()) {
    const auto input = RequestInput::Open(flags.shared_file, InputLayout::kDetect, streams.in);
    if (!input.ok()) {
      streams.err << input.status().message() << '\n';
      return ExitCode::kBadInput;
    }
    if (const auto text = (*input)->Next()) {
      const absl::Status parsed = ParseJson(text->text, (*input)->name(), text->line, shared);
      if (!parsed.ok()) {
        streams.err << parsed.message() << '\n';
        return ExitCode::kBadInput;
      }
    }
  }
  if (!flags.navmesh_id.empty()) shared.mutable_navmesh()->set_navmesh_id(flags.navmesh_id);
  if (flags.bypass_cache) shared.set_cache_mode(v1::CACHE_MODE_BYPASS);
  return ExitCode::kOk;
}

AnswerSummary ItemSummaryOf(const v1::PlanItemAnswer& answer) {
  switch (answer.response_case()) {
    case v1::PlanItemAnswer::kCorridor:
      return SummaryOf(answer.corridor());
    case v1::PlanItemAnswer::kWaypoints:
      return SummaryOf(answer.waypoints());
    case v1::PlanItemAnswer::kSpline:
      return SummaryOf(answer.spline());
    case v1::PlanItemAnswer::kSpeed:
      return SummaryOf(answer.speed());
    case v1::PlanItemAnswer::RESPONSE_NOT_SET:
      break;
  }
  return {};
}

void TellAnswer(const BatchFlags& flags, size_t line, const v1::PlanItemAnswer& answer,
                std::ostream& out) {
  const auto error = ErrorOf(answer);
  if (flags.json) {
    if (error) {
      out << "{\"error\":" << ErrorToJson(*error) << "}\n";
    } else {
      out << ToJson(answer, JsonLayout::kOneLine) << '\n';
    }
  } else if (error) {
    PrintSummaryError(
        line, absl::StrCat(absl::StatusCodeToString(error->code), ": ", error->message), out);
  } else {
    PrintSummary(line, ItemSummaryOf(answer), out);
  }
}

ExitCode PlanItems(const BatchFlags& flags, const ServerFlags& server, CliStreams streams,
                   Client& client, BatchItems& read, v1::PlanShared shared, std::ostream& out) {
  ExitCode code = ExitCode::kOk;
  if (!flags.json) PrintSummaryTitles(out);
  for (size_t begin = 0; begin < read.items.size(); begin += flags.batch_items) {
    const size_t end = std::min(read.items.size(), begin + flags.batch_items);
    v1::PlanBatchRequest request;
    *request.mutable_shared() = shared;
    request.set_max_chunk_bytes(flags.max_chunk_bytes);
    request.set_time_budget_s(flags.time_budget_s);
    for (size_t i = begin; i < end; ++i) *request.add_items() = std::move(read.items[i]);
    const auto answers =
        client.PlanBatch(request, {}, [&](uint32_t index, const v1::PlanItemAnswer& answer) {
          if (const auto error = ErrorOf(answer); error && code == ExitCode::kOk)
            code = ExitCodeOf(*error);
          TellAnswer(flags, read.lines[begin + index], answer, out);
        });
    if (!answers.ok()) {
      ReportError(answers.error(), server, "", streams.err);
      return ExitCodeOf(answers.error());
    }
  }
  return code;
}

}  // namespace

ExitCode RunPlanBatch(const BatchFlags& flags, const ServerFlags& server, CliStreams streams) {
  BatchItems read;
  if (const ExitCode code = ReadItems(flags, streams, read); code != ExitCode::kOk) return code;
  v1::PlanShared shared;
  if (const ExitCode code = ReadShared(flags, streams, shared); code != ExitCode::kOk) return code;
  auto output = OutputFile::Open(flags.out_file, streams.out);
  if (!output.ok()) {
    streams.err << output.status().message() << '\n';
    return ExitCode::kBadInput;
  }
  const auto client = ConnectTo(server);
  if (!client.ok()) {
    streams.err << client.status().message() << '\n';
    return ExitCode::kUsage;
  }
  const ExitCode code =
      PlanItems(flags, server, streams, **client, read, std::move(shared), output->stream());
  if (const absl::Status closed = output->Close(); !closed.ok()) {
    streams.err << closed.message() << '\n';
    return ExitCode::kBadInput;
  }
  return code;
}

}  // namespace arclane
