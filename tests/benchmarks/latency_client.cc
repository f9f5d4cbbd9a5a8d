// SPDX-License-Identifier: Apache-2.0
// Latency of PlanCorridor beside a Ping of the same request and response bytes, and of Ping beside
// a bare echo server.
//
// A closed loop keeps k calls in flight on one channel. The series that are compared take turns in
// short blocks, so that what else runs on the machine disturbs them alike; percentiles are over all
// blocks after a warm-up. Requests and answers are raw bytes on the client's side, written before a
// block begins: what is measured is the server and the way there and back. No two plan requests are
// equal.
//
//   latency_client SERVER ECHO_SERVER CALLS     prints JSON: one object a series
//   latency_client --cache SERVER CALLS         the same of a corridor by reference that the cache
//                                               answers, of one that it does not, and of a Ping
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "arclane/v1/navmesh.grpc.pb.h"
#include "arclane/v1/planner.pb.h"
#include "server/digest/digest.h"
#include "tests/benchmarks/zigzag_request.h"

namespace {

using Clock = std::chrono::steady_clock;
using arclane::benchmarks::kZigzagSamples;
using arclane::benchmarks::ZigzagRequest;
using arclane::v1::PingRequest;
using arclane::v1::PlanCorridorResponse;

constexpr char kPlan[] = "/arclane.v1.PathPlanner/PlanCorridor";
constexpr char kPing[] = "/arclane.v1.PathPlanner/Ping";
constexpr int kBlock = 100;       // Calls before the next series has its turn.
constexpr int kWarmUpBlocks = 5;  // Of each series.
constexpr int kInFlight[] = {1, 8, 64};
constexpr int kCacheInFlight[] = {1, 8, 64};
constexpr int kCacheSamples = 133;  // An answer of 16 KB.

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "latency_client: %s\n", message.c_str());
  std::exit(1);
}

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

// A Ping whose request has `request_bytes` bytes and whose answer has `response_bytes`.
std::string PingBytes(size_t request_bytes, size_t response_bytes) {
  PingRequest request;
  // Field tag and length prefix of the answer's payload.
  const auto overhead = [](size_t payload) {
    return payload == 0 ? 0 : payload < 128 ? 2 : payload < 16384 ? 3 : 4;
  };
  size_t payload = response_bytes;
  while (payload > 0 && payload + overhead(payload) > response_bytes) --payload;
  request.set_response_size(static_cast<uint32_t>(payload));
  if (request_bytes > request.ByteSizeLong()) {
    request.mutable_payload()->resize(request_bytes - request.ByteSizeLong());
    while (request.ByteSizeLong() > request_bytes) request.mutable_payload()->pop_back();
  }
  return request.SerializeAsString();
}

class Series {
 public:
  Series(std::string name, const std::shared_ptr<grpc::Channel>& channel, std::string method,
         std::function<std::string()> next_request)
      : name_(std::move(name)),
        stub_(channel),
        method_(std::move(method)),
        next_request_(std::move(next_request)) {}

  // Makes `calls` calls, `in_flight` at a time, and keeps their latencies when `record` is true.
  void RunBlock(int calls, int in_flight, bool record) {
    requests_.clear();
    for (int i = 0; i < calls; ++i) requests_.push_back(ToBuffer(next_request_()));
    request_bytes_ = requests_.back().Length();
    int started = 0;
    for (; started < std::min(calls, in_flight); ++started) Start(requests_[size_t(started)]);
    for (int done = 0; done < calls; ++done) {
      void* tag = nullptr;
      bool ok = false;
      if (!queue_.Next(&tag, &ok)) Fail("the completion queue ended");
      const std::unique_ptr<Call> call(static_cast<Call*>(tag));
      const double latency_us =
          std::chrono::duration<double, std::micro>(Clock::now() - call->begin).count();
      if (!ok || !call->status.ok()) Fail(name_ + ": " + call->status.error_message());
      response_bytes_ = call->response.Length();
      if (record) latencies_us_.push_back(latency_us);
      if (started < calls) {
        Start(requests_[size_t(started)]);
        ++started;
      }
    }
  }

  void Print(int in_flight, bool last) {
    std::sort(latencies_us_.begin(), latencies_us_.end());
    const auto percentile = [&](double p) {
      return latencies_us_[std::min(latencies_us_.size() - 1,
                                    size_t(p * double(latencies_us_.size())))];
    };
    double sum = 0.0;
    for (const double latency : latencies_us_) sum += latency;
    std::printf(
        "  {\"series\": \"%s\", \"in_flight\": %d, \"calls\": %zu, \"request_bytes\": %zu, "
        "\"response_bytes\": %zu, "
        "\"p50_us\": %.2f, \"p99_us\": %.2f, \"mean_us\": %.2f}%s\n",
        name_.c_str(), in_flight, latencies_us_.size(), request_bytes_, response_bytes_,
        percentile(0.5), percentile(0.99), sum / double(latencies_us_.size()), last ? "" : ",");
    latencies_us_.clear();
  }

 private:
  struct Call {
    grpc::ClientContext context;
    grpc::ByteBuffer response;
    grpc::Status status;
    Clock::time_point begin;
    std::unique_ptr<grpc::ClientAsyncResponseReader<grpc::ByteBuffer>> reader;
  };

  void Start(const grpc::ByteBuffer& request) {
    auto* call = new Call;  // Owned by the queue until it comes back.
    call->context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    call->begin = Clock::now();
    call->reader = stub_.PrepareUnaryCall(&call->context, method_, request, &queue_);
    call->reader->StartCall();
    call->reader->Finish(&call->response, &call->status, call);
  }

  std::string name_;
  grpc::GenericStub stub_;
  std::string method_;
  std::function<std::string()> next_request_;
  grpc::CompletionQueue queue_;
  std::vector<grpc::ByteBuffer> requests_;  // Of this block.
  std::vector<double> latencies_us_;
  size_t request_bytes_ = 0;
  size_t response_bytes_ = 0;
};

std::shared_ptr<grpc::Channel> Connect(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // A connection of its own.
  auto channel = grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
  if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10))) {
    Fail("cannot connect to " + target);
  }
  return channel;
}

// The size of the answer to a plan request, after a look at whether it is one.
size_t PlanResponseBytes(const std::shared_ptr<grpc::Channel>& channel,
                         const arclane::v1::PlanCorridorRequest& plan, int samples) {
  grpc::GenericStub stub(channel);
  grpc::CompletionQueue queue;
  grpc::ClientContext context;
  grpc::ByteBuffer response;
  grpc::Status status;
  const grpc::ByteBuffer request = ToBuffer(plan.SerializeAsString());
  auto reader = stub.PrepareUnaryCall(&context, kPlan, request, &queue);
  reader->StartCall();
  reader->Finish(&response, &status, nullptr);
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
  if (!status.ok()) Fail("PlanCorridor: " + status.error_message());
  grpc::Slice bytes;
  PlanCorridorResponse message;
  if (!response.DumpToSingleSlice(&bytes).ok() ||
      !message.ParseFromArray(bytes.begin(), static_cast<int>(bytes.size())) ||
      message.route().samples().time_s_size() != samples) {
    Fail("the answer to PlanCorridor lacks its samples");
  }
  return bytes.size();
}

// Publishes the zigzag's polygons as a mesh.
void PublishZigzag(const std::shared_ptr<grpc::Channel>& channel) {
  const auto zigzag = ZigzagRequest(0);
  const auto& polygons = zigzag.corridor().polygons();
  arclane::v1::NeutralNavMesh mesh;
  *mesh.mutable_vertices() = polygons.vertices();
  for (const uint32_t count : polygons.vertex_count()) mesh.add_vertex_count(count);
  for (int v = 0; v < polygons.vertices().x_size(); ++v)
    mesh.add_vertex_index(static_cast<uint32_t>(v));
  const std::string content = mesh.SerializeAsString();
  arclane::v1::PublishNavMeshRequest request;
  auto& header = *request.mutable_header();
  header.set_navmesh_id("zigzag");
  header.set_version(1);
  header.set_format(arclane::v1::NAV_MESH_FORMAT_NEUTRAL);
  header.set_content_bytes(content.size());
  header.set_content_sha256(std::string(arclane::DigestOf(content).view()));
  const auto stub = arclane::v1::NavMeshRegistry::NewStub(channel);
  grpc::ClientContext context;
  arclane::v1::PublishNavMeshResponse response;
  auto writer = stub->PublishNavMesh(&context, &response);
  writer->Write(request);
  request.set_content(content);
  writer->Write(request);
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  if (!status.ok()) Fail("PublishNavMesh: " + status.error_message());
}

arclane::v1::PlanCorridorRequest ZigzagByReference(int serial) {
  auto request = ZigzagRequest(serial);
  auto* refs = request.mutable_corridor()->mutable_refs();
  for (uint64_t ref = 0; ref < arclane::benchmarks::kZigzagPolygons; ++ref) refs->add_ref(ref);
  request.mutable_navmesh()->set_navmesh_id("zigzag");
  request.mutable_sampling()->set_count(kCacheSamples);
  return request;
}

template <size_t kCounts>
void Measure(const std::vector<std::unique_ptr<Series>>& compared, const int (&in_flight)[kCounts],
             int blocks) {
  std::puts("[");
  for (size_t k = 0; k < kCounts; ++k) {
    for (int block = -kWarmUpBlocks; block < blocks; ++block) {
      for (const auto& series : compared) series->RunBlock(kBlock, in_flight[k], block >= 0);
    }
    for (const auto& series : compared)
      series->Print(in_flight[k], k + 1 == kCounts && series == compared.back());
  }
  std::puts("]");
}

int MeasureCache(const std::string& target, int blocks) {
  const auto channel = Connect(target);
  PublishZigzag(channel);
  const auto hit = ZigzagByReference(0);
  const std::string same_bytes =
      PingBytes(hit.ByteSizeLong(), PlanResponseBytes(channel, hit, kCacheSamples));
  int serial = 0;
  std::vector<std::unique_ptr<Series>> compared;
  compared.push_back(std::make_unique<Series>("Hit", channel, kPlan,
                                              [bytes = hit.SerializeAsString()] { return bytes; }));
  compared.push_back(std::make_unique<Series>(
      "Miss", channel, kPlan, [&] { return ZigzagByReference(++serial).SerializeAsString(); }));
  compared.push_back(std::make_unique<Series>("Ping_cache_bytes", channel, kPing,
                                              [&same_bytes] { return std::string(same_bytes); }));
  Measure(compared, kCacheInFlight, blocks);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || std::atoi(argv[3]) < kBlock) {
    std::fprintf(stderr,
                 "usage: latency_client SERVER ECHO_SERVER CALLS (at least %d)\n"
                 "       latency_client --cache SERVER CALLS\n",
                 kBlock);
    return 2;
  }
  if (std::string(argv[1]) == "--cache") return MeasureCache(argv[2], std::atoi(argv[3]) / kBlock);
  const auto channel = Connect(argv[1]);
  const auto echo_channel = Connect(argv[2]);
  const int blocks = std::atoi(argv[3]) / kBlock;

  int serial = 0;
  const size_t request_bytes = ZigzagRequest(0).ByteSizeLong();
  const std::string same_bytes =
      PingBytes(request_bytes, PlanResponseBytes(channel, ZigzagRequest(0), kZigzagSamples));
  const std::string small = PingBytes(16, 16);
  const auto always = [](const std::string& bytes) { return [bytes] { return bytes; }; };

  std::vector<std::unique_ptr<Series>> compared;
  compared.push_back(std::make_unique<Series>("PlanCorridor", channel, kPlan, [&serial] {
    return ZigzagRequest(++serial).SerializeAsString();
  }));
  compared.push_back(
      std::make_unique<Series>("Ping_same_bytes", channel, kPing, always(same_bytes)));
  compared.push_back(
      std::make_unique<Series>("Echo_same_bytes", echo_channel, kPing, always(same_bytes)));
  compared.push_back(std::make_unique<Series>("Ping_small", channel, kPing, always(small)));
  compared.push_back(std::make_unique<Series>("Echo_small", echo_channel, kPing, always(small)));

  Measure(compared, kInFlight, blocks);
  return 0;
}
