// SPDX-License-Identifier: Apache-2.0
// `arclane navmesh ...`: publishes navmeshes, changes them, tells and draws them.
#ifndef ARCLANE_CLIENT_CLI_NAVMESH_COMMANDS_H_
#define ARCLANE_CLIENT_CLI_NAVMESH_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/cli.h"
#include "client/cli/error_report.h"
#include "client/cli/exit_code.h"

namespace arclane {

// The flags of all of them; each uses some.
struct NavMeshFlags {
  std::string navmesh_id;
  uint64_t version = 0;
  std::string world_id;
  bool json = false;

  // publish
  std::string file;        // A Detour file, or a NeutralNavMesh in Protobuf JSON or encoded.
  std::string gates_file;  // {"gates": [...]} in Protobuf JSON, for Detour files.
  bool inactive = false;

  // apply
  std::vector<uint64_t> open, close, enable, disable;
  std::vector<std::string> costs;  // AREA=COST.
  std::string request_id;
  std::optional<uint64_t> expected_epoch;

  // watch
  std::optional<uint64_t> known_epoch;
  uint64_t known_life = 0;   // 0: not told.
  uint64_t event_count = 0;  // 0: until stopped.

  // draw
  std::string out_file;
  double width = 1200;
};

// Detour files are known by their first bytes; a text that begins with { is Protobuf JSON.
ExitCode RunNavMeshPublish(const NavMeshFlags& flags, const ServerFlags& server,
                           CliStreams streams);
ExitCode RunNavMeshList(const NavMeshFlags& flags, const ServerFlags& server, CliStreams streams);
ExitCode RunNavMeshGet(const NavMeshFlags& flags, const ServerFlags& server, CliStreams streams);
ExitCode RunNavMeshActivate(const NavMeshFlags& flags, const ServerFlags& server,
                            CliStreams streams);
ExitCode RunNavMeshRetire(const NavMeshFlags& flags, const ServerFlags& server, CliStreams streams);
ExitCode RunNavMeshDelete(const NavMeshFlags& flags, const ServerFlags& server, CliStreams streams);
ExitCode RunNavMeshApply(const NavMeshFlags& flags, const ServerFlags& server, CliStreams streams);
// One event a line, as Protobuf JSON.
ExitCode RunNavMeshWatch(const NavMeshFlags& flags, const ServerFlags& server, CliStreams streams);
ExitCode RunNavMeshDraw(const NavMeshFlags& flags, const ServerFlags& server, CliStreams streams);
ExitCode RunNavMeshCreateWorld(const NavMeshFlags& flags, const ServerFlags& server,
                               CliStreams streams);
ExitCode RunNavMeshDeleteWorld(const NavMeshFlags& flags, const ServerFlags& server,
                               CliStreams streams);
ExitCode RunNavMeshWorlds(const NavMeshFlags& flags, const ServerFlags& server, CliStreams streams);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_NAVMESH_COMMANDS_H_
