// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/navmesh_store.h"

namespace arclane {

absl::Status InMemoryStore::Commit(const StoreBatch& batch) {
  MutexLock lock(mutex_);
  for (const auto& [key, value] : batch.operations) {
    if (value)
      values_[key] = *value;
    else
      values_.erase(key);
  }
  return absl::OkStatus();
}

absl::Status InMemoryStore::ForEach(
    const std::function<void(std::string_view, std::string_view, bool)>& visit) {
  MutexLock lock(mutex_);
  for (const auto& [key, value] : values_) visit(key, value, true);
  return absl::OkStatus();
}

}  // namespace arclane
