// SPDX-License-Identifier: Apache-2.0
#include "server/service/content_stream.h"

#include <chrono>
#include <optional>

#include "arclane/v1/navmesh.pb.h"
#include "server/navmesh_codec/content_codec.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/service/message_bytes.h"
#include "server/service/open_streams.h"
#include "server/service/registry_fields.h"
#include "server/service/registry_job.h"

namespace arclane {
namespace {

class ContentStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                            private RegistryJob,
                            private OpenStreams::Stream {
 public:
  ContentStream(ServiceEnvironment& environment, grpc::CallbackServerContext& context,
                const grpc::ByteBuffer& request)
      : RegistryJob(environment, MethodId::kReadNavMesh, CallKind::kStream, context, &request),
        request_(request) {}

  void Begin() {
    registered_ = environment().streams.Add(*this);
    QueueWork();
  }

 private:
  void OnWriteDone(bool ok) override {
    unread_.Written();
    if (ok) {
      QueueWork();
    } else {
      EndWith(CallerGone(context()));
    }
  }
  void OnCancel() override { CallerLeft(); }
  void OnDone() override {
    if (registered_) environment().streams.Remove(*this);
    delete this;
  }
  void FinishCall(const grpc::Status& status) override { Finish(status); }
  void End() override {}  // It ends by itself, soon, if its client reads.
  bool IsUnreadSince(std::chrono::steady_clock::time_point time) const override {
    return unread_.IsSince(time);
  }

  // Writes the next part, or ends.
  std::optional<Failure> Work(bool& goes_on) override {
    v1::ReadNavMeshResponse part;
    auto failure = view_ ? Next(part) : Open(part);
    if (failure || part.part_case() == v1::ReadNavMeshResponse::PART_NOT_SET) return failure;
    grpc::Slice slice;
    if (!ToSlice(part, &slice)) return AnswerTooLarge();
    bytes_ = grpc::ByteBuffer(&slice, 1);
    goes_on = true;
    unread_.Writing();
    StartWrite(&bytes_);
    return std::nullopt;
  }

  std::optional<Failure> Open(v1::ReadNavMeshResponse& part) {
    v1::ReadNavMeshRequest request;
    if (!ParseBytes(request_, request)) return MalformedMessage(request);
    if (auto failure = RegistryFields()
                           .Name("navmesh_id", request.navmesh_id())
                           .OptionalName("world_id", request.world_id())
                           .ToFailure())
      return failure;
    auto view = backend().registry().View(request.navmesh_id(), {request.version()},
                                          request.world_id(), NavMeshBackend::Now());
    if (!view.ok()) return ToFailure(view.failure());
    view_.emplace(*std::move(view));
    EncodeOverview(*view_, part.mutable_overview());
    return std::nullopt;
  }

  std::optional<Failure> Next(v1::ReadNavMeshResponse& part) {
    const NavMeshSnapshot& mesh = view_->snapshot();
    while (slot_ < mesh.slot_count() && mesh.tile(slot_) == nullptr) ++slot_;
    if (slot_ < mesh.slot_count()) EncodeTile(mesh, slot_++, part.mutable_tile());
    return std::nullopt;
  }

  const grpc::ByteBuffer& request_;
  bool registered_ = false;
  UnreadTime unread_;
  std::optional<NavMeshView> view_;
  uint32_t slot_ = 0;
  grpc::ByteBuffer bytes_;
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartContentStream(ServiceEnvironment& environment,
                                                               grpc::CallbackServerContext& context,
                                                               const grpc::ByteBuffer& request) {
  auto* stream = new ContentStream(environment, context, request);
  stream->Begin();
  return stream;
}

}  // namespace arclane
