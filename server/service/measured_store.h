// SPDX-License-Identifier: Apache-2.0
// A store of navmeshes whose commits are counted and timed.
#ifndef ARCLANE_SERVER_SERVICE_MEASURED_STORE_H_
#define ARCLANE_SERVER_SERVICE_MEASURED_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "server/navmesh/navmesh_store.h"
#include "server/telemetry/metrics.h"

namespace arclane {

// Passes everything on to `store`. Thread-safe; `metrics` must outlive it.
class MeasuredStore : public NavMeshStore {
 public:
  MeasuredStore(std::shared_ptr<NavMeshStore> store, Metrics& metrics);

  absl::Status Commit(const StoreBatch& batch) override;
  absl::Status ForEach(
      const std::function<void(std::string_view, std::string_view, bool)>& visit) override;
  uint64_t SizeBytes() const override;

 private:
  const std::shared_ptr<NavMeshStore> store_;
  Metrics& metrics_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_MEASURED_STORE_H_
