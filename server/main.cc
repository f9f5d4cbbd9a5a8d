// SPDX-License-Identifier: Apache-2.0
// arclane-server: reads the configuration, wires the parts, waits for a signal, ends in order.
//
// Exit codes: 0 after SIGTERM or SIGINT; 1 for a wrong configuration, an address that cannot be
// listened on, a data directory that cannot be opened or a navmesh file that is refused.
#include <grpc/grpc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "server/config/cpu_quota.h"
#include "server/config/flags.h"
#include "server/config/role_grant.h"
#include "server/navmesh/registry.h"
#include "server/navmesh/sqlite_store.h"
#include "server/operator_signals.h"
#include "server/service/library_logs.h"
#include "server/service/measured_store.h"
#include "server/service/navmesh_directory.h"
#include "server/service/process_settings.h"
#include "server/service/server.h"
#include "server/service/service_labels.h"
#include "server/telemetry/build_info.h"
#include "server/telemetry/logging.h"
#include "server/telemetry/metrics.h"
#include "server/telemetry/metrics_access.h"

namespace arclane {
namespace {

SecurityOptions ToSecurityOptions(const ServerConfig& config) {
  SecurityOptions options;
  options.tls = {.certificate = config.tls_certificate,
                 .key = config.tls_key,
                 .client_ca = config.tls_client_ca};
  options.reload_interval_s = config.tls_reload_interval_s;
  // The configuration holds no others.
  for (const std::string& grant : config.authorize)
    options.grants.push_back(*ParseRoleGrant(grant));
  options.open_services = config.open_services;
  return options;
}

ServerOptions ToServerOptions(const ServerConfig& config) {
  ServerOptions options;
  options.addresses = config.listen;
  options.health_addresses = config.health_listen;
  options.security = ToSecurityOptions(config);
  options.log = AccessLogOptionsOf(config);
  options.capture = {.directory = config.capture_dir,
                     .most_files = config.capture_max_files,
                     .most_bytes = config.capture_max_bytes};
  options.limits.max_receive_bytes = config.max_receive_bytes;
  options.limits.max_plan_corridor_bytes = config.max_plan_corridor_bytes;
  options.limits.max_plan_waypoints_bytes = config.max_plan_waypoints_bytes;
  options.limits.max_plan_spline_bytes = config.max_plan_spline_bytes;
  options.limits.max_plan_speed_bytes = config.max_plan_speed_bytes;
  options.limits.max_plan_batch_bytes = config.max_plan_batch_bytes;
  options.limits.max_batch_items = config.max_batch_items;
  options.limits.max_stream_items = config.max_stream_items;
  options.limits.max_ping_bytes = config.max_ping_bytes;
  options.limits.max_portals = config.max_portals;
  options.limits.max_vertices = config.max_vertices;
  options.limits.max_control_points = config.max_control_points;
  options.limits.max_curve_nodes = config.max_curve_nodes;
  options.limits.max_samples = config.max_samples;
  options.limits.max_dependencies = config.max_dependencies;
  options.limits.max_speed_phases = config.max_speed_phases;
  options.limits.max_queued_plans = config.max_queued_plans;
  options.max_admitted_bytes = config.max_admitted_bytes;
  options.planner_threads =
      config.planner_threads == 0 ? UsableProcessors() : static_cast<int>(config.planner_threads);
  options.planner_nice = static_cast<int>(config.planner_nice);
  options.quick_plan_bytes = config.quick_plan_bytes;
  options.max_metadata_bytes = config.max_metadata_bytes;
  options.max_concurrent_streams = config.max_concurrent_streams;
  options.keepalive_s = config.keepalive_s;
  options.keepalive_timeout_s = config.keepalive_timeout_s;
  options.min_ping_interval_s = config.min_ping_interval_s;
  options.max_connection_age_s = config.max_connection_age_s;
  options.max_connection_age_grace_s = config.max_connection_age_grace_s;
  options.write_stall_s = config.write_stall_s;
  options.navmeshes.cache_bytes = config.cache_bytes;
  options.navmeshes.max_publish_bytes = config.max_publish_bytes;
  options.navmeshes.read_only = config.read_only == "true";
  options.navmeshes.nice = static_cast<int>(config.planner_nice);
  return options;
}

// In the data directory if there is one, otherwise in memory.
absl::StatusOr<std::shared_ptr<NavMeshStore>> OpenStore(const ServerConfig& config) {
  if (config.data_dir.empty()) {
    Log(LogLevel::kInfo,
        "navmeshes are kept in memory and end with this process; data_dir is unset");
    return std::shared_ptr<NavMeshStore>(std::make_shared<NullStore>());
  }
  std::error_code error;
  std::filesystem::create_directories(config.data_dir, error);
  if (error) {
    return absl::UnavailableError("cannot make the data directory " + config.data_dir + ": " +
                                  error.message());
  }
  auto store = SqliteStore::Open(config.data_dir);
  if (!store.ok()) return store.status();
  return std::shared_ptr<NavMeshStore>(*std::move(store));
}

absl::StatusOr<std::shared_ptr<NavMeshRegistry>> OpenRegistry(const ServerConfig& config,
                                                              Metrics& metrics) {
  auto store = OpenStore(config);
  if (!store.ok()) return store.status();
  RegistryOptions options;
  options.max_navmeshes = config.max_navmeshes;
  options.max_versions = config.max_navmesh_versions;
  options.max_bytes = config.max_navmesh_bytes;
  options.max_worlds = config.max_worlds;
  options.world_idle_s = config.world_idle_s;
  options.navmesh_log_records = config.navmesh_log_records;
  options.draw_life = NavMeshBackend::DrawLife;
  if (config.read_only == "true" && config.data_dir.empty() && !config.navmesh_dir.empty()) {
    auto lives = DirectoryLives(config.navmesh_dir);
    if (!lives.ok()) return lives.status();
    options.draw_life = *std::move(lives);
  }
  auto measured = std::make_shared<MeasuredStore>(*std::move(store), metrics);
  auto registry = NavMeshRegistry::Open(options, std::move(measured), NavMeshBackend::Now());
  if (!registry.ok()) return registry.status();
  for (const StoredDamage& damage : (*registry)->damage()) {
    Log(LogLevel::kError, "stored bytes are damaged and were set aside",
        {{"navmesh_id", damage.navmesh_id},
         {"navmesh_version", damage.version.value},
         {"what", damage.description}});
  }
  return std::shared_ptr<NavMeshRegistry>(*std::move(registry));
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ",") + text;
  return joined;
}

// Whole or not at all: a reader never sees half of it.
bool WriteReadyFile(const std::string& path, const Server& server,
                    const std::string& metrics_address) {
  nlohmann::json ready = {
      {"pid", getpid()}, {"grpc", server.addresses()}, {"grpc_port", server.port()}};
  if (!server.health_addresses().empty()) ready["health"] = server.health_addresses();
  if (!metrics_address.empty()) {
    ready["metrics"] = metrics_address;
    ready["metrics_port"] = std::stoi(metrics_address.substr(metrics_address.rfind(':') + 1));
  }
  const std::string draft = path + "." + std::to_string(getpid());
  {
    std::ofstream file(draft);
    file << ready.dump() << "\n";
    if (!file.flush()) return false;
  }
  return std::rename(draft.c_str(), path.c_str()) == 0;
}

int Fail(const absl::Status& status) {
  std::cerr << "arclane-server: " << status.message() << "\n";
  return 1;
}

// Before the ports open: proxies that look at no more than the port send calls at once.
absl::Status LoadNavMeshes(const ServerConfig& config, const NavMeshBackendOptions& options) {
  if (config.navmesh_dir.empty()) return absl::OkStatus();
  NavMeshBackend backend(options);
  const auto published = PublishDirectory(backend, config.navmesh_dir);
  if (!published.ok()) return published.status();
  Log(LogLevel::kInfo, "navmeshes of the directory are published",
      {{"directory", config.navmesh_dir}, {"files", *published}});
  return absl::OkStatus();
}

// Nothing is left to wait for, but the ends of libraries wait all the same: the HTTP server's up to
// two seconds for its poll, gRPC's up to ten for connections whose clients are still there.
[[noreturn]] void EndProcess(std::unique_ptr<Server> server) {
  grpc_init();  // Never paired: the end of the server is not the end of gRPC.
  server.reset();
  std::fflush(nullptr);
  std::_Exit(EXIT_SUCCESS);
}

int Run(int argc, char** argv) {
  const BuildInfo build = CurrentBuild();
  const auto line = ReadCommandLine(argc, argv, DescribeBuild(build));
  if (!line.ok()) return Fail(line.status());
  const ServerConfig& config = line->config;
  if (line->print_config) {
    std::cout << PrintConfig(config);
    return 0;
  }
  BlockSignals();
  SetUpLogging(LogLevelOf(config.log_level),
               config.log_format == "json" ? LogFormat::kJson : LogFormat::kText);
  SendLibraryLogsToOurs();
  if (!line->ignored_environment.empty()) {
    Log(LogLevel::kInfo, "environment variables that name no setting are ignored",
        {{"names", Joined(line->ignored_environment)}});
  }

  Metrics metrics(build, ServiceLabels());
  metrics.SetUsableProcessors(UsableProcessors());
  ServerOptions options = ToServerOptions(config);
  SetUpServerProcess(options.planner_threads);
  auto registry = OpenRegistry(config, metrics);
  if (!registry.ok()) return Fail(registry.status());
  options.navmeshes.registry = *std::move(registry);
  if (absl::Status loaded = LoadNavMeshes(config, options.navmeshes); !loaded.ok())
    return Fail(loaded);
  auto server = Server::Start(options, metrics);
  if (!server.ok()) return Fail(server.status());
  std::unique_ptr<MetricsEndpoint> endpoint;
  std::string metrics_address;
  if (config.metrics_listen != "none") {
    MetricsAccess access;
    if (!config.metrics_user.empty()) {
      auto checked = PasswordFileAccess(config.metrics_user, config.metrics_password_file);
      if (!checked.ok()) return Fail(checked.status());
      access = *std::move(checked);
    } else if (ListensBeyondThisMachine(config.metrics_listen)) {
      Log(LogLevel::kWarn, "everybody in reach of this address can read the metrics",
          {{"metrics_listen", config.metrics_listen}});
    }
    auto started = MetricsEndpoint::Start(config.metrics_listen, metrics, std::move(access));
    if (!started.ok()) return Fail(started.status());
    endpoint = *std::move(started);
    metrics_address = config.metrics_listen.substr(0, config.metrics_listen.rfind(':') + 1) +
                      std::to_string(endpoint->port());
  }
  if (!config.ready_file.empty() && !WriteReadyFile(config.ready_file, **server, metrics_address)) {
    return Fail(absl::UnavailableError("cannot write the ready file " + config.ready_file));
  }
  Log(LogLevel::kInfo, "listening",
      {{"grpc", Joined((*server)->addresses())},
       {"metrics", metrics_address.empty() ? "none" : metrics_address},
       {"version", build.version},
       {"commit", build.commit},
       {"planner_threads", options.planner_threads}});

  const int signal = AwaitEnd(config, line->config_file, **server);
  Log(LogLevel::kInfo, "draining",
      {{"signal", signal},
       {"delay_s", config.drain_delay_s},
       {"timeout_s", config.drain_timeout_s}});
  const bool drained = (*server)->Shutdown(config.drain_delay_s, config.drain_timeout_s);
  if (!config.ready_file.empty()) std::remove(config.ready_file.c_str());
  Log(drained ? LogLevel::kInfo : LogLevel::kWarn, "stopped", {{"all_calls_ended", drained}});
  options.navmeshes.registry.reset();
  EndProcess(*std::move(server));
}

}  // namespace
}  // namespace arclane

int main(int argc, char** argv) { return arclane::Run(argc, argv); }
