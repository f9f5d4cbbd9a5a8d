// SPDX-License-Identifier: Apache-2.0
#include "server/codec/canonical_request.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "server/planning/route/agent_profile.h"

namespace arclane {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using google::protobuf::internal::WireFormatLite;

bool IsNegativeZero(double value) { return std::bit_cast<uint64_t>(value) == uint64_t{1} << 63; }

void CleanNumbers(Message& message, const Reflection& reflection, const FieldDescriptor* field) {
  if (!field->is_repeated()) {
    if (IsNegativeZero(reflection.GetDouble(message, field)))
      reflection.SetDouble(&message, field, 0.0);
    return;
  }
  const int size = reflection.FieldSize(message, field);
  for (int i = 0; i < size; ++i) {
    if (IsNegativeZero(reflection.GetRepeatedDouble(message, field, i)))
      reflection.SetRepeatedDouble(&message, field, i, 0.0);
  }
}

// Drops unknown fields and makes every -0.0 a 0.0, here and in all messages within.
void Clean(Message& message) {
  const Reflection& reflection = *message.GetReflection();
  if (!reflection.GetUnknownFields(message).empty())
    reflection.MutableUnknownFields(&message)->Clear();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) {
      CleanNumbers(message, reflection, field);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      if (!field->is_repeated()) {
        Clean(*reflection.MutableMessage(&message, field));
        continue;
      }
      for (int i = 0; i < reflection.FieldSize(message, field); ++i)
        Clean(*reflection.MutableRepeatedMessage(&message, field, i));
    }
  }
}

bool IsInfinite(double value) { return value == std::numeric_limits<double>::infinity(); }
// A value that the follower alone reads, and that planning would not refuse.
bool IsFollowersOwn(double value) { return value >= 0.0 && std::isfinite(value); }

template <typename Message>
bool IsEmpty(const Message& message) {
  return message.ByteSizeLong() == 0;
}

// The frame's defaults are those of the navmesh when the corridor is by reference.
void DropFrameDefaults(v1::PlanCorridorRequest& request) {
  if (!request.has_frame()) return;
  v1::Frame& frame = *request.mutable_frame();
  if (frame.has_source() && frame.source() == v1::COORDINATE_SOURCE_UNSPECIFIED)
    frame.clear_source();
  if (!request.corridor().has_refs()) {
    if (frame.up_axis() == v1::UP_AXIS_Z) frame.clear_up_axis();
    if (frame.has_source() && frame.source() == v1::COORDINATE_SOURCE_FLOAT64) frame.clear_source();
    if (frame.has_tolerance() && frame.tolerance() == 0.0) frame.clear_tolerance();
  }
  if (IsEmpty(frame.origin())) frame.clear_origin();
  if (IsEmpty(frame)) request.clear_frame();
}

void DropAgentDefaults(v1::AgentProfile& agent) {
  const AgentProfile defaults;
  if (agent.has_body()) {
    v1::AgentBody& body = *agent.mutable_body();
    if (body.can_turn_in_place() == defaults.can_turn_in_place) body.clear_can_turn_in_place();
    if (IsEmpty(body)) agent.clear_body();
  }
  if (agent.has_limits()) {
    v1::AgentLimits& limits = *agent.mutable_limits();
    if (IsInfinite(limits.max_lateral_acceleration())) limits.clear_max_lateral_acceleration();
    if (IsInfinite(limits.max_total_acceleration())) limits.clear_max_total_acceleration();
    const auto implied =
        limits.has_max_total_acceleration() ? v1::BUDGET_MODE_COUPLED : v1::BUDGET_MODE_INDEPENDENT;
    if (limits.budget_mode() == implied) limits.clear_budget_mode();
  }
  if (!agent.has_manners()) return;
  v1::AgentManners& manners = *agent.mutable_manners();
  if (manners.corner_objective() == v1::CORNER_OBJECTIVE_FEWEST_STOPS)
    manners.clear_corner_objective();
  if (manners.corner_angle_min_rad() == defaults.corner_angle_min)
    manners.clear_corner_angle_min_rad();
  if (manners.max_extra_length() == defaults.max_extra_length) manners.clear_max_extra_length();
  if (manners.corner_work_budget_s() == defaults.corner_work_budget_s)
    manners.clear_corner_work_budget_s();
  if (IsFollowersOwn(manners.corner_distance_tolerance()))
    manners.clear_corner_distance_tolerance();
  if (IsFollowersOwn(manners.corner_speed_tolerance())) manners.clear_corner_speed_tolerance();
  if (IsEmpty(manners)) agent.clear_manners();
}

bool IsRouteColumn(int column) {
  return v1::SampleColumn_IsValid(column) && column != v1::SAMPLE_COLUMN_UNSPECIFIED &&
         column != v1::SAMPLE_COLUMN_TANGENT && column != v1::SAMPLE_COLUMN_PARAMETER;
}

// Columns count as a set, unless one is refused by its place in the list.
void CanonicalizeSampling(v1::PlanCorridorRequest& request) {
  if (!request.has_sampling()) return;
  auto& columns = *request.mutable_sampling()->mutable_columns();
  if (std::all_of(columns.begin(), columns.end(), IsRouteColumn)) {
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  }
  if (request.sampling().column_precision() == v1::COLUMN_PRECISION_DOUBLE)
    request.mutable_sampling()->clear_column_precision();
  if (IsEmpty(request.sampling())) request.clear_sampling();
}

// Makes what is set to its default, or does not matter, unset. Presence is kept where it is
// required or chooses between kinds.
void DropDefaults(v1::PlanCorridorRequest& request) {
  DropFrameDefaults(request);
  if (request.has_agent()) DropAgentDefaults(*request.mutable_agent());
  if (IsEmpty(request.motion().velocity()) && request.has_motion())
    request.mutable_motion()->clear_velocity();
  if (IsEmpty(request.motion())) request.clear_motion();
  CanonicalizeSampling(request);
  // By reference, dependencies are refused even when there are none.
  if (request.has_corridor() && !request.corridor().has_refs() &&
      IsEmpty(request.corridor().dependencies()))
    request.mutable_corridor()->clear_dependencies();
}

// Whether an encoded NavMeshRef has a name.
bool HasName(std::string_view encoded) {
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(encoded.data()),
                                            static_cast<int>(encoded.size()));
  while (const uint32_t tag = in.ReadTag()) {
    if (tag == WireFormatLite::MakeTag(v1::NavMeshRef::kNavmeshIdFieldNumber,
                                       WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      uint32_t length = 0;
      if (!in.ReadVarint32(&length)) return false;
      if (length > 0) return true;
    } else if (!WireFormatLite::SkipField(&in, tag)) {
      return false;
    }
  }
  return false;
}

}  // namespace

void Canonicalize(v1::PlanCorridorRequest& request) {
  // One that is unknown stays, so that the plan refuses it.
  if (v1::CacheMode_IsValid(request.cache_mode())) request.clear_cache_mode();
  request.clear_include_stage_times();
  if (request.corridor().has_refs()) request.clear_navmesh();
  auto& closed = *request.mutable_closed_gates();
  std::sort(closed.begin(), closed.end());
  closed.erase(std::unique(closed.begin(), closed.end()), closed.end());
  Clean(request);
  DropDefaults(request);
}

void Canonicalize(v1::PlanCorridorRequest& request, std::string* bytes) {
  Canonicalize(request);
  request.SerializeToString(bytes);
}

bool MayHoldNegativeZero(std::string_view encoded) {
  constexpr std::string_view kZeros("\0\0\0\0\0\0\0", 7);
  for (size_t at = 0; (at = encoded.find('\x80', at)) != std::string_view::npos; ++at) {
    if (at >= kZeros.size() && encoded.substr(at - kZeros.size(), kZeros.size()) == kZeros)
      return true;
  }
  return false;
}

RequestGlance GlanceAt(std::string_view encoded) {
  RequestGlance glance;
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(encoded.data()),
                                            static_cast<int>(encoded.size()));
  while (const uint32_t tag = in.ReadTag()) {
    if (tag == WireFormatLite::MakeTag(v1::PlanCorridorRequest::kNavmeshFieldNumber,
                                       WireFormatLite::WIRETYPE_LENGTH_DELIMITED)) {
      uint32_t length = 0;
      if (!in.ReadVarint32(&length)) break;
      const size_t begin = static_cast<size_t>(in.CurrentPosition());
      if (length > encoded.size() - begin) break;
      glance.names_navmesh |= HasName(encoded.substr(begin, length));
      in.Skip(static_cast<int>(length));
    } else if (tag == WireFormatLite::MakeTag(v1::PlanCorridorRequest::kCacheModeFieldNumber,
                                              WireFormatLite::WIRETYPE_VARINT)) {
      uint64_t mode = 0;
      if (!in.ReadVarint64(&mode)) break;
      // Unknown ones, too: the plan refuses them.
      glance.bypasses_cache = mode != v1::CACHE_MODE_UNSPECIFIED && mode != v1::CACHE_MODE_USE;
    } else if (!WireFormatLite::SkipField(&in, tag)) {
      break;
    }
  }
  return glance;
}

}  // namespace arclane
