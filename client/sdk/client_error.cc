// SPDX-License-Identifier: Apache-2.0
#include "client/sdk/client_error.h"

#include <ostream>

#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "grpcpp/support/status.h"

namespace arclane {
namespace {

constexpr char kDomain[] = "arclane";

void AddDetail(const google::protobuf::Any& detail, ClientError& error) {
  if (detail.Is<google::rpc::BadRequest>()) {
    google::rpc::BadRequest bad_request;
    if (!detail.UnpackTo(&bad_request)) return;
    for (auto& violation : *bad_request.mutable_field_violations()) {
      error.violations.push_back(
          {std::move(*violation.mutable_field()), std::move(*violation.mutable_description())});
    }
  } else if (detail.Is<google::rpc::ErrorInfo>()) {
    google::rpc::ErrorInfo info;
    if (!detail.UnpackTo(&info) || info.domain() != kDomain) return;
    error.reason = std::move(*info.mutable_reason());
    error.metadata.insert(info.metadata().begin(), info.metadata().end());
  } else if (detail.Is<google::rpc::RetryInfo>()) {
    google::rpc::RetryInfo info;
    if (!detail.UnpackTo(&info) || !info.has_retry_delay()) return;
    error.retry_delay =
        absl::Seconds(info.retry_delay().seconds()) + absl::Nanoseconds(info.retry_delay().nanos());
  }
}

}  // namespace

bool ClientError::IsRetryable() const {
  return code == absl::StatusCode::kUnavailable || code == absl::StatusCode::kAborted ||
         retry_delay.has_value();
}

std::string ClientError::ToString() const {
  std::string text = absl::StatusCodeToString(code);
  if (!reason.empty()) absl::StrAppend(&text, " ", reason);
  absl::StrAppend(&text, ": ", message);
  for (const FieldViolation& violation : violations) {
    absl::StrAppend(&text, "\n  ", violation.field, ": ", violation.description);
  }
  return text;
}

ClientError DecodeError(const grpc::Status& status) {
  ClientError error;
  error.code = static_cast<absl::StatusCode>(status.error_code());
  error.message = status.error_message();
  google::rpc::Status details;
  if (!status.error_details().empty() && details.ParseFromString(status.error_details())) {
    for (const google::protobuf::Any& detail : details.details()) AddDetail(detail, error);
  }
  return error;
}

std::ostream& operator<<(std::ostream& out, const ClientError& error) {
  return out << error.ToString();
}

}  // namespace arclane
