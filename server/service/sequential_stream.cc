// SPDX-License-Identifier: Apache-2.0
#include "server/service/sequential_stream.h"

#include "server/service/status_mapping.h"

namespace arclane {

grpc::Status StreamEndsStatus() {
  Failure failure;
  failure.reason = FailureReason::kDraining;
  failure.message =
      "the server is about to stop; open the stream again, at another replica if there is one";
  return ToStatus(failure);
}

}  // namespace arclane
