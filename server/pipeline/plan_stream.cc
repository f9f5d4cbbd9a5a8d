// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_stream.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "server/codec/field_checks.h"

namespace arclane {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr auto kPiece = WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
constexpr auto kVarint = WireFormatLite::WIRETYPE_VARINT;

CodedInputStream InputOf(std::string_view encoded) {
  return CodedInputStream(reinterpret_cast<const uint8_t*>(encoded.data()),
                          static_cast<int>(encoded.size()));
}

// The piece behind a tag; false when it does not fit.
bool ReadPiece(CodedInputStream& in, std::string_view encoded, std::string_view* piece) {
  uint32_t length = 0;
  if (!in.ReadVarint32(&length)) return false;
  const auto begin = static_cast<size_t>(in.CurrentPosition());
  if (length > encoded.size() - begin) return false;
  *piece = encoded.substr(begin, length);
  return in.Skip(static_cast<int>(length));
}

bool ReadItem(std::string_view encoded, StreamItem* item) {
  using Item = v1::PlanStreamItem;
  CodedInputStream in = InputOf(encoded);
  while (const uint32_t tag = in.ReadTag()) {
    uint64_t value = 0;
    bool read = true;
    if (tag == WireFormatLite::MakeTag(Item::kCorrelationIdFieldNumber, kVarint)) {
      read = in.ReadVarint64(&item->correlation_id);
    } else if (tag == WireFormatLite::MakeTag(Item::kAgentIdFieldNumber, kVarint)) {
      read = in.ReadVarint64(&value);
      item->agent_id = value;
    } else if (tag == WireFormatLite::MakeTag(Item::kTimeBudgetSFieldNumber,
                                              WireFormatLite::WIRETYPE_FIXED64)) {
      read = in.ReadLittleEndian64(&value);
      item->time_budget_s = std::bit_cast<double>(value);
    } else if (tag == WireFormatLite::MakeTag(Item::kItemFieldNumber, kPiece)) {
      read = ReadPiece(in, encoded, &item->encoded);
    } else {
      read = WireFormatLite::SkipField(&in, tag);
    }
    if (!read) return false;
  }
  return in.ConsumedEntireMessage();
}

bool ReadCancelled(std::string_view packed, std::vector<uint64_t>* cancelled) {
  CodedInputStream in = InputOf(packed);
  while (in.CurrentPosition() < static_cast<int>(packed.size())) {
    uint64_t id = 0;
    if (!in.ReadVarint64(&id)) return false;
    cancelled->push_back(id);
  }
  return true;
}

bool ReadFields(std::string_view encoded, StreamMessage* message) {
  using Request = v1::PlanStreamRequest;
  CodedInputStream in = InputOf(encoded);
  while (const uint32_t tag = in.ReadTag()) {
    bool read = true;
    std::string_view piece;
    if (tag == WireFormatLite::MakeTag(Request::kSharedFieldNumber, kPiece)) {
      read = ReadPiece(in, encoded, &piece);
      v1::PlanShared shared;
      read = read && shared.ParseFromArray(piece.data(), static_cast<int>(piece.size()));
      if (message->shared == nullptr) message->shared = std::make_unique<v1::PlanShared>();
      message->shared->MergeFrom(shared);
    } else if (tag == WireFormatLite::MakeTag(Request::kCancelledFieldNumber, kPiece)) {
      read = ReadPiece(in, encoded, &piece) && ReadCancelled(piece, &message->cancelled);
    } else if (tag == WireFormatLite::MakeTag(Request::kCancelledFieldNumber, kVarint)) {
      read = in.ReadVarint64(&message->cancelled.emplace_back());
    } else if (tag == WireFormatLite::MakeTag(Request::kItemsFieldNumber, kPiece)) {
      read = ReadPiece(in, encoded, &piece) && ReadItem(piece, &message->items.emplace_back());
    } else if (tag == WireFormatLite::MakeTag(Request::kMaxChunkBytesFieldNumber, kVarint)) {
      read = in.ReadVarint32(&message->max_chunk_bytes);
    } else {
      read = WireFormatLite::SkipField(&in, tag);
    }
    if (!read) return false;
  }
  return in.ConsumedEntireMessage();
}

uint8_t* WriteHead(int field, size_t size, uint8_t* out) {
  out = CodedOutputStream::WriteVarint32ToArray(WireFormatLite::MakeTag(field, kPiece), out);
  return CodedOutputStream::WriteVarint32ToArray(static_cast<uint32_t>(size), out);
}

size_t HeadSize(size_t size) {
  // All fields here have numbers below 16.
  return 1 + CodedOutputStream::VarintSize32(static_cast<uint32_t>(size));
}

}  // namespace

std::optional<Failure> ReadStreamMessage(std::string_view encoded, StreamMessage* message) {
  if (!ReadFields(encoded, message)) {
    Failure failure;
    failure.reason = FailureReason::kMalformedMessage;
    failure.message = "the bytes are no " + v1::PlanStreamRequest::descriptor()->full_name();
    return failure;
  }
  std::vector<FieldViolation> violations;
  if (auto violation = CheckChunkBytes(message->max_chunk_bytes))
    violations.push_back(*std::move(violation));
  if (message->shared != nullptr) {
    if (auto violation = CheckSharedCacheMode(*message->shared))
      violations.push_back(*std::move(violation));
  }
  if (violations.empty()) return std::nullopt;
  return InvalidFields(std::move(violations));
}

std::optional<Failure> CheckStreamItem(const StreamItem& item) {
  if (item.time_budget_s >= 0 && std::isfinite(item.time_budget_s)) return std::nullopt;
  return InvalidFields(
      {{"time_budget_s", "must be >= 0 and finite, got " + NumberText(item.time_budget_s)}});
}

EncodedPiece EncodeStreamAnswer(uint64_t correlation_id, const ItemAnswer& answer, size_t most) {
  using Answer = v1::PlanStreamAnswer;
  const size_t id_size = 1 + CodedOutputStream::VarintSize64(correlation_id);
  const size_t body = answer.size();
  const size_t inner = id_size + HeadSize(body) + body;
  const size_t whole = HeadSize(inner) + inner;
  if (whole > most) {
    ItemAnswer refusal;
    refusal.SetFailure(LargerThanMessages(whole, most));
    return EncodeStreamAnswer(correlation_id, refusal, whole);
  }
  EncodedPiece piece = {std::make_unique_for_overwrite<uint8_t[]>(whole), whole};
  uint8_t* out = WriteHead(v1::PlanStreamResponse::kAnswersFieldNumber, inner, piece.bytes.get());
  out = CodedOutputStream::WriteVarint32ToArray(
      WireFormatLite::MakeTag(Answer::kCorrelationIdFieldNumber, kVarint), out);
  out = CodedOutputStream::WriteVarint64ToArray(correlation_id, out);
  answer.WriteTo(WriteHead(Answer::kAnswerFieldNumber, body, out));
  return piece;
}

EncodedPiece EncodeGoingAway(std::string_view detail) {
  v1::PlanStreamResponse message;
  message.mutable_going_away()->set_reason(v1::STREAM_END_GOING_AWAY);
  message.mutable_going_away()->set_detail(detail.data(), detail.size());
  const size_t size = message.ByteSizeLong();
  EncodedPiece piece = {std::make_unique_for_overwrite<uint8_t[]>(size), size};
  message.SerializeWithCachedSizesToArray(piece.bytes.get());
  return piece;
}

}  // namespace arclane
