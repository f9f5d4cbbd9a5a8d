// SPDX-License-Identifier: Apache-2.0
// Health and reflection, as load balancers and tools use them.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <future>

#include "grpc/health/v1/health.grpc.pb.h"
#include "server/service/message_bytes.h"
#include "tests/integration/service_harness.h"

namespace arclane {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class ServiceHealthTest : public ::testing::Test {
 protected:
  ServiceHealthTest() : health_(grpc::health::v1::Health::NewStub(server_.channel())) {}

  grpc::Status Check(const std::string& name, HealthCheckResponse* response) {
    grpc::ClientContext context;
    HealthCheckRequest request;
    request.set_service(name);
    return health_->Check(&context, request, response);
  }

  TestServer server_;
  std::unique_ptr<grpc::health::v1::Health::Stub> health_;
};

TEST_F(ServiceHealthTest, ReadyAndAliveNamesServe) {
  for (const char* name : {"", "arclane.v1.PathPlanner", "liveness"}) {
    HealthCheckResponse response;
    ASSERT_TRUE(Check(name, &response).ok()) << name;
    EXPECT_EQ(response.status(), HealthCheckResponse::SERVING) << name;
  }
}

TEST_F(ServiceHealthTest, AnUnknownNameIsNotFound) {
  HealthCheckResponse response;
  EXPECT_EQ(Check("arclane.v1.Nobody", &response).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(ServiceHealthTest, WhileDrainingReadyNamesChangeAndLivenessDoesNot) {
  grpc::ClientContext ready_context, alive_context;
  HealthCheckRequest request;
  request.set_service("arclane.v1.PathPlanner");
  auto ready = health_->Watch(&ready_context, request);
  request.set_service("liveness");
  auto alive = health_->Watch(&alive_context, request);
  HealthCheckResponse response;
  ASSERT_TRUE(ready->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  ASSERT_TRUE(alive->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);

  auto ended =
      std::async(std::launch::async, [this] { return server_.server().Shutdown(0.5, 10); });
  ASSERT_TRUE(ready->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  EXPECT_TRUE(Check("liveness", &response).ok());
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVING);
  EXPECT_TRUE(Check("", &response).ok());
  EXPECT_EQ(response.status(), HealthCheckResponse::NOT_SERVING);
  AsyncPlan served(server_.stub(), SmallRequest());
  EXPECT_TRUE(served.Await().ok()) << "calls are served during the delay";

  EXPECT_FALSE(ready->Read(&response));
  EXPECT_FALSE(alive->Read(&response));
  EXPECT_EQ(ready->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(alive->Finish().error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_TRUE(ended.get());
}

TEST_F(ServiceHealthTest, WatchingAnUnknownNameTellsSoAndGoesOn) {
  grpc::ClientContext context;
  HealthCheckRequest request;
  request.set_service("nobody");
  auto watch = health_->Watch(&context, request);
  HealthCheckResponse response;
  ASSERT_TRUE(watch->Read(&response));
  EXPECT_EQ(response.status(), HealthCheckResponse::SERVICE_UNKNOWN);
  context.TryCancel();
  EXPECT_FALSE(watch->Read(&response));
  EXPECT_EQ(watch->Finish().error_code(), grpc::StatusCode::CANCELLED);
}

// The messages of the reflection service, from the library that serves it: its headers are not
// installed.
class Reflection {
 public:
  explicit Reflection(std::shared_ptr<grpc::Channel> channel) : channel_(std::move(channel)) {}

  // Sets one text field of the request and returns the response.
  std::unique_ptr<google::protobuf::Message> Ask(const std::string& field,
                                                 const std::string& value) {
    auto request = New("grpc.reflection.v1alpha.ServerReflectionRequest");
    request->GetReflection()->SetString(request.get(),
                                        request->GetDescriptor()->FindFieldByName(field), value);
    grpc::Slice slice(request->SerializeAsString());
    const grpc::ByteBuffer bytes(&slice, 1);
    grpc::CompletionQueue queue;
    grpc::ClientContext context;
    grpc::GenericStub stub(channel_);
    auto call = stub.PrepareCall(
        &context, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", &queue);
    grpc::ByteBuffer answer;
    grpc::Status status;
    call->StartCall(nullptr);
    Next(queue);
    call->Write(bytes, nullptr);
    Next(queue);
    call->Read(&answer, nullptr);
    Next(queue);
    auto response = New("grpc.reflection.v1alpha.ServerReflectionResponse");
    EXPECT_TRUE(ParseBytes(answer, *response));
    call->WritesDone(nullptr);
    Next(queue);
    call->Finish(&status, nullptr);
    Next(queue);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

 private:
  static std::unique_ptr<google::protobuf::Message> New(const std::string& type) {
    const auto* descriptor =
        google::protobuf::DescriptorPool::generated_pool()->FindMessageTypeByName(type);
    return std::unique_ptr<google::protobuf::Message>(
        google::protobuf::MessageFactory::generated_factory()->GetPrototype(descriptor)->New());
  }
  static void Next(grpc::CompletionQueue& queue) {
    void* tag = nullptr;
    bool ok = false;
    EXPECT_TRUE(queue.Next(&tag, &ok));
  }

  std::shared_ptr<grpc::Channel> channel_;
};

TEST_F(ServiceHealthTest, ReflectionListsTheServices) {
  const auto response = Reflection(server_.channel()).Ask("list_services", "*");
  const std::string text = response->DebugString();
  EXPECT_THAT(text, HasSubstr("\"arclane.v1.PathPlanner\""));
  EXPECT_THAT(text, HasSubstr("\"grpc.health.v1.Health\""));
}

TEST_F(ServiceHealthTest, ReflectionKnowsTheDescriptorsOfAllServices) {
  for (const char* symbol : {"grpc.health.v1.Health", "arclane.v1.PathPlanner"}) {
    const auto response = Reflection(server_.channel()).Ask("file_containing_symbol", symbol);
    const auto* field = response->GetDescriptor()->FindFieldByName("file_descriptor_response");
    ASSERT_TRUE(response->GetReflection()->HasField(*response, field)) << response->DebugString();
    const auto& files = response->GetReflection()->GetMessage(*response, field);
    const auto* protos = files.GetDescriptor()->FindFieldByName("file_descriptor_proto");
    std::vector<std::string> services;
    for (int i = 0; i < files.GetReflection()->FieldSize(files, protos); ++i) {
      google::protobuf::FileDescriptorProto file;
      ASSERT_TRUE(file.ParseFromString(files.GetReflection()->GetRepeatedString(files, protos, i)));
      for (const auto& service : file.service())
        services.push_back(file.package() + "." + service.name());
    }
    EXPECT_THAT(services, Contains(symbol));
  }
}

}  // namespace
}  // namespace arclane
