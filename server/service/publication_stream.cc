// SPDX-License-Identifier: Apache-2.0
#include "server/service/publication_stream.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <string>

#include "server/service/registry_call.h"
#include "server/service/registry_methods.h"
#include "server/service/status_mapping.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

// Memory that is taken before a byte of the content has come.
constexpr uint64_t kFirstBytes = 1 << 20;

}  // namespace

PublicationStream::PublicationStream(ServiceEnvironment& environment, MethodId method,
                                     grpc::CallbackServerContext& context,
                                     grpc::ByteBuffer& response)
    : environment_(environment),
      context_(context),
      response_(response),
      account_(environment, method, CallKind::kStream) {
  account_.trace().Begin(context);
}

PublicationStream::~PublicationStream() { environment_.navmeshes->ReleasePublishing(reserved_); }

std::optional<Failure> PublicationStream::Announce(uint64_t content_bytes) {
  NavMeshBackend& backend = *environment_.navmeshes;
  if (auto refusal = RefuseChange(backend)) return refusal;
  if (content_bytes > backend.max_publish_bytes()) {
    Failure failure;
    failure.reason = FailureReason::kTooLarge;
    failure.message = "the content has " + std::to_string(content_bytes) +
                      " bytes, the limit max_publish_bytes is " +
                      std::to_string(backend.max_publish_bytes());
    failure.metadata = {{"limit", "max_publish_bytes"},
                        {"maximum", std::to_string(backend.max_publish_bytes())},
                        {"requested", std::to_string(content_bytes)}};
    return failure;
  }
  if (!backend.ReservePublishing(content_bytes)) return RegistryBusy();
  reserved_ = content_bytes;
  announced_ = content_bytes;
  content_.reserve(std::min(content_bytes, kFirstBytes));
  return std::nullopt;
}

std::optional<Failure> PublicationStream::Append(const std::string& bytes) {
  if (bytes.size() > *announced_ - content_.size()) {
    return InvalidFields(
        {{"header.content_bytes", "is " + std::to_string(*announced_) + ", but more bytes came"}});
  }
  content_ += bytes;
  return std::nullopt;
}

std::optional<Failure> PublicationStream::Complete() {
  if (!announced_) return InvalidFields({{"header", "required: the first message"}});
  if (content_.size() == *announced_) return std::nullopt;
  return InvalidFields(
      {{"header.content_bytes", "is " + std::to_string(*announced_) + ", but " +
                                    std::to_string(content_.size()) + " bytes came"}});
}

void PublicationStream::OnReadDone(bool ok) {
  if (ok) {
    if (auto failure = Take(piece_)) {
      EndWith(failure);
    } else {
      StartRead(&piece_);
    }
    return;
  }
  // The client has sent all, or is gone.
  if (context_.IsCancelled()) {
    EndWith(CallerGone(context_));
  } else if (auto failure = Complete()) {
    EndWith(failure);
  } else if (!environment_.navmeshes->pool().TryPush(*this)) {
    EndWith(RegistryBusy());
  }
}

void PublicationStream::OnCancel() {
  if (environment_.navmeshes->pool().TryRemove(*this)) EndWith(CallerGone(context_));
}

void PublicationStream::Run() {
  if (context_.IsCancelled()) {
    EndWith(CallerGone(context_));
    return;
  }
  std::optional<Failure> failure;
  try {
    failure = Answer(*environment_.navmeshes, content_, response_);
  } catch (const std::exception& error) {
    Log(LogLevel::kError, "a publication threw", {{"what", error.what()}});
    failure.emplace().message = "internal error";
  }
  EndWith(failure);
}

void PublicationStream::EndWith(const std::optional<Failure>& failure) {
  const grpc::Status status =
      failure ? Refuse(*failure, std::numeric_limits<double>::infinity(), context_)
              : grpc::Status::OK;
  account_.Ended(status);
  Finish(status);
}

}  // namespace arclane
