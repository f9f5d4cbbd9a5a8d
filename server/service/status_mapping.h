// SPDX-License-Identifier: Apache-2.0
// A Failure as a client sees it: a gRPC status whose details are the standard google.rpc messages.
#ifndef ARCLANE_SERVER_SERVICE_STATUS_MAPPING_H_
#define ARCLANE_SERVER_SERVICE_STATUS_MAPPING_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include "server/codec/failure.h"
#include "server/codec/status_codec.h"

namespace arclane {

// The code, the message, and google.rpc.Status as the details (status_codec.h).
grpc::Status ToStatus(const Failure& failure);

// ToStatus, and what belongs into trailing metadata: grpc-retry-pushback-ms when the failure names
// a retry delay; -1 (do not retry) when the delay is not below `remaining_s`, the time to the
// caller's deadline.
grpc::Status Refuse(const Failure& failure, double remaining_s,
                    grpc::CallbackServerContext& context);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_STATUS_MAPPING_H_
