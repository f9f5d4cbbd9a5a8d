// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_item.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
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
constexpr size_t kMostKeptBytes = 256 << 10;
// The kinds of kept things, the first byte of their keys; those of single calls, whose answers are
// the same.
constexpr char kByReference = 'R';
constexpr char kInline = 'I';

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

struct ItemPlanner::Buffers {
  MessageArena arena;
  std::string key;
  std::string canonical;
  std::string encoded;
  ReadSet reads;
};

ItemPlanner::ItemPlanner() : buffers_(std::make_unique<Buffers>()) {}
ItemPlanner::~ItemPlanner() = default;

const ItemAnswer& ItemPlanner::Plan(std::string_view encoded, const std::string& path,
                                    const SharedOfItems& shared, StopSignal stop) {
  trace_ = PlanTrace();
  buffers_->arena.Reset();
  encoded_ = encoded;
  answer_.kept_ = nullptr;
  answer_.outcome_.reset();
  auto& item = *buffers_->arena.New<v1::PlanItem>();
  std::optional<Failure> failure;
  if (!item.ParseFromArray(encoded.data(), static_cast<int>(encoded.size()))) {
    failure.emplace();
    failure->reason = FailureReason::kMalformedMessage;
    failure->message = path + ": the bytes are no arclane.v1.PlanItem";
  } else {
    std::vector<FieldViolation> violations;
    FillShared(item, shared.message, violations);
    if (!violations.empty()) {
      failure = WithPath(InvalidFields(std::move(violations)), path);
    } else {
      failure = Dispatch(item, shared, stop);
      if (failure)
        failure = WithPath(*std::move(failure), path + "." + KindName(item.request_case()));
    }
  }
  if (failure) answer_.SetFailure(*std::move(failure));
  // A kept answer went through no stage.
  if (trace_.Ended(Stage::kValidate)) trace_.End(Stage::kEncode);
  return answer_;
}

std::optional<Failure> ItemPlanner::Dispatch(v1::PlanItem& item, const SharedOfItems& shared,
                                             StopSignal stop) {
  // Every answer says of itself that the cache was not asked, which the item's own fields say
  // again.
  const auto finish = [&](int field, auto& response) {
    response.clear_answer();
    SetBody(field, response);
    answer_.SetInfo(v1::CACHE_OUTCOME_BYPASS, nullptr);
  };
  std::optional<Failure> failure;
  switch (item.request_case()) {
    case v1::PlanItem::kCorridor:
      return PlanCorridor(*item.mutable_corridor(), shared, stop);
    case v1::PlanItem::kWaypoints: {
      auto& response = *buffers_->arena.New<v1::PlanWaypointsResponse>();
      failure = AnswerPlanWaypoints(item.waypoints(), shared.limits, stop, response, &trace_);
      if (!failure) {
        finish(v1::PlanItemAnswer::kWaypointsFieldNumber, response);
        answer_.outcome_ = response.route().outcome();
      }
      return failure;
    }
    case v1::PlanItem::kSpline: {
      auto& response = *buffers_->arena.New<v1::PlanSplineResponse>();
      failure = AnswerPlanSpline(item.spline(), shared.limits, stop, response, &trace_,
                                 shared.prepared);
      if (!failure) finish(v1::PlanItemAnswer::kSplineFieldNumber, response);
      return failure;
    }
    case v1::PlanItem::kSpeed: {
      auto& response = *buffers_->arena.New<v1::PlanSpeedResponse>();
      failure = AnswerPlanSpeed(item.speed(), shared.limits, stop, response, &trace_);
      if (!failure) finish(v1::PlanItemAnswer::kSpeedFieldNumber, response);
      return failure;
    }
    case v1::PlanItem::REQUEST_NOT_SET:
      break;
  }
  return failure;
}

std::optional<Failure> ItemPlanner::PlanCorridor(v1::PlanCorridorRequest& request,
                                                 const SharedOfItems& shared, StopSignal stop) {
  if (request.cache_mode() == v1::CACHE_MODE_UNSPECIFIED)
    request.set_cache_mode(shared.message.cache_mode());
  const bool by_ref = request.corridor().has_refs();
  if (by_ref && request.has_navmesh()) {
    return InvalidField("navmesh", "must be unset: all items name polygons of shared.navmesh");
  }
  if (by_ref && shared.view == nullptr) {
    if (shared.no_view != nullptr) return *shared.no_view;
    return InvalidField("corridor.refs", "needs the name of the navmesh in shared.navmesh");
  }
  const bool names_navmesh = by_ref || !request.navmesh().navmesh_id().empty();
  const bool bypass = request.cache_mode() == v1::CACHE_MODE_BYPASS;
  if (names_navmesh && bypass && shared.store != nullptr) shared.store->CountBypass();
  if (names_navmesh && !bypass && shared.store != nullptr) return PlanKept(request, shared, stop);
  if (by_ref) {
    // Planned as a call of its own is: in its canonical form, or one that leads to the same bits.
    if (shared.may_hold_negative_zero || MayHoldNegativeZero(encoded_)) Canonicalize(request);
    return PlanByRef(request, shared, stop);
  }
  auto& response = *buffers_->arena.New<v1::PlanCorridorResponse>();
  auto failure = AnswerPlanCorridor(request, shared.limits, stop, response, nullptr, &trace_);
  if (failure) return failure;
  response.clear_answer();
  SetBody(v1::PlanItemAnswer::kCorridorFieldNumber, response);
  answer_.outcome_ = response.route().outcome();
  answer_.SetInfo(v1::CACHE_OUTCOME_BYPASS, nullptr);
  return std::nullopt;
}

std::optional<Failure> ItemPlanner::PlanByRef(v1::PlanCorridorRequest& request,
                                              const SharedOfItems& shared, StopSignal stop) {
  auto& response = *buffers_->arena.New<v1::PlanCorridorResponse>();
  auto failure = AnswerPlanCorridorByRef(request, *shared.view, shared.limits, stop, response,
                                         buffers_->reads, &trace_, shared.prepared);
  if (failure) return failure;
  response.clear_answer();
  SetBody(v1::PlanItemAnswer::kCorridorFieldNumber, response);
  answer_.outcome_ = response.route().outcome();
  answer_.SetInfo(v1::CACHE_OUTCOME_BYPASS, shared.view);
  return std::nullopt;
}

std::optional<Failure> ItemPlanner::PlanKept(v1::PlanCorridorRequest& request,
                                             const SharedOfItems& shared, StopSignal stop) {
  const bool by_ref = request.corridor().has_refs();
  const std::string navmesh_id =
      by_ref ? shared.view->navmesh_id() : request.navmesh().navmesh_id();
  const std::shared_ptr<const StampSource> ledger =
      by_ref ? nullptr : shared.store->Ledger(navmesh_id);
  const StampSource& stamps = by_ref ? static_cast<const StampSource&>(*shared.view) : *ledger;
  const uint64_t lineage = by_ref ? shared.view->lineage().value : 0;
  Canonicalize(request, &buffers_->canonical);
  std::string& key = buffers_->key;
  key.assign(1, by_ref ? kByReference : kInline);
  key += buffers_->canonical;
  const bool worth = key.size() <= kMostKeptBytes;
  if (worth) {
    if (auto kept = shared.store->Find(navmesh_id, lineage, key, stamps)) {
      answer_.response_field_ = v1::PlanItemAnswer::kCorridorFieldNumber;
      answer_.message_ = nullptr;
      answer_.body_ = *kept;
      answer_.kept_ = std::move(kept);
      answer_.SetInfo(v1::CACHE_OUTCOME_HIT, by_ref ? shared.view : nullptr);
      return std::nullopt;
    }
  }
  auto& response = *buffers_->arena.New<v1::PlanCorridorResponse>();
  std::vector<Dependency>& dependencies = buffers_->reads.dependencies;
  std::optional<Failure> failure;
  if (by_ref) {
    failure = AnswerPlanCorridorByRef(request, *shared.view, shared.limits, stop, response,
                                      buffers_->reads, &trace_, shared.prepared);
  } else {
    failure = AnswerPlanCorridor(request, shared.limits, stop, response, nullptr, &trace_);
    if (!failure) dependencies = DeclaredDependencies(request.corridor().dependencies(), *ledger);
  }
  if (failure) return failure;
  response.clear_answer();
  SetBody(v1::PlanItemAnswer::kCorridorFieldNumber, response);
  answer_.outcome_ = response.route().outcome();
  answer_.SetInfo(worth ? v1::CACHE_OUTCOME_MISS : v1::CACHE_OUTCOME_BYPASS,
                  by_ref ? shared.view : nullptr);
  if (worth) {
    // Encoded once: what is kept is what is sent.
    std::string& encoded = buffers_->encoded;
    encoded.resize(answer_.message_size_);
    response.SerializeWithCachedSizesToArray(reinterpret_cast<uint8_t*>(encoded.data()));
    answer_.message_ = nullptr;
    answer_.body_ = encoded;
    shared.store->Keep(navmesh_id, lineage, key, dependencies, encoded, response.route().outcome());
  }
  return std::nullopt;
}

void ItemPlanner::SetBody(int field, const google::protobuf::MessageLite& message) {
  answer_.response_field_ = field;
  answer_.message_ = &message;
  answer_.message_size_ = message.ByteSizeLong();
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
