// SPDX-License-Identifier: Apache-2.0
// The log lines of gRPC and Protobuf in the form of ours.
#ifndef ARCLANE_SERVER_SERVICE_LIBRARY_LOGS_H_
#define ARCLANE_SERVER_SERVICE_LIBRARY_LOGS_H_

namespace arclane {

// Process-wide; before the first use of gRPC. What gRPC calls an error is a warning here, and what
// Protobuf does is for debugging: both log as errors what peers do wrong. Warnings of gRPC are
// bounded in number, as every failed handshake makes one.
void SendLibraryLogsToOurs();

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_LIBRARY_LOGS_H_
