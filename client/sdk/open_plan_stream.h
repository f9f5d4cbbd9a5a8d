// SPDX-License-Identifier: Apache-2.0
// Makes the stream behind Client::OpenPlanStream.
#ifndef ARCLANE_CLIENT_SDK_OPEN_PLAN_STREAM_H_
#define ARCLANE_CLIENT_SDK_OPEN_PLAN_STREAM_H_

#include <memory>

#include "arclane/v1/planner.grpc.pb.h"
#include "client/sdk/client_options.h"
#include "client/sdk/plan_stream.h"

namespace arclane {

// `stub` outlives the stream. Of the call's options the metadata and the stop token are used.
std::unique_ptr<PlanStream> OpenPlanStream(v1::PathPlanner::Stub& stub,
                                           const PlanStreamOptions& options,
                                           const CallOptions& call);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_SDK_OPEN_PLAN_STREAM_H_
