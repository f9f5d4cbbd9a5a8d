// SPDX-License-Identifier: Apache-2.0
// Any bytes as what the load generator reads without Protobuf: a mix of requests, and the answers
// of batches and streams. A mix is read, or every part that makes no sense is told; where Protobuf
// reads a message of answers, as many are counted.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arclane/v1/planner.pb.h"
#include "client/loadgen/load_options.h"
#include "client/loadgen/plan_item_wire.h"
#include "tests/fuzz/fuzz_check.h"

using arclane::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> errors;
  const auto parts = arclane::ParseMix(text, errors);
  Require(!parts.empty() || !errors.empty() || text.empty(), "parts, or what is wrong with them");
  std::vector<arclane::AnsweredItem> answers;
  const bool is_batch = arclane::ReadBatchResponse(text, answers);
  arclane::v1::PlanBatchResponse batch;
  if (batch.ParseFromString(text)) {
    Require(is_batch, "a message of answers that Protobuf reads");
    Require(answers.size() == static_cast<size_t>(batch.answers_size()), "as many answers");
  }
  answers.clear();
  bool going_away = false;
  const bool is_stream = arclane::ReadStreamResponse(text, answers, going_away);
  arclane::v1::PlanStreamResponse stream;
  if (stream.ParseFromString(text)) {
    Require(is_stream, "a stream's message that Protobuf reads");
    Require(answers.size() == static_cast<size_t>(stream.answers_size()), "as many answers");
  }
  return 0;
}
