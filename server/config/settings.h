// SPDX-License-Identifier: Apache-2.0
// The table of settings: name, member, range and meaning of each, used by parsing, printing and
// --help alike.
#ifndef ARCLANE_SERVER_CONFIG_SETTINGS_H_
#define ARCLANE_SERVER_CONFIG_SETTINGS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/config/server_config.h"

namespace arclane {

// Plain text; `choices` lists the values allowed, or is empty. An empty text means none.
struct TextMember {
  std::string ServerConfig::*member;
  std::vector<std::string_view> choices;
};
// A list of texts, separated by commas.
struct ListMember {
  std::vector<std::string> ServerConfig::*member;
  bool may_be_empty = false;
};
struct CountMember {
  uint32_t ServerConfig::*member;
  uint32_t least;
  uint32_t most;
};
// Bytes, also with the suffixes KiB, MiB and GiB.
struct BytesMember {
  uint64_t ServerConfig::*member;
  uint64_t least;
  uint64_t most;
};
struct RealMember {
  double ServerConfig::*member;
  double least;
  double most;
};
using SettingMember = std::variant<TextMember, ListMember, CountMember, BytesMember, RealMember>;

struct Setting {
  std::string_view name;
  SettingMember member;
  std::string_view meaning;
};

std::span<const Setting> Settings();
// Null when there is no such setting.
const Setting* FindSetting(std::string_view name);
// Meaning, range, default and environment variable, as --help shows them. The text lives forever.
std::string_view SettingHelp(std::string_view name);
// Writes the value of `text` into `config`; returns what is wrong with it instead.
std::optional<std::string> AssignSetting(const Setting& setting, std::string_view text,
                                         ServerConfig& config);
// The value as JSON.
std::string SettingAsJson(const Setting& setting, const ServerConfig& config);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CONFIG_SETTINGS_H_
