// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/logging.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>

namespace arclane {
namespace {

constexpr std::array<std::string_view, 7> kLevelNames = {"trace", "debug",    "info", "warn",
                                                         "error", "critical", "off"};

std::atomic<LogFormat> log_format{LogFormat::kText};

std::string JsonText(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string JsonValue(const LogField& field) {
  if (const auto* text = std::get_if<std::string_view>(&field.value)) return JsonText(*text);
  if (const auto* flag = std::get_if<bool>(&field.value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<double>(&field.value)) return nlohmann::json(*number).dump();
  return std::to_string(std::get<int64_t>(field.value));
}

// A value of a text line: quoted as in JSON when it could be mistaken for the end of the value or
// the line.
std::string TextValue(const LogField& field) {
  const auto* text = std::get_if<std::string_view>(&field.value);
  if (text == nullptr) return JsonValue(field);
  const bool plain =
      !text->empty() && text->find_first_of(" \t\r\n\"=\\") == std::string_view::npos &&
      std::all_of(text->begin(), text->end(), [](char c) { return c > ' ' && c < 0x7f; });
  return plain ? std::string(*text) : JsonText(*text);
}

std::string OneLine(std::string_view message) {
  if (message.find_first_of("\r\n") == std::string_view::npos) return std::string(message);
  const std::string quoted = JsonText(message);
  return quoted.substr(1, quoted.size() - 2);
}

spdlog::logger& Logger() {
  static spdlog::logger* const logger = [] {
    auto* made = new spdlog::logger("arclane", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::info);
    made->set_formatter(std::make_unique<spdlog::pattern_formatter>(
        "%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc));
    return made;
  }();
  return *logger;
}

}  // namespace

void SetUpLogging(LogLevel level, LogFormat format) {
  log_format = format;
  Logger().set_level(static_cast<spdlog::level::level_enum>(level));
  Logger().flush_on(spdlog::level::warn);
  Logger().set_formatter(std::make_unique<spdlog::pattern_formatter>(
      format == LogFormat::kJson ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                                 : "%Y-%m-%dT%H:%M:%S.%eZ %l %v",
      spdlog::pattern_time_type::utc));
}

void SetLogLevel(LogLevel level) {
  Logger().set_level(static_cast<spdlog::level::level_enum>(level));
}

LogLevel LogLevelOf(std::string_view name) {
  for (size_t i = 0; i < kLevelNames.size(); ++i) {
    if (kLevelNames[i] == name) return static_cast<LogLevel>(i);
  }
  return LogLevel::kInfo;
}

bool LogEnabled(LogLevel level) {
  return Logger().should_log(static_cast<spdlog::level::level_enum>(level));
}

void Log(LogLevel level, std::string_view message, std::span<const LogField> fields) {
  if (!LogEnabled(level)) return;
  std::string line;
  if (log_format == LogFormat::kJson) {
    line = "\"message\":" + JsonText(message);
    for (const LogField& field : fields) {
      line.append(",").append(JsonText(field.name)).append(":").append(JsonValue(field));
    }
  } else {
    line = OneLine(message);
    for (const LogField& field : fields) {
      line.append(" ").append(field.name).append("=").append(TextValue(field));
    }
  }
  Logger().log(static_cast<spdlog::level::level_enum>(level),
               spdlog::string_view_t(line.data(), line.size()));
}

}  // namespace arclane
