// SPDX-License-Identifier: Apache-2.0
// Sends plans of much work to a running server, closed loop or open loop, and tells as JSON what
// became of them. Bounded by its duration and by the number of calls.
//
//   overload_driver TARGET closed IN_FLIGHT SECONDS [DEADLINE_S]
//   overload_driver TARGET open CALLS_A_SECOND SECONDS [DEADLINE_S]
//
// Open loop: calls go out at their times whatever the answers do, and latencies count from those
// times; as game servers send them, all calls of a tick of kTick at once. The first fifth of the
// run warms up and is not counted. What of a processor the driver itself used is told, since the
// server may have to do without it.
#include <grpcpp/create_channel.h>
#include <grpcpp/support/client_callback.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "arclane/v1/planner.grpc.pb.h"
#include "grpc/health/v1/health.grpc.pb.h"

namespace arclane {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kCells = 60;
constexpr double kWorkBudget_s = 0.02;
constexpr size_t kMostCalls = 1'000'000;
constexpr size_t kMostInFlight = 20'000;
constexpr int kChannels = 4;
constexpr auto kTick = std::chrono::milliseconds(10);

double Seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }
Clock::duration Duration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double OwnCpuSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

// A zigzag whose corners are rounded until the work budget ends; past the cache.
v1::PlanCorridorRequest LongRequest(size_t serial) {
  v1::PlanCorridorRequest request;
  auto& polygons = *request.mutable_corridor()->mutable_polygons();
  for (int i = 0; i < kCells; ++i) {
    const double y0 = i % 2 == 0 ? 1.2 : -1.2, y1 = -y0;
    const double corners[4][2] = {
        {i + 0.0, y0 - 1}, {i + 1.0, y1 - 1}, {i + 1.0, y1 + 1}, {i + 0.0, y0 + 1}};
    for (const auto& [x, y] : corners) {
      polygons.mutable_vertices()->add_x(x);
      polygons.mutable_vertices()->add_y(y);
    }
    polygons.add_vertex_count(4);
  }
  request.mutable_start()->set_x(0.25);
  request.mutable_start()->set_y(0.6 + 1e-9 * static_cast<double>(serial));
  request.mutable_goal()->set_x(kCells - 0.25);
  request.mutable_goal()->set_y(0.6);
  v1::AgentProfile& agent = *request.mutable_agent();
  agent.mutable_limits()->set_max_speed(6);
  agent.mutable_limits()->set_max_acceleration(3);
  agent.mutable_limits()->set_max_braking(4);
  agent.mutable_limits()->set_max_lateral_acceleration(3);
  agent.mutable_body()->set_max_turn_radius(2);
  agent.mutable_manners()->set_corner_work_budget_s(kWorkBudget_s);
  request.set_cache_mode(v1::CACHE_MODE_BYPASS);
  return request;
}

class Run {
 public:
  Run(const std::string& target, double duration_s, double deadline_s)
      : duration_s_(duration_s), deadline_s_(deadline_s) {
    for (int i = 0; i < kChannels; ++i) {
      grpc::ChannelArguments arguments;
      arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
      auto channel =
          grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
      channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10));
      stubs_.push_back(v1::PathPlanner::NewStub(channel));
    }
    health_channel_ = grpc::CreateChannel(target, grpc::InsecureChannelCredentials());
  }

  void Closed(size_t in_flight) {
    Begin();
    for (size_t i = 0; i < in_flight; ++i) Start(Clock::now(), /*again=*/true);
    std::this_thread::sleep_until(begin_ + Duration(duration_s_));
    End();
  }

  void Open(double rate) {
    Begin();
    size_t sent = 0;
    for (Clock::time_point tick = begin_; Seconds(tick - begin_) < duration_s_; tick += kTick) {
      std::this_thread::sleep_until(tick);
      const double due = Seconds(tick + kTick - begin_) * rate;
      for (; static_cast<double>(sent) < due && sent < kMostCalls; ++sent) {
        // A client that cannot keep up is no measure of the server.
        if (in_flight_.load() >= kMostInFlight) {
          ++unsent_;
          continue;
        }
        Start(tick, /*again=*/false);
      }
    }
    End();
  }

  void Print() {
    std::sort(ok_ms_.begin(), ok_ms_.end());
    std::sort(refused_ms_.begin(), refused_ms_.end());
    std::sort(health_ms_.begin(), health_ms_.end());
    const double counted_s = duration_s_ * 0.8;
    std::printf(
        "{\"duration_s\": %.3f, \"own_cpus\": %.3f, \"ok\": %zu, \"ok_a_second\": %.2f, "
        "\"refused\": %zu, "
        "\"deadline_exceeded\": %zu, \"other_errors\": %zu, \"unsent\": %zu, "
        "\"late\": %zu, "
        "\"ok_p50_ms\": %.3f, \"ok_p99_ms\": %.3f, \"ok_max_ms\": %.3f, "
        "\"refused_p50_ms\": %.3f, \"refused_p99_ms\": %.3f, "
        "\"health_checks\": %zu, \"health_failures\": %zu, \"health_p50_ms\": %.3f, "
        "\"health_p99_ms\": %.3f, \"send_delay_p99_ms\": %.3f}\n",
        counted_s, own_cpus_, ok_ms_.size(), static_cast<double>(ok_ms_.size()) / counted_s,
        refused_ms_.size(), deadline_exceeded_, other_, unsent_, late_, At(ok_ms_, 0.5),
        At(ok_ms_, 0.99), At(ok_ms_, 1), At(refused_ms_, 0.5), At(refused_ms_, 0.99),
        health_ms_.size(), health_failures_.load(), At(health_ms_, 0.5), At(health_ms_, 0.99),
        SendDelayP99());
  }

 private:
  struct Call {
    grpc::ClientContext context;
    v1::PlanCorridorRequest request;
    v1::PlanCorridorResponse response;
    Clock::time_point intended;
    bool again = false;
  };

  static double At(const std::vector<double>& sorted, double q) {
    if (sorted.empty()) return 0;
    const auto rank = static_cast<size_t>(q * static_cast<double>(sorted.size()));
    return sorted[std::min(rank, sorted.size() - 1)];
  }
  double SendDelayP99() {
    std::sort(send_delay_ms_.begin(), send_delay_ms_.end());
    return At(send_delay_ms_, 0.99);
  }

  void Begin() {
    begin_ = Clock::now();
    begin_cpu_s_ = OwnCpuSeconds();
    checks_ = std::thread([this] { CheckHealth(); });
  }

  void End() {
    own_cpus_ = (OwnCpuSeconds() - begin_cpu_s_) / duration_s_;
    ending_.store(true);
    checks_.join();
    while (in_flight_.load() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  void Start(Clock::time_point intended, bool again) {
    auto* call = new Call;
    const size_t serial = serial_++;
    call->intended = intended;
    call->again = again;
    call->request = LongRequest(serial);
    const auto now = Clock::now();
    if (deadline_s_ > 0) {
      call->context.set_deadline(std::chrono::system_clock::now() +
                                 std::chrono::duration_cast<std::chrono::system_clock::duration>(
                                     Duration(deadline_s_) - (now - intended)));
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      send_delay_ms_.push_back(1e3 * Seconds(now - intended));
    }
    ++in_flight_;
    stubs_[serial % kChannels]->async()->PlanCorridor(
        &call->context, &call->request, &call->response, [this, call](const grpc::Status& status) {
          Count(*call, status);
          const bool again = call->again && !ending_.load();
          delete call;
          if (again) Start(Clock::now(), true);
          --in_flight_;
        });
  }

  void Count(const Call& call, const grpc::Status& status) {
    const double ms = 1e3 * Seconds(Clock::now() - call.intended);
    if (Seconds(call.intended - begin_) < duration_s_ * 0.2) return;
    if (ending_.load() && call.again) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    switch (status.error_code()) {
      case grpc::StatusCode::OK:
        ok_ms_.push_back(ms);
        if (deadline_s_ > 0 && ms > 1e3 * deadline_s_) ++late_;
        break;
      case grpc::StatusCode::RESOURCE_EXHAUSTED:
        refused_ms_.push_back(ms);
        break;
      case grpc::StatusCode::DEADLINE_EXCEEDED:
        ++deadline_exceeded_;
        break;
      default:
        ++other_;
    }
  }

  void CheckHealth() {
    const auto stub = grpc::health::v1::Health::NewStub(health_channel_);
    while (!ending_.load()) {
      grpc::ClientContext context;
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(2));
      grpc::health::v1::HealthCheckResponse response;
      const auto start = Clock::now();
      if (!stub->Check(&context, {}, &response).ok() ||
          response.status() != grpc::health::v1::HealthCheckResponse::SERVING) {
        ++health_failures_;
      }
      health_ms_.push_back(1e3 * Seconds(Clock::now() - start));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  const double duration_s_;
  const double deadline_s_;
  std::vector<std::unique_ptr<v1::PathPlanner::Stub>> stubs_;
  std::shared_ptr<grpc::Channel> health_channel_;
  Clock::time_point begin_;
  double begin_cpu_s_ = 0, own_cpus_ = 0;
  std::atomic<size_t> serial_{0};
  std::atomic<size_t> in_flight_{0};
  std::atomic<bool> ending_{false};
  std::thread checks_;
  std::atomic<size_t> health_failures_{0};
  std::vector<double> health_ms_;
  std::mutex mutex_;
  std::vector<double> ok_ms_, refused_ms_, send_delay_ms_;
  size_t deadline_exceeded_ = 0, other_ = 0, unsent_ = 0, late_ = 0;
};

int Main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "overload_driver TARGET closed|open N SECONDS [DEADLINE_S]\n");
    return 2;
  }
  const double amount = std::atof(argv[3]);
  Run run(argv[1], std::min(std::atof(argv[4]), 60.0), argc > 5 ? std::atof(argv[5]) : 0);
  if (std::string(argv[2]) == "open") {
    run.Open(std::min(amount, 50'000.0));
  } else {
    run.Closed(static_cast<size_t>(std::min(amount, 1000.0)));
  }
  run.Print();
  return 0;
}

}  // namespace
}  // namespace arclane

int main(int argc, char** argv) { return arclane::Main(argc, argv); }
