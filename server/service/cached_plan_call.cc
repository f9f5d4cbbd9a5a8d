// SPDX-License-Identifier: Apache-2.0
#include "server/service/cached_plan_call.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "arclane/v1/planner.pb.h"
#include "server/codec/canonical_request.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/pipeline/plan_corridor.h"
#include "server/pipeline/plan_item.h"
#include "server/service/call_account.h"
#include "server/service/flight_plan.h"
#include "server/service/kept_answer.h"
#include "server/service/message_bytes.h"
#include "server/service/plan_record.h"
#include "server/service/registry_call.h"
#include "server/service/status_mapping.h"

namespace arclane {
namespace {

// Larger requests bring their own geometry and cost more to compare than they save.
constexpr size_t kMostCachedBytes = 256 << 10;
// The kinds of kept things, the first byte of their keys.
constexpr char kByReference = 'R';
constexpr char kInline = 'I';

std::string_view CacheName(v1::CacheOutcome outcome) {
  switch (outcome) {
    case v1::CACHE_OUTCOME_HIT:
      return "hit";
    case v1::CACHE_OUTCOME_MISS:
      return "miss";
    case v1::CACHE_OUTCOME_COALESCED:
      return "coalesced";
    default:
      return "bypass";
  }
}

class CachedPlanCall final : public grpc::ServerUnaryReactor, private PlannerPool::Job {
 public:
  CachedPlanCall(ServiceEnvironment& environment, grpc::CallbackServerContext& context,
                 const grpc::ByteBuffer& request, grpc::ByteBuffer& response)
      : environment_(environment),
        context_(context),
        response_(response),
        account_(environment, MethodId::kPlanCorridor, CallKind::kUnary) {
    account_.trace().Begin(context, &request, &response);
  }

  // To be called once, as the handler's last step.
  void Begin(std::string_view encoded) {
    // Kept from call to call by each thread.
    thread_local v1::PlanCorridorRequest request;
    thread_local std::string canonical;
    if (!request.ParseFromArray(encoded.data(), static_cast<int>(encoded.size()))) {
      EndWith(MalformedMessage(request));
      return;
    }
    wants_times_ = request.include_stage_times();
    const bool by_reference = request.corridor().has_refs();
    const std::string navmesh_id = request.navmesh().navmesh_id();
    if (by_reference) {
      auto view = environment_.navmeshes->registry().View(navmesh_id, {request.navmesh().version()},
                                                          request.navmesh().world_id(),
                                                          NavMeshBackend::Now());
      if (!view.ok()) {
        EndWith(WithPath(ToFailure(view.failure()), "navmesh"));
        return;
      }
      state_.view = std::make_shared<const NavMeshView>(*std::move(view));
    } else {
      state_.ledger = environment_.navmeshes->ledger().View(navmesh_id);
    }
    Canonicalize(request, &canonical);
    quick_ = IsQuickPlan(request);
    key_bytes_.reserve(canonical.size() + 1);
    key_bytes_ += by_reference ? kByReference : kInline;
    key_bytes_ += canonical;
    Ask(navmesh_id, request);
  }

  void Own(std::shared_ptr<CachedPlanCall> self) { self_ = std::move(self); }

 private:
  void Ask(const std::string& navmesh_id, v1::PlanCorridorRequest& canonical) {
    const uint64_t lineage = state_.view != nullptr ? state_.view->lineage().value : 0;
    const CacheKey key = MakeCacheKey(navmesh_id, lineage, key_bytes_);
    const std::shared_ptr<CachedPlanCall> self = self_;
    auto begun = environment_.navmeshes->cache().Begin(
        key, state_.stamps(), DeadlineOnClock(),
        [self](const FlightOutcome& outcome) { self->OnOutcome(outcome, self); });
    if (begun.value != nullptr) {
      AnswerWith(static_cast<const KeptAnswer&>(*begun.value), v1::CACHE_OUTCOME_HIT);
      return;
    }
    bool leads = begun.ticket.leads;
    {
      absl::MutexLock lock(&mutex_);
      ticket_ = std::move(begun.ticket);
      leads |= std::exchange(lead_waits_, false);
    }
    if (leads) Lead(&canonical);
  }

  // From the thread that ended the plan, or that handed it on.
  void OnOutcome(const FlightOutcome& outcome, const std::shared_ptr<CachedPlanCall>& self) {
    switch (outcome.kind) {
      case FlightOutcome::Kind::kValue:
        AnswerWith(static_cast<const KeptAnswer&>(*outcome.value),
                   leads_.load() ? v1::CACHE_OUTCOME_MISS : v1::CACHE_OUTCOME_COALESCED);
        return;
      case FlightOutcome::Kind::kFailure:
        EndWith(FailureOf(outcome));
        return;
      case FlightOutcome::Kind::kLead:
        break;
    }
    absl::MutexLock lock(&mutex_);
    if (ticket_.flight == nullptr) {  // The handler is about to learn its ticket, and leads then.
      lead_waits_ = true;
      return;
    }
    // On a thread of its own: where plans are refused the lead goes from one to the next, however
    // many they are.
    lead_kept_ = self;
    environment_.navmeshes->stream_pool().TryPush(*this);
  }

  void Run() override {
    std::shared_ptr<CachedPlanCall> keep;
    {
      absl::MutexLock lock(&mutex_);
      keep = std::move(lead_kept_);
    }
    Lead(nullptr);
  }

  void Lead(v1::PlanCorridorRequest* canonical) {
    FlightTable::Ticket ticket;
    {
      absl::MutexLock lock(&mutex_);
      ticket = ticket_;
    }
    trace_ = std::make_shared<PlanTrace>();
    leads_.store(true);
    StartFlightPlan(environment_, ticket.flight, ticket.waiter, state_, quick_, RemainingSeconds(),
                    trace_, canonical);
  }

  void OnCancel() override {
    FlightTable::Ticket ticket;
    {
      absl::MutexLock lock(&mutex_);
      ticket = ticket_;
    }
    if (ticket.flight != nullptr && ticket.flight->Leave(ticket.waiter))
      EndWith(CallerGone(context_));
  }

  void OnDone() override { self_.reset(); }
  bool InternalInlineable() override { return true; }

  void AnswerWith(const KeptAnswer& kept, v1::CacheOutcome cache) {
    v1::PlanCorridorResponse own;
    v1::AnswerInfo& info = *own.mutable_answer();
    info.set_cache(cache);
    if (state_.view != nullptr) {
      info.set_navmesh_version(state_.view->version().value);
      info.set_epoch(state_.view->epoch().value);
      info.set_world_epoch(state_.view->world_epoch().value);
      info.set_life(state_.view->life().value);
      info.set_world_life(state_.view->world_life().value);
    }
    if (wants_times_ && cache == v1::CACHE_OUTCOME_MISS) {
      WriteStageTimes(*trace_, info.mutable_stage_times());
    }
    // Concatenated pieces are one message.
    grpc::Slice pieces[2] = {kept.bytes(), {}};
    ToSlice(own, &pieces[1]);
    response_ = grpc::ByteBuffer(pieces, 2);
    environment_.metrics.Outcome(LabelIndex(kept.outcome()));
    account_.trace().SetCache(CacheName(cache));
    if (cache == v1::CACHE_OUTCOME_MISS) account_.trace().SetPlan(*trace_);
    account_.Ended(grpc::Status::OK);
    Finish(grpc::Status::OK);
  }

  void EndWith(const Failure& failure) {
    const grpc::Status status = Refuse(failure, RemainingSeconds(), context_);
    account_.Ended(status);
    Finish(status);
  }

  double RemainingSeconds() const {
    const SteadyTime deadline = DeadlineOf(context_);
    if (deadline == SteadyTime::max()) return std::numeric_limits<double>::infinity();
    return SecondsBetween(std::chrono::steady_clock::now(), deadline);
  }
  double DeadlineOnClock() const { return NavMeshBackend::Now() + RemainingSeconds(); }

  ServiceEnvironment& environment_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  CallAccount account_;
  bool wants_times_ = false;
  bool quick_ = false;
  std::string key_bytes_;
  RequestState state_;
  std::shared_ptr<PlanTrace> trace_;  // Of the plan that this call started.
  std::atomic<bool> leads_{false};
  std::shared_ptr<CachedPlanCall> self_;  // Until gRPC is done; a plan under way holds on longer.
  absl::Mutex mutex_;
  FlightTable::Ticket ticket_ ABSL_GUARDED_BY(mutex_);
  bool lead_waits_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<CachedPlanCall> lead_kept_ ABSL_GUARDED_BY(mutex_);  // While Run is to come.
};

}  // namespace

grpc::ServerUnaryReactor* StartCachedPlanCall(ServiceEnvironment& environment,
                                              grpc::CallbackServerContext& context,
                                              const grpc::ByteBuffer& request,
                                              grpc::ByteBuffer& response) {
  if (request.Length() > std::min(kMostCachedBytes, environment.limits.max_plan_corridor_bytes))
    return nullptr;
  grpc::Slice slice;
  if (!request.TrySingleSlice(&slice).ok() && !request.DumpToSingleSlice(&slice).ok())
    return nullptr;
  const std::string_view encoded(reinterpret_cast<const char*>(slice.begin()), slice.size());
  const RequestGlance glance = GlanceAt(encoded);
  if (!glance.names_navmesh) return nullptr;
  if (glance.bypasses_cache) {
    environment.navmeshes->cache().CountBypass();
    return nullptr;
  }
  auto call = std::make_shared<CachedPlanCall>(environment, context, request, response);
  CachedPlanCall* reactor = call.get();
  reactor->Own(call);
  reactor->Begin(encoded);
  return reactor;
}

}  // namespace arclane
