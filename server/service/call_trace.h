// SPDX-License-Identifier: Apache-2.0
// What is told of one call beside its metrics: its names in trailing metadata, a log line, its
// request in a file.
#ifndef ARCLANE_SERVER_SERVICE_CALL_TRACE_H_
#define ARCLANE_SERVER_SERVICE_CALL_TRACE_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <string_view>

#include "server/pipeline/plan_trace.h"
#include "server/service/request_capture.h"
#include "server/service/service_labels.h"
#include "server/telemetry/access_log.h"

namespace arclane {

// Of one call, from its thread at the time. Cheap for a call that is neither logged nor captured
// and that sends no names.
class CallTrace {
 public:
  // Repeats x-request-id and traceparent in the trailing metadata, so that a caller and its proxies
  // can match answers to calls. Trailing, because initial metadata on an error forbids retries.
  // `request` and `response`, if there are any, must live until End.
  void Begin(grpc::CallbackServerContext& context, const grpc::ByteBuffer* request = nullptr,
             const grpc::ByteBuffer* response = nullptr);
  // How the cache took part, by name; must live until End.
  void SetCache(std::string_view outcome) { cache_ = outcome; }
  // Of calls whose messages are not kept for Begin.
  void SetBytes(size_t request, size_t response) {
    request_bytes_ = request;
    response_bytes_ = response;
  }
  // The stages of the call's plan, told as far as they ended; must live until End.
  void SetPlan(const PlanTrace& plan) { plan_ = &plan; }
  // Once, before the status is sent: a call that is logged or captured and has no request id gets
  // one, and its caller is told. `log` and `capture` may be null.
  void End(MethodId method, const grpc::Status& status, double duration_s, bool is_stream,
           AccessLog* log, RequestCapture* capture);

 private:
  void MakeNames();
  void WriteLine(AccessLog& log, AccessLog::Cause cause, MethodId method,
                 const grpc::Status& status, double duration_s) const;

  grpc::CallbackServerContext* context_ = nullptr;
  const grpc::ByteBuffer* request_ = nullptr;
  const grpc::ByteBuffer* response_ = nullptr;
  size_t request_bytes_ = 0, response_bytes_ = 0;
  std::string_view cache_;
  const PlanTrace* plan_ = nullptr;
  // In the metadata of the call, or made.
  std::string_view request_id_;
  std::string_view traceparent_;
  std::string made_request_id_;
  std::string made_traceparent_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_CALL_TRACE_H_
