// SPDX-License-Identifier: Apache-2.0
#include "server/service/watch_navmesh_stream.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arclane/v1/navmesh.pb.h"
#include "server/navmesh_codec/change_codec.h"
#include "server/navmesh_codec/description_codec.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/service/long_stream.h"
#include "server/service/message_bytes.h"
#include "server/service/registry_fields.h"

namespace arclane {
namespace {

// Changes that are read from the log at once.
constexpr size_t kEventsPerStep = 256;

class WatchNavMeshStream final : public LongStreamOf<grpc::ServerWriteReactor<grpc::ByteBuffer>> {
 public:
  WatchNavMeshStream(ServiceEnvironment& environment, grpc::CallbackServerContext& context)
      : LongStreamOf(environment, MethodId::kWatchNavMesh, context) {}

  // Parses the request and begins.
  void Begin(const grpc::ByteBuffer& bytes, std::shared_ptr<WatchNavMeshStream> self) {
    if (auto failure = Watch(bytes)) Fail(*std::move(failure));
    Open(std::move(self));
  }

 private:
  std::optional<Failure> Watch(const grpc::ByteBuffer& bytes) {
    v1::WatchNavMeshRequest request;
    if (!ParseBytes(bytes, request)) return MalformedMessage(request);
    if (auto failure = RegistryFields()
                           .Name("navmesh_id", request.navmesh_id())
                           .OptionalName("world_id", request.world_id())
                           .ToFailure())
      return failure;
    WatchRequest watch;
    watch.navmesh_id = request.navmesh_id();
    watch.world_id = request.world_id();
    if (request.has_known_epoch()) watch.known_epoch = Epoch{request.known_epoch()};
    watch.known_life = {request.known_life()};
    // The watcher is destroyed, and calls no more, before this stream is.
    auto watcher = environment().navmeshes->registry().Watch(watch, [this] { Schedule(); });
    if (!watcher.ok()) return ToFailure(watcher.failure());
    watcher_ = *std::move(watcher);
    return std::nullopt;
  }

  // Changes that follow one another go together.
  void Tell() override {
    if (next_ == events_.size()) {
      events_ = watcher_->Poll(kEventsPerStep);
      next_ = 0;
    }
    if (events_.empty()) return;
    v1::WatchNavMeshResponse message;
    EncodeWatchEvent(events_[next_], &message);
    const bool is_change = events_[next_++].type == WatchEvent::Type::kChange;
    while (is_change && next_ < events_.size() &&
           events_[next_].type == WatchEvent::Type::kChange) {
      const WatchEvent& event = events_[next_++];
      EncodeChangeRecord(*event.change, message.mutable_changes()->add_changes());
      message.set_epoch(event.epoch.value);
    }
    if (next_ == events_.size()) {
      events_.clear();
      next_ = 0;
    }
    known_epoch_ = message.epoch();
    life_ = message.life();
    Write(message);
  }

  void WriteEnd(v1::StreamEnd reason, const std::string& detail) override {
    v1::WatchNavMeshResponse message;
    message.set_epoch(known_epoch_);
    message.set_life(life_);
    message.mutable_going_away()->set_reason(reason);
    message.mutable_going_away()->set_detail(detail);
    Write(message);
  }

  void Release() override { watcher_.reset(); }

  std::unique_ptr<NavMeshWatcher> watcher_;
  std::vector<WatchEvent> events_;
  size_t next_ = 0;
  uint64_t known_epoch_ = 0;
  uint64_t life_ = 0;
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartWatchNavMeshStream(
    ServiceEnvironment& environment, grpc::CallbackServerContext& context,
    const grpc::ByteBuffer& request) {
  auto stream = std::make_shared<WatchNavMeshStream>(environment, context);
  WatchNavMeshStream* reactor = stream.get();
  reactor->Begin(request, std::move(stream));
  return reactor;
}

}  // namespace arclane
