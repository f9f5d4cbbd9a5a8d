// SPDX-License-Identifier: Apache-2.0
#include "server/service/kept_answer_store.h"

#include <string>
#include <utility>

#include "server/service/kept_answer.h"

namespace arclane {
namespace {

// An answer together with what holds its bytes.
struct HeldAnswer {
  std::shared_ptr<const CacheValue> value;
  AnswerStore::Found found;
};

}  // namespace

std::shared_ptr<const AnswerStore::Found> KeptAnswerStore::Find(std::string_view navmesh_id,
                                                                uint64_t lineage,
                                                                std::string_view request,
                                                                const StampSource& stamps) {
  auto value = backend_.cache().Lookup(MakeCacheKey(navmesh_id, lineage, request), stamps);
  if (value == nullptr) return nullptr;
  auto held = std::make_shared<HeldAnswer>();
  const auto& kept = static_cast<const KeptAnswer&>(*value);
  const grpc::Slice& slice = kept.bytes();
  held->found = {{reinterpret_cast<const char*>(slice.begin()), slice.size()}, kept.outcome()};
  held->value = std::move(value);
  return {held, &held->found};
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
