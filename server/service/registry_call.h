// SPDX-License-Identifier: Apache-2.0
// One unary NavMeshRegistry call: bytes in, the registry's threads, bytes out.
#ifndef ARCLANE_SERVER_SERVICE_REGISTRY_CALL_H_
#define ARCLANE_SERVER_SERVICE_REGISTRY_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <optional>

#include "server/codec/failure.h"
#include "server/service/message_bytes.h"
#include "server/service/registry_job.h"
#include "server/service/registry_methods.h"
#include "server/service/service_environment.h"

namespace arclane {

// The part that does not depend on the method.
class RegistryCall : public grpc::ServerUnaryReactor, protected RegistryJob {
 protected:
  RegistryCall(ServiceEnvironment& environment, MethodId method,
               grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
               grpc::ByteBuffer& response)
      : RegistryJob(environment, method, CallKind::kUnary, context, &request, &response),
        request_(request),
        response_(response) {}
  ~RegistryCall() override = default;

  // To be called once, by the handler, as its last step.
  void Begin();
  // On a thread of the registry.
  virtual std::optional<Failure> Answer(NavMeshBackend& backend, const grpc::ByteBuffer& request,
                                        grpc::ByteBuffer& response) = 0;

 private:
  std::optional<Failure> Work(bool&) override { return Answer(backend(), request_, response_); }
  void FinishCall(const grpc::Status& status) override { Finish(status); }
  void OnCancel() override { CallerLeft(); }
  void OnDone() override { delete this; }
  bool InternalInlineable() override { return true; }

  const grpc::ByteBuffer& request_;
  grpc::ByteBuffer& response_;
};

template <typename Request, typename Response>
class RegistryCallOf final : public RegistryCall {
 public:
  static grpc::ServerUnaryReactor* Start(ServiceEnvironment& environment, MethodId method,
                                         grpc::CallbackServerContext& context,
                                         const grpc::ByteBuffer& request,
                                         grpc::ByteBuffer& response) {
    auto* call = new RegistryCallOf(environment, method, context, request, response);
    call->Begin();
    return call;
  }

 private:
  using RegistryCall::RegistryCall;

  std::optional<Failure> Answer(NavMeshBackend& backend, const grpc::ByteBuffer& request_bytes,
                                grpc::ByteBuffer& response_bytes) override {
    Request request;
    if (!ParseBytes(request_bytes, request)) return MalformedMessage(request);
    Response response;
    if (auto failure = AnswerRegistryCall(backend, request, response)) return failure;
    grpc::Slice slice;
    if (!ToSlice(response, &slice)) return AnswerTooLarge();
    response_bytes = grpc::ByteBuffer(&slice, 1);
    return std::nullopt;
  }
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_REGISTRY_CALL_H_
