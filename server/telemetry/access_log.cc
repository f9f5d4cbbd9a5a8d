// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/access_log.h"

#include <cmath>
#include <string>

namespace arclane {
namespace {

// Longer messages are cut: they repeat what the caller sent.
constexpr size_t kMostMessageBytes = 512;

// To a tenth of a microsecond: further digits are noise.
double Milliseconds(double seconds) { return std::round(seconds * 1e7) / 1e4; }

constexpr std::string_view CauseText(AccessLog::Cause cause) {
  switch (cause) {
    case AccessLog::Cause::kFailed:
      return "call failed";
    case AccessLog::Cause::kSlow:
      return "call was slow";
    default:
      return "call";
  }
}

}  // namespace

AccessLog::AccessLog(const AccessLogOptions& options, Metrics& metrics)
    : metrics_(metrics),
      success_sample_(options.success_sample),
      slow_s_(options.slow_s),
      limit_(options.lines_per_s) {}

void AccessLog::SetOptions(const AccessLogOptions& options) {
  success_sample_ = options.success_sample;
  limit_.SetRate(options.lines_per_s);
  slow_s_ = options.slow_s;
}

bool AccessLog::IsSlow(double duration_s) const {
  const double slow_s = slow_s_.load(std::memory_order_relaxed);
  return slow_s > 0 && duration_s >= slow_s;
}

AccessLog::Cause AccessLog::Consider(bool ok, double duration_s) {
  if (!ok) return LogEnabled(LogLevel::kWarn) && TakePlace() ? Cause::kFailed : Cause::kNone;
  if (IsSlow(duration_s)) {
    return LogEnabled(LogLevel::kWarn) && TakePlace() ? Cause::kSlow : Cause::kNone;
  }
  const uint32_t sample = success_sample_.load(std::memory_order_relaxed);
  if (sample == 0) return Cause::kNone;
  // Each thread counts for itself: a shared counter would be written by all of them.
  thread_local uint32_t since_last = 0;
  if (++since_last < sample) return Cause::kNone;
  since_last = 0;
  return LogEnabled(LogLevel::kInfo) ? Cause::kSampled : Cause::kNone;
}

bool AccessLog::TakePlace() {
  if (limit_.TakePlace()) return true;
  metrics_.LogsDropped(1);
  return false;
}

void AccessLog::Write(Cause cause, bool fault, const CallRecord& record) {
  const LogLevel level = cause == Cause::kSlow || (cause == Cause::kFailed && fault)
                             ? LogLevel::kWarn
                             : LogLevel::kInfo;
  std::vector<LogField> fields = {{"method", record.method},
                                  {"code", record.code},
                                  {"duration_ms", Milliseconds(record.duration_s)},
                                  {"peer", record.peer}};
  const auto add = [&fields](std::string_view name, std::string_view text) {
    if (!text.empty()) fields.emplace_back(name, text);
  };
  add("caller", record.caller);
  add("request_id", record.request_id);
  add("traceparent", record.traceparent);
  fields.emplace_back("request_bytes", record.request_bytes);
  fields.emplace_back("response_bytes", record.response_bytes);
  add("cache", record.cache);
  add("why", record.message.substr(0, kMostMessageBytes));
  std::vector<std::string> names;  // Before the fields that borrow them.
  names.reserve(record.stages.size());
  for (const CallRecord::Stage& stage : record.stages) {
    names.push_back(std::string(stage.name) + "_ms");
    fields.emplace_back(names.back(), Milliseconds(stage.seconds));
  }
  if (const uint64_t dropped = cause == Cause::kSampled ? 0 : limit_.TakeDropped(); dropped > 0) {
    fields.emplace_back("dropped", dropped);
  }
  Log(level, CauseText(cause), fields);
}

void AccessLog::Refused(std::string_view message, std::span<const LogField> fields) {
  if (!LogEnabled(LogLevel::kWarn) || !TakePlace()) return;
  std::vector<LogField> all(fields.begin(), fields.end());
  if (const uint64_t dropped = limit_.TakeDropped(); dropped > 0)
    all.emplace_back("dropped", dropped);
  Log(LogLevel::kWarn, message, all);
}

}  // namespace arclane
