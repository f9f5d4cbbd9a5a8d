// SPDX-License-Identifier: Apache-2.0
// A unary call that the network thread answers at once.
#ifndef ARCLANE_SERVER_SERVICE_IMMEDIATE_CALL_H_
#define ARCLANE_SERVER_SERVICE_IMMEDIATE_CALL_H_

#include <grpcpp/support/server_callback.h>

#include "server/service/call_account.h"

namespace arclane {

class ImmediateCall final : public grpc::ServerUnaryReactor {
 public:
  ImmediateCall(ServiceEnvironment& environment, MethodId method)
      : account_(environment, method, CallKind::kUnary) {}

  // Once; the response must be complete by now.
  void EndWith(const grpc::Status& status) {
    account_.Ended(status);
    Finish(status);
  }

 private:
  void OnDone() override { delete this; }

  CallAccount account_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_IMMEDIATE_CALL_H_
