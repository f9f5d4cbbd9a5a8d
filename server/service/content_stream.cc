// SPDX-License-Identifier: Apache-2.0
#include "server/service/content_stream.h"

#include <exception>
#include <limits>
#include <optional>

#include "arclane/v1/navmesh.pb.h"
#include "server/navmesh_codec/content_codec.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/service/call_account.h"
#include "server/service/message_bytes.h"
#include "server/service/registry_call.h"
#include "server/service/status_mapping.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

class ContentStream final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                            private PlannerPool::Job {
 public:
  ContentStream(ServiceEnvironment& environment, grpc::CallbackServerContext& context,
                const grpc::ByteBuffer& request)
      : environment_(environment),
        context_(context),
        request_(request),
        account_(environment, MethodId::kReadNavMesh, CallKind::kStream) {
    account_.trace().Begin(context, &request);
  }

  void Continue() {
    if (!environment_.navmeshes->pool().TryPush(*this)) EndWith(RegistryBusy());
  }

 private:
  void OnWriteDone(bool ok) override {
    if (ok) {
      Continue();
    } else {
      EndWith(CallerGone(context_));
    }
  }
  void OnCancel() override {
    if (environment_.navmeshes->pool().TryRemove(*this)) EndWith(CallerGone(context_));
  }
  void OnDone() override { delete this; }

  // Writes the next part, or ends.
  void Run() override {
    std::optional<Failure> failure;
    try {
      v1::ReadNavMeshResponse part;
      failure = view_ ? Next(part) : Open(part);
      if (!failure && part.part_case() != v1::ReadNavMeshResponse::PART_NOT_SET) {
        grpc::Slice slice;
        if (ToSlice(part, &slice)) {
          bytes_ = grpc::ByteBuffer(&slice, 1);
          StartWrite(&bytes_);
          return;
        }
        failure = AnswerTooLarge();
      }
    } catch (const std::exception& error) {
      Log(LogLevel::kError, "reading a navmesh threw", {{"what", error.what()}});
      failure.emplace().message = "internal error";
    }
    EndWith(failure);
  }

  std::optional<Failure> Open(v1::ReadNavMeshResponse& part) {
    v1::ReadNavMeshRequest request;
    if (!ParseBytes(request_, request)) return MalformedMessage(request);
    auto view = environment_.navmeshes->registry().View(request.navmesh_id(), {request.version()},
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

  void EndWith(const std::optional<Failure>& failure) {
    const grpc::Status status =
        failure ? Refuse(*failure, std::numeric_limits<double>::infinity(), context_)
                : grpc::Status::OK;
    account_.Ended(status);
    Finish(status);
  }

  ServiceEnvironment& environment_;
  grpc::CallbackServerContext& context_;
  const grpc::ByteBuffer& request_;
  CallAccount account_;
  std::optional<NavMeshView> view_;
  uint32_t slot_ = 0;
  grpc::ByteBuffer bytes_;
};

}  // namespace

grpc::ServerWriteReactor<grpc::ByteBuffer>* StartContentStream(ServiceEnvironment& environment,
                                                               grpc::CallbackServerContext& context,
                                                               const grpc::ByteBuffer& request) {
  auto* stream = new ContentStream(environment, context, request);
  stream->Continue();
  return stream;
}

}  // namespace arclane
