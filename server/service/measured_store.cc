// SPDX-License-Identifier: Apache-2.0
#include "server/service/measured_store.h"

#include <chrono>
#include <utility>

namespace arclane {

MeasuredStore::MeasuredStore(std::shared_ptr<NavMeshStore> store, Metrics& metrics)
    : store_(std::move(store)), metrics_(metrics) {}

absl::Status MeasuredStore::Commit(const StoreBatch& batch) {
  const auto start = std::chrono::steady_clock::now();
  absl::Status status = store_->Commit(batch);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  metrics_.StoreCommitted(status.ok(), taken.count());
  return status;
}

absl::Status MeasuredStore::ForEach(
    const std::function<void(std::string_view, std::string_view, bool)>& visit) {
  return store_->ForEach(visit);
}

uint64_t MeasuredStore::SizeBytes() const { return store_->SizeBytes(); }

}  // namespace arclane
