// SPDX-License-Identifier: Apache-2.0
// How long streams end: a last message that says why, then the status.
#ifndef ARCLANE_SERVER_SERVICE_STREAM_END_H_
#define ARCLANE_SERVER_SERVICE_STREAM_END_H_

#include <grpcpp/support/status.h>

#include <string>

#include "arclane/v1/navmesh.pb.h"

namespace arclane {

// What is said of a stream that ends because the server stops or the connection is old.
inline constexpr char kGoingAwayDetail[] =
    "the server ends this stream; open it again with the last epoch that you know";

// The status behind a GoingAway message: UNAVAILABLE where the stream should be opened again at
// once, RESOURCE_EXHAUSTED for slow readers, NOT_FOUND for worlds that are gone.
grpc::Status StatusOf(const v1::GoingAway& going_away);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_STREAM_END_H_
