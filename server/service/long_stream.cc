// SPDX-License-Identifier: Apache-2.0
#include "server/service/long_stream.h"

#include <limits>
#include <utility>

#include "server/service/registry_job.h"
#include "server/service/status_mapping.h"

namespace arclane {

LongStream::LongStream(ServiceEnvironment& environment, MethodId method,
                       grpc::CallbackServerContext& context)
    : StreamWork(environment.navmeshes->stream_pool()),
      environment_(environment),
      context_(context),
      account_(environment, method, CallKind::kStream) {
  account_.trace().Begin(context);
}

void LongStream::Open(std::shared_ptr<LongStream> self) {
  self_ = std::move(self);
  registered_ = environment_.streams.Add(*this);
  if (registered_) {
    ReadNext();
  } else {
    absl::MutexLock lock(&mutex_);
    told_.ending = true;
  }
  Schedule();
}

void LongStream::Step() {
  if (finished_) return;
  Told told;
  {
    absl::MutexLock lock(&mutex_);
    told = told_;
    told_.read = false;
  }
  if (told.gone) {
    Conclude(ToStatus(CallerGone(context_)));
    return;
  }
  if (told.read && !failure_) {
    failure_ = Take();
    if (!failure_) ReadNext();
  }
  if (told.writing) return;  // Its end has the next step made.
  if (last_) {
    Conclude(StatusOf(*last_));
  } else if (failure_) {
    Conclude(Refuse(*failure_, std::numeric_limits<double>::infinity(), context_));
  } else if (told.ending) {
    WriteEnd(v1::STREAM_END_GOING_AWAY, kGoingAwayDetail);
  } else if (told.read_ended) {
    Conclude(grpc::Status::OK);
  } else {
    Tell();
    if (failure_ && !finished_)
      Conclude(Refuse(*failure_, std::numeric_limits<double>::infinity(), context_));
  }
}

grpc::Status LongStream::ToStatusOf(const Failure& failure) { return ToStatus(failure); }

void LongStream::WriteBytes(const grpc::Slice& slice) {
  outgoing_ = grpc::ByteBuffer(&slice, 1);
  {
    absl::MutexLock lock(&mutex_);
    told_.writing = true;
  }
  unread_.Writing();
  StartWriting(&outgoing_);
}

void LongStream::Conclude(const grpc::Status& status) {
  finished_ = true;
  Release();
  account_.Ended(status);
  FinishStream(status);
}

void LongStream::WasWritten(bool ok) {
  unread_.Written();
  {
    absl::MutexLock lock(&mutex_);
    told_.writing = false;
    told_.gone |= !ok;
  }
  Schedule();
}

void LongStream::WasRead(bool ok) {
  {
    absl::MutexLock lock(&mutex_);
    (ok ? told_.read : told_.read_ended) = true;
  }
  Schedule();
}

void LongStream::ClientLeft() {
  {
    absl::MutexLock lock(&mutex_);
    told_.gone = true;
  }
  Schedule();
}

void LongStream::IsDone() {
  if (registered_) environment_.streams.Remove(*this);
  self_.reset();
}

void LongStream::End() {
  {
    absl::MutexLock lock(&mutex_);
    told_.ending = true;
  }
  Schedule();
}

}  // namespace arclane
