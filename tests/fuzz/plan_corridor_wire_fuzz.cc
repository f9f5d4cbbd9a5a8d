// SPDX-License-Identifier: Apache-2.0
// Any bytes to PlanCorridor through the whole service, over an in-process channel: the server lives
// on, and every answer is either OK or a status that this service documents.
#include <grpcpp/generic/generic_stub.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>

#include "arclane/v1/planner.pb.h"
#include "google/rpc/status.pb.h"
#include "server/service/message_bytes.h"
#include "server/service/server.h"
#include "server/service/service_labels.h"

namespace {

// Made once and never destroyed: the fuzzer exits without unwinding.
arclane::Server& LongLivedServer() {
  static auto* const metrics =
      new arclane::Metrics(arclane::CurrentBuild(), arclane::ServiceLabels());
  static auto* const server = [] {
    arclane::ServerOptions options;
    options.limits.max_portals = 2000;
    options.limits.max_vertices = 8000;
    options.limits.max_samples = 2000;
    auto started = arclane::Server::Start(options, *metrics);
    if (!started.ok()) std::abort();
    return started->release();
  }();
  return *server;
}

bool IsDocumented(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::RESOURCE_EXHAUSTED: {
      google::rpc::Status details;
      return details.ParseFromString(status.error_details()) && details.details_size() > 0;
    }
    default:
      return false;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto channel = LongLivedServer().InProcessChannel({});
  static auto* const stub =
      new grpc::TemplatedGenericStub<grpc::ByteBuffer, grpc::ByteBuffer>(channel);
  grpc::ClientContext context;
  const grpc::Slice slice(data, size);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::ByteBuffer response;
  std::promise<grpc::Status> done;
  stub->UnaryCall(&context, "/arclane.v1.PathPlanner/PlanCorridor", grpc::StubOptions(), &request,
                  &response, [&done](grpc::Status status) { done.set_value(std::move(status)); });
  const grpc::Status status = done.get_future().get();
  arclane::v1::PlanCorridorResponse message;
  if (status.ok() ? !arclane::ParseBytes(response, message) : !IsDocumented(status)) {
    std::fprintf(stderr, "undocumented answer: %d %s\n", status.error_code(),
                 status.error_message().c_str());
    std::abort();
  }
  return 0;
}
