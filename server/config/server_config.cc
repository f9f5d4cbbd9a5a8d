// SPDX-License-Identifier: Apache-2.0
#include "server/config/server_config.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "server/config/absl_view.h"
#include "server/config/role_grant.h"
#include "server/config/settings.h"

namespace arclane {
namespace {

constexpr std::string_view kEnvironmentPrefix = "ARCLANE_";

// What is wrong with host:port, [ipv6]:port or (where allowed) unix:/path; empty when nothing is.
std::string AddressError(const std::string& address, bool unix_allowed) {
  if (unix_allowed && address.rfind("unix:", 0) == 0) {
    return address.size() > 5 ? "" : "unix: needs a path";
  }
  const size_t colon = address.rfind(':');
  const bool ambiguous = address.find(':') != colon && address[0] != '[';
  int port = -1;
  if (colon == std::string::npos || colon == 0 || ambiguous ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 || port > 65535) {
    return absl::StrCat("must be host:port",
                        unix_allowed ? ", [ipv6]:port or unix:/path" : " or none", ", got \"",
                        address, "\"");
  }
  return "";
}

// Settings of which one makes sense only with the other.
void Needs(const std::string& value, const char* name, const std::string& other,
           const char* other_name, std::vector<std::string>& errors) {
  if (!value.empty() && other.empty()) {
    errors.push_back(absl::StrCat(name, ": needs ", other_name, " beside it"));
  }
}

void CheckSecurity(const ServerConfig& config, std::vector<std::string>& errors) {
  Needs(config.tls_certificate, "tls_certificate", config.tls_key, "tls_key", errors);
  Needs(config.tls_key, "tls_key", config.tls_certificate, "tls_certificate", errors);
  Needs(config.tls_client_ca, "tls_client_ca", config.tls_certificate, "tls_certificate", errors);
  Needs(config.authorize.empty() ? "" : "given", "authorize", config.tls_client_ca,
        "tls_client_ca, which verifies the callers,", errors);
  Needs(config.metrics_user, "metrics_user", config.metrics_password_file, "metrics_password_file",
        errors);
  Needs(config.metrics_password_file, "metrics_password_file", config.metrics_user, "metrics_user",
        errors);
  for (const std::string& grant : config.authorize) {
    const auto parsed = ParseRoleGrant(grant);
    if (!parsed.ok()) errors.push_back(absl::StrCat("authorize: ", parsed.status().message()));
  }
}

void CheckTogether(const ServerConfig& config, std::vector<std::string>& errors) {
  std::set<std::string> seen;
  const auto check_addresses = [&](const std::string& name,
                                   const std::vector<std::string>& addresses) {
    for (const std::string& address : addresses) {
      if (std::string error = AddressError(address, true); !error.empty()) {
        errors.push_back(name + ": " + error);
      } else if (address.substr(address.rfind(':') + 1) != "0" && !seen.insert(address).second) {
        errors.push_back(name + ": \"" + address + "\" is named twice");
      }
    }
  };
  check_addresses("listen", config.listen);
  check_addresses("health_listen", config.health_listen);
  if (config.metrics_listen != "none") {
    if (std::string error = AddressError(config.metrics_listen, false); !error.empty()) {
      errors.push_back("metrics_listen: " + error);
    }
  }
  CheckSecurity(config, errors);
  const auto at_most = [&errors](std::string_view name, uint64_t value, std::string_view bound_name,
                                 uint64_t bound) {
    if (value <= bound) return;
    errors.push_back(absl::StrCat(AbslView(name), ": must be at most ", AbslView(bound_name), " (",
                                  bound, "), got ", value));
  };
  for (const auto& [name, bytes] :
       {std::pair("max_plan_corridor_bytes", config.max_plan_corridor_bytes),
        std::pair("max_plan_waypoints_bytes", config.max_plan_waypoints_bytes),
        std::pair("max_plan_spline_bytes", config.max_plan_spline_bytes),
        std::pair("max_plan_speed_bytes", config.max_plan_speed_bytes)}) {
    at_most(name, bytes, "max_receive_bytes", config.max_receive_bytes);
    at_most(name, bytes, "max_admitted_bytes", config.max_admitted_bytes);
  }
  at_most("max_ping_bytes", config.max_ping_bytes, "max_receive_bytes", config.max_receive_bytes);
}

// The text of a file's value as a flag would give it; nullopt for values that no setting takes.
std::optional<std::string> TextOfJson(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  if (!value.is_array()) return std::nullopt;
  std::vector<std::string> items;
  for (const nlohmann::json& item : value) {
    if (!item.is_string()) return std::nullopt;
    items.push_back(item.get<std::string>());
  }
  return absl::StrJoin(items, ",");
}

}  // namespace

absl::StatusOr<ServerConfig> ResolveConfig(const ConfigSources& sources) {
  ServerConfig config;
  std::vector<std::string> errors;
  for (const Setting& setting : Settings()) {
    const std::pair<std::string_view, const std::map<std::string, std::string>*> by_precedence[] = {
        {"flag", &sources.flags}, {"environment", &sources.environment}, {"file", &sources.file}};
    for (const auto& [source, texts] : by_precedence) {
      const auto found = texts->find(std::string(setting.name));
      if (found == texts->end()) continue;
      if (const auto error = AssignSetting(setting, found->second, config)) {
        errors.push_back(
            absl::StrCat(AbslView(setting.name), " (", AbslView(source), "): ", *error));
      }
      break;
    }
  }
  CheckTogether(config, errors);
  if (!errors.empty()) return absl::InvalidArgumentError(absl::StrJoin(errors, "\n"));
  return config;
}

std::map<std::string, std::string> ParseConfigFile(const std::string& text,
                                                   std::vector<std::string>& errors) {
  std::map<std::string, std::string> texts;
  std::set<std::string> keys;
  const auto note_keys = [&](int depth, nlohmann::json::parse_event_t event,
                             nlohmann::json& parsed) {
    if (event == nlohmann::json::parse_event_t::key && depth == 1) {
      if (!keys.insert(parsed.get<std::string>()).second) {
        errors.push_back(parsed.get<std::string>() + " (file): is given twice");
      }
    }
    return true;
  };
  nlohmann::json parsed;
  try {
    parsed =
        nlohmann::json::parse(text, note_keys, /*allow_exceptions=*/true, /*ignore_comments=*/true);
  } catch (const nlohmann::json::exception& error) {
    errors.push_back(absl::StrCat("not JSON: ", error.what()));
    return texts;
  }
  if (!parsed.is_object()) {
    errors.push_back("must be one JSON object of settings");
    return texts;
  }
  for (const auto& [key, value] : parsed.items()) {
    if (FindSetting(key) == nullptr) {
      errors.push_back(key + " (file): there is no such setting");
    } else if (auto value_text = TextOfJson(value)) {
      texts[key] = *std::move(value_text);
    } else {
      errors.push_back(key + " (file): must be a text, a number or a list of texts");
    }
  }
  return texts;
}

std::map<std::string, std::string> SettingsOfEnvironment(const std::vector<std::string>& variables,
                                                         std::vector<std::string>* ignored) {
  std::map<std::string, std::string> texts;
  for (const std::string& variable : variables) {
    const size_t equals = variable.find('=');
    if (equals == std::string::npos || variable.rfind(kEnvironmentPrefix, 0) != 0) continue;
    const std::string upper =
        variable.substr(kEnvironmentPrefix.size(), equals - kEnvironmentPrefix.size());
    const std::string name = absl::AsciiStrToLower(upper);
    if (absl::AsciiStrToUpper(name) == upper && FindSetting(name) != nullptr) {
      texts[name] = variable.substr(equals + 1);
    } else if (name != "config" && ignored != nullptr) {
      ignored->push_back(variable.substr(0, equals));
    }
  }
  return texts;
}

std::string PrintConfig(const ServerConfig& config) {
  std::vector<std::string> lines;
  for (const Setting& setting : Settings()) {
    lines.push_back(
        absl::StrCat("  \"", AbslView(setting.name), "\": ", SettingAsJson(setting, config)));
  }
  return absl::StrCat("{\n", absl::StrJoin(lines, ",\n"), "\n}\n");
}

}  // namespace arclane
