// SPDX-License-Identifier: Apache-2.0
#include "client/sdk/client.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "arclane/v1/planner.grpc.pb.h"
#include "client/sdk/call_context.h"
#include "client/sdk/open_plan_stream.h"
#include "client/sdk/tls_credentials.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "grpcpp/client_context.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "grpcpp/support/channel_arguments.h"
#include "grpcpp/support/client_callback.h"
#include "grpcpp/support/validate_service_config.h"
#include "server/codec/float_columns.h"

namespace arclane {
namespace {

// A broken connection is tried again this soon, then ever later up to the longest wait: a restarted
// server is found quickly, a dead one is not stormed. gRPC's own 1 s and 120 s are too slow for a
// game.
constexpr int kInitialReconnectBackoffMs = 100;
constexpr int kMaxReconnectBackoffMs = 5000;
// How long one attempt may take, from the first packet to the server's settings: handshakes over
// long ways, and servers that are busy, must fit. An attempt that is refused ends at once.
constexpr int kConnectTimeoutMs = 3000;
// A name is looked up again this soon after the last time when connections break. gRPC's own 30 s
// would leave a client with the addresses of servers that were all replaced meanwhile.
constexpr int kMinResolutionIntervalMs = 1000;

absl::Status CheckOptions(const ClientOptions& options) {
  if (options.target.empty()) return absl::InvalidArgumentError("target is empty");
  if (options.deadline <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("deadline must be > 0");
  }
  if (options.keepalive_time <= absl::ZeroDuration() ||
      options.keepalive_timeout <= absl::ZeroDuration()) {
    return absl::InvalidArgumentError("keepalive_time and keepalive_timeout must be > 0");
  }
  if (options.max_message_bytes <= 0) {
    return absl::InvalidArgumentError("max_message_bytes must be > 0");
  }
  const std::string fault =
      grpc::experimental::ValidateServiceConfigJSON(options.service_config_json);
  if (!fault.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("service_config_json: ", fault));
  }
  return absl::OkStatus();
}

ClientError LocalError(absl::StatusCode code, std::string message) {
  ClientError error;
  error.code = code;
  error.message = std::move(message);
  return error;
}

int ToMilliseconds(absl::Duration duration) {
  const int64_t ms = absl::ToInt64Milliseconds(duration);
  return static_cast<int>(std::clamp<int64_t>(ms, 1, std::numeric_limits<int>::max()));
}

std::shared_ptr<grpc::Channel> MakeChannel(
    const ClientOptions& options, const std::shared_ptr<grpc::ChannelCredentials>& credentials) {
  grpc::ChannelArguments arguments;
  arguments.SetServiceConfigJSON(options.service_config_json);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kInitialReconnectBackoffMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectBackoffMs);
  arguments.SetInt(GRPC_ARG_DNS_MIN_TIME_BETWEEN_RESOLUTIONS_MS, kMinResolutionIntervalMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, ToMilliseconds(options.keepalive_time));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, ToMilliseconds(options.keepalive_timeout));
  arguments.SetMaxReceiveMessageSize(options.max_message_bytes);
  arguments.SetMaxSendMessageSize(options.max_message_bytes);
  if (!options.user_agent.empty()) arguments.SetUserAgentPrefix(options.user_agent);
  if (options.tls && !options.tls->server_name.empty()) {
    arguments.SetSslTargetNameOverride(options.tls->server_name);
  }
  return grpc::CreateCustomChannel(options.target, credentials, arguments);
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsOf(
    const ClientOptions& options) {
  if (options.credentials != nullptr) return options.credentials;
  if (options.tls) return MakeTlsCredentials(*options.tls);
  return grpc::InsecureChannelCredentials();
}

// Columns of floats become columns of doubles where they arrive. Other answers have none.
template <typename Response>
void ReadColumns(Response& response) {
  if constexpr (requires { WidenColumns(&response); }) WidenColumns(&response);
}

// One call in flight. Kept alive by the table of calls until its completion takes it from there,
// and by a stop request that is being carried out: a cancellation can complete the call on its own
// thread.
template <typename Request, typename Response>
struct AsyncCall {
  struct CancelShared {
    std::shared_ptr<AsyncCall> call;
    void operator()() const {
      const std::shared_ptr<AsyncCall> kept = call;  // *this may end during the cancellation.
      kept->context.TryCancel();
    }
  };

  grpc::ClientContext context;
  Request request;
  Response response;
  Client::Callback<Response> done;
  std::optional<std::stop_callback<CancelShared>> on_stop;
};

class StreamSession final : public PingSession {
 public:
  StreamSession(v1::PathPlanner::Stub& stub, const CallOptions& call)
      : on_stop_(call.stop, Cancel{&context_}) {
    Prepare(context_, call, call.deadline.value_or(absl::InfiniteDuration()));
    stream_ = stub.PingStream(&context_);
  }
  ~StreamSession() override {
    if (finished_) return;
    context_.TryCancel();
    (void)stream_->Finish();
  }

  Result<v1::PingStreamResponse> Exchange(std::string_view payload,
                                          uint32_t response_size) override {
    if (finished_) return Over();
    v1::PingStreamRequest request;
    request.set_payload(payload.data(), payload.size());
    request.set_response_size(response_size);
    v1::PingStreamResponse response;
    if (stream_->Write(request) && stream_->Read(&response)) return response;
    finished_ = true;
    const grpc::Status status = stream_->Finish();
    if (!status.ok()) return DecodeError(status);
    return LocalError(absl::StatusCode::kUnavailable, "the server ended the stream");
  }

  Result<std::monostate> Finish() override {
    if (finished_) return Over();
    finished_ = true;
    stream_->WritesDone();
    const grpc::Status status = stream_->Finish();
    if (!status.ok()) return DecodeError(status);
    return std::monostate();
  }

 private:
  static ClientError Over() {
    return LocalError(absl::StatusCode::kFailedPrecondition, "the stream is over");
  }

  grpc::ClientContext context_;
  std::stop_callback<Cancel> on_stop_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::PingStreamRequest, v1::PingStreamResponse>> stream_;
  bool finished_ = false;
};

}  // namespace

class Client::Impl {
 public:
  Impl(const ClientOptions& options, const std::shared_ptr<grpc::ChannelCredentials>& credentials)
      : deadline_(options.deadline),
        channel_(MakeChannel(options, credentials)),
        planner_(v1::PathPlanner::NewStub(channel_)),
        health_(grpc::health::v1::Health::NewStub(channel_)),
        navmeshes_(channel_, options.deadline) {}

  ~Impl() {
    std::vector<std::shared_ptr<grpc::ClientContext>> in_flight;
    {
      absl::MutexLock lock(&mutex_);
      closing_ = true;
      for (const auto& [context, kept] : calls_) in_flight.push_back(kept);
    }
    for (const auto& context : in_flight) context->TryCancel();
    in_flight.clear();
    absl::MutexLock lock(&mutex_);
    mutex_.Await(absl::Condition(this, &Impl::NoCallIsLeft));
  }

  v1::PathPlanner::Stub& planner() { return *planner_; }
  grpc::health::v1::Health::Stub& health() { return *health_; }
  NavMeshClient& navmeshes() { return navmeshes_; }

  // `method` is a blocking stub method: (context, request, response) -> status.
  template <typename Response, typename Request, typename Method>
  Result<Response> Call(const Request& request, const CallOptions& call, Method method) {
    grpc::ClientContext context;
    Prepare(context, call, call.deadline.value_or(deadline_));
    const std::stop_callback<Cancel> on_stop(call.stop, Cancel{&context});
    Response response;
    const grpc::Status status = method(&context, request, &response);
    if (!status.ok()) return DecodeError(status);
    ReadColumns(response);
    return response;
  }

  // Whether the stream of a batch broke, and another may pass. Before its first message gRPC itself
  // tries again, as the service config says, but not where a proxy had begun to answer: it resets
  // the stream then, which is INTERNAL, UNKNOWN or CANCELLED without the details that the server's
  // own errors have.
  static bool BrokeOnItsWay(const grpc::Status& status, bool began) {
    switch (status.error_code()) {
      case grpc::StatusCode::UNAVAILABLE:
        return began;
      case grpc::StatusCode::INTERNAL:
      case grpc::StatusCode::UNKNOWN:
      case grpc::StatusCode::CANCELLED:
        return status.error_details().empty();
      default:
        return false;
    }
  }

  // What the last stream has told already is passed over by those behind it.
  Result<std::vector<v1::PlanItemAnswer>> Batch(
      const v1::PlanBatchRequest& request, const CallOptions& call,
      absl::AnyInvocable<void(uint32_t, v1::PlanItemAnswer)> on_answer) {
    constexpr int kMostAttempts = 4;
    const absl::Time end = absl::Now() + call.deadline.value_or(deadline_);
    std::vector<v1::PlanItemAnswer> answers;
    uint32_t told = 0;
    for (int attempt = 1;; ++attempt) {
      grpc::ClientContext context;
      Prepare(context, call, end - absl::Now());
      const std::stop_callback<Cancel> on_stop(call.stop, Cancel{&context});
      const auto reader = planner_->PlanBatch(&context, request);
      v1::PlanBatchResponse response;
      while (reader->Read(&response)) {
        uint32_t index = response.first_index();
        for (v1::PlanItemAnswer& answer : *response.mutable_answers()) {
          if (index++ != told) continue;
          ReadColumns(answer);
          if (on_answer) {
            on_answer(told, std::move(answer));
          } else {
            answers.push_back(std::move(answer));
          }
          ++told;
        }
      }
      const grpc::Status status = reader->Finish();
      if (status.ok()) return answers;
      const bool may_pass = BrokeOnItsWay(status, told > 0) && !call.stop.stop_requested();
      if (!may_pass || attempt == kMostAttempts || absl::Now() >= end) return DecodeError(status);
    }
  }

  // `method` is a callback stub method: (context, request, response, completion).
  template <typename Response, typename Request, typename Method>
  void Start(Request request, const CallOptions& options, Callback<Response> done, Method method) {
    using Call = AsyncCall<Request, Response>;
    auto call = std::make_shared<Call>();
    call->request = std::move(request);
    call->done = std::move(done);
    Prepare(call->context, options, options.deadline.value_or(deadline_));
    {
      absl::MutexLock lock(&mutex_);
      calls_.emplace(&call->context, std::shared_ptr<grpc::ClientContext>(call, &call->context));
      if (closing_) call->context.TryCancel();  // A callback started it while the Client ends.
    }
    if (options.stop.stop_possible()) {
      call->on_stop.emplace(options.stop, typename Call::CancelShared{call});
    }
    method(&call->context, &call->request, &call->response,
           [this, completed = call.get()](const grpc::Status& status) {
             completed->on_stop.reset();
             if (status.ok()) {
               ReadColumns(completed->response);
               completed->done(std::move(completed->response));
             } else {
               completed->done(DecodeError(status));
             }
             Retire(&completed->context);
           });
  }

 private:
  using Calls = absl::flat_hash_map<grpc::ClientContext*, std::shared_ptr<grpc::ClientContext>>;

  // A context holds the channel. It must end before the Client can: a channel that ends on a thread
  // of gRPC's own completion queue waits there for that very thread and takes the queue from under
  // it.
  void Retire(grpc::ClientContext* context) {
    std::shared_ptr<grpc::ClientContext> kept;
    {
      absl::MutexLock lock(&mutex_);
      const auto call = calls_.find(context);
      kept = std::move(call->second);
      calls_.erase(call);
      ++retiring_;
    }
    kept.reset();
    absl::MutexLock lock(&mutex_);
    --retiring_;
  }

  bool NoCallIsLeft() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return calls_.empty() && retiring_ == 0;
  }

  const absl::Duration deadline_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::PathPlanner::Stub> planner_;
  const std::unique_ptr<grpc::health::v1::Health::Stub> health_;
  NavMeshClient navmeshes_;
  absl::Mutex mutex_;
  Calls calls_ ABSL_GUARDED_BY(mutex_);
  int retiring_ ABSL_GUARDED_BY(mutex_) = 0;  // Calls that are over and let go of their context.
  bool closing_ ABSL_GUARDED_BY(mutex_) = false;
};

absl::StatusOr<std::unique_ptr<Client>> Client::Create(const ClientOptions& options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  const auto credentials = CredentialsOf(options);
  if (!credentials.ok()) return credentials.status();
  return std::unique_ptr<Client>(new Client(std::make_unique<Impl>(options, *credentials)));
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

NavMeshClient& Client::navmeshes() { return impl_->navmeshes(); }

Result<v1::PlanCorridorResponse> Client::PlanCorridor(const v1::PlanCorridorRequest& request,
                                                      const CallOptions& options) {
  return impl_->Call<v1::PlanCorridorResponse>(
      request, options, [this](grpc::ClientContext* context, const auto& in, auto* out) {
        return impl_->planner().PlanCorridor(context, in, out);
      });
}

void Client::PlanCorridorAsync(v1::PlanCorridorRequest request, const CallOptions& options,
                               Callback<v1::PlanCorridorResponse> done) {
  impl_->Start<v1::PlanCorridorResponse>(
      std::move(request), options, std::move(done),
      [this](grpc::ClientContext* context, const auto* in, auto* out, auto completed) {
        impl_->planner().async()->PlanCorridor(context, in, out, std::move(completed));
      });
}

Result<v1::PlanWaypointsResponse> Client::PlanWaypoints(const v1::PlanWaypointsRequest& request,
                                                        const CallOptions& options) {
  return impl_->Call<v1::PlanWaypointsResponse>(
      request, options, [this](grpc::ClientContext* context, const auto& in, auto* out) {
        return impl_->planner().PlanWaypoints(context, in, out);
      });
}

void Client::PlanWaypointsAsync(v1::PlanWaypointsRequest request, const CallOptions& options,
                                Callback<v1::PlanWaypointsResponse> done) {
  impl_->Start<v1::PlanWaypointsResponse>(
      std::move(request), options, std::move(done),
      [this](grpc::ClientContext* context, const auto* in, auto* out, auto completed) {
        impl_->planner().async()->PlanWaypoints(context, in, out, std::move(completed));
      });
}

Result<v1::PlanSplineResponse> Client::PlanSpline(const v1::PlanSplineRequest& request,
                                                  const CallOptions& options) {
  return impl_->Call<v1::PlanSplineResponse>(
      request, options, [this](grpc::ClientContext* context, const auto& in, auto* out) {
        return impl_->planner().PlanSpline(context, in, out);
      });
}

void Client::PlanSplineAsync(v1::PlanSplineRequest request, const CallOptions& options,
                             Callback<v1::PlanSplineResponse> done) {
  impl_->Start<v1::PlanSplineResponse>(
      std::move(request), options, std::move(done),
      [this](grpc::ClientContext* context, const auto* in, auto* out, auto completed) {
        impl_->planner().async()->PlanSpline(context, in, out, std::move(completed));
      });
}

Result<v1::PlanSpeedResponse> Client::PlanSpeed(const v1::PlanSpeedRequest& request,
                                                const CallOptions& options) {
  return impl_->Call<v1::PlanSpeedResponse>(
      request, options, [this](grpc::ClientContext* context, const auto& in, auto* out) {
        return impl_->planner().PlanSpeed(context, in, out);
      });
}

void Client::PlanSpeedAsync(v1::PlanSpeedRequest request, const CallOptions& options,
                            Callback<v1::PlanSpeedResponse> done) {
  impl_->Start<v1::PlanSpeedResponse>(
      std::move(request), options, std::move(done),
      [this](grpc::ClientContext* context, const auto* in, auto* out, auto completed) {
        impl_->planner().async()->PlanSpeed(context, in, out, std::move(completed));
      });
}

Result<std::vector<v1::PlanItemAnswer>> Client::PlanBatch(
    const v1::PlanBatchRequest& request, const CallOptions& options,
    absl::AnyInvocable<void(uint32_t, v1::PlanItemAnswer)> on_answer) {
  return impl_->Batch(request, options, std::move(on_answer));
}

std::unique_ptr<PlanStream> Client::OpenPlanStream(const PlanStreamOptions& stream,
                                                   const CallOptions& options) {
  return ::arclane::OpenPlanStream(impl_->planner(), stream, options);
}

Result<v1::GetLimitsResponse> Client::GetLimits(const CallOptions& options) {
  return impl_->Call<v1::GetLimitsResponse>(
      v1::GetLimitsRequest(), options,
      [this](grpc::ClientContext* context, const auto& in, auto* out) {
        return impl_->planner().GetLimits(context, in, out);
      });
}

Result<v1::PingResponse> Client::Ping(std::string_view payload, uint32_t response_size,
                                      const CallOptions& options) {
  v1::PingRequest request;
  request.set_payload(payload.data(), payload.size());
  request.set_response_size(response_size);
  return impl_->Call<v1::PingResponse>(
      request, options, [this](grpc::ClientContext* context, const auto& in, auto* out) {
        return impl_->planner().Ping(context, in, out);
      });
}

void Client::PingAsync(v1::PingRequest request, const CallOptions& options,
                       Callback<v1::PingResponse> done) {
  impl_->Start<v1::PingResponse>(
      std::move(request), options, std::move(done),
      [this](grpc::ClientContext* context, const auto* in, auto* out, auto completed) {
        impl_->planner().async()->Ping(context, in, out, std::move(completed));
      });
}

std::unique_ptr<PingSession> Client::OpenPingStream(const CallOptions& options) {
  return std::make_unique<StreamSession>(impl_->planner(), options);
}

Result<ServingState> Client::CheckHealth(const std::string& service, const CallOptions& options) {
  grpc::health::v1::HealthCheckRequest request;
  request.set_service(service);
  const auto response = impl_->Call<grpc::health::v1::HealthCheckResponse>(
      request, options, [this](grpc::ClientContext* context, const auto& in, auto* out) {
        return impl_->health().Check(context, in, out);
      });
  if (!response.ok()) {
    if (response.error().code == absl::StatusCode::kNotFound) return ServingState::kUnknown;
    return response.error();
  }
  switch (response->status()) {
    case grpc::health::v1::HealthCheckResponse::SERVING:
      return ServingState::kServing;
    case grpc::health::v1::HealthCheckResponse::NOT_SERVING:
      return ServingState::kNotServing;
    default:
      return ServingState::kUnknown;
  }
}

}  // namespace arclane
