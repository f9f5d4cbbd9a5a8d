// SPDX-License-Identifier: Apache-2.0
// gRPC's own log lines in the form of ours.
#ifndef ARCLANE_SERVER_SERVICE_GRPC_LOG_H_
#define ARCLANE_SERVER_SERVICE_GRPC_LOG_H_

namespace arclane {

// Process-wide; before the first use of gRPC. What gRPC calls an error is a warning here: it logs
// as errors what peers do wrong.
void SendGrpcLogToOurs();

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_GRPC_LOG_H_
