// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/plan_item_wire.h"

#include "arclane/v1/planner.pb.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"

namespace arclane {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

void AppendVarint(uint64_t value, std::string& bytes) {
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

void AppendHeader(int field, size_t size, std::string& bytes) {
  AppendVarint(WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED), bytes);
  AppendVarint(size, bytes);
}

void AppendField(int field, std::string_view content, std::string& bytes) {
  AppendHeader(field, content.size(), bytes);
  bytes.append(content);
}

// The tags of a field with an extent and of a number. A field of another wire type than its own is
// unknown, as Protobuf has it.
constexpr uint32_t ExtentTag(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
}
constexpr uint32_t NumberTag(int field) {
  return WireFormatLite::MakeTag(field, WireFormatLite::WIRETYPE_VARINT);
}

// Reads the fields of one message up to its end: `take` is given the tag and the extent of every
// length-delimited field and the value of every varint; others are skipped.
template <typename Take>
bool ReadFields(CodedInputStream& input, Take take) {
  while (const uint32_t tag = input.ReadTag()) {
    switch (WireFormatLite::GetTagWireType(tag)) {
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED: {
        uint32_t size;
        if (!input.ReadVarint32(&size) || static_cast<int>(size) < 0) return false;
        const auto limit = input.PushLimit(static_cast<int>(size));
        const int64_t end = int64_t{input.CurrentPosition()} + size;
        if (input.BytesUntilLimit() < static_cast<int>(size)) return false;
        if (!take(tag, uint64_t{size})) return false;
        const int64_t rest = end - input.CurrentPosition();
        if (rest < 0 || !input.Skip(static_cast<int>(rest))) return false;
        input.PopLimit(limit);
        break;
      }
      case WireFormatLite::WIRETYPE_VARINT: {
        uint64_t value;
        if (!input.ReadVarint64(&value) || !take(tag, value)) return false;
        break;
      }
      default:
        if (!WireFormatLite::SkipField(&input, tag)) return false;
    }
  }
  return input.ConsumedEntireMessage();
}

// A PlanItemAnswer that fills the input up to its limit.
bool ReadAnsweredItem(CodedInputStream& input, size_t size, AnsweredItem& answer) {
  answer.bytes = size;
  return ReadFields(input, [&](uint32_t tag, uint64_t) {
    if (tag != ExtentTag(v1::PlanItemAnswer::kStatusFieldNumber)) return true;
    return ReadFields(input, [&](uint32_t status_tag, uint64_t value) {
      if (status_tag == NumberTag(google::rpc::Status::kCodeFieldNumber)) {
        answer.code = static_cast<int>(value);
      }
      return true;
    });
  });
}

CodedInputStream InputOf(std::string_view bytes) {
  return CodedInputStream(reinterpret_cast<const uint8_t*>(bytes.data()),
                          static_cast<int>(bytes.size()));
}

}  // namespace

std::string BatchOfItems(const std::vector<std::string_view>& items, std::string_view shared) {
  std::string bytes;
  for (const std::string_view item : items) {
    AppendField(v1::PlanBatchRequest::kItemsFieldNumber, item, bytes);
  }
  if (!shared.empty()) AppendField(v1::PlanBatchRequest::kSharedFieldNumber, shared, bytes);
  return bytes;
}

std::string StreamShared(std::string_view shared) {
  std::string bytes;
  AppendField(v1::PlanStreamRequest::kSharedFieldNumber, shared, bytes);
  return bytes;
}

std::string StreamItemWithoutId(std::string_view item) {
  std::string inner;
  AppendField(v1::PlanStreamItem::kItemFieldNumber, item, inner);
  std::string bytes;
  AppendHeader(v1::PlanStreamRequest::kItemsFieldNumber, inner.size() + kStreamIdBytes, bytes);
  return bytes + inner;
}

// Five groups of seven bits whatever the number, so that the length in front stays the same.
std::string StreamItemId(uint32_t id) {
  std::string bytes;
  AppendVarint(WireFormatLite::MakeTag(v1::PlanStreamItem::kCorrelationIdFieldNumber,
                                       WireFormatLite::WIRETYPE_VARINT),
               bytes);
  for (int group = 0; group < 4; ++group) {
    bytes.push_back(static_cast<char>((id >> (7 * group) & 0x7f) | 0x80));
  }
  bytes.push_back(static_cast<char>(id >> 28));
  return bytes;
}

bool ReadBatchResponse(std::string_view bytes, std::vector<AnsweredItem>& answers) {
  CodedInputStream input = InputOf(bytes);
  return ReadFields(input, [&](uint32_t tag, uint64_t size) {
    if (tag != ExtentTag(v1::PlanBatchResponse::kAnswersFieldNumber)) return true;
    return ReadAnsweredItem(input, size, answers.emplace_back());
  });
}

bool ReadStreamResponse(std::string_view bytes, std::vector<AnsweredItem>& answers,
                        bool& going_away) {
  CodedInputStream input = InputOf(bytes);
  return ReadFields(input, [&](uint32_t tag, uint64_t) {
    if (tag == ExtentTag(v1::PlanStreamResponse::kGoingAwayFieldNumber)) going_away = true;
    if (tag != ExtentTag(v1::PlanStreamResponse::kAnswersFieldNumber)) return true;
    AnsweredItem& answer = answers.emplace_back();
    return ReadFields(input, [&](uint32_t answer_tag, uint64_t value) {
      if (answer_tag == NumberTag(v1::PlanStreamAnswer::kCorrelationIdFieldNumber)) {
        answer.correlation_id = value;
      } else if (answer_tag == ExtentTag(v1::PlanStreamAnswer::kAnswerFieldNumber)) {
        return ReadAnsweredItem(input, value, answer);
      }
      return true;
    });
  });
}

}  // namespace arclane
