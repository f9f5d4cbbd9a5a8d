// SPDX-License-Identifier: Apache-2.0
// Why a call failed: the gRPC status together with its decoded details.
#ifndef ARCLANE_CLIENT_SDK_CLIENT_ERROR_H_
#define ARCLANE_CLIENT_SDK_CLIENT_ERROR_H_

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "server/codec/failure.h"

namespace grpc {
class Status;
}  // namespace grpc

namespace arclane {

// Only `code` and `message` are sure to be set: a proxy, a broken connection or gRPC itself fails
// calls without details.
struct ClientError {
  absl::StatusCode code = absl::StatusCode::kUnknown;
  // Stable reason in upper snake case, such as INVALID_FIELD; names of server/codec/failure.h.
  // Empty when the error does not come from an Arclane server.
  std::string reason;
  // For developers, in English.
  std::string message;
  // Every violated field of the request; empty unless the code is kInvalidArgument.
  std::vector<FieldViolation> violations;
  // When the server says that a retry can help: the time to wait. The SDK's own retries are over
  // when a caller sees it.
  std::optional<absl::Duration> retry_delay;
  // Dynamic values of the reason, such as {"limit": "max_samples", "maximum": "1000000"}.
  std::map<std::string, std::string> metadata;

  // True for UNAVAILABLE, ABORTED and whatever carries a retry delay: the same call may succeed
  // later.
  bool IsRetryable() const;
  // "CODE reason: message", then one line a violation; for logs.
  std::string ToString() const;
};

// Decodes a failed status (`status.ok()` must be false). Details of unknown types and of other
// domains are passed over; malformed details leave a ClientError with code and message alone. Never
// fails. Linear in the details' size.
ClientError DecodeError(const grpc::Status& status);

std::ostream& operator<<(std::ostream& out, const ClientError& error);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_SDK_CLIENT_ERROR_H_
