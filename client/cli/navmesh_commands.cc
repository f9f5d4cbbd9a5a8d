// SPDX-License-Identifier: Apache-2.0
#include "client/cli/navmesh_commands.h"

#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "arclane/v1/navmesh.pb.h"
#include "client/cli/error_report.h"
#include "client/cli/output_file.h"
#include "client/cli/plot/navmesh_plot.h"
#include "client/cli/request_input.h"
#include "client/cli/server_connection.h"
#include "client/cli/text_table.h"
#include "client/sdk/client.h"
#include "server/files/whole_file.h"

namespace arclane {
namespace {

// "MSET" as a little-endian number: how Detour files begin.
constexpr std::string_view kMset = "TESM";
constexpr uint32_t kPageSize = 1000;

// Connects, calls, and tells the answer.
template <typename Call, typename Tell>
ExitCode Ask(const ServerFlags& server, CliStreams streams, Call call, Tell tell) {
  const auto client = ConnectTo(server);
  if (!client.ok()) return Report(client.status(), ExitCode::kUsage, streams.err);
  const auto answer = call((*client)->navmeshes());
  if (!answer.ok()) {
    ReportError(answer.error(), server, "", streams.err);
    return ExitCodeOf(answer.error());
  }
  tell(*answer);
  return ExitCode::kOk;
}

absl::StatusOr<std::string> ReadInput(const std::string& path, std::istream& standard_input) {
  if (path == "-") return std::string(std::istreambuf_iterator<char>(standard_input), {});
  return ReadWholeFile(path);
}

// The content of a file as it is published, and its format.
absl::StatusOr<std::pair<std::string, v1::NavMeshFormat>> ReadContent(const NavMeshFlags& flags,
                                                                      std::istream& in) {
  auto content = ReadInput(flags.file, in);
  if (!content.ok()) return content.status();
  if (std::string_view(*content).starts_with(kMset))
    return std::pair(*std::move(content), v1::NAV_MESH_FORMAT_DETOUR_MSET);
  const size_t first = content->find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (*content)[first] != '{')
    return std::pair(*std::move(content), v1::NAV_MESH_FORMAT_NEUTRAL);
  v1::NeutralNavMesh mesh;
  if (absl::Status status = ParseJson(*content, flags.file, 1, mesh); !status.ok()) return status;
  return std::pair(mesh.SerializeAsString(), v1::NAV_MESH_FORMAT_NEUTRAL);
}

absl::Status ReadGates(const NavMeshFlags& flags, v1::PublishNavMeshHeader& header,
                       std::istream& in) {
  if (flags.gates_file.empty()) return absl::OkStatus();
  const auto text = ReadInput(flags.gates_file, in);
  if (!text.ok()) return text.status();
  v1::NeutralNavMesh gates;  // Only its gates are looked at.
  if (absl::Status status = ParseJson(*text, flags.gates_file, 1, gates); !status.ok())
    return status;
  *header.mutable_gates() = gates.gates();
  return absl::OkStatus();
}

template <typename Message>
void TellJson(const Message& message, CliStreams streams) {
  streams.out << ToJson(message, JsonLayout::kIndented) << '\n';
}

void TellNavMeshes(const google::protobuf::RepeatedPtrField<v1::NavMesh>& navmeshes,
                   std::ostream& out) {
  TextTable table;
  table.AddColumn("navmesh", Align::kLeft);
  table.AddColumn("version", Align::kRight);
  table.AddColumn("state", Align::kLeft);
  table.AddColumn("tiles", Align::kRight);
  table.AddColumn("polygons", Align::kRight);
  table.AddColumn("worlds", Align::kRight);
  table.AddColumn("bytes", Align::kRight);
  for (const v1::NavMesh& navmesh : navmeshes) {
    for (const v1::NavMeshVersion& version : navmesh.versions()) {
      const char* state = !version.damage().empty() ? "damaged"
                          : version.retired()       ? "retired"
                          : version.active()        ? "active"
                                                    : "";
      table.AddRow({navmesh.navmesh_id(), absl::StrCat(version.version()), state,
                    absl::StrCat(version.tile_count()), absl::StrCat(version.polygon_count()),
                    absl::StrCat(version.world_count()), absl::StrCat(version.memory_bytes())});
    }
  }
  table.Print(out);
}

absl::Status ReadCosts(const std::vector<std::string>& costs, v1::StateChanges& changes) {
  for (const std::string& text : costs) {
    const size_t equals = text.find('=');
    uint64_t area = 0;
    double cost = 0;
    if (equals == std::string::npos || !absl::SimpleAtoi(text.substr(0, equals), &area) ||
        !absl::SimpleAtod(text.substr(equals + 1), &cost)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--cost ", text, ": must be AREA=COST, such as 3=2.5"));
    }
    changes.add_areas(area);
    changes.add_area_costs(cost);
  }
  return absl::OkStatus();
}

}  // namespace

ExitCode RunNavMeshPublish(const NavMeshFlags& flags, const ServerFlags& server,
                           CliStreams streams) {
  const auto content = ReadContent(flags, streams.in);
  if (!content.ok()) return Report(content.status(), ExitCode::kBadInput, streams.err);
  v1::PublishNavMeshHeader header;
  header.set_navmesh_id(flags.navmesh_id);
  header.set_version(flags.version == 0 ? 1 : flags.version);
  header.set_format(content->second);
  header.set_inactive(flags.inactive);
  if (absl::Status status = ReadGates(flags, header, streams.in); !status.ok())
    return Report(status, ExitCode::kBadInput, streams.err);
  return Ask(
      server, streams,
      [&](NavMeshClient& client) { return client.Publish(header, content->first); },
      [&](const v1::PublishNavMeshResponse& response) {
        if (flags.json) return TellJson(response, streams);
        streams.out << flags.navmesh_id << " version " << response.version()
                    << (response.already_published() ? " was there already: " : " published: ")
                    << response.tile_count() << " tiles, " << response.polygon_count()
                    << " polygons, " << response.link_count() << " links, epoch "
                    << response.epoch() << '\n';
      });
}

ExitCode RunNavMeshList(const NavMeshFlags& flags, const ServerFlags& server, CliStreams streams) {
  const auto all = [](NavMeshClient& client) -> Result<v1::ListNavMeshesResponse> {
    v1::ListNavMeshesResponse together;
    v1::ListNavMeshesRequest request;
    request.set_page_size(kPageSize);
    do {
      auto page = client.List(request);
      if (!page.ok()) return page;
      together.mutable_navmeshes()->MergeFrom(page->navmeshes());
      request.set_page_token(page->next_page_token());
    } while (!request.page_token().empty());
    return together;
  };
  return Ask(server, streams, all, [&](const v1::ListNavMeshesResponse& response) {
    flags.json ? TellJson(response, streams) : TellNavMeshes(response.navmeshes(), streams.out);
  });
}

ExitCode RunNavMeshGet(const NavMeshFlags& flags, const ServerFlags& server, CliStreams streams) {
  v1::GetNavMeshRequest request;
  request.set_navmesh_id(flags.navmesh_id);
  return Ask(
      server, streams, [&](NavMeshClient& client) { return client.Get(request); },
      [&](const v1::GetNavMeshResponse& response) {
        if (flags.json) return TellJson(response, streams);
        google::protobuf::RepeatedPtrField<v1::NavMesh> one;
        *one.Add() = response.navmesh();
        TellNavMeshes(one, streams.out);
      });
}

ExitCode RunNavMeshActivate(const NavMeshFlags& flags, const ServerFlags& server,
                            CliStreams streams) {
  v1::ActivateNavMeshRequest request;
  request.set_navmesh_id(flags.navmesh_id);
  request.set_version(flags.version);
  return Ask(
      server, streams, [&](NavMeshClient& client) { return client.Activate(request); },
      [&](const auto& response) { streams.out << "epoch " << response.epoch() << '\n'; });
}

ExitCode RunNavMeshRetire(const NavMeshFlags& flags, const ServerFlags& server,
                          CliStreams streams) {
  v1::RetireNavMeshRequest request;
  request.set_navmesh_id(flags.navmesh_id);
  request.set_version(flags.version);
  return Ask(
      server, streams, [&](NavMeshClient& client) { return client.Retire(request); },
      [&](const auto& response) { streams.out << "epoch " << response.epoch() << '\n'; });
}

ExitCode RunNavMeshDelete(const NavMeshFlags& flags, const ServerFlags& server,
                          CliStreams streams) {
  v1::DeleteNavMeshRequest request;
  request.set_navmesh_id(flags.navmesh_id);
  request.set_version(flags.version);
  return Ask(
      server, streams, [&](NavMeshClient& client) { return client.Delete(request); },
      [&](const auto& response) { streams.out << "epoch " << response.epoch() << '\n'; });
}

ExitCode RunNavMeshApply(const NavMeshFlags& flags, const ServerFlags& server, CliStreams streams) {
  v1::ApplyChangesRequest request;
  request.set_navmesh_id(flags.navmesh_id);
  request.set_version(flags.version);
  request.set_world_id(flags.world_id);
  request.set_request_id(flags.request_id);
  if (flags.expected_epoch) request.set_expected_epoch(*flags.expected_epoch);
  v1::StateChanges& changes = *request.mutable_changes();
  changes.mutable_open_gates()->Assign(flags.open.begin(), flags.open.end());
  changes.mutable_closed_gates()->Assign(flags.close.begin(), flags.close.end());
  changes.mutable_enabled_links()->Assign(flags.enable.begin(), flags.enable.end());
  changes.mutable_disabled_links()->Assign(flags.disable.begin(), flags.disable.end());
  if (absl::Status status = ReadCosts(flags.costs, changes); !status.ok())
    return Report(status, ExitCode::kUsage, streams.err);
  return Ask(
      server, streams, [&](NavMeshClient& client) { return client.ApplyChanges(request); },
      [&](const v1::ApplyChangesResponse& response) {
        if (flags.json) return TellJson(response, streams);
        streams.out << "version " << response.version() << ", epoch " << response.epoch()
                    << (response.replayed() ? ", applied before" : "") << '\n';
      });
}

ExitCode RunNavMeshWatch(const NavMeshFlags& flags, const ServerFlags& server, CliStreams streams) {
  const auto client = ConnectTo(server);
  if (!client.ok()) return Report(client.status(), ExitCode::kUsage, streams.err);
  v1::WatchNavMeshRequest request;
  request.set_navmesh_id(flags.navmesh_id);
  request.set_world_id(flags.world_id);
  if (flags.known_epoch) request.set_known_epoch(*flags.known_epoch);
  request.set_known_life(flags.known_life);
  const auto watch = (*client)->navmeshes().Watch(request);
  for (uint64_t told = 0; flags.event_count == 0 || told < flags.event_count; ++told) {
    const auto event = watch->Next();
    if (!event.ok()) {
      ReportError(event.error(), server, "", streams.err);
      return ExitCodeOf(event.error());
    }
    streams.out << ToJson(*event, JsonLayout::kOneLine) << std::endl;
  }
  return ExitCode::kOk;
}

ExitCode RunNavMeshDraw(const NavMeshFlags& flags, const ServerFlags& server, CliStreams streams) {
  v1::ReadNavMeshRequest request;
  request.set_navmesh_id(flags.navmesh_id);
  request.set_version(flags.version);
  request.set_world_id(flags.world_id);
  auto output = OutputFile::Open(flags.out_file, streams.out);
  if (!output.ok()) return Report(output.status(), ExitCode::kBadInput, streams.err);
  std::vector<v1::ReadNavMeshResponse> parts;
  const ExitCode asked = Ask(
      server, streams,
      [&](NavMeshClient& client) {
        return client.Read(request, [&](const auto& part) { parts.push_back(part); });
      },
      [](const auto&) {});
  if (asked != ExitCode::kOk) return asked;
  NavMeshPlotOptions options;
  options.title = flags.world_id.empty() ? flags.navmesh_id
                                         : absl::StrCat(flags.navmesh_id, " / ", flags.world_id);
  options.width = flags.width;
  const auto svg = DrawNavMesh(parts, options);
  if (!svg.ok()) return Report(svg.status(), ExitCode::kRefused, streams.err);
  output->stream() << *svg;
  if (absl::Status closed = output->Close(); !closed.ok())
    return Report(closed, ExitCode::kBadInput, streams.err);
  return ExitCode::kOk;
}

ExitCode RunNavMeshCreateWorld(const NavMeshFlags& flags, const ServerFlags& server,
                               CliStreams streams) {
  v1::CreateWorldRequest request;
  request.set_navmesh_id(flags.navmesh_id);
  request.set_world_id(flags.world_id);
  request.set_version(flags.version);
  return Ask(
      server, streams, [&](NavMeshClient& client) { return client.CreateWorld(request); },
      [&](const v1::CreateWorldResponse& response) {
        streams.out << "version " << response.world().version() << ", epoch "
                    << response.world().epoch() << '\n';
      });
}

ExitCode RunNavMeshDeleteWorld(const NavMeshFlags& flags, const ServerFlags& server,
                               CliStreams streams) {
  v1::DeleteWorldRequest request;
  request.set_navmesh_id(flags.navmesh_id);
  request.set_world_id(flags.world_id);
  return Ask(
      server, streams, [&](NavMeshClient& client) { return client.DeleteWorld(request); },
      [&](const auto& response) { streams.out << "epoch " << response.epoch() << '\n'; });
}

ExitCode RunNavMeshWorlds(const NavMeshFlags& flags, const ServerFlags& server,
                          CliStreams streams) {
  const auto all = [&](NavMeshClient& client) -> Result<v1::ListWorldsResponse> {
    v1::ListWorldsResponse together;
    v1::ListWorldsRequest request;
    request.set_navmesh_id(flags.navmesh_id);
    request.set_page_size(kPageSize);
    do {
      auto page = client.ListWorlds(request);
      if (!page.ok()) return page;
      together.mutable_worlds()->MergeFrom(page->worlds());
      request.set_page_token(page->next_page_token());
    } while (!request.page_token().empty());
    return together;
  };
  return Ask(server, streams, all, [&](const v1::ListWorldsResponse& response) {
    if (flags.json) return TellJson(response, streams);
    TextTable table;
    table.AddColumn("world", Align::kLeft);
    table.AddColumn("version", Align::kRight);
    table.AddColumn("epoch", Align::kRight);
    for (const v1::World& world : response.worlds()) {
      table.AddRow({world.world_id(), absl::StrCat(world.version()), absl::StrCat(world.epoch())});
    }
    table.Print(streams.out);
  });
}

}  // namespace arclane
