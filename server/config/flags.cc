// SPDX-License-Identifier: Apache-2.0
#include "server/config/flags.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/reflection.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "server/command_line/flag_help.h"
#include "server/command_line/flag_words.h"
#include "server/config/settings.h"
#include "server/files/whole_file.h"

namespace {

// Abseil's optional texts take an empty one for none, and an empty flag wins over the file too.
struct Text {
  bool given = false;
  std::string value;
};

bool AbslParseFlag(absl::string_view text, Text* flag, std::string*) {
  *flag = {true, std::string(text)};
  return true;
}
std::string AbslUnparseFlag(const Text& flag) { return flag.value; }

absl::string_view Help(std::string_view name) {
  const std::string_view help = arclane::SettingHelp(name);
  return {help.data(), help.size()};
}

}  // namespace

// Texts, so that flags, environment and file are parsed by the same rules and their errors come
// together.
ABSL_FLAG(Text, listen, {}, Help("listen"));
ABSL_FLAG(Text, health_listen, {}, Help("health_listen"));
ABSL_FLAG(Text, metrics_listen, {}, Help("metrics_listen"));
ABSL_FLAG(Text, metrics_user, {}, Help("metrics_user"));
ABSL_FLAG(Text, metrics_password_file, {}, Help("metrics_password_file"));
ABSL_FLAG(Text, tls_certificate, {}, Help("tls_certificate"));
ABSL_FLAG(Text, tls_key, {}, Help("tls_key"));
ABSL_FLAG(Text, tls_client_ca, {}, Help("tls_client_ca"));
ABSL_FLAG(Text, tls_reload_interval_s, {}, Help("tls_reload_interval_s"));
ABSL_FLAG(Text, authorize, {}, Help("authorize"));
ABSL_FLAG(Text, open_services, {}, Help("open_services"));
ABSL_FLAG(Text, ready_file, {}, Help("ready_file"));
ABSL_FLAG(Text, planner_threads, {}, Help("planner_threads"));
ABSL_FLAG(Text, planner_nice, {}, Help("planner_nice"));
ABSL_FLAG(Text, quick_plan_bytes, {}, Help("quick_plan_bytes"));
ABSL_FLAG(Text, max_queued_plans, {}, Help("max_queued_plans"));
ABSL_FLAG(Text, max_admitted_bytes, {}, Help("max_admitted_bytes"));
ABSL_FLAG(Text, max_receive_bytes, {}, Help("max_receive_bytes"));
ABSL_FLAG(Text, max_plan_corridor_bytes, {}, Help("max_plan_corridor_bytes"));
ABSL_FLAG(Text, max_plan_waypoints_bytes, {}, Help("max_plan_waypoints_bytes"));
ABSL_FLAG(Text, max_plan_spline_bytes, {}, Help("max_plan_spline_bytes"));
ABSL_FLAG(Text, max_plan_speed_bytes, {}, Help("max_plan_speed_bytes"));
ABSL_FLAG(Text, max_plan_batch_bytes, {}, Help("max_plan_batch_bytes"));
ABSL_FLAG(Text, max_batch_items, {}, Help("max_batch_items"));
ABSL_FLAG(Text, max_stream_items, {}, Help("max_stream_items"));
ABSL_FLAG(Text, write_stall_s, {}, Help("write_stall_s"));
ABSL_FLAG(Text, max_ping_bytes, {}, Help("max_ping_bytes"));
ABSL_FLAG(Text, max_portals, {}, Help("max_portals"));
ABSL_FLAG(Text, max_vertices, {}, Help("max_vertices"));
ABSL_FLAG(Text, max_control_points, {}, Help("max_control_points"));
ABSL_FLAG(Text, max_curve_nodes, {}, Help("max_curve_nodes"));
ABSL_FLAG(Text, max_samples, {}, Help("max_samples"));
ABSL_FLAG(Text, max_dependencies, {}, Help("max_dependencies"));
ABSL_FLAG(Text, max_speed_phases, {}, Help("max_speed_phases"));
ABSL_FLAG(Text, data_dir, {}, Help("data_dir"));
ABSL_FLAG(Text, navmesh_dir, {}, Help("navmesh_dir"));
ABSL_FLAG(Text, read_only, {}, Help("read_only"));
ABSL_FLAG(Text, max_publish_bytes, {}, Help("max_publish_bytes"));
ABSL_FLAG(Text, max_navmeshes, {}, Help("max_navmeshes"));
ABSL_FLAG(Text, max_navmesh_versions, {}, Help("max_navmesh_versions"));
ABSL_FLAG(Text, max_navmesh_bytes, {}, Help("max_navmesh_bytes"));
ABSL_FLAG(Text, max_worlds, {}, Help("max_worlds"));
ABSL_FLAG(Text, world_idle_s, {}, Help("world_idle_s"));
ABSL_FLAG(Text, navmesh_log_records, {}, Help("navmesh_log_records"));
ABSL_FLAG(Text, cache_bytes, {}, Help("cache_bytes"));
ABSL_FLAG(Text, max_metadata_bytes, {}, Help("max_metadata_bytes"));
ABSL_FLAG(Text, max_concurrent_streams, {}, Help("max_concurrent_streams"));
ABSL_FLAG(Text, keepalive_s, {}, Help("keepalive_s"));
ABSL_FLAG(Text, keepalive_timeout_s, {}, Help("keepalive_timeout_s"));
ABSL_FLAG(Text, min_ping_interval_s, {}, Help("min_ping_interval_s"));
ABSL_FLAG(Text, max_connection_age_s, {}, Help("max_connection_age_s"));
ABSL_FLAG(Text, max_connection_age_grace_s, {}, Help("max_connection_age_grace_s"));
ABSL_FLAG(Text, drain_delay_s, {}, Help("drain_delay_s"));
ABSL_FLAG(Text, drain_timeout_s, {}, Help("drain_timeout_s"));
ABSL_FLAG(Text, log_level, {}, Help("log_level"));
ABSL_FLAG(Text, log_format, {}, Help("log_format"));
ABSL_FLAG(Text, log_success_sample, {}, Help("log_success_sample"));
ABSL_FLAG(Text, log_lines_per_s, {}, Help("log_lines_per_s"));
ABSL_FLAG(Text, slow_request_ms, {}, Help("slow_request_ms"));
ABSL_FLAG(Text, capture_dir, {}, Help("capture_dir"));
ABSL_FLAG(Text, capture_max_files, {}, Help("capture_max_files"));
ABSL_FLAG(Text, capture_max_bytes, {}, Help("capture_max_bytes"));
ABSL_FLAG(Text, profile_dir, {}, Help("profile_dir"));
ABSL_FLAG(Text, profile_max_s, {}, Help("profile_max_s"));
ABSL_FLAG(Text, config, {},
          "JSON file with settings, such as --print_config writes. Environment: ARCLANE_CONFIG.");
ABSL_FLAG(bool, print_config, false, "Print the settings in force as JSON and exit.");

namespace arclane {
namespace {

// All settings take some kilobytes, comments included.
constexpr size_t kMostConfigBytes = 16 << 20;

std::map<std::string, std::string> GivenFlags() {
  std::map<std::string, std::string> given;
  for (const Setting& setting : Settings()) {
    const absl::CommandLineFlag* flag =
        absl::FindCommandLineFlag({setting.name.data(), setting.name.size()});
    if (flag == nullptr) continue;
    const auto value = flag->TryGet<Text>();
    if (value && value->given) given[std::string(setting.name)] = value->value;
  }
  return given;
}

// Adds a line to `errors` for each thing that is wrong, as ReadSettings does.
std::map<std::string, std::string> ReadConfigFile(const std::string& path, std::string& errors) {
  const auto text = ReadWholeFile(path, kMostConfigBytes);
  if (!text.ok()) {
    absl::StrAppend(&errors, "config: ", text.status().message(), "\n");
    return {};
  }
  std::vector<std::string> file_errors;
  auto settings = ParseConfigFile(*text, file_errors);
  for (const std::string& error : file_errors) {
    absl::StrAppend(&errors, "config: ", path, ": ", error, "\n");
  }
  return settings;
}

ServerConfig ReadSettings(const std::string& config_file, std::vector<std::string>* ignored,
                          std::string& errors) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  ConfigSources sources;
  sources.flags = GivenFlags();
  sources.environment = SettingsOfEnvironment(variables, ignored);
  if (!config_file.empty()) sources.file = ReadConfigFile(config_file, errors);
  auto config = ResolveConfig(sources);
  if (!config.ok()) {
    absl::StrAppend(&errors, config.status().message(), "\n");
    return {};
  }
  return *std::move(config);
}

}  // namespace

absl::StatusOr<CommandLine> ReadCommandLine(int argc, char** argv, const std::string& version) {
  absl::FlagsUsageConfig usage;
  usage.version_string = [version] { return version + "\n"; };
  absl::SetFlagsUsageConfig(usage);
  if (AsksForHelp(argc, argv)) {
    std::fputs(HelpText().c_str(), stdout);
    std::exit(0);
  }
  std::vector<std::string> flag_errors;
  std::vector<char*> flag_words = CheckedFlagWords(argc, argv, flag_errors);
  const std::vector<char*> words =
      absl::ParseCommandLine(static_cast<int>(flag_words.size()), flag_words.data());

  CommandLine line;
  line.print_config = absl::GetFlag(FLAGS_print_config);
  std::string errors;
  for (const std::string& error : flag_errors) absl::StrAppend(&errors, error, "\n");
  for (size_t i = 1; i < words.size(); ++i) {
    absl::StrAppend(&errors, "\"", words[i], "\" is no flag; settings are given as --name=value\n");
  }
  const Text given = absl::GetFlag(FLAGS_config);
  std::string path = given.value;
  if (const char* named = std::getenv("ARCLANE_CONFIG"); !given.given && named != nullptr)
    path = named;
  line.config_file = path;
  auto config = ReadSettings(path, &line.ignored_environment, errors);
  if (!errors.empty()) {
    errors.pop_back();
    return absl::InvalidArgumentError(errors);
  }
  line.config = std::move(config);
  return line;
}

absl::StatusOr<ServerConfig> ReadSettingsAgain(const std::string& config_file) {
  std::string errors;
  ServerConfig config = ReadSettings(config_file, nullptr, errors);
  if (errors.empty()) return config;
  errors.pop_back();
  return absl::InvalidArgumentError(errors);
}

std::string HelpText() {
  std::string text =
      "arclane-server: the path-planning service.\n\n"
      "Each setting is a flag, an environment variable (ARCLANE_ and its name in capitals) and a "
      "key of the\nJSON file that --config names; flags win over the environment, the environment "
      "over the file, also with\nan empty value, which means none. Dashes and underscores in names "
      "are the same.\n\n";
  for (const Setting& setting : Settings()) {
    const std::string_view help = SettingHelp(setting.name);
    AppendHelp({setting.name.data(), setting.name.size()}, {help.data(), help.size()}, text);
  }
  AppendHelp("config",
             "JSON file with settings, such as --print-config writes. Environment: "
             "ARCLANE_CONFIG.",
             text);
  AppendHelp("print_config", "Print the settings in force as JSON and exit.", text);
  AppendHelp("version", "Print version and build and exit.", text);
  absl::StrAppend(&text,
                  "\nSignals: SIGTERM and SIGINT end the server in order, a second one at once. "
                  "SIGHUP reads the file\nagain and applies log_level, log_success_sample, "
                  "log_lines_per_s and slow_request_ms, and looks at the\ncertificate. SIGUSR1 "
                  "starts and ends a CPU profile. SIGUSR2 logs from debug on, or as before.\n");
  return text;
}

}  // namespace arclane
