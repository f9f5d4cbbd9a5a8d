// SPDX-License-Identifier: Apache-2.0
#include "server/codec/status_codec.h"

#include <cmath>
#include <string>
#include <string_view>

#include "google/rpc/error_details.pb.h"

namespace arclane {
namespace {

// Half of the default limit of metadata, as base64 adds a third and the message travels beside the
// details.
constexpr size_t kMostDetailBytes = 4096;
constexpr size_t kMostTextBytes = 512;
constexpr size_t kMostMessageBytes = 1024;

// At most `most` bytes of a text, cut between characters and marked; bytes that are not UTF-8 are
// replaced, as protobuf strings and gRPC messages must be UTF-8.
std::string Cut(std::string_view text, size_t most) {
  std::string kept(text.substr(0, most));
  for (char& c : kept) {
    if (static_cast<unsigned char>(c) >= 0x80 || static_cast<unsigned char>(c) < 0x20) c = '?';
  }
  if (kept.size() < text.size()) kept += "...";
  return kept;
}

google::rpc::BadRequest ToBadRequest(const Failure& failure, size_t* omitted) {
  google::rpc::BadRequest bad_request;
  size_t bytes = 0;
  *omitted = 0;
  for (const FieldViolation& violation : failure.violations) {
    const std::string field = Cut(violation.field, kMostTextBytes);
    const std::string description = Cut(violation.description, kMostTextBytes);
    bytes += field.size() + description.size() + 8;
    if (bytes > kMostDetailBytes) {
      ++*omitted;
      continue;
    }
    auto* added = bad_request.add_field_violations();
    added->set_field(field);
    added->set_description(description);
  }
  return bad_request;
}

}  // namespace

google::rpc::Status ToRpcStatus(const Failure& failure) {
  const std::string name(ReasonName(failure));
  google::rpc::Status details;
  details.set_code(static_cast<int>(StatusCode(failure)));
  details.set_message(failure.message.empty() ? name : Cut(failure.message, kMostMessageBytes));

  google::rpc::ErrorInfo info;
  info.set_reason(name);
  info.set_domain(kErrorDomain);
  for (const auto& [key, value] : failure.metadata) {
    (*info.mutable_metadata())[key] = Cut(value, kMostTextBytes);
  }
  if (!failure.violations.empty()) {
    size_t omitted = 0;
    details.add_details()->PackFrom(ToBadRequest(failure, &omitted));
    if (omitted > 0) (*info.mutable_metadata())["violations_omitted"] = std::to_string(omitted);
  }
  details.add_details()->PackFrom(info);
  if (failure.retry_delay_s) {
    google::rpc::RetryInfo retry;
    const double whole = std::floor(*failure.retry_delay_s);
    retry.mutable_retry_delay()->set_seconds(static_cast<int64_t>(whole));
    retry.mutable_retry_delay()->set_nanos(
        static_cast<int32_t>((*failure.retry_delay_s - whole) * 1e9));
    details.add_details()->PackFrom(retry);
  }
  return details;
}

}  // namespace arclane
