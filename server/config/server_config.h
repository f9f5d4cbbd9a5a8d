// SPDX-License-Identifier: Apache-2.0
// Everything an operator can set, as one validated struct.
//
// A setting has one name. It may be given as a flag (--max_portals=5), as an environment variable
// (ARCLANE_MAX_PORTALS=5) and as a key of a JSON file ({"max_portals": 5}, named by --config or
// ARCLANE_CONFIG); a flag wins over the environment, the environment over the file, the file over
// the default. An empty text is the same as not giving the setting.
#ifndef ARCLANE_SERVER_CONFIG_SERVER_CONFIG_H_
#define ARCLANE_SERVER_CONFIG_SERVER_CONFIG_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace arclane {

// The meaning, unit and range of each member are in the table of settings.cc, which --help prints.
struct ServerConfig {
  // Where to listen.
  std::vector<std::string> listen = {"127.0.0.1:50051"};
  std::vector<std::string> health_listen;
  std::string metrics_listen = "127.0.0.1:9464";
  std::string metrics_user;
  std::string metrics_password_file;
  std::string ready_file;

  // Who gets in, and what they may do.
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_client_ca;
  double tls_reload_interval_s = 10;
  std::vector<std::string> authorize;
  std::vector<std::string> open_services = {"grpc.health.v1.Health"};

  // Planning.
  uint32_t planner_threads = 0;
  uint32_t planner_nice = 0;
  uint64_t quick_plan_bytes = 8192;
  uint32_t max_queued_plans = 1024;
  uint64_t max_admitted_bytes = 512 << 20;

  // Limits of one request.
  uint64_t max_receive_bytes = 64 << 20;
  uint64_t max_plan_corridor_bytes = 48 << 20;
  uint64_t max_plan_waypoints_bytes = 48 << 20;
  uint64_t max_plan_spline_bytes = 48 << 20;
  uint64_t max_plan_speed_bytes = 48 << 20;
  uint64_t max_plan_batch_bytes = 48 << 20;
  uint32_t max_batch_items = 10'000;
  uint32_t max_stream_items = 1024;
  uint64_t max_ping_bytes = 4 << 20;
  uint32_t max_portals = 1'000'000;
  uint32_t max_vertices = 1'000'000;
  uint32_t max_control_points = 200'000;
  uint32_t max_curve_nodes = 1'000'000;
  uint32_t max_samples = 1'000'000;
  uint32_t max_dependencies = 1'000'000;
  uint32_t max_speed_phases = 250'000;

  // Navmeshes and kept answers.
  std::string data_dir;
  std::string navmesh_dir;
  std::string read_only = "false";
  uint64_t max_publish_bytes = 256 << 20;
  uint32_t max_navmeshes = 1024;
  uint32_t max_navmesh_versions = 16;
  uint64_t max_navmesh_bytes = 1 << 30;
  uint32_t max_worlds = 100'000;
  double world_idle_s = 3600;
  uint32_t navmesh_log_records = 1024;
  uint64_t cache_bytes = 256 << 20;

  // Connections.
  uint32_t max_metadata_bytes = 8 << 10;
  uint32_t max_concurrent_streams = 10'000;
  double keepalive_s = 60;
  double keepalive_timeout_s = 20;
  double min_ping_interval_s = 1;
  double max_connection_age_s = 0;
  double max_connection_age_grace_s = 30;
  double write_stall_s = 60;

  // The end.
  double drain_delay_s = 0;
  double drain_timeout_s = 20;

  // Logs, captures and profiles.
  std::string log_level = "info";
  std::string log_format = "text";
  uint32_t log_success_sample = 1000;
  uint32_t log_lines_per_s = 20;
  double slow_request_ms = 250;
  std::string capture_dir;
  uint32_t capture_max_files = 100;
  uint64_t capture_max_bytes = 64 << 20;
  std::string profile_dir;
  double profile_max_s = 60;
};

// Texts by setting name, as each source gave them. Settings that a source does not give are absent;
// an empty text is given, and means none where a setting has such a meaning.
struct ConfigSources {
  std::map<std::string, std::string> flags;
  std::map<std::string, std::string> environment;
  std::map<std::string, std::string> file;
};

// Resolves the precedence, parses and validates. INVALID_ARGUMENT lists every error, one a line,
// each with the source it came from.
absl::StatusOr<ServerConfig> ResolveConfig(const ConfigSources& sources);

// The keys and values of a configuration file's text: one JSON object of texts, numbers and lists
// of texts; comments
// (// and /* */) are allowed. `errors` receives what is wrong besides the values: no such object,
// an unknown key, a key twice, a value that no setting takes. What could be read is returned
// nevertheless, so that its values are judged at the same time.
std::map<std::string, std::string> ParseConfigFile(const std::string& text,
                                                   std::vector<std::string>& errors);

// The settings among environment variables ("NAME=value"). `ignored` receives the names that begin
// with ARCLANE_ and name no setting: other programs and orchestrators set such names too, so they
// are no errors.
std::map<std::string, std::string> SettingsOfEnvironment(const std::vector<std::string>& variables,
                                                         std::vector<std::string>* ignored);

// The configuration as a JSON object that ParseConfigFile reads back to the same values.
std::string PrintConfig(const ServerConfig& config);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CONFIG_SERVER_CONFIG_H_
