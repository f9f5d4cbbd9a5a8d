// SPDX-License-Identifier: Apache-2.0
#include "server/service/call_trace.h"

#include <string>

#include "server/service/request_identity.h"
#include "server/service/security/peer_identity.h"

namespace arclane {
namespace {

using Metadata = std::multimap<grpc::string_ref, grpc::string_ref>;

std::string_view ValueOf(const Metadata& metadata, const char* key,
                         bool (*is_valid)(std::string_view)) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) return {};
  const std::string_view value(found->second.data(), found->second.size());
  return is_valid(value) ? value : std::string_view();
}

// Codes that tell of a defect or an outage of this service.
bool IsFault(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::UNKNOWN:
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DATA_LOSS:
      return true;
    default:
      return false;
  }
}

// Failures that a request alone brings about, so that it may bring them about again.
bool IsWorthCapturing(grpc::StatusCode code) {
  switch (code) {
    case grpc::StatusCode::UNKNOWN:
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::OUT_OF_RANGE:
      return true;
    default:
      return false;
  }
}

}  // namespace

void CallTrace::Begin(grpc::CallbackServerContext& context, const grpc::ByteBuffer* request,
                      const grpc::ByteBuffer* response) {
  context_ = &context;
  request_ = request;
  response_ = response;
  const Metadata& metadata = context.client_metadata();
  request_id_ = ValueOf(metadata, kRequestIdKey, &IsRequestId);
  traceparent_ = ValueOf(metadata, kTraceParentKey, &IsTraceParent);
  if (!request_id_.empty()) context.AddTrailingMetadata(kRequestIdKey, std::string(request_id_));
  if (!traceparent_.empty())
    context.AddTrailingMetadata(kTraceParentKey, std::string(traceparent_));
}

void CallTrace::End(MethodId method, const grpc::Status& status, double duration_s, bool is_stream,
                    AccessLog* log, RequestCapture* capture) {
  if (context_ == nullptr || log == nullptr) return;
  // Streams are meant to last.
  const double told_duration_s = is_stream ? 0 : duration_s;
  const AccessLog::Cause cause = log->Consider(status.ok(), told_duration_s);
  const bool captures = capture != nullptr && request_ != nullptr &&
                        (log->IsSlow(told_duration_s) || IsWorthCapturing(status.error_code()));
  if (cause == AccessLog::Cause::kNone && !captures) return;
  MakeNames();
  if (captures) {
    capture->Take({.method = method,
                   .request = *request_,
                   .request_id = std::string(request_id_),
                   .code = status.error_code(),
                   .duration_s = duration_s});
  }
  if (cause != AccessLog::Cause::kNone) WriteLine(*log, cause, method, status, duration_s);
}

void CallTrace::MakeNames() {
  if (request_id_.empty()) {
    made_request_id_ = MakeRequestId();
    request_id_ = made_request_id_;
    context_->AddTrailingMetadata(kRequestIdKey, made_request_id_);
  }
  if (traceparent_.empty()) {
    made_traceparent_ =
        MakeTraceParent(made_request_id_.empty() ? MakeRequestId() : made_request_id_);
    traceparent_ = made_traceparent_;
    context_->AddTrailingMetadata(kTraceParentKey, made_traceparent_);
  }
}

void CallTrace::WriteLine(AccessLog& log, AccessLog::Cause cause, MethodId method,
                          const grpc::Status& status, double duration_s) const {
  const std::string peer = context_->peer();
  const std::string caller = CallerOf(*context_);
  const std::string message = status.error_message();
  CallRecord record;
  record.method = MethodName(method);
  record.code = CodeName(status.error_code());
  record.message = message;
  record.duration_s = duration_s;
  record.peer = peer;
  record.caller = caller;
  record.request_id = request_id_;
  record.traceparent = traceparent_;
  record.request_bytes = request_ == nullptr ? request_bytes_ : request_->Length();
  record.response_bytes = !status.ok()           ? 0
                          : response_ == nullptr ? response_bytes_
                                                 : response_->Length();
  record.cache = cache_;
  for (size_t i = 0; plan_ != nullptr && i < kStageCount; ++i) {
    const auto stage = static_cast<Stage>(i);
    if (plan_->Ended(stage)) record.stages.push_back({StageName(i), plan_->Seconds(stage)});
  }
  log.Write(cause, IsFault(status.error_code()), record);
}

}  // namespace arclane
