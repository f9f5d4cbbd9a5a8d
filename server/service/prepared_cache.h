// SPDX-License-Identifier: Apache-2.0
// Prepared corridors and curves, kept beside the answers in the route cache: under the same bound
// and, for corridors, the same stamps.
#ifndef ARCLANE_SERVER_SERVICE_PREPARED_CACHE_H_
#define ARCLANE_SERVER_SERVICE_PREPARED_CACHE_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "server/cache/cache_key.h"
#include "server/cache/route_cache.h"
#include "server/pipeline/prepared_plans.h"

namespace arclane {

// Thread-safe; lock-free but for the cache's own locks.
class PreparedCache final : public PreparedPlans {
 public:
  // The cache must outlive this.
  explicit PreparedCache(RouteCache& cache) : cache_(cache) {}

  std::shared_ptr<const PreparedRefs> FindCorridor(std::string_view key,
                                                   const NavMeshView& view) override;
  bool WantsCorridor(std::string_view key, const NavMeshView& view) override;
  void KeepCorridor(std::string_view key, const NavMeshView& view,
                    std::shared_ptr<const PreparedRefs> corridor) override;
  std::shared_ptr<const ArcLengthMap> FindCurve(std::string_view key) override;
  bool WantsCurve(std::string_view key) override;
  void KeepCurve(std::string_view key, std::shared_ptr<const ArcLengthMap> map) override;

  struct Counters {
    uint64_t corridor_hits = 0, corridor_misses = 0;
    uint64_t curve_hits = 0, curve_misses = 0;
  };
  Counters counters() const;

 private:
  // Fingerprints that were asked for lately; a later one takes the place of an earlier one.
  static constexpr size_t kRemembered = size_t{1} << 14;

  bool WasAskedBefore(const CacheKey& key);

  RouteCache& cache_;
  std::array<std::atomic<uint64_t>, kRemembered> asked_{};
  std::atomic<uint64_t> corridor_hits_{0}, corridor_misses_{0}, curve_hits_{0}, curve_misses_{0};
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_PREPARED_CACHE_H_
