// SPDX-License-Identifier: Apache-2.0
#include "server/cache/cache_key.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace arclane {

CacheKey MakeCacheKey(std::string_view navmesh_id, uint64_t lineage, std::string_view request) {
  const XXH64_hash_t seed = XXH3_64bits_withSeed(navmesh_id.data(), navmesh_id.size(), lineage);
  const XXH128_hash_t hash = XXH3_128bits_withSeed(request.data(), request.size(), seed);
  return {navmesh_id, lineage, request, {hash.low64, hash.high64}};
}

}  // namespace arclane
