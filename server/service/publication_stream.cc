// SPDX-License-Identifier: Apache-2.0
#include "server/service/publication_stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include "server/service/registry_methods.h"

namespace arclane {
namespace {

// Memory that is taken before a byte of the content has come.
constexpr uint64_t kFirstBytes = 1 << 20;

Failure Draining() {
  Failure failure;
  failure.reason = FailureReason::kDraining;
  failure.message = "the server stops; publish at another";
  return failure;
}

}  // namespace

PublicationStream::~PublicationStream() { backend().ReleasePublishing(reserved_); }

void PublicationStream::Begin() {
  registered_ = environment().streams.Add(*this);
  if (registered_) {
    absl::MutexLock lock(&mutex_);
    if (!left_reading_) StartRead(&piece_);
  } else if (LeaveReading()) {
    EndWith(Draining());
  }
}

bool PublicationStream::LeaveReading() {
  absl::MutexLock lock(&mutex_);
  return !std::exchange(left_reading_, true);
}

void PublicationStream::End() {
  if (LeaveReading()) EndWith(Draining());
}

void PublicationStream::OnDone() {
  if (registered_) environment().streams.Remove(*this);
  delete this;
}

std::optional<Failure> PublicationStream::Announce(uint64_t content_bytes) {
  if (auto refusal = RefuseChange(backend())) return refusal;
  if (content_bytes > backend().max_publish_bytes()) {
    Failure failure;
    failure.reason = FailureReason::kTooLarge;
    failure.message = "the content has " + std::to_string(content_bytes) +
                      " bytes, the limit max_publish_bytes is " +
                      std::to_string(backend().max_publish_bytes());
    failure.metadata = {{"limit", "max_publish_bytes"},
                        {"maximum", std::to_string(backend().max_publish_bytes())},
                        {"requested", std::to_string(content_bytes)}};
    return failure;
  }
  if (!backend().ReservePublishing(content_bytes)) return RegistryBusy();
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
  std::optional<Failure> failure;
  if (ok) {
    failure = Take(piece_);
    if (!failure) {
      // Under the lock, so that End cannot finish the stream between the decision and the read.
      absl::MutexLock lock(&mutex_);
      if (!left_reading_) StartRead(&piece_);
      return;
    }
  } else {  // The client has sent all, or is gone.
    failure = context().IsCancelled() ? CallerGone(context()) : Complete();
  }
  if (!LeaveReading()) return;
  if (failure) {
    EndWith(failure);
  } else {
    QueueWork();
  }
}

}  // namespace arclane
