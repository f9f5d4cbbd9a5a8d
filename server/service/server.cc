// SPDX-License-Identifier: Apache-2.0
#include "server/service/server.h"

#include <grpc/grpc.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <limits>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/pipeline/plan_trace.h"
#include "server/service/bind_error.h"
#include "server/service/health_service.h"
#include "server/service/navmesh_registry_service.h"
#include "server/service/path_planner_service.h"
#include "server/service/reflection_service.h"
#include "server/service/route_follower_service.h"
#include "server/service/service_environment.h"
#include "server/service/socket_file.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

// How long after the last answer its bytes and the closing of streams may take, before what is
// left, such as a stream whose client does not read, is cancelled.
constexpr auto kSettleTime = std::chrono::milliseconds(300);
// How long a client may leave a message unread once the server drains, and how often that is looked
// at.
constexpr auto kReaderPatience = std::chrono::milliseconds(500);
constexpr absl::Duration kReaderCheck = absl::Milliseconds(50);

// Waits until all calls have ended, or until those that are left are streams whose clients do not
// read (`cut_off`), which cannot even be told that they end. False at the deadline.
bool AwaitCalls(InFlight& in_flight, OpenStreams& streams, absl::Time deadline, bool& cut_off) {
  while (!in_flight.AwaitZero(std::min(deadline, absl::Now() + kReaderCheck))) {
    if (absl::Now() >= deadline) return false;
    const size_t unread =
        streams.CountUnreadSince(std::chrono::steady_clock::now() - kReaderPatience);
    if (unread == 0 || static_cast<int64_t>(unread) < in_flight.count()) continue;
    Log(LogLevel::kWarn, "streams are cut off: their clients do not read",
        {{"streams", static_cast<int64_t>(unread)}});
    cut_off = true;
    return true;
  }
  return true;
}

int WholeMilliseconds(double seconds) {
  return static_cast<int>(
      std::min(seconds * 1e3, static_cast<double>(std::numeric_limits<int>::max())));
}

void Configure(const ServerOptions& options, grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(options.limits.max_receive_bytes));
  builder.SetMaxSendMessageSize(-1);
  // A second server on the same port must fail instead of taking half of the connections.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, WholeMilliseconds(options.keepalive_s));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                             WholeMilliseconds(options.keepalive_timeout_s));
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE,
                             static_cast<int>(options.max_metadata_bytes));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS,
                             static_cast<int>(options.max_concurrent_streams));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                             WholeMilliseconds(options.min_ping_interval_s));
  if (options.max_connection_age_s > 0) {
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS,
                               WholeMilliseconds(options.max_connection_age_s));
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                               WholeMilliseconds(options.max_connection_age_grace_s));
  }
}

absl::Status CannotListen(const std::string& address, absl::string_view why) {
  return absl::UnavailableError(absl::StrCat("cannot listen on ", address, ": ", why));
}

std::string WithPort(const std::string& address, int port) {
  if (IsUnixAddress(address)) return address;
  return address.substr(0, address.rfind(':') + 1) + std::to_string(port);
}

PlannerPoolOptions PoolOptions(const ServerOptions& options) {
  PlannerPoolOptions pool;
  pool.thread_count = options.planner_threads;
  pool.queue_limit = options.limits.max_queued_plans;
  pool.nice = options.planner_nice;
  pool.before_job = options.before_plan;
  return pool;
}

// Long streams are ended before their connection is: a connection that has reached its age is torn
// down a grace later, and a stream may have been opened on it at the last moment before. 0: never.
double StreamAge(const ServerOptions& options) {
  constexpr double kMargin = 0.8;
  if (options.max_connection_age_s <= 0) return 0;
  if (options.max_connection_age_grace_s <= 0) return kMargin * options.max_connection_age_s;
  return kMargin * std::min(options.max_connection_age_s, options.max_connection_age_grace_s);
}

// Ends long streams that have reached their age, on a thread of its own.
class StreamAging {
 public:
  StreamAging(OpenStreams& streams, double age_s) : streams_(streams), age_s_(age_s) {
    if (age_s > 0) thread_ = std::thread([this] { Work(); });
  }
  ~StreamAging() {
    {
      absl::MutexLock lock(&mutex_);
      ending_ = true;
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Work() {
    const absl::Duration period = absl::Seconds(std::clamp(age_s_ / 20, 0.005, 1.0));
    const auto age = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(age_s_));
    absl::MutexLock lock(&mutex_);
    while (!mutex_.AwaitWithTimeout(absl::Condition(&ending_), period)) {
      streams_.EndOlderThan(std::chrono::steady_clock::now() - age);
    }
  }

  OpenStreams& streams_;
  const double age_s_;
  absl::Mutex mutex_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace

// In the order of use: what stands below borrows what stands above, and is destroyed first. The
// pool goes after the gRPC server, whose end waits for every call.
struct Server::Parts {
  Parts(const ServerOptions& options, Metrics& metrics,
        std::unique_ptr<RequestCapture> request_capture)
      : limits(options.limits),
        metrics(metrics),
        log(options.log, metrics),
        capture(std::move(request_capture)),
        navmeshes(options.navmeshes),
        pool(PoolOptions(options)),
        admission(pool, options.max_admitted_bytes, metrics),
        write_stall_s(options.write_stall_s),
        planner(Environment(options.before_plan ? 0 : options.quick_plan_bytes)),
        registry(Environment()),
        follower(Environment()),
        aging(streams, StreamAge(options)) {
    metrics.SetNavMeshSource([this] { return navmeshes.Numbers(); });
    metrics.SetWaitSource([this] { return admission.EstimatedWait(); });
    TickClock::SecondsPerTick();  // Found before the first call has to wait for it.
  }
  ~Parts() {
    metrics.SetWaitSource(nullptr);
    metrics.SetNavMeshSource(nullptr);
  }

  // The address that gRPC is to bind for `address`.
  absl::StatusOr<std::string> PrepareToBind(const std::string& address) {
    if (!IsUnixAddress(address)) return address;
    auto file = SocketFile::Prepare(address);
    if (!file.ok()) return CannotListen(address, file.status().message());
    sockets.emplace_back(address, *std::move(file));
    return sockets.back().second->draft_address();
  }
  // Clients find the Unix sockets from now on.
  absl::Status PublishSockets() {
    for (auto& [address, file] : sockets) {
      if (absl::Status status = file->Publish(); !status.ok()) {
        return CannotListen(address, status.message());
      }
    }
    return absl::OkStatus();
  }

  // Tells the health service's watchers and the metrics.
  void SetServing(bool serving) {
    for (const char* name : {"", kPlannerHealthName, kRegistryHealthName})
      health.Set(name, serving);
    metrics.SetServing(serving);
  }

  // What every handler shares, with plans up to `quick_plan_bytes` made where they arrive.
  ServiceEnvironment Environment(size_t quick_plan_bytes = 0) {
    return {limits,     metrics,          in_flight, streams,       pool,         admission,
            &navmeshes, quick_plan_bytes, &log,      capture.get(), write_stall_s};
  }

  const RequestLimits limits;
  Metrics& metrics;
  AccessLog log;
  std::unique_ptr<ServerSecurity> security;
  std::unique_ptr<RequestCapture> capture;
  InFlight in_flight;
  OpenStreams streams;
  NavMeshBackend navmeshes;
  PlannerPool pool;
  Admission admission;
  const double write_stall_s;
  PathPlannerService planner;
  NavMeshRegistryService registry;
  RouteFollowerService follower;
  StreamAging aging;
  HealthService health;
  ReflectionService reflection{
      {v1::PathPlanner::service_full_name(), v1::NavMeshRegistry::service_full_name(),
       v1::RouteFollower::service_full_name(), grpc::health::v1::Health::service_full_name(),
       grpc::reflection::v1alpha::ServerReflection::service_full_name()},
      streams};
  std::vector<std::string> addresses;
  std::vector<std::string> health_addresses;
  // By the address that each was asked for.
  std::vector<std::pair<std::string, std::unique_ptr<SocketFile>>> sockets;
  int port = 0;
  bool is_shut_down = false;
  std::unique_ptr<grpc::Server> server;
};

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                      Metrics& metrics) {
  std::unique_ptr<RequestCapture> capture;
  if (!options.capture.directory.empty()) {
    auto started = RequestCapture::Start(options.capture);
    if (!started.ok()) return started.status();
    capture = *std::move(started);
  }
  auto parts = std::make_unique<Parts>(options, metrics, std::move(capture));
  auto security = ServerSecurity::Create(options.security, parts->log, metrics);
  if (!security.ok()) return security.status();
  parts->security = *std::move(security);

  grpc::ServerBuilder builder;
  Configure(options, builder);
  std::vector<std::string> addresses = options.addresses;
  addresses.insert(addresses.end(), options.health_addresses.begin(),
                   options.health_addresses.end());
  std::vector<int> ports(addresses.size(), 0);
  for (size_t i = 0; i < ports.size(); ++i) {
    const bool for_health = i >= options.addresses.size();
    const auto bound = parts->PrepareToBind(addresses[i]);
    if (!bound.ok()) return bound.status();
    builder.AddListeningPort(*bound,
                             for_health ? parts->security->HealthCredentials()
                                        : parts->security->CredentialsFor(addresses[i]),
                             &ports[i]);
    if (!for_health && !parts->security->has_tls() && ListensBeyondThisMachine(addresses[i])) {
      Log(LogLevel::kWarn, "everybody in reach of this address can call and read along: no TLS",
          {{"listen", addresses[i]}});
    }
  }
  builder.RegisterService(&parts->planner);
  builder.RegisterService(&parts->registry);
  builder.RegisterService(&parts->follower);
  builder.RegisterService(&parts->health);
  builder.RegisterService(&parts->reflection);
  parts->server = builder.BuildAndStart();
  if (parts->server == nullptr) {
    for (size_t i = 0; i < ports.size(); ++i) {
      if (ports[i] <= 0) return CannotListen(addresses[i], BindError(addresses[i]));
    }
    return absl::UnavailableError("cannot start the gRPC server");
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    auto& bound = i < options.addresses.size() ? parts->addresses : parts->health_addresses;
    bound.push_back(WithPort(addresses[i], ports[i]));
  }
  parts->port = ports.empty() ? 0 : ports[0];
  parts->health.Set(kLivenessHealthName, true);
  parts->SetServing(true);
  std::unique_ptr<Server> server(new Server(std::move(parts)));
  if (absl::Status status = server->parts_->PublishSockets(); !status.ok()) return status;
  return server;
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Server::~Server() {
  if (!parts_->is_shut_down) Shutdown(0, 0);
  parts_->server.reset();
  // Plans whose callers are all gone stop soon, and use the handlers' environment until then.
  parts_->in_flight.AwaitZero(absl::InfiniteFuture());
}

void Server::SetLogOptions(const AccessLogOptions& options) { parts_->log.SetOptions(options); }
void Server::ReloadCertificate() { parts_->security->ReloadSoon(); }

NavMeshBackend& Server::navmeshes() { return parts_->navmeshes; }

const std::vector<std::string>& Server::addresses() const { return parts_->addresses; }
const std::vector<std::string>& Server::health_addresses() const {
  return parts_->health_addresses;
}
int Server::port() const { return parts_->port; }

std::shared_ptr<grpc::Channel> Server::InProcessChannel(const grpc::ChannelArguments& arguments) {
  return parts_->server->InProcessChannel(arguments);
}

bool Server::Shutdown(double delay_s, double timeout_s) {
  Parts& parts = *parts_;
  parts.is_shut_down = true;
  parts.SetServing(false);
  absl::SleepFor(absl::Seconds(delay_s));
  for (auto& [address, file] : parts.sockets) file->Remove();

  // Shutdown tells every client to go elsewhere (GOAWAY) and returns when the last call has ended,
  // or was cancelled at the deadline. Meanwhile streams are ended here, and once all calls are
  // answered nothing that is still open may hold the end up.
  const absl::Time deadline = absl::Now() + absl::Seconds(timeout_s);
  std::promise<void> ended;
  std::thread shutdown([&] {
    // Later than our own deadline: calls that gRPC cancels must not count as answered.
    parts.server->Shutdown(absl::ToChronoTime(deadline + absl::FromChrono(kSettleTime)));
    ended.set_value();
  });
  parts.streams.EndAll();
  parts.health.EndWatches();
  std::future<void> end = ended.get_future();
  bool cut_off = false;
  bool drained = AwaitCalls(parts.in_flight, parts.streams, deadline, cut_off);
  // A call may have been taken before the shutdown and reach its handler only now: what is left is
  // cancelled when nothing was in flight for a while.
  while (end.wait_for(kSettleTime) != std::future_status::ready) {
    if (drained && !cut_off && parts.in_flight.count() != 0) {
      drained = AwaitCalls(parts.in_flight, parts.streams, deadline, cut_off);
    } else {
      grpc_server_cancel_all_calls(parts.server->c_server());
      break;
    }
  }
  shutdown.join();
  return drained;
}

}  // namespace arclane
