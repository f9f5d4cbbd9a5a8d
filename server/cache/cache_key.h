// SPDX-License-Identifier: Apache-2.0
// What makes two requests the same: their canonical bytes, and the geometry that they are asked on.
// Canonical bytes are those of the request once everything that can't change its answer is gone:
// unset fields have their defaults, -0.0 is 0.0, unknown fields are dropped, ids of requests,
// deadlines and trace data are left out, refs are resolved against one version and the version
// itself is not named (its lineage is, and what the answer was read from is checked by stamps).
#ifndef ARCLANE_SERVER_CACHE_CACHE_KEY_H_
#define ARCLANE_SERVER_CACHE_CACHE_KEY_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace arclane {

// 128 bits of XXH3. Never trusted alone: a hit compares the bytes.
struct Fingerprint {
  uint64_t low = 0;
  uint64_t high = 0;

  friend bool operator==(Fingerprint, Fingerprint) = default;
  template <typename H>
  friend H AbslHashValue(H h, Fingerprint f) {
    return H::combine(std::move(h), f.low);
  }
};

// Borrows its bytes.
struct CacheKey {
  std::string_view navmesh_id;
  uint64_t lineage = 0;      // Of the version; 0 for requests that bring their own geometry.
  std::string_view request;  // Canonical bytes, the kind of the cached thing first.
  Fingerprint fingerprint;

  bool SameRequest(const CacheKey& other) const {
    return fingerprint == other.fingerprint && lineage == other.lineage &&
           navmesh_id == other.navmesh_id && request == other.request;
  }
};

// Computes the fingerprint. O(bytes), about 10 bytes a nanosecond.
CacheKey MakeCacheKey(std::string_view navmesh_id, uint64_t lineage, std::string_view request);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CACHE_CACHE_KEY_H_
