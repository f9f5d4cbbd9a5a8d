// SPDX-License-Identifier: Apache-2.0
// A Failure as the standard google.rpc.Status with its details.
#ifndef ARCLANE_SERVER_CODEC_STATUS_CODEC_H_
#define ARCLANE_SERVER_CODEC_STATUS_CODEC_H_

#include "google/rpc/status.pb.h"
#include "server/codec/failure.h"

namespace arclane {

// The domain of every ErrorInfo.
inline constexpr char kErrorDomain[] = "arclane";

// Status code by the reason; details in this order: BadRequest (if fields are violated), ErrorInfo,
// RetryInfo (if a retry can help). Details must fit into the 8 KiB of metadata that clients accept:
// violations beyond that are counted in ErrorInfo.metadata["violations_omitted"], and longer texts
// are cut.
google::rpc::Status ToRpcStatus(const Failure& failure);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_STATUS_CODEC_H_
