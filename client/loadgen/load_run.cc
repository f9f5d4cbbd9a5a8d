// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/load_run.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/loadgen/call_payloads.h"
#include "client/loadgen/generated_requests.h"
#include "client/loadgen/load_lane.h"
#include "client/loadgen/process_cpu.h"
#include "client/sdk/client.h"

namespace arclane {
namespace {

using std::chrono::duration_cast;
using std::chrono::nanoseconds;

constexpr auto kConnectTimeout = std::chrono::seconds(5);
constexpr auto kProgressInterval = std::chrono::seconds(1);
constexpr auto kStopCheck = std::chrono::milliseconds(50);
// A call ends a little behind its deadline.
constexpr auto kGrace = std::chrono::seconds(1);
constexpr int kMaxMessageBytes = 256 << 20;
// A start later than this share of the median latency makes the client part of what it measures.
constexpr double kMostStartLag = 0.1;

LoadClock::duration ToChrono(absl::Duration duration) {
  return duration_cast<LoadClock::duration>(absl::ToChronoNanoseconds(duration));
}

double Seconds(LoadClock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

// Retries are made and counted here, none by gRPC. Calls are spread over all addresses of the
// target.
std::shared_ptr<grpc::Channel> MakeLoadChannel(const LoadOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(R"({"loadBalancingConfig":[{"round_robin":{}}]})");
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // Connections of its own.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  arguments.SetUserAgentPrefix("arclane-load");
  return grpc::CreateCustomChannel(options.target, grpc::InsecureChannelCredentials(), arguments);
}

class LoadRun {
 public:
  LoadRun(const LoadOptions& options, const std::atomic<bool>& stop, std::ostream& progress)
      : options_(options), stop_(stop), progress_(progress) {}
  ~LoadRun() {
    for (const auto& lane : lanes_) lane->Close();
  }

  absl::Status Prepare(RequestMix mix) {
    ClientOptions client_options;
    client_options.target = options_.target;
    client_options.deadline = std::max(options_.deadline, absl::Seconds(30));
    client_options.max_message_bytes = kMaxMessageBytes;
    client_options.user_agent = "arclane-load";
    auto client = Client::Create(client_options);
    if (!client.ok()) return client.status();
    for (int i = 0; i < options_.connections; ++i) {
      channels_.push_back(MakeLoadChannel(options_));
      if (!channels_.back()->WaitForConnected(std::chrono::system_clock::now() + kConnectTimeout)) {
        return absl::UnavailableError(
            absl::StrCat("no server answers at ", options_.target, " (--server)"));
      }
    }
    const auto limits = (*client)->GetLimits();
    if (!limits.ok()) {
      return absl::Status(limits.error().code, absl::StrCat("GetLimits: ", limits.error().message));
    }
    for (const int polygons : mix.meshes) {
      if (absl::Status published = Publish(**client, polygons); !published.ok()) return published;
    }
    payloads_.emplace(std::move(mix), limits->max_ping_bytes());
    if (options_.shape == CallShape::kUnary) ProbeSources();
    return absl::OkStatus();
  }

  LoadReport Run() {
    for (int i = 0; i < options_.threads; ++i) {
      std::vector<std::shared_ptr<grpc::Channel>> own;
      for (size_t c = static_cast<size_t>(i); c < channels_.size();
           c += static_cast<size_t>(options_.threads)) {
        own.push_back(channels_[c]);
      }
      lanes_.push_back(
          std::make_unique<LoadLane>(options_, i, *payloads_, budget_, std::move(own)));
    }
    zero_ = LoadClock::now() + ToChrono(options_.warm_up);
    interval_begin_ = LoadClock::now();
    RunPhase(zero_, /*record=*/false);
    payloads_->UpdatePings();
    TellInterval();  // Seconds of the run do not mix with the warm-up.
    budget_.calls[kPlans] = options_.count;
    budget_.calls[kPings] = options_.count;
    report_.plan_time.server_cpu_s = report_.ping_time.server_cpu_s =
        ServerCpu() >= 0.0 ? 0.0 : -1.0;
    zero_ = LoadClock::now();
    RunPhase(zero_ + ToChrono(options_.duration), /*record=*/true);
    report_.measured_s = Seconds(LoadClock::now() - zero_);
    TellInterval();
    for (const auto& lane : lanes_) lane->Close();
    Gather();
    return std::move(report_);
  }

 private:
  absl::Status Publish(Client& client, int polygons) {
    v1::PublishNavMeshHeader header;
    header.set_navmesh_id(GeneratedMeshId(polygons));
    header.set_version(1);
    header.set_format(v1::NAV_MESH_FORMAT_NEUTRAL);
    const auto published =
        client.navmeshes().Publish(header, GeneratedMesh(polygons).SerializeAsString());
    if (published.ok()) return absl::OkStatus();
    return absl::Status(published.error().code, absl::StrCat("publishing ", header.navmesh_id(),
                                                             ": ", published.error().message));
  }

  // Asks each part's first request once, for the size of the answers.
  void ProbeSources() {
    grpc::GenericStub stub(channels_[0]);
    for (const CallPayloads::Source& source : payloads_->sources()) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() +
                           absl::ToChronoNanoseconds(options_.deadline));
      grpc::CompletionQueue queue;
      grpc::ByteBuffer response;
      grpc::Status status;
      const auto reader =
          stub.PrepareUnaryCall(&context, source.method, source.payloads[0]->request, &queue);
      reader->StartCall();
      reader->Finish(&response, &status, nullptr);
      void* tag = nullptr;
      bool ok = false;
      queue.Next(&tag, &ok);
      if (!status.ok()) {
        report_.warnings.push_back(absl::StrCat("the first request of ", source.name,
                                                " failed: ", CodeName(status.error_code()), ": ",
                                                status.error_message()));
        continue;
      }
      for (const auto& payload : source.payloads) payload->response_bytes = response.Length();
    }
    payloads_->UpdatePings();
  }

  // Slices until `end`, or until nothing more may start.
  void RunPhase(LoadClock::time_point end, bool record) {
    const auto give_up = end + ToChrono(options_.deadline);
    const auto plan_slice = ToChrono(options_.slice);
    const auto ping_slice = duration_cast<LoadClock::duration>(
        plan_slice * (options_.ping_share / (1.0 - options_.ping_share)));
    bool pings_next = false;
    while (!stop_ && LoadClock::now() < end) {
      LoadSlice slice;
      slice.begin = LoadClock::now();
      slice.give_up = give_up;
      slice.record = record;
      if (options_.ping == PingTurns::kBeside) {
        slice.runs[kPlans] = slice.runs[kPings] = true;
        slice.end = end;
      } else {
        slice.runs[pings_next ? kPings : kPlans] = true;
        slice.end = std::min(end, slice.begin + (pings_next ? ping_slice : plan_slice));
      }
      if (!RunSlice(slice)) {
        report_.warnings.push_back("not every call ended within its deadline; the run was cut off");
        break;
      }
      // The last slice of plans is followed by one of Pings, also when the count ended the plans;
      // on a busy machine a slice may be over before a call began.
      const bool plans_are_over = record && budget_.calls[kPlans].load() <= 0;
      const bool pinged = pings_next && budget_.calls[kPings].load() < options_.count;
      if (plans_are_over && (options_.ping == PingTurns::kBeside || pinged)) break;
      if (!pings_next) payloads_->UpdatePings();
      pings_next = !pings_next;
    }
    if (stop_) {
      for (const auto& lane : lanes_) lane->Stop();
    }
  }

  // False when calls are still open long after they should have ended.
  bool RunSlice(const LoadSlice& slice) {
    const double client_cpu = ProcessCpuSeconds(0).value_or(0.0);
    const double server_cpu = ServerCpu();
    for (const auto& lane : lanes_) lane->Begin(slice);
    const bool ended = WaitUntilIdle(slice.give_up + ToChrono(options_.deadline) + kGrace);
    const double active_s = Seconds(LoadClock::now() - slice.begin);
    const double client_spent = ProcessCpuSeconds(0).value_or(0.0) - client_cpu;
    const double server_spent = ServerCpu() - server_cpu;
    if (!slice.record) return ended;
    for (const FlowKind kind : {kPlans, kPings}) {
      if (!slice.runs[kind]) continue;
      TimeSpent& spent = kind == kPlans ? report_.plan_time : report_.ping_time;
      spent.active_s += active_s;
      spent.client_cpu_s += client_spent;
      if (spent.server_cpu_s >= 0.0) spent.server_cpu_s += server_spent;
    }
    return ended;
  }

  // Tells progress meanwhile. A stream's messages have no deadline: behind `latest` they are given
  // up.
  bool WaitUntilIdle(LoadClock::time_point latest) {
    while (true) {
      const auto now = LoadClock::now();
      if (now >= latest) return false;
      if (now >= interval_begin_ + kProgressInterval) TellInterval();
      if (stop_) {
        for (const auto& lane : lanes_) lane->Stop();
      }
      bool idle = true;
      for (const auto& lane : lanes_) idle = lane->WaitUntilIdle(now + kStopCheck) && idle;
      if (idle) return true;
    }
  }

  void TellInterval() {
    const auto now = LoadClock::now();
    TimelineEntry entry;
    entry.time_s = Seconds(now - zero_);
    entry.seconds = Seconds(now - interval_begin_);
    interval_begin_ = now;
    for (const auto& lane : lanes_) lane->TakeInterval(entry.statistics);
    const IntervalStatistics& second = entry.statistics;
    if (!options_.quiet) {
      progress_ << absl::StreamFormat(
                       "%7.1f s  plans %8d  p50 %8.3f ms  p99 %8.3f ms | pings %8d  p50 %8.3f ms  "
                       "p99 %8.3f ms | failed %d, in flight %d",
                       entry.time_s, second.plan_latency.count(),
                       second.plan_latency.Percentile(50) * 1e-6,
                       second.plan_latency.Percentile(99) * 1e-6, second.ping_latency.count(),
                       second.ping_latency.Percentile(50) * 1e-6,
                       second.ping_latency.Percentile(99) * 1e-6, second.failed, second.in_flight)
                << std::endl;
    }
    report_.timeline.push_back(std::move(entry));
  }

  double ServerCpu() const {
    if (options_.server_pid == 0) return -1.0;
    return ProcessCpuSeconds(options_.server_pid).value_or(-1.0);
  }

  void Gather() {
    const size_t parts = payloads_->sources().size();
    report_.plans.resize(parts);
    report_.pings.resize(parts);
    for (const auto& lane : lanes_) {
      const auto plans = lane->Statistics(kPlans);
      const auto pings = lane->Statistics(kPings);
      for (size_t part = 0; part < parts; ++part) {
        report_.plans[part].Merge(plans[part]);
        report_.pings[part].Merge(pings[part]);
      }
    }
    for (size_t part = 0; part < parts; ++part) {
      report_.names.push_back(payloads_->sources()[part].name);
      report_.all_plans.Merge(report_.plans[part]);
      report_.all_pings.Merge(report_.pings[part]);
    }
    Warn();
  }

  void Warn() {
    const SeriesStatistics& plans = report_.all_plans;
    if (payloads_->pings_are_cut()) {
      report_.warnings.push_back(
          "requests or answers exceed the server's max_ping_bytes: their Pings are smaller");
    }
    if (plans.not_started > 0) {
      report_.warnings.push_back(absl::StrCat(
          plans.not_started,
          " calls were due and never started, for --max_in_flight were in flight: the rate was not "
          "reached, and the latencies lack theirs"));
    }
    if (plans.failed() > 0) {
      report_.warnings.push_back(
          absl::StrCat(plans.failed(), " calls failed; the latencies are those of the others"));
    }
    if (plans.items_failed > 0) {
      report_.warnings.push_back(absl::StrCat(plans.items_failed, " items of batches failed"));
    }
    if (plans.start_lag.Percentile(50) > kMostStartLag * plans.latency.Percentile(50)) {
      report_.warnings.push_back(
          "half of the calls started late by more than a tenth of the median latency: the client "
          "is short of CPU time (more --threads and --connections, or another machine)");
    }
    if (plans.latency.count() > 0 && plans.latency.count() < 1000) {
      report_.warnings.push_back("fewer than 1000 calls: percentiles above the 99th say little");
    }
    if (stop_) report_.warnings.push_back("stopped before its end");
  }

  const LoadOptions& options_;
  const std::atomic<bool>& stop_;
  std::ostream& progress_;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::optional<CallPayloads> payloads_;
  LoadBudget budget_;
  std::vector<std::unique_ptr<LoadLane>> lanes_;
  LoadReport report_;
  LoadClock::time_point zero_;
  LoadClock::time_point interval_begin_;
};

}  // namespace

absl::StatusOr<LoadReport> RunLoad(const LoadOptions& options, RequestMix mix,
                                   const std::atomic<bool>& stop, std::ostream& progress) {
  LoadRun run(options, stop, progress);
  if (absl::Status prepared = run.Prepare(std::move(mix)); !prepared.ok()) return prepared;
  return run.Run();
}

}  // namespace arclane
