// SPDX-License-Identifier: Apache-2.0
// Where the registry keeps what it has acknowledged: keys and values, changed in atomic batches. A
// store knows nothing of navmeshes, so that one that several replicas share can take its place.
#ifndef ARCLANE_SERVER_NAVMESH_NAVMESH_STORE_H_
#define ARCLANE_SERVER_NAVMESH_NAVMESH_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/navmesh/mutex.h"

namespace arclane {

// Keys and values are any bytes. Without a value the key is removed.
struct StoreBatch {
  std::vector<std::pair<std::string, std::optional<std::string>>> operations;

  void Put(std::string key, std::string value) {
    operations.emplace_back(std::move(key), std::move(value));
  }
  void Remove(std::string key) { operations.emplace_back(std::move(key), std::nullopt); }
};

// Thread-safe.
class NavMeshStore {
 public:
  virtual ~NavMeshStore() = default;

  // Once it has returned OK the whole batch survives the death of the process at any instant, and
  // on a durable store that of the machine; otherwise, and when the process dies before, all of it
  // is there or none. Batches take effect in the order in which Commit is called as far as calls do
  // not overlap.
  virtual absl::Status Commit(const StoreBatch& batch) = 0;

  // Visits every key in ascending order. `intact` is false when the value is not what was stored;
  // it may then be anything.
  virtual absl::Status ForEach(
      const std::function<void(std::string_view key, std::string_view value, bool intact)>&
          visit) = 0;

  // Bytes that it takes where it is kept, as far as they can be known; 0 for a store that keeps
  // nothing beyond the process.
  virtual uint64_t SizeBytes() const { return 0; }
};

// Keeps everything in memory and loses it with the process.
class InMemoryStore : public NavMeshStore {
 public:
  absl::Status Commit(const StoreBatch& batch) override;
  absl::Status ForEach(
      const std::function<void(std::string_view, std::string_view, bool)>& visit) override;

 private:
  Mutex mutex_;
  std::map<std::string, std::string> values_ ABSL_GUARDED_BY(mutex_);
};

// Keeps nothing: what a registry without a data directory uses, so that its content is not held
// twice.
class NullStore : public NavMeshStore {
 public:
  absl::Status Commit(const StoreBatch&) override { return absl::OkStatus(); }
  absl::Status ForEach(
      const std::function<void(std::string_view, std::string_view, bool)>&) override {
    return absl::OkStatus();
  }
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_NAVMESH_STORE_H_
