// SPDX-License-Identifier: Apache-2.0
#include "client/sdk/plan_stream.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/sdk/open_plan_stream.h"
#include "client/sdk/plan_batch.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/sync_stream.h"
#include "server/codec/float_columns.h"

namespace arclane {
namespace {

// A message of requests is closed when it has this size.
constexpr size_t kMessageBytes = 256 << 10;
// How often items that wait for a server are looked at for their time being over.
constexpr absl::Duration kExpiryPeriod = absl::Milliseconds(20);

ClientError ErrorWith(absl::StatusCode code, const char* message) {
  ClientError error;
  error.code = code;
  error.message = message;
  return error;
}

// Whether another stream may fare better.
bool MayReopen(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:  // The server ended it without a word.
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::INTERNAL:  // A connection that broke in the middle of a frame.
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::UNKNOWN:
      return true;
    default:
      return false;
  }
}

class ReopeningPlanStream final : public PlanStream {
 public:
  ReopeningPlanStream(v1::PathPlanner::Stub& stub, const PlanStreamOptions& options,
                      const CallOptions& call)
      : stub_(stub),
        options_(options),
        metadata_(call.metadata),
        shared_(std::make_shared<v1::PlanShared>()),
        on_stop_(call.stop, Stop{this}),
        reader_([this] { Serve(); }),
        writer_([this] { WriteAll(); }) {}

  ~ReopeningPlanStream() override {
    End();
    reader_.join();
    writer_.join();
    FailAll(ErrorWith(absl::StatusCode::kCancelled, "the stream was ended by its owner"));
  }

  void SetShared(v1::PlanShared shared) override {
    auto kept = std::make_shared<const v1::PlanShared>(std::move(shared));
    absl::MutexLock lock(&mutex_);
    shared_ = std::move(kept);
  }

  uint64_t Send(v1::PlanItem item, const SendOptions& options, OnAnswer done) override {
    absl::MutexLock lock(&mutex_);
    const uint64_t id = next_id_++;
    Pending& pending = pending_[id];
    pending.item = std::move(item);
    pending.agent_id = options.agent_id;
    if (options.time_budget) pending.end = absl::Now() + *options.time_budget;
    pending.shared = shared_;
    pending.done = std::move(done);
    unsent_.push_back(id);
    return id;
  }

  void Cancel(uint64_t id) override {
    OnAnswer done;
    {
      absl::MutexLock lock(&mutex_);
      const auto found = pending_.find(id);
      if (found == pending_.end()) return;
      if (found->second.is_sent) {
        cancelled_.push_back(id);
        return;
      }
      done = std::move(found->second.done);
      pending_.erase(found);
      std::erase(unsent_, id);
      ++telling_;
    }
    done(ErrorWith(absl::StatusCode::kCancelled, "the item was cancelled before it was sent"));
    absl::MutexLock lock(&mutex_);
    --telling_;
  }

  bool Flush(absl::Duration timeout) override {
    absl::MutexLock lock(&mutex_);
    return mutex_.AwaitWithTimeout(absl::Condition(this, &ReopeningPlanStream::AllAnswered),
                                   timeout);
  }

  int reopened() const override {
    absl::MutexLock lock(&mutex_);
    return std::max(0, opened_ - 1);
  }

 private:
  struct Stop {
    ReopeningPlanStream* stream;
    void operator()() const { stream->End(); }
  };
  struct Pending {
    v1::PlanItem item;
    std::optional<uint64_t> agent_id;
    absl::Time end = absl::InfiniteFuture();
    std::shared_ptr<const v1::PlanShared> shared;
    OnAnswer done;
    bool is_sent = false;
  };
  // One call: the server's stream at hand.
  struct Connection {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReaderWriter<v1::PlanStreamRequest, v1::PlanStreamResponse>> stream;
    std::shared_ptr<const v1::PlanShared> shared;  // As last told; null: nothing was.
    bool going_away = false;
  };

  void End() {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
    if (opening_ != nullptr) opening_->context.TryCancel();
  }

  bool AllAnswered() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return pending_.empty() && telling_ == 0;
  }
  bool HasWork() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (ending_) return true;
    if (connection_ == nullptr || connection_->going_away) return false;
    return !cancelled_.empty() || (!unsent_.empty() && in_flight_ < options_.most_in_flight);
  }
  bool WantsConnection() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return ending_ || !unsent_.empty();
  }
  bool WriterIsIdle() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !writing_; }
  bool IsEnding() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return ending_; }

  // The reader's thread: opens a stream when there is something to send, reads it to its end, and
  // does so again.
  void Serve() {
    absl::Duration backoff = options_.least_backoff;
    while (true) {
      {
        absl::MutexLock lock(&mutex_);
        mutex_.Await(absl::Condition(this, &ReopeningPlanStream::WantsConnection));
        if (ending_) return;
      }
      bool answered = false;
      const grpc::Status status = ServeOne(&answered);
      if (answered) backoff = options_.least_backoff;
      if (!MayReopen(status)) FailAll(DecodeError(status));
      if (!WaitBefore(answered ? absl::ZeroDuration() : backoff)) return;
      if (!answered) backoff = std::min(2 * backoff, options_.most_backoff);
    }
  }

  grpc::Status ServeOne(bool* answered) {
    Connection connection;
    for (const auto& [key, value] : metadata_) connection.context.AddMetadata(key, value);
    connection.context.set_wait_for_ready(false);
    {
      absl::MutexLock lock(&mutex_);
      if (ending_) return grpc::Status::CANCELLED;
      opening_ = &connection;
    }
    // Waits for a connection, or for its failure; an end cancels it.
    connection.stream = stub_.PlanStream(&connection.context);
    {
      absl::MutexLock lock(&mutex_);
      connection_ = &connection;
      ++opened_;
    }
    v1::PlanStreamResponse response;
    while (connection.stream->Read(&response)) {
      *answered |= response.answers_size() > 0;
      if (response.has_going_away()) {
        absl::MutexLock lock(&mutex_);
        connection.going_away = true;
      }
      for (v1::PlanStreamAnswer& answer : *response.mutable_answers()) Tell(answer);
    }
    {
      absl::MutexLock lock(&mutex_);
      connection_ = nullptr;
    }
    connection.context.TryCancel();  // Ends a write that waits.
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &ReopeningPlanStream::WriterIsIdle));
    }
    const grpc::Status status = connection.stream->Finish();
    absl::MutexLock lock(&mutex_);
    opening_ = nullptr;
    SendAllAgain();
    return status;
  }

  // What the ended stream has not answered, in the order in which it was sent first.
  void SendAllAgain() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::deque<uint64_t> again;
    for (auto& [id, pending] : pending_) {
      pending.is_sent = false;
      again.push_back(id);
    }
    unsent_ = std::move(again);
    in_flight_ = 0;
    cancelled_.clear();
  }

  void Tell(v1::PlanStreamAnswer& answer) {
    OnAnswer done;
    {
      absl::MutexLock lock(&mutex_);
      const auto found = pending_.find(answer.correlation_id());
      if (found == pending_.end()) return;
      done = std::move(found->second.done);
      pending_.erase(found);
      --in_flight_;
      ++telling_;
    }
    if (const auto error = ErrorOf(answer.answer())) {
      done(*error);
    } else {
      WidenColumns(answer.mutable_answer());
      done(std::move(*answer.mutable_answer()));
    }
    absl::MutexLock lock(&mutex_);
    --telling_;
  }

  // False when the stream is ended. Meanwhile items whose time is over are told so.
  bool WaitBefore(absl::Duration backoff) {
    const absl::Time next = absl::Now() + backoff;
    while (true) {
      TellExpired();
      absl::MutexLock lock(&mutex_);
      const absl::Duration left = next - absl::Now();
      if (ending_) return false;
      if (left <= absl::ZeroDuration()) return true;
      mutex_.AwaitWithTimeout(absl::Condition(this, &ReopeningPlanStream::IsEnding),
                              std::min(left, kExpiryPeriod));
    }
  }

  void TellExpired() {
    std::vector<OnAnswer> expired;
    {
      absl::MutexLock lock(&mutex_);
      const absl::Time now = absl::Now();
      for (auto it = pending_.begin(); it != pending_.end();) {
        if (it->second.end > now || it->second.is_sent) {
          ++it;
          continue;
        }
        std::erase(unsent_, it->first);
        expired.push_back(std::move(it->second.done));
        it = pending_.erase(it);
        ++telling_;
      }
    }
    for (OnAnswer& done : expired)
      done(ErrorWith(absl::StatusCode::kDeadlineExceeded, "no server answered in time"));
    absl::MutexLock lock(&mutex_);
    telling_ -= static_cast<int>(expired.size());
  }

  void FailAll(const ClientError& error) {
    std::map<uint64_t, Pending> failed;
    {
      absl::MutexLock lock(&mutex_);
      failed.swap(pending_);
      unsent_.clear();
      in_flight_ = 0;
      ++telling_;
    }
    for (auto& [id, pending] : failed) pending.done(error);
    absl::MutexLock lock(&mutex_);
    --telling_;
  }

  // The writer's thread: sends what is there in as few messages as it fits into.
  void WriteAll() {
    v1::PlanStreamRequest request;
    while (true) {
      Connection* connection = nullptr;
      {
        absl::MutexLock lock(&mutex_);
        mutex_.Await(absl::Condition(this, &ReopeningPlanStream::HasWork));
        if (ending_) return;
        connection = connection_;
        writing_ = true;
        Fill(*connection, &request);
      }
      connection->stream->Write(request);  // Where it fails, the reader finds the stream ended.
      absl::MutexLock lock(&mutex_);
      writing_ = false;
    }
  }

  void Fill(Connection& connection, v1::PlanStreamRequest* request)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    request->Clear();
    for (const uint64_t id : cancelled_) request->add_cancelled(id);
    cancelled_.clear();
    size_t bytes = 0;
    const absl::Time now = absl::Now();
    while (!unsent_.empty() && in_flight_ < options_.most_in_flight && bytes < kMessageBytes) {
      Pending& pending = pending_[unsent_.front()];
      if (pending.shared != connection.shared) {
        if (bytes > 0) break;  // Others share what the last message told.
        *request->mutable_shared() = *pending.shared;
        connection.shared = pending.shared;
      }
      v1::PlanStreamItem& item = *request->add_items();
      item.set_correlation_id(unsent_.front());
      if (pending.agent_id) item.set_agent_id(*pending.agent_id);
      if (pending.end != absl::InfiniteFuture()) {
        // What is over already is for the server to say.
        item.set_time_budget_s(std::max(absl::ToDoubleSeconds(pending.end - now), 1e-6));
      }
      *item.mutable_item() = pending.item;
      bytes += item.ByteSizeLong();
      pending.is_sent = true;
      ++in_flight_;
      unsent_.pop_front();
    }
  }

  v1::PathPlanner::Stub& stub_;
  const PlanStreamOptions options_;
  const std::vector<std::pair<std::string, std::string>> metadata_;

  mutable absl::Mutex mutex_;
  std::shared_ptr<const v1::PlanShared> shared_ ABSL_GUARDED_BY(mutex_);
  std::map<uint64_t, Pending> pending_ ABSL_GUARDED_BY(mutex_);  // By id, which is their order.
  std::deque<uint64_t> unsent_ ABSL_GUARDED_BY(mutex_);
  std::vector<uint64_t> cancelled_ ABSL_GUARDED_BY(mutex_);
  size_t in_flight_ ABSL_GUARDED_BY(mutex_) = 0;
  int telling_ ABSL_GUARDED_BY(mutex_) = 0;  // Answers that are being told.
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 1;
  Connection* opening_ ABSL_GUARDED_BY(mutex_) = nullptr;     // From its opening to its end.
  Connection* connection_ ABSL_GUARDED_BY(mutex_) = nullptr;  // While it can be written to.
  int opened_ ABSL_GUARDED_BY(mutex_) = 0;
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::stop_callback<Stop> on_stop_;
  std::thread reader_;
  std::thread writer_;
};

}  // namespace

std::unique_ptr<PlanStream> OpenPlanStream(v1::PathPlanner::Stub& stub,
                                           const PlanStreamOptions& options,
                                           const CallOptions& call) {
  return std::make_unique<ReopeningPlanStream>(stub, options, call);
}

}  // namespace arclane
