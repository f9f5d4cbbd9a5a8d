// SPDX-License-Identifier: Apache-2.0
#include "server/config/settings.h"

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "server/config/absl_view.h"

namespace arclane {
namespace {

using C = ServerConfig;
constexpr uint64_t kMostBytes = (uint64_t{1} << 31) - 1;  // Protobuf's largest message.

const std::vector<Setting>& Table() {
  static const auto* const table = new std::vector<Setting>{
      {"listen", ListMember{&C::listen},
       "Addresses that serve gRPC, separated by commas: host:port, [ipv6]:port or unix:/path. Port "
       "0 takes a free one. Traffic over TCP is clear text without tls_certificate; Unix sockets "
       "always are, and guarded by the rights of their file."},
      {"health_listen", ListMember{&C::health_listen, true},
       "Further addresses, which answer the gRPC health service alone, in clear text and without a "
       "certificate: for probes that know no TLS."},
      {"metrics_listen", TextMember{&C::metrics_listen, {}},
       "Address that serves Prometheus metrics at /metrics: host:port, or none."},
      {"metrics_user", TextMember{&C::metrics_user, {}},
       "Name that scrapes of the metrics must give (HTTP basic authentication). Passwords travel "
       "in "
       "clear text."},
      {"metrics_password_file", TextMember{&C::metrics_password_file, {}},
       "File that holds the password of metrics_user, without the line's end; read at each "
       "scrape."},
      {"tls_certificate", TextMember{&C::tls_certificate, {}},
       "PEM file of the server's certificate and of the authorities between it and the root: TCP "
       "addresses then speak TLS. Certificate, key and authorities are read again while the server "
       "runs; new connections get what is new, as soon as it belongs together."},
      {"tls_key", TextMember{&C::tls_key, {}},
       "PEM file of the key of tls_certificate, without a passphrase."},
      {"tls_client_ca", TextMember{&C::tls_client_ca, {}},
       "PEM file of the authorities that vouch for clients: each client must then show a "
       "certificate "
       "(mTLS), and calls are authorized."},
      {"tls_reload_interval_s", RealMember{&C::tls_reload_interval_s, 0.05, 86400},
       "Seconds between two looks at the files of the certificate."},
      {"authorize", ListMember{&C::authorize, true},
       "Who may do what, with tls_client_ca: ROLE=PATTERN, separated by commas. Roles: planner "
       "(plans, reads, watches), changer (and changes states and worlds), publisher (and "
       "publishes), "
       "admin (everything). Patterns are compared with the URIs and DNS names of the client's "
       "certificate, '*' standing for any characters; \"unix\" is whoever comes over a Unix "
       "socket. "
       "Without grants everybody is a planner, and nobody may change anything."},
      {"open_services", ListMember{&C::open_services, true},
       "Full names of services that need no role, separated by commas, or none."},
      {"ready_file", TextMember{&C::ready_file, {}},
       "File that is written once the server is ready and removed at its end: JSON with the "
       "process id and "
       "the addresses bound."},
      {"planner_threads", CountMember{&C::planner_threads, 0, 256},
       "Threads that plan. 0: as many as the processors this process may use (affinity and cgroup "
       "quota)."},
      {"planner_nice", CountMember{&C::planner_nice, 0, 19},
       "By how much the planning threads are nicer than the network's: pings and health answers "
       "then come first, and plans that answer at the same time come later."},
      {"quick_plan_bytes", BytesMember{&C::quick_plan_bytes, 0, kMostBytes},
       "Requests up to this size whose plans are sure to be short (no rounding, no clearance, at "
       "most 1000 samples) are planned on the network thread that received them while no plan "
       "waits: it saves a hop between threads. 0: all plans go to the planning threads."},
      {"max_queued_plans", CountMember{&C::max_queued_plans, 1, 1'000'000},
       "Most plans that wait for a thread; one more is refused with RESOURCE_EXHAUSTED."},
      {"max_admitted_bytes", BytesMember{&C::max_admitted_bytes, 1, uint64_t{1} << 40},
       "Most bytes of planning requests in the server together; beyond it, requests are refused "
       "with "
       "RESOURCE_EXHAUSTED."},
      {"max_receive_bytes", BytesMember{&C::max_receive_bytes, 1024, kMostBytes},
       "Largest message of any method."},
      {"max_plan_corridor_bytes", BytesMember{&C::max_plan_corridor_bytes, 1, kMostBytes},
       "Largest PlanCorridor request."},
      {"max_plan_waypoints_bytes", BytesMember{&C::max_plan_waypoints_bytes, 1, kMostBytes},
       "Largest PlanWaypoints request."},
      {"max_plan_spline_bytes", BytesMember{&C::max_plan_spline_bytes, 1, kMostBytes},
       "Largest PlanSpline request."},
      {"max_plan_speed_bytes", BytesMember{&C::max_plan_speed_bytes, 1, kMostBytes},
       "Largest PlanSpeed request."},
      {"max_plan_batch_bytes", BytesMember{&C::max_plan_batch_bytes, 1, kMostBytes},
       "Largest PlanBatch request."},
      {"max_batch_items", CountMember{&C::max_batch_items, 1, 1'000'000}, "Most items of a batch."},
      {"max_stream_items", CountMember{&C::max_stream_items, 1, 100'000},
       "Most items of a stream of plans that are not answered."},
      {"max_ping_bytes", BytesMember{&C::max_ping_bytes, 0, 256 << 20},
       "Largest payload of Ping, either way."},
      {"max_portals", CountMember{&C::max_portals, 1, 100'000'000}, "Most portals of a corridor."},
      {"max_vertices", CountMember{&C::max_vertices, 3, 100'000'000},
       "Most vertices of a corridor's polygons together."},
      {"max_control_points", CountMember{&C::max_control_points, 4, 10'000'000},
       "Most control points of a curve. Planning takes about 3 KB for each."},
      {"max_curve_nodes", CountMember{&C::max_curve_nodes, 16, 100'000'000},
       "Most nodes of the profile of curvature that a speed plan along a curve is made on. "
       "Planning "
       "takes about 300 bytes for each."},
      {"max_samples", CountMember{&C::max_samples, 2, 100'000'000}, "Most samples of an answer."},
      {"max_dependencies", CountMember{&C::max_dependencies, 0, 100'000'000},
       "Most dependencies of a corridor."},
      {"max_speed_phases", CountMember{&C::max_speed_phases, 0, 100'000'000},
       "Most phases of a speed plan along a curve under a shared budget, beyond four for each "
       "interval of its curvature."},
      {"data_dir", TextMember{&C::data_dir, {}},
       "Directory, made if it is not there, in which navmeshes, worlds and their changes are kept "
       "durably. Without one they live in memory and end with the process."},
      {"navmesh_dir", TextMember{&C::navmesh_dir, {}},
       "Directory of navmeshes to publish before the server listens: ID.bin or ID@VERSION.bin "
       "(Detour), ID.navmesh or ID@VERSION.navmesh (an encoded NeutralNavMesh; ...navmesh.json: as "
       "protobuf JSON); version 1 where none is named; the highest version of each is active."},
      {"read_only", TextMember{&C::read_only, {"false", "true"}},
       "Whether everything that changes navmeshes and worlds is refused with FAILED_PRECONDITION: "
       "for replicas, each of which has a registry of its own, fed by navmesh_dir."},
      {"max_publish_bytes", BytesMember{&C::max_publish_bytes, 1, uint64_t{1} << 40},
       "Largest content of a publication, and most bytes of all that are being received."},
      {"max_navmeshes", CountMember{&C::max_navmeshes, 1, 1'000'000}, "Most navmeshes."},
      {"max_navmesh_versions", CountMember{&C::max_navmesh_versions, 2, 100'000},
       "Most versions of a navmesh; the oldest ones that are neither active nor under a world make "
       "room for new ones."},
      {"max_navmesh_bytes", BytesMember{&C::max_navmesh_bytes, 1 << 20, uint64_t{1} << 40},
       "Most memory of the versions of a navmesh; they make room as for max_navmesh_versions."},
      {"max_worlds", CountMember{&C::max_worlds, 1, 100'000'000}, "Most worlds of all navmeshes."},
      {"world_idle_s", RealMember{&C::world_idle_s, 1, 31'536'000},
       "Seconds without a request after which a world is deleted, up to a quarter of them or 5 s "
       "later."},
      {"navmesh_log_records", CountMember{&C::navmesh_log_records, 16, 10'000'000},
       "Changes of a navmesh that are remembered for watchers who reconnect and requests that are "
       "sent again."},
      {"cache_bytes", BytesMember{&C::cache_bytes, 0, uint64_t{1} << 40},
       "Most memory of kept answers. 0: none are kept."},
      {"max_metadata_bytes", CountMember{&C::max_metadata_bytes, 1024, 16 << 20},
       "Most bytes of a call's metadata."},
      {"max_concurrent_streams", CountMember{&C::max_concurrent_streams, 1, 1 << 30},
       "Most calls and streams of one connection at once; further ones wait in the client. "
       "Connections themselves are bounded by the process's limit of open files."},
      {"keepalive_s", RealMember{&C::keepalive_s, 1, 86400},
       "Seconds without traffic after which a connection's peer is asked whether it lives."},
      {"keepalive_timeout_s", RealMember{&C::keepalive_timeout_s, 1, 3600},
       "Seconds that it has to answer, before the connection is closed."},
      {"min_ping_interval_s", RealMember{&C::min_ping_interval_s, 0, 3600},
       "Clients may send keepalive pings this often, in seconds, also without calls; more often is "
       "answered "
       "with too_many_pings."},
      {"max_connection_age_s", RealMember{&C::max_connection_age_s, 0, 31'536'000},
       "Seconds after which a connection is asked to reconnect, so that new replicas get traffic. "
       "0: never."},
      {"max_connection_age_grace_s", RealMember{&C::max_connection_age_grace_s, 0, 86400},
       "Seconds that the calls of such a connection have to end."},
      {"write_stall_s", RealMember{&C::write_stall_s, 0.01, 86400},
       "Seconds that a client may read nothing while answers of a batch or a stream wait for it, "
       "before it is given up."},
      {"drain_delay_s", RealMember{&C::drain_delay_s, 0, 3600},
       "Seconds between answering NOT_SERVING and closing the port at SIGTERM, so that load "
       "balancers notice. "
       "Calls are served meanwhile."},
      {"drain_timeout_s", RealMember{&C::drain_timeout_s, 0, 3600},
       "Seconds that calls in flight have to end at SIGTERM, before they are cancelled."},
      {"log_level",
       TextMember{&C::log_level, {"trace", "debug", "info", "warn", "error", "critical", "off"}},
       "Least severe level that is logged."},
      {"log_format", TextMember{&C::log_format, {"text", "json"}},
       "Form of the log lines on stderr."},
      {"log_success_sample", CountMember{&C::log_success_sample, 0, 1'000'000'000},
       "One call in so many that succeed is logged. 0: none."},
      {"log_lines_per_s", CountMember{&C::log_lines_per_s, 0, 1'000'000},
       "Most lines a second on calls that failed, were slow or were refused. What is not written "
       "is "
       "counted in arclane_log_dropped_total and in the next line."},
      {"slow_request_ms", RealMember{&C::slow_request_ms, 0, 3'600'000},
       "Unary calls that take at least so many milliseconds are logged with the times of their "
       "stages. 0: none."},
      {"capture_dir", TextMember{&C::capture_dir, {}},
       "Directory, made if it is not there, for requests that were slow or failed, as files that "
       "`arclane plan-corridor` and its likes send again. Empty: none are kept."},
      {"capture_max_files", CountMember{&C::capture_max_files, 1, 1'000'000},
       "Most such files; the oldest make room."},
      {"capture_max_bytes", BytesMember{&C::capture_max_bytes, 1024, uint64_t{1} << 40},
       "Most bytes of such files together."},
      {"profile_dir", TextMember{&C::profile_dir, {}},
       "Directory for CPU profiles, which SIGUSR1 starts and ends. Empty: SIGUSR1 does nothing."},
      {"profile_max_s", RealMember{&C::profile_max_s, 1, 3600},
       "Seconds after which a profile ends by itself."},
  };
  return *table;
}

std::optional<std::string> ParseBytes(std::string_view text, uint64_t* value) {
  absl::string_view digits = AbslView(text);
  int shift = 0;
  if (absl::ConsumeSuffix(&digits, "KiB"))
    shift = 10;
  else if (absl::ConsumeSuffix(&digits, "MiB"))
    shift = 20;
  else if (absl::ConsumeSuffix(&digits, "GiB"))
    shift = 30;
  if (!absl::SimpleAtoi(digits, value) ||
      *value > (std::numeric_limits<uint64_t>::max() >> shift)) {
    return absl::StrCat("must be a number of bytes such as 1048576 or 1MiB, got \"", AbslView(text),
                        "\"");
  }
  *value <<= shift;
  return std::nullopt;
}

template <typename T>
std::optional<std::string> OutOfRange(T value, T least, T most) {
  if (value >= least && value <= most) return std::nullopt;
  return absl::StrCat("must be in [", least, ", ", most, "], got ", value);
}

struct Assign {
  std::string_view text;
  ServerConfig& config;

  std::optional<std::string> operator()(const TextMember& m) const {
    if (!m.choices.empty() &&
        std::find(m.choices.begin(), m.choices.end(), text) == m.choices.end()) {
      return absl::StrCat("must be one of ",
                          absl::StrJoin(m.choices, ", ",
                                        [](std::string* out, auto choice) {
                                          absl::StrAppend(out, AbslView(choice));
                                        }),
                          ", got \"", AbslView(text), "\"");
    }
    config.*m.member = std::string(text);
    return std::nullopt;
  }
  std::optional<std::string> operator()(const ListMember& m) const {
    std::vector<std::string> items;
    for (absl::string_view item : absl::StrSplit(AbslView(text), ',', absl::SkipWhitespace())) {
      items.emplace_back(absl::StripAsciiWhitespace(item));
    }
    if (items.empty() && !m.may_be_empty) return "must name at least one item";
    config.*m.member = std::move(items);
    return std::nullopt;
  }
  std::optional<std::string> operator()(const CountMember& m) const {
    uint64_t value = 0;
    if (!absl::SimpleAtoi(AbslView(text), &value)) {
      return absl::StrCat("must be a whole number, got \"", AbslView(text), "\"");
    }
    if (auto error = OutOfRange<uint64_t>(value, m.least, m.most)) return error;
    config.*m.member = static_cast<uint32_t>(value);
    return std::nullopt;
  }
  std::optional<std::string> operator()(const BytesMember& m) const {
    uint64_t value = 0;
    if (auto error = ParseBytes(text, &value)) return error;
    if (auto error = OutOfRange(value, m.least, m.most)) return error;
    config.*m.member = value;
    return std::nullopt;
  }
  std::optional<std::string> operator()(const RealMember& m) const {
    double value = 0;
    if (!absl::SimpleAtod(AbslView(text), &value) || std::isnan(value)) {
      return absl::StrCat("must be a number, got \"", AbslView(text), "\"");
    }
    if (auto error = OutOfRange(value, m.least, m.most)) return error;
    config.*m.member = value;
    return std::nullopt;
  }
};

std::string DefaultText(const Setting& setting) {
  const std::string value = SettingAsJson(setting, ServerConfig{});
  return value == "\"\"" || value == "[]" ? "none" : value;
}

std::string RangeText(const SettingMember& member) {
  return std::visit(
      [](const auto& m) -> std::string {
        using Member = std::decay_t<decltype(m)>;
        if constexpr (std::is_same_v<Member, ListMember>) {
          return "";
        } else if constexpr (std::is_same_v<Member, TextMember>) {
          if (m.choices.empty()) return "";
          std::string text = " One of:";
          for (std::string_view choice : m.choices) absl::StrAppend(&text, " ", AbslView(choice));
          return text + ".";
        } else if constexpr (std::is_same_v<Member, BytesMember>) {
          return absl::StrCat(" Bytes (KiB, MiB, GiB) in [", m.least, ", ", m.most, "].");
        } else {
          return absl::StrCat(" In [", m.least, ", ", m.most, "].");
        }
      },
      member);
}

}  // namespace

std::span<const Setting> Settings() { return Table(); }

const Setting* FindSetting(std::string_view name) {
  for (const Setting& setting : Table()) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

std::string_view SettingHelp(std::string_view name) {
  static const auto* const texts = [] {
    auto* made = new std::map<std::string_view, std::string>;
    for (const Setting& setting : Table()) {
      (*made)[setting.name] =
          absl::StrCat(AbslView(setting.meaning), AbslView(RangeText(setting.member)),
                       " Default: ", DefaultText(setting), ". Environment: ARCLANE_",
                       absl::AsciiStrToUpper(AbslView(setting.name)), ".");
    }
    return made;
  }();
  const auto found = texts->find(name);
  return found == texts->end() ? std::string_view() : std::string_view(found->second);
}

std::optional<std::string> AssignSetting(const Setting& setting, std::string_view text,
                                         ServerConfig& config) {
  return std::visit(Assign{text, config}, setting.member);
}

std::string SettingAsJson(const Setting& setting, const ServerConfig& config) {
  return std::visit(
      [&](const auto& m) {
        return nlohmann::json(config.*m.member)
            .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      },
      setting.member);
}

}  // namespace arclane
