// SPDX-License-Identifier: Apache-2.0
#include "server/codec/canonical_request.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

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

void Canonicalize(v1::PlanCorridorRequest& request, std::string* bytes) {
  request.clear_cache_mode();
  request.clear_include_stage_times();
  if (request.corridor().has_refs()) request.clear_navmesh();
  auto& closed = *request.mutable_closed_gates();
  std::sort(closed.begin(), closed.end());
  closed.erase(std::unique(closed.begin(), closed.end()), closed.end());
  Clean(request);
  request.SerializeToString(bytes);
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
      glance.bypasses_cache = mode == v1::CACHE_MODE_BYPASS;
    } else if (!WireFormatLite::SkipField(&in, tag)) {
      break;
    }
  }
  return glance;
}

}  // namespace arclane
