// SPDX-License-Identifier: Apache-2.0
// One unary NavMeshRegistry call: bytes in, the registry's threads, bytes out.
#ifndef ARCLANE_SERVER_SERVICE_REGISTRY_CALL_H_
#define ARCLANE_SERVER_SERVICE_REGISTRY_CALL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <optional>

#include "server/codec/failure.h"
#include "server/service/call_account.h"
#include "server/service/message_bytes.h"
#include "server/service/registry_methods.h"
#include "server/service/service_environment.h"

namespace arclane {

// What is refused when the registry's threads have too much to do.
Failure RegistryBusy();
// CANCELLED or DEADLINE_EXCEEDED of a call that its caller no longer waits for.
Failure CallerGone(const grpc::CallbackServerContext& context);

// The part that does not depend on the method.
class RegistryCall : public grpc::ServerUnaryReactor, private PlannerPool::Job {
 protected:
  RegistryCall(ServiceEnvironment& environment, MethodId method,
               grpc::CallbackServerContext& context, const grpc::ByteBuffer& request,
               grpc::ByteBuffer& response);
  ~RegistryCall() override = default;

  // To be called once, by the handler, as its last step.
  void Begin();
  // On a thread of the registry.
  virtual std::optional<Failure> Answer(NavMeshBackend& backend, const grpc::ByteBuffer& request,
                                        grpc::ByteBuffer& response) = 0;

 private:
  void Run() override;
  void OnCancel() override;
  void OnDone() override { delete this; }
  bool InternalInlineable() override { return true; }
  void EndWith(const std::optional<Failure>& failure);

  ServiceEnvironment& environment_;
  grpc::CallbackServerContext& context_;
  const grpc::ByteBuffer& request_;
  grpc::ByteBuffer& response_;
  CallAccount account_;
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
