// SPDX-License-Identifier: Apache-2.0
// The standard health service, answered on the network threads: it never waits behind planning.
// Own, because gRPC's own one cannot end its watches before a shutdown, which they would hold up.
#ifndef ARCLANE_SERVER_SERVICE_HEALTH_SERVICE_H_
#define ARCLANE_SERVER_SERVICE_HEALTH_SERVICE_H_

#include <map>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "grpc/health/v1/health.grpc.pb.h"

namespace arclane {

// Thread-safe. A name that was never set is NOT_FOUND to Check and SERVICE_UNKNOWN to Watch.
class HealthService final : public grpc::health::v1::Health::CallbackService {
 public:
  using Status = grpc::health::v1::HealthCheckResponse::ServingStatus;

  void Set(const std::string& name, bool serving);
  // Ends every watch with UNAVAILABLE, and lets no further one in.
  void EndWatches();

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context,
                                  const grpc::health::v1::HealthCheckRequest* request,
                                  grpc::health::v1::HealthCheckResponse* response) override;
  grpc::ServerWriteReactor<grpc::health::v1::HealthCheckResponse>* Watch(
      grpc::CallbackServerContext* context,
      const grpc::health::v1::HealthCheckRequest* request) override;

 private:
  class Watcher;

  Status StatusOf(const std::string& name) const ABSL_SHARED_LOCKS_REQUIRED(mutex_);
  // Decide under the lock what a watcher does next; the caller does it without the lock.
  enum class Step { kNothing, kWrite, kFinish };
  Step NextStep(Watcher& watcher) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static void Take(Step step, Watcher& watcher);
  // A watcher's event: it is idle again, or its client went away.
  void Continue(Watcher& watcher, bool write_done, bool gone);

  absl::Mutex mutex_;
  std::map<std::string, Status> statuses_ ABSL_GUARDED_BY(mutex_);
  std::set<Watcher*> watchers_ ABSL_GUARDED_BY(mutex_);
  bool watches_ended_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_HEALTH_SERVICE_H_
