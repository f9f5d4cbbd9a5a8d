// SPDX-License-Identifier: Apache-2.0
// Log lines on stderr, as text for people or as one JSON object a line for machines. Times are UTC.
#ifndef ARCLANE_SERVER_TELEMETRY_LOGGING_H_
#define ARCLANE_SERVER_TELEMETRY_LOGGING_H_

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace arclane {

enum class LogLevel { kTrace, kDebug, kInfo, kWarn, kError, kCritical, kOff };
enum class LogFormat { kText, kJson };

// A named value beside the message. Borrows its texts for the call.
struct LogField {
  LogField(std::string_view name, std::string_view text) : name(name), value(text) {}
  LogField(std::string_view name, const std::string& text)
      : name(name), value(std::string_view(text)) {}
  LogField(std::string_view name, const char* text) : name(name), value(std::string_view(text)) {}
  LogField(std::string_view name, bool flag) : name(name), value(flag) {}
  LogField(std::string_view name, double number) : name(name), value(number) {}
  LogField(std::string_view name, std::integral auto number)
      : name(name), value(static_cast<int64_t>(number)) {}

  std::string_view name;
  std::variant<std::string_view, bool, double, int64_t> value;
};

// Sets the level alone; from any thread.
void SetLogLevel(LogLevel level);
// Sets level and form for the whole process. Before the first call: text, from info on.
void SetUpLogging(LogLevel level, LogFormat format);
// kInfo for names that are none of trace, debug, info, warn, error, critical, off.
LogLevel LogLevelOf(std::string_view name);
// Cheap: to be asked before fields that cost something are made.
bool LogEnabled(LogLevel level);
// Thread-safe; one line an event, whatever the texts contain.
void Log(LogLevel level, std::string_view message, std::span<const LogField> fields);
inline void Log(LogLevel level, std::string_view message,
                std::initializer_list<LogField> fields = {}) {
  Log(level, message, std::span<const LogField>(fields.begin(), fields.size()));
}

}  // namespace arclane

#endif  // ARCLANE_SERVER_TELEMETRY_LOGGING_H_
