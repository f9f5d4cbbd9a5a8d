// SPDX-License-Identifier: Apache-2.0
// Navmeshes and kept answers as the handlers use them: registry, cache, the ledger of what callers
// said has changed, and the threads on which navmeshes are read and changed.
#ifndef ARCLANE_SERVER_SERVICE_NAVMESH_BACKEND_H_
#define ARCLANE_SERVER_SERVICE_NAVMESH_BACKEND_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/cache/invalidation_ledger.h"
#include "server/cache/route_cache.h"
#include "server/navmesh/registry.h"
#include "server/service/planner_pool.h"
#include "server/service/prepared_cache.h"
#include "server/telemetry/metrics.h"

namespace arclane {

struct NavMeshBackendOptions {
  // Null: one in memory, which ends with the server.
  std::shared_ptr<NavMeshRegistry> registry;
  uint64_t cache_bytes = 256 << 20;
  // Largest content of a publication, and most bytes of all publications under way.
  uint64_t max_publish_bytes = 256 << 20;
  // Clients may not change navmeshes and worlds.
  bool read_only = false;
  int threads = 4;
  int nice = 10;
};

// Thread-safe.
class NavMeshBackend {
 public:
  explicit NavMeshBackend(const NavMeshBackendOptions& options);
  ~NavMeshBackend();
  NavMeshBackend(const NavMeshBackend&) = delete;
  NavMeshBackend& operator=(const NavMeshBackend&) = delete;

  NavMeshRegistry& registry() { return *registry_; }
  RouteCache& cache() { return cache_; }
  InvalidationLedger& ledger() { return ledger_; }
  PreparedCache& prepared() { return prepared_; }
  // Registry calls are made here: they parse meshes and wait for the store.
  PlannerPool& pool() { return pool_; }
  // The work of long streams; its queue has no bound, since each stream waits in it at most once.
  PlannerPool& stream_pool() { return stream_pool_; }
  uint64_t max_publish_bytes() const { return options_.max_publish_bytes; }
  bool read_only() const { return options_.read_only; }

  // The clock of worlds' idleness and of flights: seconds, steady.
  static double Now();
  // Tokens of lives: 64 bits from the system's source of randomness. Thread-safe.
  static uint64_t DrawLife();
  // How often idle worlds are looked for, and so how late one may go: a quarter of the time after
  // which they are idle, from .1 to 5 s.
  static double ExpiryPeriod_s(double world_idle_s);

  // Takes a part of the bytes that publications may hold together; false when there is none left.
  bool ReservePublishing(uint64_t bytes);
  void ReleasePublishing(uint64_t bytes);

  NavMeshNumbers Numbers() const;

 private:
  void ExpireWorlds();

  const NavMeshBackendOptions options_;
  const std::shared_ptr<NavMeshRegistry> registry_;
  RouteCache cache_;
  PreparedCache prepared_{cache_};
  InvalidationLedger ledger_;
  std::atomic<uint64_t> publishing_bytes_{0};
  PlannerPool pool_;
  PlannerPool stream_pool_;
  absl::Mutex mutex_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread expiry_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_NAVMESH_BACKEND_H_
