// SPDX-License-Identifier: Apache-2.0
#include "server/service/health_service.h"

#include <optional>
#include <utility>
#include <vector>

namespace arclane {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

// Its state belongs to the service's lock. While a write is going on or a finish was decided,
// nothing else may be started; a watcher lives until it was finished, so that the step decided
// under the lock can be taken after it.
class HealthService::Watcher final : public grpc::ServerWriteReactor<HealthCheckResponse> {
 public:
  Watcher(HealthService& service, std::string name) : service_(service), name_(std::move(name)) {}

  void OnWriteDone(bool ok) override {
    service_.Continue(*this, /*write_done=*/true, /*gone=*/!ok);
  }
  void OnCancel() override { service_.Continue(*this, /*write_done=*/false, /*gone=*/true); }
  void OnDone() override {
    {
      absl::MutexLock lock(&service_.mutex_);
      service_.watchers_.erase(this);
    }
    delete this;
  }

 private:
  friend class HealthService;
  ~Watcher() override = default;

  HealthService& service_;
  const std::string name_;
  HealthCheckResponse response_;
  std::optional<Status> told_;
  bool writing_ = false;
  bool gone_ = false;
  bool finished_ = false;
};

void HealthService::Set(const std::string& name, bool serving) {
  std::vector<std::pair<Step, Watcher*>> steps;
  {
    absl::MutexLock lock(&mutex_);
    statuses_[name] = serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
    for (Watcher* watcher : watchers_) steps.emplace_back(NextStep(*watcher), watcher);
  }
  for (const auto& [step, watcher] : steps) Take(step, *watcher);
}

void HealthService::EndWatches() {
  std::vector<std::pair<Step, Watcher*>> steps;
  {
    absl::MutexLock lock(&mutex_);
    watches_ended_ = true;
    for (Watcher* watcher : watchers_) steps.emplace_back(NextStep(*watcher), watcher);
  }
  for (const auto& [step, watcher] : steps) Take(step, *watcher);
}

grpc::ServerUnaryReactor* HealthService::Check(grpc::CallbackServerContext* context,
                                               const HealthCheckRequest* request,
                                               HealthCheckResponse* response) {
  auto* reactor = context->DefaultReactor();
  Status status = HealthCheckResponse::SERVICE_UNKNOWN;
  {
    absl::MutexLock lock(&mutex_);
    status = StatusOf(request->service());
  }
  if (status == HealthCheckResponse::SERVICE_UNKNOWN) {
    reactor->Finish({grpc::StatusCode::NOT_FOUND, "no such service"});
  } else {
    response->set_status(status);
    reactor->Finish(grpc::Status::OK);
  }
  return reactor;
}

grpc::ServerWriteReactor<HealthCheckResponse>* HealthService::Watch(
    grpc::CallbackServerContext*, const HealthCheckRequest* request) {
  auto* watcher = new Watcher(*this, request->service());
  Step step = Step::kNothing;
  {
    absl::MutexLock lock(&mutex_);
    watchers_.insert(watcher);
    step = NextStep(*watcher);
  }
  Take(step, *watcher);
  return watcher;
}

HealthService::Status HealthService::StatusOf(const std::string& name) const {
  const auto found = statuses_.find(name);
  return found == statuses_.end() ? HealthCheckResponse::SERVICE_UNKNOWN : found->second;
}

HealthService::Step HealthService::NextStep(Watcher& watcher) {
  if (watcher.writing_ || watcher.finished_) return Step::kNothing;
  const Status status = StatusOf(watcher.name_);
  if (!watcher.gone_ && watcher.told_ != status) {
    watcher.told_ = status;
    watcher.response_.set_status(status);
    watcher.writing_ = true;
    return Step::kWrite;
  }
  if (!watcher.gone_ && !watches_ended_) return Step::kNothing;
  watcher.finished_ = true;
  return Step::kFinish;
}

void HealthService::Take(Step step, Watcher& watcher) {
  switch (step) {
    case Step::kNothing:
      return;
    case Step::kWrite:
      watcher.StartWrite(&watcher.response_);
      return;
    case Step::kFinish:
      watcher.Finish({grpc::StatusCode::UNAVAILABLE, "the watch has ended"});
      return;
  }
}

void HealthService::Continue(Watcher& watcher, bool write_done, bool gone) {
  Step step = Step::kNothing;
  {
    absl::MutexLock lock(&mutex_);
    if (write_done) watcher.writing_ = false;
    watcher.gone_ = watcher.gone_ || gone;
    step = NextStep(watcher);
  }
  Take(step, watcher);
}

}  // namespace arclane
