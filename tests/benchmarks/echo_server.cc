// SPDX-License-Identifier: Apache-2.0
// The least server that answers PathPlanner.Ping: what gRPC itself costs on this machine, in a
// process of its own.
//   echo_server READY_FILE   listens on a free loopback port and writes its address to READY_FILE;
//   ends with its standard input.
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "absl/synchronization/mutex.h"
#include "arclane/v1/planner.grpc.pb.h"

namespace {

class EchoService final : public arclane::v1::PathPlanner::CallbackService {
 public:
  grpc::ServerUnaryReactor* Ping(grpc::CallbackServerContext* context,
                                 const arclane::v1::PingRequest* request,
                                 arclane::v1::PingResponse* response) override {
    response->mutable_payload()->resize(request->response_size());
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: echo_server READY_FILE\n", stderr);
    return 2;
  }
  // As the measured server has it: the order of locks is not checked.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  EchoService service;
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.SetMaxReceiveMessageSize(64 << 20);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::fputs("echo_server: cannot listen on 127.0.0.1\n", stderr);
    return 1;
  }
  std::ofstream(argv[1]) << "127.0.0.1:" << port << std::endl;
  // The end of the input is the end of the parent: no server is left behind.
  while (std::cin.get() != std::char_traits<char>::eof()) {
  }
  server->Shutdown(std::chrono::system_clock::now());
  return 0;
}
