// SPDX-License-Identifier: Apache-2.0
// One item of a batch or a stream from its bytes to its answer's bytes: parse, fill in what items
// share, ask for a kept answer, plan, encode. Free of gRPC.
#ifndef ARCLANE_SERVER_PIPELINE_PLAN_ITEM_H_
#define ARCLANE_SERVER_PIPELINE_PLAN_ITEM_H_

#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "arclane/v1/planner.pb.h"
#include "server/codec/failure.h"
#include "server/codec/request_limits.h"
#include "server/codec/work_glance.h"
#include "server/navmesh/dependency.h"
#include "server/navmesh/navmesh_view.h"
#include "server/pipeline/plan_failure.h"
#include "server/pipeline/plan_trace.h"
#include "server/pipeline/prepared_plans.h"

namespace arclane {

// Answers that were planned before. Thread-safe.
class AnswerStore {
 public:
  virtual ~AnswerStore() = default;
  struct Found {
    std::string_view bytes;  // Of the answer without its AnswerInfo; they live as long as this.
    v1::Outcome outcome = v1::OUTCOME_UNSPECIFIED;
  };
  // Null: none is kept that holds on this state. `request`: canonical bytes, the kind first.
  virtual std::shared_ptr<const Found> Find(std::string_view navmesh_id, uint64_t lineage,
                                            std::string_view request,
                                            const StampSource& stamps) = 0;
  virtual void Keep(std::string_view navmesh_id, uint64_t lineage, std::string_view request,
                    std::span<const Dependency> dependencies, std::string_view answer,
                    v1::Outcome outcome) = 0;
  virtual void CountBypass() = 0;
  // The state of what callers said has changed on a navmesh of that name.
  virtual std::shared_ptr<const StampSource> Ledger(std::string_view navmesh_id) = 0;
};

// What the items of one message share. Everything outlives the items; nothing changes.
struct SharedOfItems {
  const v1::PlanShared& message;
  const NavMeshView* view = nullptr;  // Of message.navmesh; null when it names none.
  const RequestLimits& limits;
  AnswerStore* store = nullptr;        // Null: nothing is kept.
  const Failure* no_view = nullptr;    // Why there is no view of the navmesh that is named.
  bool may_hold_negative_zero = true;  // As MayHoldNegativeZero tells of the message.
  // Null: every corridor and curve is built anew. They are used where the cache may not answer,
  // too: the items are planned all the same.
  PreparedPlans* prepared = nullptr;
};

// One answer, ready to be encoded as a PlanItemAnswer. Borrows from the planner that made it, until
// it is asked again.
class ItemAnswer {
 public:
  // Bytes of the encoded PlanItemAnswer.
  size_t size() const;
  // Writes size() bytes; returns the end.
  uint8_t* WriteTo(uint8_t* out) const;

  bool ok() const { return response_field_ != 0; }
  void SetFailure(Failure failure);
  // When it failed.
  const Failure& failure() const { return failure_; }
  // Of routes that did not fail.
  std::optional<v1::Outcome> outcome() const { return outcome_; }

 private:
  friend class ItemPlanner;
  friend class ItemTwin;
  size_t body_size() const { return message_ != nullptr ? message_size_ : body_.size(); }
  // The item's own fields of the answer: how the answer came about.
  void SetInfo(v1::CacheOutcome cache, const NavMeshView* view);

  int response_field_ = 0;                                  // Of PlanItemAnswer.
  const google::protobuf::MessageLite* message_ = nullptr;  // The body, or
  size_t message_size_ = 0;
  std::string_view body_;  // its bytes; of a failure the encoded status.
  std::string info_;       // Encoded behind the body.
  Failure failure_;
  std::string status_;
  std::shared_ptr<const AnswerStore::Found> kept_;
  std::optional<v1::Outcome> outcome_;
  bool is_of_view_ = false;  // Its info names the navmesh's version and epochs.
};

// An answer that equal items share: what does not belong to one of them alone.
class ItemTwin {
 public:
  ItemTwin() = default;
  explicit ItemTwin(const ItemAnswer& answer);
  size_t ByteSize() const { return body_.size() + sizeof(ItemTwin); }
  // The answer of another item, at `path`. It borrows from this.
  void AnswerFor(const std::string& path, const SharedOfItems& shared, ItemAnswer& answer) const;

 private:
  int response_field_ = 0;
  std::string body_;
  Failure failure_;
  std::optional<v1::Outcome> outcome_;
  bool is_of_view_ = false;
};

// The failure of an item whose fields the violations name from the item on.
Failure WithPath(Failure failure, const std::string& path);

// Plans items on one thread; buffers are kept. Not thread-safe.
//
// A plan runs through more code than the processor's first cache holds. Items that are planned
// together take the stages (parse, resolve, plan, encode) together, so that what a stage takes is
// fetched once for all of them.
class ItemPlanner {
 public:
  // More would only spread the messages at hand over more memory.
  static constexpr size_t kMostTogether = 8;

  ItemPlanner();
  ~ItemPlanner();

  // `path`: of the item within the caller's request, such as "items[3]". The answer is the same,
  // bit for bit, as that of the request alone, except for answer.cache. It lives until the next
  // call.
  const ItemAnswer& Plan(std::string_view encoded, const std::string& path,
                         const SharedOfItems& shared, StopSignal stop);
  // Of the last call.
  const PlanTrace& trace() const;

  // Plans the first of up to kMostTogether items, in order, at least one: until `pause`, which is
  // asked behind each, says so, `stop` gives a reason, or their answers together are large. `path`
  // tells the path of the i-th. Then `take` is told of each that was planned. Returns how many
  // were.
  size_t PlanTogether(std::span<const std::string_view> encoded,
                      absl::FunctionRef<std::string(size_t)> path, const SharedOfItems& shared,
                      StopSignal stop, absl::FunctionRef<bool()> pause,
                      absl::FunctionRef<void(size_t, const ItemAnswer&, const PlanTrace&)> take);

 private:
  struct Item;
  struct Buffers;

  void Parse(Item& item, const SharedOfItems& shared);
  void LookUp(Item& item, const SharedOfItems& shared);
  void LookUpCorridor(Item& item, v1::PlanCorridorRequest& request, const SharedOfItems& shared);
  void Plan(Item& item, const SharedOfItems& shared, StopSignal stop);
  std::optional<Failure> PlanCorridor(Item& item, const SharedOfItems& shared, StopSignal stop);
  void Encode(Item& item, absl::FunctionRef<std::string()> path, const SharedOfItems& shared);

  std::unique_ptr<Buffers> buffers_;
};

// What an encoded PlanItem will cost, as far as it tells, its shared agent and sampling included.
WorkGlance GlanceAtItem(std::string_view encoded, const v1::PlanShared& shared);

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_PLAN_ITEM_H_
