// SPDX-License-Identifier: Apache-2.0
#include "server/service/library_logs.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>

#include <string>

#include "server/telemetry/logging.h"

namespace arclane {
namespace {

void Forward(gpr_log_func_args* args) {
  const LogLevel level = args->severity == GPR_LOG_SEVERITY_ERROR  ? LogLevel::kWarn
                         : args->severity == GPR_LOG_SEVERITY_INFO ? LogLevel::kInfo
                                                                   : LogLevel::kDebug;
  Log(level, args->message, {{"source", "grpc"}, {"file", args->file}, {"line", args->line}});
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
