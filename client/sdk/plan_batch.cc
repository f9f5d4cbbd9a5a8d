// SPDX-License-Identifier: Apache-2.0
#include "client/sdk/plan_batch.h"

#include "grpcpp/support/status.h"

namespace arclane {

std::optional<ClientError> ErrorOf(const v1::PlanItemAnswer& answer) {
  if (!answer.has_status()) return std::nullopt;
  const google::rpc::Status& status = answer.status();
  return DecodeError(grpc::Status(static_cast<grpc::StatusCode>(status.code()), status.message(),
                                  status.SerializeAsString()));
}

}  // namespace arclane
