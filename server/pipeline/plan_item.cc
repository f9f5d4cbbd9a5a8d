// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_item.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "server/codec/canonical_request.h"
#include "server/codec/message_arena.h"
#include "server/codec/status_codec.h"
#include "server/navmesh_codec/navmesh_failure.h"
#include "server/pipeline/declared_dependencies.h"
#include "server/pipeline/plan_corridor.h"
#include "server/pipeline/plan_speed.h"
#include "server/pipeline/plan_spline.h"
#include "server/pipeline/plan_waypoints.h"

namespace arclane {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

// Larger requests bring their own geometry and cost more to compare than they save.
constexpr size_t kMostKeyBytes = 256 << 10;
// The kinds of kept things, the first byte of their keys; those of single calls, whose answers are
// the same.
constexpr char kByReference = 'R';
constexpr char kInline = 'I';
// Messages of items that are planned together are held in no more than this and one item's.
constexpr size_t kMostBytesTogether = 256 << 10;
constexpr char kNoPlanItem[] = "the bytes are no arclane.v1.PlanItem";

uint32_t PieceTag(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}

size_t PieceSize(int field, size_t size) {
  return CodedOutputStream::VarintSize32(PieceTag(field)) +
         CodedOutputStream::VarintSize32(static_cast<uint32_t>(size)) + size;
}

uint8_t* WritePieceHead(int field, size_t size, uint8_t* out) {
  out = CodedOutputStream::WriteVarint32ToArray(PieceTag(field), out);
  return CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(size), out);
}

const char* KindName(v1::PlanItem::RequestCase kind) {
  switch (kind) {
    case v1::PlanItem::kCorridor:
      return "corridor";
    case v1::PlanItem::kWaypoints:
      return "waypoints";
    case v1::PlanItem::kSpline:
      return "spline";
    case v1::PlanItem::kSpeed:
      return "speed";
    case v1::PlanItem::REQUEST_NOT_SET:
      break;
  }
  return "";
}

// The shared message that an index names. Null, and a violation more, when it names none or the
// request brings its own.
template <typename Message>
const Message* SharedAt(const google::protobuf::RepeatedPtrField<Message>& shared, uint32_t index,
                        bool has_own, const char* field, const char* name,
                        std::vector<FieldViolation>& violations) {
  if (index >= static_cast<uint32_t>(shared.size())) {
    violations.push_back({field, "must be below the number of shared " + std::string(name) + " " +
                                     std::to_string(shared.size()) + ", got " +
                                     std::to_string(index)});
    return nullptr;
  }
  if (has_own) {
    violations.push_back({field, "must be unset where the request has its own"});
    return nullptr;
  }
  return &shared.Get(static_cast<int>(index));
}

template <typename Request>
void FillFrame(Request& request, const v1::PlanShared& shared) {
  if (!request.has_frame() && shared.has_frame()) *request.mutable_frame() = shared.frame();
}

// Fills in what the request leaves to the shared part; the paths of violations begin at the item.
template <typename Request>
void FillShared(const v1::PlanItem& item, const v1::PlanShared& shared, Request& request,
                std::vector<FieldViolation>& violations) {
  if constexpr (std::is_same_v<Request, v1::PlanSpeedRequest>) {
    if (item.has_sampling_index())
      violations.push_back({"sampling_index", "a speed plan has no samples"});
    if (!item.has_agent_index()) return;
    const bool has_own = request.has_limits() || request.reaction_time_s() != 0.0;
    if (const v1::AgentProfile* agent = SharedAt(shared.agents(), item.agent_index(), has_own,
                                                 "agent_index", "agents", violations)) {
      *request.mutable_limits() = agent->limits();
      request.set_reaction_time_s(agent->manners().reaction_time_s());
    }
  } else {
    FillFrame(request, shared);
    if (item.has_agent_index()) {
      if (const v1::AgentProfile* agent =
              SharedAt(shared.agents(), item.agent_index(), request.has_agent(), "agent_index",
                       "agents", violations)) {
        *request.mutable_agent() = *agent;
      }
    }
    if (item.has_sampling_index()) {
      if (const v1::Sampling* sampling =
              SharedAt(shared.samplings(), item.sampling_index(), request.has_sampling(),
                       "sampling_index", "samplings", violations)) {
        *request.mutable_sampling() = *sampling;
      }
    }
  }
}

void FillShared(v1::PlanItem& item, const v1::PlanShared& shared,
                std::vector<FieldViolation>& violations) {
  switch (item.request_case()) {
    case v1::PlanItem::kCorridor:
      return FillShared(item, shared, *item.mutable_corridor(), violations);
    case v1::PlanItem::kWaypoints:
      return FillShared(item, shared, *item.mutable_waypoints(), violations);
    case v1::PlanItem::kSpline:
      return FillShared(item, shared, *item.mutable_spline(), violations);
    case v1::PlanItem::kSpeed:
      return FillShared(item, shared, *item.mutable_speed(), violations);
    case v1::PlanItem::REQUEST_NOT_SET:
      violations.push_back({"request", "required: one of corridor, waypoints, spline and speed"});
  }
}

}  // namespace

// ------------------------------------------------------------------------------------- ItemAnswer

size_t ItemAnswer::size() const {
  if (!ok()) {
    return PieceSize(v1::PlanItemAnswer::kStatusFieldNumber, body_.size());
  }
  return PieceSize(response_field_, body_size() + info_.size());
}

uint8_t* ItemAnswer::WriteTo(uint8_t* out) const {
  if (!ok()) {
    out = WritePieceHead(v1::PlanItemAnswer::kStatusFieldNumber, body_.size(), out);
    return std::copy(body_.begin(), body_.end(), out);
  }
  out = WritePieceHead(response_field_, body_size() + info_.size(), out);
  out = message_ != nullptr ? message_->SerializeWithCachedSizesToArray(out)
                            : std::copy(body_.begin(), body_.end(), out);
  // Concatenated pieces are one message.
  return std::copy(info_.begin(), info_.end(), out);
}

void ItemAnswer::SetFailure(Failure failure) {
  failure_ = std::move(failure);
  ToRpcStatus(failure_).SerializeToString(&status_);
  response_field_ = 0;
  message_ = nullptr;
  body_ = status_;
  outcome_.reset();
}

void ItemAnswer::SetInfo(v1::CacheOutcome cache, const NavMeshView* view) {
  // The field has the same number in every response.
  constexpr int kAnswer = v1::PlanCorridorResponse::kAnswerFieldNumber;
  static_assert(kAnswer == v1::PlanWaypointsResponse::kAnswerFieldNumber &&
                kAnswer == v1::PlanSplineResponse::kAnswerFieldNumber &&
                kAnswer == v1::PlanSpeedResponse::kAnswerFieldNumber);
  is_of_view_ = view != nullptr;
  v1::AnswerInfo info;
  info.set_cache(cache);
  if (view != nullptr) {
    info.set_navmesh_version(view->version().value);
    info.set_epoch(view->epoch().value);
    info.set_world_epoch(view->world_epoch().value);
    info.set_life(view->life().value);
    info.set_world_life(view->world_life().value);
  }
  const size_t size = info.ByteSizeLong();
  info_.resize(PieceSize(kAnswer, size));
  uint8_t* out = WritePieceHead(kAnswer, size, reinterpret_cast<uint8_t*>(info_.data()));
  info.SerializeWithCachedSizesToArray(out);
}

// --------------------------------------------------------------------------------------- ItemTwin

ItemTwin::ItemTwin(const ItemAnswer& answer)
    : response_field_(answer.response_field_),
      failure_(answer.failure_),
      outcome_(answer.outcome_),
      is_of_view_(answer.is_of_view_) {
  if (!answer.ok()) return;
  body_.resize(answer.body_size());
  auto* out = reinterpret_cast<uint8_t*>(body_.data());
  if (answer.message_ != nullptr) {
    answer.message_->SerializeWithCachedSizesToArray(out);
  } else {
    std::copy(answer.body_.begin(), answer.body_.end(), out);
  }
}

void ItemTwin::AnswerFor(const std::string& path, const SharedOfItems& shared,
                         ItemAnswer& answer) const {
  if (response_field_ == 0) {
    // Its violations begin at the place of the item that was planned.
    Failure failure = failure_;
    for (FieldViolation& violation : failure.violations) {
      const size_t end = violation.field.find(']');
      if (end != std::string::npos) violation.field = path + violation.field.substr(end + 1);
    }
    if (!failure.violations.empty()) failure.message = InvalidFields(failure.violations).message;
    answer.SetFailure(std::move(failure));
    return;
  }
  answer.response_field_ = response_field_;
  answer.message_ = nullptr;
  answer.body_ = body_;
  answer.outcome_ = outcome_;
  answer.SetInfo(v1::CACHE_OUTCOME_COALESCED, is_of_view_ ? shared.view : nullptr);
}

Failure WithPath(Failure failure, const std::string& path) {
  if (failure.violations.empty()) return failure;
  for (FieldViolation& violation : failure.violations)
    violation.field = path + "." + violation.field;
  failure.message = InvalidFields(failure.violations).message;
  return failure;
}

// ------------------------------------------------------------------------------------ ItemPlanner

// One item on its way.
struct ItemPlanner::Item {
  std::string_view encoded;
  v1::PlanItem* message = nullptr;
  // Paths begin at the item itself.
  std::optional<Failure> failure;
  uint64_t parse_ticks = 0;
  PlanTrace trace;
  ItemAnswer answer;
  // Of corridors.
  bool by_ref = false;
  bool is_resolved = false;
  bool is_kept = false;        // The answer comes from the store,
  bool is_to_be_kept = false;  // or goes there.
  std::string navmesh_id;
  std::shared_ptr<const StampSource> ledger;
  std::string key;
  std::string canonical;
  CorridorByRefPlan plan;
  std::vector<Dependency> dependencies;
  std::string kept_bytes;
  v1::CacheOutcome cache = v1::CACHE_OUTCOME_BYPASS;

  const StampSource& Stamps(const SharedOfItems& shared) const {
    return by_ref ? static_cast<const StampSource&>(*shared.view) : *ledger;
  }
  uint64_t Lineage(const SharedOfItems& shared) const {
    return by_ref ? shared.view->lineage().value : 0;
  }
};

struct ItemPlanner::Buffers {
  MessageArena arena;
  std::array<Item, kMostTogether> items;
};

ItemPlanner::ItemPlanner() : buffers_(std::make_unique<Buffers>()) {}
ItemPlanner::~ItemPlanner() = default;

const PlanTrace& ItemPlanner::trace() const { return buffers_->items[0].trace; }

const ItemAnswer& ItemPlanner::Plan(std::string_view encoded, const std::string& path,
                                    const SharedOfItems& shared, StopSignal stop) {
  PlanTogether(
      {&encoded, 1}, [&](size_t) { return path; }, shared, stop, [] { return true; },
      [](size_t, const ItemAnswer&, const PlanTrace&) {});
  return buffers_->items[0].answer;
}

size_t ItemPlanner::PlanTogether(
    std::span<const std::string_view> encoded, absl::FunctionRef<std::string(size_t)> path,
    const SharedOfItems& shared, StopSignal stop, absl::FunctionRef<bool()> pause,
    absl::FunctionRef<void(size_t, const ItemAnswer&, const PlanTrace&)> take) {
  buffers_->arena.Reset();
  auto& items = buffers_->items;
  for (size_t i = 0; i < encoded.size(); ++i) {
    items[i].encoded = encoded[i];
    Parse(items[i], shared);
  }
  for (size_t i = 0; i < encoded.size(); ++i) LookUp(items[i], shared);
  size_t planned = 0;
  while (planned < encoded.size()) {
    if (planned > 0 && stop()) break;
    Plan(items[planned++], shared, stop);
    if (pause() || buffers_->arena.used() > kMostBytesTogether) break;
  }
  for (size_t i = 0; i < planned; ++i) {
    Encode(
        items[i], [&] { return path(i); }, shared);
    take(i, items[i].answer, items[i].trace);
  }
  return planned;
}

void ItemPlanner::Parse(Item& item, const SharedOfItems& shared) {
  const uint64_t begin = TickClock::Now();
  item.failure.reset();
  item.is_resolved = item.is_kept = item.is_to_be_kept = false;
  item.cache = v1::CACHE_OUTCOME_BYPASS;
  item.answer.kept_ = nullptr;
  item.answer.outcome_.reset();
  item.message = buffers_->arena.New<v1::PlanItem>();
  if (!item.message->ParseFromArray(item.encoded.data(), static_cast<int>(item.encoded.size()))) {
    item.failure.emplace();
    item.failure->reason = FailureReason::kMalformedMessage;
    item.failure->message = kNoPlanItem;
  } else {
    std::vector<FieldViolation> violations;
    FillShared(*item.message, shared.message, violations);
    if (!violations.empty()) item.failure = InvalidFields(std::move(violations));
  }
  item.parse_ticks = TickClock::Now() - begin;
}

// Up to where the cache or the navmesh are asked for a corridor.
void ItemPlanner::LookUp(Item& item, const SharedOfItems& shared) {
  item.trace = PlanTrace();
  if (item.failure || !item.message->has_corridor()) return;
  item.trace.Restart(item.parse_ticks);
  LookUpCorridor(item, *item.message->mutable_corridor(), shared);
  if (item.failure) item.failure = WithPath(*std::move(item.failure), "corridor");
}

void ItemPlanner::LookUpCorridor(Item& item, v1::PlanCorridorRequest& request,
                                 const SharedOfItems& shared) {
  if (request.cache_mode() == v1::CACHE_MODE_UNSPECIFIED)
    request.set_cache_mode(shared.message.cache_mode());
  item.by_ref = request.corridor().has_refs();
  if (item.by_ref && request.has_navmesh()) {
    item.failure =
        InvalidField("navmesh", "must be unset: all items name polygons of shared.navmesh");
    return;
  }
  if (item.by_ref && shared.view == nullptr) {
    item.failure =
        shared.no_view != nullptr
            ? *shared.no_view
            : InvalidField("corridor.refs", "needs the name of the navmesh in shared.navmesh");
    return;
  }
  const bool names_navmesh = item.by_ref || !request.navmesh().navmesh_id().empty();
  // Unknown modes, too: the plan refuses them.
  const bool bypass = request.cache_mode() != v1::CACHE_MODE_USE &&
                      request.cache_mode() != v1::CACHE_MODE_UNSPECIFIED;
  if (names_navmesh && shared.store != nullptr) {
    if (bypass) {
      shared.store->CountBypass();
    } else {
      item.navmesh_id = item.by_ref ? shared.view->navmesh_id() : request.navmesh().navmesh_id();
      item.ledger = item.by_ref ? nullptr : shared.store->Ledger(item.navmesh_id);
      Canonicalize(request, &item.canonical);
      item.key.assign(1, item.by_ref ? kByReference : kInline);
      item.key += item.canonical;
      if (item.key.size() <= kMostKeyBytes) {
        item.answer.kept_ = shared.store->Find(item.navmesh_id, item.Lineage(shared), item.key,
                                               item.Stamps(shared));
        item.is_kept = item.answer.kept_ != nullptr;
        item.is_to_be_kept = !item.is_kept;
      }
      if (item.is_kept) return;
      if (item.is_to_be_kept) item.cache = v1::CACHE_OUTCOME_MISS;
    }
  }
  if (!item.by_ref) return;
  // Planned as a call of its own is: in its canonical form, or one that leads to the same bits.
  const bool is_canonical = names_navmesh && !bypass && shared.store != nullptr;
  if (!is_canonical && (shared.may_hold_negative_zero || MayHoldNegativeZero(item.encoded)))
    Canonicalize(request);
  item.failure =
      item.plan.Resolve(request, *shared.view, shared.limits, &item.trace, shared.prepared);
  item.is_resolved = true;
}

void ItemPlanner::Plan(Item& item, const SharedOfItems& shared, StopSignal stop) {
  if (item.failure || item.is_kept) return;
  item.trace.Restart(item.is_resolved ? 0 : item.parse_ticks);
  ItemAnswer& answer = item.answer;
  // Every answer says of itself how it came about, which the item's own fields say again.
  const auto finish = [&](int field, auto& response) {
    response.clear_answer();
    answer.response_field_ = field;
    answer.message_ = &response;
  };
  const v1::PlanItem& message = *item.message;
  switch (message.request_case()) {
    case v1::PlanItem::kCorridor:
      item.failure = PlanCorridor(item, shared, stop);
      break;
    case v1::PlanItem::kWaypoints: {
      auto& response = *buffers_->arena.New<v1::PlanWaypointsResponse>();
      item.failure =
          AnswerPlanWaypoints(message.waypoints(), shared.limits, stop, response, &item.trace);
      if (item.failure) break;
      finish(v1::PlanItemAnswer::kWaypointsFieldNumber, response);
      answer.outcome_ = response.route().outcome();
      break;
    }
    case v1::PlanItem::kSpline: {
      auto& response = *buffers_->arena.New<v1::PlanSplineResponse>();
      item.failure = AnswerPlanSpline(message.spline(), shared.limits, stop, response, &item.trace,
                                      shared.prepared);
      if (!item.failure) finish(v1::PlanItemAnswer::kSplineFieldNumber, response);
      break;
    }
    case v1::PlanItem::kSpeed: {
      auto& response = *buffers_->arena.New<v1::PlanSpeedResponse>();
      item.failure = AnswerPlanSpeed(message.speed(), shared.limits, stop, response, &item.trace);
      if (!item.failure) finish(v1::PlanItemAnswer::kSpeedFieldNumber, response);
      break;
    }
    case v1::PlanItem::REQUEST_NOT_SET:
      break;
  }
  if (item.failure)
    item.failure = WithPath(*std::move(item.failure), KindName(message.request_case()));
  if (item.trace.Ended(Stage::kValidate)) item.trace.End(Stage::kEncode);
}

std::optional<Failure> ItemPlanner::PlanCorridor(Item& item, const SharedOfItems& shared,
                                                 StopSignal stop) {
  const v1::PlanCorridorRequest& request = item.message->corridor();
  auto& response = *buffers_->arena.New<v1::PlanCorridorResponse>();
  if (item.by_ref) {
    if (auto failure = item.plan.Answer(shared.limits, stop, response, &item.trace)) return failure;
    if (item.is_to_be_kept) item.dependencies = item.plan.reads().dependencies;
  } else {
    if (auto failure =
            AnswerPlanCorridor(request, shared.limits, stop, response, nullptr, &item.trace))
      return failure;
    if (item.is_to_be_kept) {
      item.dependencies = DeclaredDependencies(request.corridor().dependencies(), *item.ledger);
    }
  }
  response.clear_answer();
  item.answer.response_field_ = v1::PlanItemAnswer::kCorridorFieldNumber;
  item.answer.message_ = &response;
  item.answer.outcome_ = response.route().outcome();
  return std::nullopt;
}

void ItemPlanner::Encode(Item& item, absl::FunctionRef<std::string()> path,
                         const SharedOfItems& shared) {
  ItemAnswer& answer = item.answer;
  if (item.failure) {
    if (item.failure->message == kNoPlanItem)
      item.failure->message = path() + ": " + item.failure->message;
    answer.SetFailure(WithPath(*std::move(item.failure), path()));
    return;
  }
  const NavMeshView* view = item.message->has_corridor() && item.by_ref ? shared.view : nullptr;
  if (item.is_kept) {
    answer.response_field_ = v1::PlanItemAnswer::kCorridorFieldNumber;
    answer.message_ = nullptr;
    answer.body_ = answer.kept_->bytes;
    answer.outcome_ = answer.kept_->outcome;
    answer.SetInfo(v1::CACHE_OUTCOME_HIT, view);
    return;
  }
  item.trace.Restart();
  answer.message_size_ = answer.message_->ByteSizeLong();
  answer.SetInfo(item.cache, view);
  if (item.is_to_be_kept) {
    // Encoded once: what is kept is what is sent.
    item.kept_bytes.resize(answer.message_size_);
    answer.message_->SerializeWithCachedSizesToArray(
        reinterpret_cast<uint8_t*>(item.kept_bytes.data()));
    answer.message_ = nullptr;
    answer.body_ = item.kept_bytes;
    shared.store->Keep(item.navmesh_id, item.Lineage(shared), item.key, item.dependencies,
                       item.kept_bytes, *answer.outcome_);
  }
  if (item.trace.Ended(Stage::kValidate)) item.trace.End(Stage::kEncode);
}

WorkGlance GlanceAtItem(std::string_view encoded, const v1::PlanShared& shared) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(encoded.data()),
                                            static_cast<int>(encoded.size()));
  WorkGlance glance;
  glance.bytes = encoded.size();
  std::optional<uint32_t> agent, sampling;
  while (const uint32_t tag = in.ReadTag()) {
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    uint32_t value = 0;
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_VARINT:
        if (!in.ReadVarint32(&value)) return glance;
        if (field == v1::PlanItem::kAgentIndexFieldNumber) agent = value;
        if (field == v1::PlanItem::kSamplingIndexFieldNumber) sampling = value;
        break;
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
        if (!in.ReadVarint32(&value)) return glance;
        const auto begin = static_cast<size_t>(in.CurrentPosition());
        if (value > encoded.size() - begin) return glance;
        const std::string_view request = encoded.substr(begin, value);
        in.Skip(static_cast<int>(value));
        if (field == v1::PlanItem::kCorridorFieldNumber)
          glance = GlanceAtWork(WorkKind::kCorridor, request);
        else if (field == v1::PlanItem::kWaypointsFieldNumber)
          glance = GlanceAtWork(WorkKind::kWaypoints, request);
        else if (field == v1::PlanItem::kSplineFieldNumber)
          glance = GlanceAtWork(WorkKind::kSpline, request);
        else if (field == v1::PlanItem::kSpeedFieldNumber)
          glance = GlanceAtWork(WorkKind::kSpeed, request);
        break;
      }
      default:
        if (!WireFormatLite::SkipField(&in, tag)) return glance;
    }
  }
  if (agent && *agent < static_cast<uint32_t>(shared.agents_size()))
    GlanceAtAgent(shared.agents(static_cast<int>(*agent)), glance);
  if (sampling && *sampling < static_cast<uint32_t>(shared.samplings_size()))
    GlanceAtSampling(shared.samplings(static_cast<int>(*sampling)), glance);
  return glance;
}

}  // namespace arclane
