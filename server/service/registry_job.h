// SPDX-License-Identifier: Apache-2.0
// A call whose work is done on the registry's threads: what unary calls, publications and the
// reading of navmeshes have in common.
#ifndef ARCLANE_SERVER_SERVICE_REGISTRY_JOB_H_
#define ARCLANE_SERVER_SERVICE_REGISTRY_JOB_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/status.h>

#include <optional>

#include "server/codec/failure.h"
#include "server/service/call_account.h"
#include "server/service/planner_pool.h"
#include "server/service/service_environment.h"

namespace arclane {

// What is refused when the registry's threads have too much to do.
Failure RegistryBusy();
// CANCELLED or DEADLINE_EXCEEDED of a call that its caller no longer waits for.
Failure CallerGone(const grpc::CallbackServerContext& context);

class RegistryJob : private PlannerPool::Job {
 protected:
  // `request` and `response`, if there are any, must live until the call has ended.
  RegistryJob(ServiceEnvironment& environment, MethodId method, CallKind kind,
              grpc::CallbackServerContext& context, const grpc::ByteBuffer* request = nullptr,
              const grpc::ByteBuffer* response = nullptr);
  ~RegistryJob() override = default;

  // On a thread of the registry, never twice at once. The call ends with the failure or OK, unless
  // `goes_on` is set; then it must not be touched after whatever lets another thread go on with it.
  virtual std::optional<Failure> Work(bool& goes_on) = 0;
  // Tells gRPC.
  virtual void FinishCall(const grpc::Status& status) = 0;

  // Has Work called soon, or refuses the call.
  void QueueWork();
  // For OnCancel: ends the call if its work waits.
  void CallerLeft();
  void EndWith(const std::optional<Failure>& failure);

  NavMeshBackend& backend() { return *environment_.navmeshes; }
  grpc::CallbackServerContext& context() { return context_; }
  ServiceEnvironment& environment() { return environment_; }

 private:
  void Run() override;

  ServiceEnvironment& environment_;
  grpc::CallbackServerContext& context_;
  CallAccount account_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_REGISTRY_JOB_H_
