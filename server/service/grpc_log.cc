// SPDX-License-Identifier: Apache-2.0
#include "server/service/grpc_log.h"

#include <grpc/support/log.h>

#include "server/telemetry/logging.h"

namespace arclane {
namespace {

void Forward(gpr_log_func_args* args) {
  const LogLevel level = args->severity == GPR_LOG_SEVERITY_ERROR  ? LogLevel::kWarn
                         : args->severity == GPR_LOG_SEVERITY_INFO ? LogLevel::kInfo
                                                                   : LogLevel::kDebug;
  Log(level, args->message, {{"source", "grpc"}, {"file", args->file}, {"line", args->line}});
}

}  // namespace

void SendGrpcLogToOurs() { gpr_set_log_function(&Forward); }

}  // namespace arclane
