// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/service_harness.h"

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <sstream>
#include <thread>

namespace arclane {

void Gate::Open() {
  absl::MutexLock lock(&mutex_);
  open_ = true;
}

void Gate::Wait() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&open_));
}

TestServer::TestServer(ServerOptions options, bool gate_open)
    : metrics_(CurrentBuild(), ServiceLabels()), gate_(gate_open) {
  if (!gate_open) options.before_plan = [this] { gate_.Wait(); };
  auto server = Server::Start(options, metrics_);
  if (!server.ok()) ADD_FAILURE() << server.status();
  server_ = *std::move(server);
  channel_ = NewChannel();
  stub_ = v1::PathPlanner::NewStub(channel_);
}

TestServer::~TestServer() { gate_.Open(); }

std::shared_ptr<grpc::Channel> TestServer::NewChannel(grpc::ChannelArguments arguments) const {
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(server_->addresses()[0], grpc::InsecureChannelCredentials(),
                                   arguments);
}

double TestServer::MetricValue(const std::string& series) const {
  std::istringstream lines(metrics_.Text());
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(series + " ", 0) == 0) return std::stod(line.substr(series.size()));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

bool TestServer::AwaitMetric(const std::string& series, double value) const {
  for (int i = 0; i < 2000; ++i) {
    if (MetricValue(series) == value) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

ErrorDetails DetailsOf(const grpc::Status& status) {
  google::rpc::Status message;
  EXPECT_TRUE(message.ParseFromString(status.error_details()));
  EXPECT_EQ(message.code(), status.error_code());
  EXPECT_EQ(message.message(), status.error_message());
  ErrorDetails details;
  for (const auto& any : message.details()) {
    if (any.Is<google::rpc::BadRequest>()) {
      any.UnpackTo(&details.bad_request.emplace());
    } else if (any.Is<google::rpc::ErrorInfo>()) {
      any.UnpackTo(&details.info.emplace());
      EXPECT_EQ(details.info->domain(), "arclane");
    } else if (any.Is<google::rpc::RetryInfo>()) {
      any.UnpackTo(&details.retry.emplace());
    } else {
      ADD_FAILURE() << "unexpected detail " << any.type_url();
    }
  }
  EXPECT_TRUE(details.info) << "no ErrorInfo in: " << status.error_message();
  return details;
}

ErrorDetails DetailsOf(const google::rpc::Status& status) {
  return DetailsOf(grpc::Status(static_cast<grpc::StatusCode>(status.code()), status.message(),
                                status.SerializeAsString()));
}

std::vector<std::string> FieldsOf(const ErrorDetails& details) {
  std::vector<std::string> fields;
  if (!details.bad_request) return fields;
  for (const auto& violation : details.bad_request->field_violations())
    fields.push_back(violation.field());
  return fields;
}

AsyncPlan::AsyncPlan(v1::PathPlanner::Stub& stub, const v1::PlanCorridorRequest& request,
                     std::optional<double> deadline_s) {
  if (deadline_s) {
    context_.set_deadline(std::chrono::system_clock::now() +
                          std::chrono::microseconds(static_cast<int64_t>(*deadline_s * 1e6)));
  }
  future_ = std::async(std::launch::async, [this, &stub, request] {
    return stub.PlanCorridor(&context_, request, &response_);
  });
}

AsyncPlan::~AsyncPlan() {
  if (!future_.valid()) return;
  context_.TryCancel();
  future_.wait();
}

const grpc::Status& AsyncPlan::Await() {
  if (!status_) status_ = future_.get();
  return *status_;
}

std::string AsyncPlan::TrailingMetadata(const std::string& key) const {
  const auto& metadata = context_.GetServerTrailingMetadata();
  const auto found = metadata.find(key);
  return found == metadata.end() ? "" : std::string(found->second.data(), found->second.size());
}

v1::PlanCorridorRequest SmallRequest() {
  v1::PlanCorridorRequest request;
  request.mutable_start()->set_x(0.5);
  request.mutable_start()->set_y(0.5);
  request.mutable_goal()->set_x(1.5);
  request.mutable_goal()->set_y(0.5);
  auto* polygons = request.mutable_corridor()->mutable_polygons();
  for (double x0 : {0.0, 1.0}) {
    for (const auto& [x, y] : {std::pair(x0, 0.0), {x0 + 1, 0.0}, {x0 + 1, 1.0}, {x0, 1.0}}) {
      polygons->mutable_vertices()->add_x(x);
      polygons->mutable_vertices()->add_y(y);
    }
    polygons->add_vertex_count(4);
  }
  auto* limits = request.mutable_agent()->mutable_limits();
  limits->set_max_speed(2);
  limits->set_max_acceleration(4);
  limits->set_max_braking(4);
  return request;
}

v1::PlanItem SmallItem(double start_x) {
  v1::PlanItem item;
  *item.mutable_corridor() = SmallRequest();
  item.mutable_corridor()->mutable_start()->set_x(start_x);
  return item;
}

}  // namespace arclane
