// SPDX-License-Identifier: Apache-2.0
#include "server/service/status_mapping.h"

#include <cmath>
#include <string>

namespace arclane {

grpc::Status ToStatus(const Failure& failure) {
  const google::rpc::Status details = ToRpcStatus(failure);
  return {static_cast<grpc::StatusCode>(details.code()), details.message(),
          details.SerializeAsString()};
}

grpc::Status Refuse(const Failure& failure, double remaining_s,
                    grpc::CallbackServerContext& context) {
  if (failure.retry_delay_s) {
    const bool in_time = *failure.retry_delay_s < remaining_s;
    const auto delay_ms = static_cast<int64_t>(std::ceil(*failure.retry_delay_s * 1e3));
    context.AddTrailingMetadata("grpc-retry-pushback-ms",
                                in_time ? std::to_string(delay_ms) : "-1");
  }
  return ToStatus(failure);
}

}  // namespace arclane
