// SPDX-License-Identifier: Apache-2.0
// Health and reflection, as load balancers and tools use them.
#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <future>

#include "grpc/health/v1/health.grpc.pb.h"
#include "grpc/reflection/v1alpha/reflection.grpc.pb.h"
#include "tests/integration/service_harness.h"

namespace arclane {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using ::testing::Contains;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

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

class ServiceReflectionTest : public ::testing::Test {
 protected:
  using Request = grpc::reflection::v1alpha::ServerReflectionRequest;
  using Response = grpc::reflection::v1alpha::ServerReflectionResponse;

  ServiceReflectionTest()
      : stub_(grpc::reflection::v1alpha::ServerReflection::NewStub(server_.channel())),
        stream_(stub_->ServerReflectionInfo(&context_)) {}
  ~ServiceReflectionTest() override {
    stream_->WritesDone();
    EXPECT_TRUE(stream_->Finish().ok());
  }

  Response Ask(const Request& request) {
    EXPECT_TRUE(stream_->Write(request));
    Response response;
    EXPECT_TRUE(stream_->Read(&response));
    EXPECT_EQ(response.original_request().SerializeAsString(), request.SerializeAsString());
    return response;
  }
  // The services and the names of the files.
  static std::vector<std::string> NamesIn(const Response& response) {
    std::vector<std::string> names;
    for (const std::string& bytes : response.file_descriptor_response().file_descriptor_proto()) {
      google::protobuf::FileDescriptorProto file;
      EXPECT_TRUE(file.ParseFromString(bytes));
      names.push_back(file.name());
      for (const auto& service : file.service())
        names.push_back(file.package() + "." + service.name());
    }
    return names;
  }

  TestServer server_;
  std::unique_ptr<grpc::reflection::v1alpha::ServerReflection::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<Request, Response>> stream_;
};

TEST_F(ServiceReflectionTest, ListsTheServices) {
  Request request;
  request.set_list_services("*");
  std::vector<std::string> names;
  const Response response = Ask(request);
  for (const auto& service : response.list_services_response().service())
    names.push_back(service.name());
  EXPECT_THAT(names, UnorderedElementsAre("arclane.v1.PathPlanner", "arclane.v1.NavMeshRegistry",
                                          "arclane.v1.RouteFollower", "grpc.health.v1.Health",
                                          "grpc.reflection.v1alpha.ServerReflection"));
}

TEST_F(ServiceReflectionTest, KnowsTheDescriptorsOfAllServicesAndWhatTheyImport) {
  Request request;
  request.set_file_containing_symbol("grpc.health.v1.Health");
  EXPECT_THAT(NamesIn(Ask(request)), Contains("grpc.health.v1.Health"));
  request.set_file_containing_symbol("arclane.v1.PathPlanner.PlanCorridor");
  EXPECT_THAT(NamesIn(Ask(request)),
              IsSupersetOf({"arclane.v1.PathPlanner", "arclane/v1/geometry.proto",
                            "arclane/v1/route.proto"}));
  request.set_file_by_filename("google/rpc/error_details.proto");
  EXPECT_THAT(NamesIn(Ask(request)), Contains("google/protobuf/duration.proto"));
}

TEST_F(ServiceReflectionTest, AnswersWhatIsNotThereAndGoesOn) {
  Request request;
  request.set_file_containing_symbol("arclane.v1.Nothing");
  EXPECT_EQ(Ask(request).error_response().error_code(), grpc::StatusCode::NOT_FOUND);
  request.mutable_file_containing_extension()->set_containing_type("arclane.v1.Point");
  EXPECT_EQ(Ask(request).error_response().error_code(), grpc::StatusCode::NOT_FOUND);
  request.set_all_extension_numbers_of_type("arclane.v1.Point");
  EXPECT_EQ(Ask(request).all_extension_numbers_response().extension_number_size(), 0);
  EXPECT_EQ(Ask(Request()).error_response().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace arclane
