// SPDX-License-Identifier: Apache-2.0
// The route cache as items of batches and streams ask it.
#ifndef ARCLANE_SERVER_SERVICE_KEPT_ANSWER_STORE_H_
#define ARCLANE_SERVER_SERVICE_KEPT_ANSWER_STORE_H_

#include "server/pipeline/plan_item.h"
#include "server/service/navmesh_backend.h"

namespace arclane {

// Thread-safe. Single calls find what items kept, and the other way round. Plans under way are not
// waited for: a thread that plans items never waits for another.
class KeptAnswerStore final : public AnswerStore {
 public:
  explicit KeptAnswerStore(NavMeshBackend& backend) : backend_(backend) {}

  std::shared_ptr<const Found> Find(std::string_view navmesh_id, uint64_t lineage,
                                    std::string_view request, const StampSource& stamps) override;
  void Keep(std::string_view navmesh_id, uint64_t lineage, std::string_view request,
            std::span<const Dependency> dependencies, std::string_view answer,
            v1::Outcome outcome) override;
  void CountBypass() override { backend_.cache().CountBypass(); }
  std::shared_ptr<const StampSource> Ledger(std::string_view navmesh_id) override;

 private:
  NavMeshBackend& backend_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_KEPT_ANSWER_STORE_H_
