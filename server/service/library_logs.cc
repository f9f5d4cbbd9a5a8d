// SPDX-License-Identifier: Apache-2.0
#include "server/service/library_logs.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <string>

#include "server/telemetry/line_limit.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

// Whoever connects without a certificate, or scans ports, makes a line.
constexpr double kLinesPerSecond = 10;

void Forward(gpr_log_func_args* args) {
  const LogLevel level = args->severity == GPR_LOG_SEVERITY_ERROR  ? LogLevel::kWarn
                         : args->severity == GPR_LOG_SEVERITY_INFO ? LogLevel::kInfo
                                                                   : LogLevel::kDebug;
  if (level == LogLevel::kDebug) {
    Log(level, args->message, {{"source", "grpc"}, {"file", args->file}, {"line", args->line}});
    return;
  }
  // Never destroyed: gRPC logs until the process ends.
  static auto* const limit = new LineLimit(kLinesPerSecond);
  if (!LogEnabled(level) || !limit->TakePlace()) return;
  const uint64_t dropped = limit->TakeDropped();
  Log(level, args->message,
      {{"source", "grpc"}, {"file", args->file}, {"line", args->line}, {"dropped", dropped}});
}

// Protobuf logs what is wrong with the bytes that clients send; they are told by the answer.
void ForwardProtobuf(google::protobuf::LogLevel level, const char*, int, const std::string& text) {
  Log(level == google::protobuf::LOGLEVEL_FATAL ? LogLevel::kCritical : LogLevel::kDebug, text,
      {{"source", "protobuf"}});
}

}  // namespace

void SendLibraryLogsToOurs() {
  gpr_set_log_function(&Forward);
  google::protobuf::SetLogHandler(&ForwardProtobuf);
}

}  // namespace arclane
