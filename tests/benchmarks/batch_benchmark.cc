// SPDX-License-Identifier: Apache-2.0
// PlanBatch of 1,000 corridors of 16 polygons, all different, past the cache: plans a second over
// loopback, and the CPU that the server spends on a plan over that of planning the same items in
// process on one thread of this binary, with their portals resolved and their requests parsed.
//
// The server runs in a process of its own, so that its CPU can be told from the client's. It plans
// on two threads, and two cores that are busy at once may be slower than one alone: what they share
// (a physical core, a cache, a budget of power) is not the server's doing. So the planning in
// process is also measured while a second thread does the same.
#include <grpcpp/create_channel.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "arclane/v1/navmesh.grpc.pb.h"
#include "arclane/v1/planner.grpc.pb.h"
#include "benchmark/benchmark.h"
#include "server/codec/message_arena.h"
#include "server/navmesh/navmesh_store.h"
#include "server/navmesh/registry.h"
#include "server/pipeline/plan_batch.h"
#include "server/pipeline/plan_corridor.h"
#include "server/service/process_settings.h"
#include "server/service/server.h"
#include "server/service/service_labels.h"
#include "server/telemetry/metrics.h"
#include "tests/support/grid_mesh.h"

namespace arclane {
namespace {

constexpr uint32_t kSide = 64;
constexpr int kItems = 1000;
constexpr int kPolygons = 16;

enum class Source { kRefs, kPolygons };

NeutralMesh Mesh() { return testing::GridMesh({.width = kSide, .height = kSide, .tile = 16}); }

std::shared_ptr<NavMeshRegistry> MakeRegistry() {
  auto opened = NavMeshRegistry::Open({}, std::make_shared<NullStore>(), 0);
  if (!opened.ok()) std::abort();
  std::shared_ptr<NavMeshRegistry> registry = *std::move(opened);
  const NeutralMesh mesh = Mesh();
  PublishRequest request;
  request.navmesh_id = "grid";
  request.version = {1};
  request.neutral = &mesh;
  if (!registry->Publish(request).ok()) std::abort();
  return registry;
}

// A server with two planning threads in a child of this process, made in main before this process
// has any thread; earlier, some of the server's own objects would still be without their values. It
// ends with its parent.
class ServerProcess {
 public:
  explicit ServerProcess(uint64_t cache_bytes) {
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      Serve(ends[1], cache_bytes);
    }
    if (read(ends[0], &port_, sizeof(port_)) != sizeof(port_)) std::abort();
  }
  ~ServerProcess() { kill(pid_, SIGKILL); }

  std::string target() const { return "127.0.0.1:" + std::to_string(port_); }
  double CpuSeconds() const {
    clockid_t clock;
    timespec time;
    if (clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &time) != 0) std::abort();
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

 private:
  [[noreturn]] static void Serve(int out, uint64_t cache_bytes) {
    Metrics metrics(CurrentBuild(), ServiceLabels());
    ServerOptions options;
    options.planner_threads = 2;
    SetUpServerProcess(options.planner_threads);  // As the server's program does.
    options.navmeshes.registry = MakeRegistry();
    options.navmeshes.cache_bytes = cache_bytes;
    auto server = Server::Start(options, metrics);
    if (!server.ok()) std::abort();
    const int port = (*server)->port();
    if (write(out, &port, sizeof(port)) != sizeof(port)) std::abort();
    while (true) pause();
  }

  pid_t pid_ = 0;
  int port_ = 0;
};

struct ServerProcesses {
  // Keeps no corridors from batch to batch: each is resolved and built anew.
  ServerProcess forgetful{0};
  // Keeps those that it is asked for again, as agents do that walk on in a corridor.
  ServerProcess keeping{uint64_t{256} << 20};
};
const ServerProcesses* servers = nullptr;

// Walks of 16 squares that turn now and then, from and to places of their own.
v1::PlanBatchRequest Request(Source source, uint32_t samples) {
  std::mt19937_64 random(17);
  const auto unit = [&] { return std::uniform_real_distribution<double>(0.05, 0.95)(random); };
  v1::PlanBatchRequest request;
  v1::PlanShared& shared = *request.mutable_shared();
  shared.mutable_navmesh()->set_navmesh_id("grid");
  shared.set_cache_mode(v1::CACHE_MODE_BYPASS);
  v1::AgentLimits& limits = *shared.add_agents()->mutable_limits();
  limits.set_max_speed(6);
  limits.set_max_acceleration(3);
  limits.set_max_braking(4);
  if (samples > 0) shared.add_samplings()->set_count(samples);
  while (request.items_size() < kItems) {
    v1::PlanItem& item = *request.add_items();
    item.set_agent_index(0);
    if (samples > 0) item.set_sampling_index(0);
    v1::PlanCorridorRequest& corridor = *item.mutable_corridor();
    uint32_t x = 20 + static_cast<uint32_t>(random() % 8),
             y = 20 + static_cast<uint32_t>(random() % 8);
    corridor.mutable_start()->set_x(x + unit());
    corridor.mutable_start()->set_y(y + unit());
    for (int i = 0; i < kPolygons; ++i) {
      if (i > 0) (random() % 3 == 0 ? y : x) += 1;
      if (source == Source::kRefs) {
        corridor.mutable_corridor()->mutable_refs()->add_ref(y * kSide + x);
        continue;
      }
      v1::Polygons& polygons = *corridor.mutable_corridor()->mutable_polygons();
      for (const uint32_t a : {x, x + 1, x + 1, x}) polygons.mutable_vertices()->add_x(a);
      for (const uint32_t b : {y, y, y + 1, y + 1}) polygons.mutable_vertices()->add_y(b);
      polygons.add_vertex_count(4);
    }
    corridor.mutable_goal()->set_x(x + unit());
    corridor.mutable_goal()->set_y(y + unit());
  }
  return request;
}

std::optional<FailureReason> Never() { return std::nullopt; }

// Seconds a plan takes in process: requests parsed, portals resolved, answers made as messages.
class InProcess {
 public:
  InProcess(Source source, uint32_t samples) : registry_(MakeRegistry()) {
    auto view = registry_->View("grid", {0}, "", 0);
    if (!view.ok()) std::abort();
    view_ = std::make_unique<NavMeshView>(*std::move(view));
    const v1::PlanBatchRequest batch = Request(source, samples);
    for (const v1::PlanItem& item : batch.items()) {
      v1::PlanCorridorRequest& request = requests_.emplace_back(item.corridor());
      *request.mutable_agent() = batch.shared().agents(0);
      if (samples > 0) *request.mutable_sampling() = batch.shared().samplings(0);
      if (source == Source::kPolygons) continue;
      std::vector<PolygonRef> refs;
      for (const uint64_t ref : request.corridor().refs().ref()) refs.push_back({ref});
      auto corridor = ResolveCorridor(*view_, refs, 1000);
      if (!corridor.ok()) std::abort();
      corridors_.push_back(*std::move(corridor));
    }
  }

  void PlanAll() {
    for (size_t i = 0; i < requests_.size(); ++i) {
      arena_.Reset();
      auto& response = *arena_.New<v1::PlanCorridorResponse>();
      std::optional<PlannedCorridor> planned;
      if (!corridors_.empty())
        planned.emplace(PlannedCorridor{view_->snapshot().info(), corridors_[i]});
      if (AnswerPlanCorridor(requests_[i], limits_, Never, response,
                             planned ? &*planned : nullptr)) {
        std::abort();
      }
      benchmark::DoNotOptimize(response);
    }
  }

 private:
  std::shared_ptr<NavMeshRegistry> registry_;
  std::unique_ptr<NavMeshView> view_;
  std::vector<v1::PlanCorridorRequest> requests_;
  std::vector<CorridorByRef> corridors_;
  RequestLimits limits_;
  MessageArena arena_;
};

double ThreadCpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Arguments: 0 by reference, 1 inline; samples.
void BM_Batch_InProcess(benchmark::State& state) {
  InProcess in_process(static_cast<Source>(state.range(0)), static_cast<uint32_t>(state.range(1)));
  for (auto _ : state) in_process.PlanAll();
  state.SetItemsProcessed(state.iterations() * kItems);
}

// The batch from bytes to messages on one thread, without gRPC.
void RunPipeline(benchmark::State& state, bool floats) {
  const auto registry = MakeRegistry();
  const auto view = registry->View("grid", {0}, "", 0);
  v1::PlanBatchRequest request =
      Request(static_cast<Source>(state.range(0)), static_cast<uint32_t>(state.range(1)));
  if (floats) {
    for (v1::Sampling& sampling : *request.mutable_shared()->mutable_samplings())
      sampling.set_column_precision(v1::COLUMN_PRECISION_FLOAT);
  }
  const std::string encoded = request.SerializeAsString();
  const RequestLimits limits;
  ItemPlanner planner;
  size_t bytes = 0;
  for (auto _ : state) {
    std::unique_ptr<BatchPlan> batch;
    if (BatchPlan::Read(encoded, limits, &batch)) std::abort();
    batch->Begin(&*view, nullptr, 1);
    bytes = 0;
    while (const auto range = batch->TakeRange(1000)) {
      batch->PlanRange(
          *range, planner, Never, [] { return false; },
          [](const ItemAnswer&, const PlanTrace&, uint32_t) {});
      while (const auto message = batch->TakeMessage(1)) bytes += message->size;
    }
    if (!batch->done()) std::abort();
  }
  state.SetItemsProcessed(state.iterations() * kItems);
  state.counters["request_bytes"] = static_cast<double>(encoded.size()) / kItems;
  state.counters["answer_bytes"] = static_cast<double>(bytes) / kItems;
}

void BM_Batch_Pipeline(benchmark::State& state) { RunPipeline(state, false); }
// Samples and corners as floats: answer_bytes beside those of BM_Batch_Pipeline.
void BM_Batch_PipelineFloats(benchmark::State& state) { RunPipeline(state, true); }

void RunServer(benchmark::State& state, const ServerProcess& server) {
  const auto source = static_cast<Source>(state.range(0));
  const auto samples = static_cast<uint32_t>(state.range(1));
  const v1::PlanBatchRequest request = Request(source, samples);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  const auto channel =
      grpc::CreateCustomChannel(server.target(), grpc::InsecureChannelCredentials(), arguments);
  const auto stub = v1::PathPlanner::NewStub(channel);
  InProcess in_process(source, samples);
  const auto plan = [&] {
    grpc::ClientContext context;
    const auto reader = stub->PlanBatch(&context, request);
    v1::PlanBatchResponse response;
    int answers = 0;
    while (reader->Read(&response)) {
      for (const auto& answer : response.answers())
        if (answer.has_status()) std::abort();
      answers += response.answers_size();
    }
    if (!reader->Finish().ok() || answers != kItems) std::abort();
  };
  for (int i = 0; i < 20; ++i) plan();
  in_process.PlanAll();
  InProcess beside(source, samples);
  // All measured in turns, so that what else the machine does meets all of them.
  double server_s = 0, in_process_s = 0, busy_s = 0;
  for (auto _ : state) {
    const double before = server.CpuSeconds();
    plan();
    server_s += server.CpuSeconds() - before;
    state.PauseTiming();
    const double begin = ThreadCpuSeconds();
    in_process.PlanAll();
    in_process_s += ThreadCpuSeconds() - begin;
    std::atomic<bool> ends{false};
    std::thread other([&] {
      while (!ends.load(std::memory_order_relaxed)) beside.PlanAll();
    });
    const double busy_begin = ThreadCpuSeconds();
    in_process.PlanAll();
    busy_s += ThreadCpuSeconds() - busy_begin;
    ends.store(true, std::memory_order_relaxed);
    other.join();
    state.ResumeTiming();
  }
  const auto plans = static_cast<double>(state.iterations()) * kItems;
  state.SetItemsProcessed(state.iterations() * kItems);
  state.counters["server_ns_a_plan"] = 1e9 * server_s / plans;
  state.counters["in_process_ns_a_plan"] = 1e9 * in_process_s / plans;
  state.counters["server_over_in_process"] = server_s / in_process_s;
  state.counters["server_over_in_process_on_busy_cores"] = server_s / busy_s;
}

void BM_Batch_Server(benchmark::State& state) { RunServer(state, servers->forgetful); }
// The same batch again and again.
void BM_Batch_ServerKeepingCorridors(benchmark::State& state) {
  RunServer(state, servers->keeping);
}

void Arguments(benchmark::internal::Benchmark* benchmark) {
  for (const int source : {0, 1})
    for (const int samples : {0, 32}) benchmark->Args({source, samples});
}
BENCHMARK(BM_Batch_InProcess)->Apply(Arguments);
BENCHMARK(BM_Batch_Pipeline)->Apply(Arguments);
BENCHMARK(BM_Batch_PipelineFloats)->Args({0, 32});
BENCHMARK(BM_Batch_Server)->Apply(Arguments)->UseRealTime();
BENCHMARK(BM_Batch_ServerKeepingCorridors)->Args({0, 0})->Args({0, 32})->UseRealTime();

int RunBenchmarks(int argc, char** argv) {
  const ServerProcesses processes;
  servers = &processes;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace arclane

int main(int argc, char** argv) { return arclane::RunBenchmarks(argc, argv); }
