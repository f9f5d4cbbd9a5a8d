// SPDX-License-Identifier: Apache-2.0
#include "server/service/kept_answer_store.h"

#include <string>
#include <utility>

#include "server/service/kept_answer.h"

namespace arclane {
namespace {

// The bytes of an answer together with what holds them.
struct HeldBytes {
  std::shared_ptr<const CacheValue> value;
  std::string_view bytes;
};

}  // namespace

std::shared_ptr<const std::string_view> KeptAnswerStore::Find(std::string_view navmesh_id,
                                                              uint64_t lineage,
                                                              std::string_view request,
                                                              const StampSource& stamps) {
  auto value = backend_.cache().Lookup(MakeCacheKey(navmesh_id, lineage, request), stamps);
  if (value == nullptr) return nullptr;
  auto held = std::make_shared<HeldBytes>();
  const grpc::Slice& slice = static_cast<const KeptAnswer&>(*value).bytes();
  held->bytes = {reinterpret_cast<const char*>(slice.begin()), slice.size()};
  held->value = std::move(value);
  return {held, &held->bytes};
}

void KeptAnswerStore::Keep(std::string_view navmesh_id, uint64_t lineage, std::string_view request,
                           std::span<const Dependency> dependencies, std::string_view answer,
                           v1::Outcome outcome) {
  backend_.cache().Insert(
      MakeCacheKey(navmesh_id, lineage, request), dependencies,
      std::make_shared<KeptAnswer>(grpc::Slice(answer.data(), answer.size()), outcome));
}

std::shared_ptr<const StampSource> KeptAnswerStore::Ledger(std::string_view navmesh_id) {
  return backend_.ledger().View(std::string(navmesh_id));
}

}  // namespace arclane
