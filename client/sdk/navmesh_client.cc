// SPDX-License-Identifier: Apache-2.0
#include "client/sdk/navmesh_client.h"

#include <algorithm>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "arclane/v1/navmesh.grpc.pb.h"
#include "client/sdk/call_context.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "server/digest/digest.h"

namespace arclane {
namespace {

constexpr size_t kPieceBytes = 256 << 10;
// How soon a stream is opened again: at once where the server asked for it, otherwise ever later.
constexpr absl::Duration kFirstPause = absl::Milliseconds(50);
constexpr absl::Duration kLongestPause = absl::Seconds(2);

ClientError Cancelled() {
  ClientError error;
  error.code = absl::StatusCode::kCancelled;
  error.message = "stopped by the caller";
  return error;
}

// Waits, unless a stop is requested first; false then.
bool Pause(absl::Duration duration, const std::stop_token& stop) {
  absl::Mutex mutex;
  bool stopped = false;
  const std::stop_callback on_stop(stop, [&] {
    absl::MutexLock lock(&mutex);
    stopped = true;
  });
  absl::MutexLock lock(&mutex);
  return !mutex.AwaitWithTimeout(absl::Condition(&stopped), duration);
}

// Whether a stream that ended so may do better when it is opened again. CANCELLED: gRPC resets what
// reaches a server that is just stopping, before a handler sees it; UNKNOWN: what some proxies make
// of that.
bool MayPass(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::UNKNOWN:
      return true;
    default:
      return false;
  }
}

// Decides after a stream has ended whether to open another, and waits before that.
class Reopening {
 public:
  explicit Reopening(std::stop_token stop) : stop_(std::move(stop)) {}

  void Received() { pause_ = kFirstPause; }
  // nullopt: open it again. `asked`: the server asked for it.
  std::optional<ClientError> After(const grpc::Status& status, bool asked) {
    if (stop_.stop_requested()) return Cancelled();
    if (asked) return std::nullopt;
    if (!MayPass(status)) return DecodeError(status);
    if (!Pause(pause_, stop_)) return Cancelled();
    pause_ = std::min(2 * pause_, kLongestPause);
    return std::nullopt;
  }

 private:
  const std::stop_token stop_;
  absl::Duration pause_ = kFirstPause;
};

class WatchSession final : public NavMeshWatch {
 public:
  WatchSession(v1::NavMeshRegistry::Stub& stub, v1::WatchNavMeshRequest request, CallOptions call)
      : stub_(stub), request_(std::move(request)), call_(std::move(call)), reopening_(call_.stop) {}
  ~WatchSession() override { Close(); }

  Result<v1::WatchNavMeshResponse> Next() override {
    while (!over_) {
      if (stream_ == nullptr) Open();
      v1::WatchNavMeshResponse event;
      if (!stream_->Read(&event)) {
        over_ = reopening_.After(Finish(), std::exchange(asked_, false));
        continue;
      }
      reopening_.Received();
      if (!event.has_going_away()) {
        request_.set_known_epoch(event.epoch());
        request_.set_known_life(event.life());
        return event;
      }
      asked_ = event.going_away().reason() == v1::STREAM_END_GOING_AWAY;
      if (event.going_away().reason() == v1::STREAM_END_TOO_SLOW) asked_ = true;
    }
    return *over_;
  }

 private:
  void Open() {
    context_ = std::make_unique<grpc::ClientContext>();
    Prepare(*context_, call_, absl::InfiniteDuration());
    stream_ = stub_.WatchNavMesh(context_.get(), request_);
    on_stop_.emplace(call_.stop, Cancel{context_.get()});
  }
  grpc::Status Finish() {
    on_stop_.reset();
    const grpc::Status status = stream_->Finish();
    stream_.reset();
    return status;
  }
  void Close() {
    if (stream_ == nullptr) return;
    context_->TryCancel();
    (void)Finish();
  }

  v1::NavMeshRegistry::Stub& stub_;
  v1::WatchNavMeshRequest request_;  // With the last epoch told, and the life that told it.
  const CallOptions call_;
  Reopening reopening_;
  bool asked_ = false;
  std::optional<ClientError> over_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::unique_ptr<grpc::ClientReader<v1::WatchNavMeshResponse>> stream_;
  std::optional<std::stop_callback<Cancel>> on_stop_;
};

class RoutesSession final : public RoutesWatch {
 public:
  RoutesSession(v1::NavMeshRegistry::Stub& stub, v1::WatchRoutesScope scope, CallOptions call)
      : stub_(stub), scope_(std::move(scope)), call_(std::move(call)), reopening_(call_.stop) {
    Open();
  }
  ~RoutesSession() override {
    if (stream_ == nullptr) return;
    context_->TryCancel();
    (void)Finish();
  }

  void Update(const v1::WatchRoutesRequest& request) override {
    absl::MutexLock lock(&mutex_);
    for (const uint64_t id : request.removed()) routes_.erase(id);
    for (const v1::WatchedRoute& route : request.added()) routes_[route.route_id()] = route;
    v1::WatchRoutesRequest sent = request;
    sent.clear_scope();
    // A stream that has ended meanwhile is opened again with all routes.
    if (stream_ == nullptr) return;
    ++sent_;
    (void)stream_->Write(sent);
  }

  Result<v1::WatchRoutesResponse> Next() override {
    while (!over_) {
      v1::WatchRoutesResponse event;
      if (!stream_->Read(&event)) {
        over_ = reopening_.After(Finish(), std::exchange(asked_, false));
        if (!over_) Open();
        continue;
      }
      reopening_.Received();
      if (event.has_going_away()) {
        asked_ = event.going_away().reason() == v1::STREAM_END_GOING_AWAY;
        continue;
      }
      absl::MutexLock lock(&mutex_);
      for (const uint64_t id : event.stale().route_id()) routes_.erase(id);
      // What is known to be current now need not be asked for from its plan on.
      if (event.has_synced() && event.request_count() == sent_) {
        for (auto& [id, route] : routes_) {
          route.set_epoch(event.epoch());
          route.set_world_epoch(event.world_epoch());
          route.set_life(event.life());
          route.set_world_life(event.world_life());
        }
      }
      return event;
    }
    return *over_;
  }

 private:
  void Open() {
    absl::MutexLock lock(&mutex_);
    context_ = std::make_unique<grpc::ClientContext>();
    Prepare(*context_, call_, absl::InfiniteDuration());
    stream_ = stub_.WatchRoutes(context_.get());
    on_stop_.emplace(call_.stop, Cancel{context_.get()});
    v1::WatchRoutesRequest request;
    *request.mutable_scope() = scope_;
    for (const auto& [id, route] : routes_) *request.add_added() = route;
    sent_ = 1;
    (void)stream_->Write(request);
  }
  grpc::Status Finish() {
    absl::MutexLock lock(&mutex_);
    on_stop_.reset();
    const grpc::Status status = stream_->Finish();
    stream_.reset();
    return status;
  }

  v1::NavMeshRegistry::Stub& stub_;
  const v1::WatchRoutesScope scope_;
  const CallOptions call_;
  Reopening reopening_;
  bool asked_ = false;
  std::optional<ClientError> over_;
  std::unique_ptr<grpc::ClientContext> context_;
  std::optional<std::stop_callback<Cancel>> on_stop_;
  absl::Mutex mutex_;  // Of writing, and of the stream's coming and going.
  std::map<uint64_t, v1::WatchedRoute> routes_ ABSL_GUARDED_BY(mutex_);
  uint64_t sent_ ABSL_GUARDED_BY(mutex_) = 0;  // Requests on this stream.
  // Replaced under the mutex by the thread that reads, which therefore reads it without.
  std::unique_ptr<grpc::ClientReaderWriter<v1::WatchRoutesRequest, v1::WatchRoutesResponse>>
      stream_;
};

}  // namespace

class NavMeshClient::Impl {
 public:
  Impl(std::shared_ptr<grpc::Channel> channel, absl::Duration deadline)
      : deadline_(deadline), stub_(v1::NavMeshRegistry::NewStub(std::move(channel))) {}

  v1::NavMeshRegistry::Stub& stub() { return *stub_; }
  absl::Duration deadline() const { return deadline_; }

  template <typename Response, typename Request>
  Result<Response> Call(grpc::Status (v1::NavMeshRegistry::Stub::*method)(grpc::ClientContext*,
                                                                          const Request&,
                                                                          Response*),
                        const Request& request, const CallOptions& call) {
    grpc::ClientContext context;
    Prepare(context, call, call.deadline.value_or(deadline_));
    const std::stop_callback<Cancel> on_stop(call.stop, Cancel{&context});
    Response response;
    const grpc::Status status = (stub_.get()->*method)(&context, request, &response);
    if (!status.ok()) return DecodeError(status);
    return response;
  }

  // `open` starts the client stream.
  template <typename Request, typename Response, typename Header, typename Open>
  Result<Response> Send(Header header, std::string_view content, const CallOptions& call,
                        Open open) {
    header.set_content_bytes(content.size());
    if (!content.empty()) header.set_content_sha256(std::string(DigestOf(content).view()));
    grpc::ClientContext context;
    Prepare(context, call, call.deadline.value_or(absl::InfiniteDuration()));
    const std::stop_callback<Cancel> on_stop(call.stop, Cancel{&context});
    Response response;
    auto writer = open(&context, &response);
    Request request;
    *request.mutable_header() = std::move(header);
    bool is_open = writer->Write(request);
    for (size_t at = 0; is_open && at < content.size(); at += kPieceBytes) {
      request.set_content(std::string(content.substr(at, kPieceBytes)));
      is_open = writer->Write(request);
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (!status.ok()) return DecodeError(status);
    return response;
  }

 private:
  const absl::Duration deadline_;
  const std::unique_ptr<v1::NavMeshRegistry::Stub> stub_;
};

NavMeshClient::NavMeshClient(std::shared_ptr<grpc::Channel> channel, absl::Duration deadline)
    : impl_(std::make_unique<Impl>(std::move(channel), deadline)) {}
NavMeshClient::~NavMeshClient() = default;

Result<v1::PublishNavMeshResponse> NavMeshClient::Publish(v1::PublishNavMeshHeader header,
                                                          std::string_view content,
                                                          const CallOptions& options) {
  return impl_->Send<v1::PublishNavMeshRequest, v1::PublishNavMeshResponse>(
      std::move(header), content, options, [this](auto* context, auto* response) {
        return impl_->stub().PublishNavMesh(context, response);
      });
}

Result<v1::UpdateTilesResponse> NavMeshClient::UpdateTiles(v1::UpdateTilesHeader header,
                                                           std::string_view content,
                                                           const CallOptions& options) {
  return impl_->Send<v1::UpdateTilesRequest, v1::UpdateTilesResponse>(
      std::move(header), content, options, [this](auto* context, auto* response) {
        return impl_->stub().UpdateTiles(context, response);
      });
}

Result<v1::ApplyChangesResponse> NavMeshClient::ApplyChanges(const v1::ApplyChangesRequest& request,
                                                             const CallOptions& options) {
  return impl_->Call(&v1::NavMeshRegistry::Stub::ApplyChanges, request, options);
}

Result<v1::ActivateNavMeshResponse> NavMeshClient::Activate(
    const v1::ActivateNavMeshRequest& request, const CallOptions& options) {
  return impl_->Call(&v1::NavMeshRegistry::Stub::ActivateNavMesh, request, options);
}

Result<v1::RetireNavMeshResponse> NavMeshClient::Retire(const v1::RetireNavMeshRequest& request,
                                                        const CallOptions& options) {
  return impl_->Call(&v1::NavMeshRegistry::Stub::RetireNavMesh, request, options);
}

Result<v1::DeleteNavMeshResponse> NavMeshClient::Delete(const v1::DeleteNavMeshRequest& request,
                                                        const CallOptions& options) {
  return impl_->Call(&v1::NavMeshRegistry::Stub::DeleteNavMesh, request, options);
}

Result<v1::GetNavMeshResponse> NavMeshClient::Get(const v1::GetNavMeshRequest& request,
                                                  const CallOptions& options) {
  return impl_->Call(&v1::NavMeshRegistry::Stub::GetNavMesh, request, options);
}

Result<v1::ListNavMeshesResponse> NavMeshClient::List(const v1::ListNavMeshesRequest& request,
                                                      const CallOptions& options) {
  return impl_->Call(&v1::NavMeshRegistry::Stub::ListNavMeshes, request, options);
}

Result<v1::CreateWorldResponse> NavMeshClient::CreateWorld(const v1::CreateWorldRequest& request,
                                                           const CallOptions& options) {
  return impl_->Call(&v1::NavMeshRegistry::Stub::CreateWorld, request, options);
}

Result<v1::MoveWorldResponse> NavMeshClient::MoveWorld(const v1::MoveWorldRequest& request,
                                                       const CallOptions& options) {
  return impl_->Call(&v1::NavMeshRegistry::Stub::MoveWorld, request, options);
}

Result<v1::ListWorldsResponse> NavMeshClient::ListWorlds(const v1::ListWorldsRequest& request,
                                                         const CallOptions& options) {
  return impl_->Call(&v1::NavMeshRegistry::Stub::ListWorlds, request, options);
}

Result<v1::DeleteWorldResponse> NavMeshClient::DeleteWorld(const v1::DeleteWorldRequest& request,
                                                           const CallOptions& options) {
  return impl_->Call(&v1::NavMeshRegistry::Stub::DeleteWorld, request, options);
}

Result<v1::InvalidateNavMeshResponse> NavMeshClient::Invalidate(
    const v1::InvalidateNavMeshRequest& request, const CallOptions& options) {
  return impl_->Call(&v1::NavMeshRegistry::Stub::InvalidateNavMesh, request, options);
}

Result<std::monostate> NavMeshClient::Read(
    const v1::ReadNavMeshRequest& request,
    const std::function<void(const v1::ReadNavMeshResponse&)>& take, const CallOptions& options) {
  grpc::ClientContext context;
  Prepare(context, options, options.deadline.value_or(absl::InfiniteDuration()));
  const std::stop_callback<Cancel> on_stop(options.stop, Cancel{&context});
  auto reader = impl_->stub().ReadNavMesh(&context, request);
  v1::ReadNavMeshResponse part;
  while (reader->Read(&part)) take(part);
  const grpc::Status status = reader->Finish();
  if (!status.ok()) return DecodeError(status);
  return std::monostate();
}

std::unique_ptr<NavMeshWatch> NavMeshClient::Watch(const v1::WatchNavMeshRequest& request,
                                                   const CallOptions& options) {
  return std::make_unique<WatchSession>(impl_->stub(), request, options);
}

std::unique_ptr<RoutesWatch> NavMeshClient::WatchRoutes(const v1::WatchRoutesScope& scope,
                                                        const CallOptions& options) {
  return std::make_unique<RoutesSession>(impl_->stub(), scope, options);
}

}  // namespace arclane
