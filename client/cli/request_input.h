// SPDX-License-Identifier: Apache-2.0
// Reads requests as Protobuf JSON: one that fills a file, or one a line.
#ifndef ARCLANE_CLIENT_CLI_REQUEST_INPUT_H_
#define ARCLANE_CLIENT_CLI_REQUEST_INPUT_H_

#include <cstddef>
#include <deque>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"

namespace arclane {

enum class InputLayout {
  kDetect,  // One request a line when the text as a whole is no JSON value and at least half of its
            // lines are.
  kLines,   // One request a line, read as they come.
};

struct RequestText {
  std::string text;
  size_t line = 1;       // Where it starts in the file.
  bool is_line = false;  // One of several lines rather than a whole file.
};

// The texts of one file. Blank lines are passed over.
class RequestInput {
 public:
  // "-" reads `standard_input`, which must outlive the result. kNotFound, with what to do, when the
  // file cannot be read; kDetect reads everything here. kInvalidArgument when there is no text at
  // all.
  static absl::StatusOr<std::unique_ptr<RequestInput>> Open(const std::string& path,
                                                            InputLayout layout,
                                                            std::istream& standard_input);

  // The next text; nullopt at the end.
  std::optional<RequestText> Next();
  // The number of texts, when it is known before they are read.
  std::optional<size_t> count() const { return count_; }
  // The file as errors name it.
  const std::string& name() const { return name_; }

 private:
  RequestInput() = default;
  void SplitWhole(const std::string& text);

  std::string name_;
  std::unique_ptr<std::istream> file_;
  std::istream* lines_ = nullptr;  // Only for kLines.
  size_t line_ = 0;
  std::deque<RequestText> texts_;
  std::optional<size_t> count_;
};

// Parses Protobuf JSON into `message`. The error names file, line, column where they can be found,
// and the field: "plan.json:14:7: agent.limits.max_sped: no such field". `text` begins on line
// `first_line` of the file.
absl::Status ParseJson(std::string_view text, const std::string& file, size_t first_line,
                       google::protobuf::Message& message);

enum class JsonLayout { kOneLine, kIndented };
// Protobuf JSON with the field names of the .proto files, as error messages write them. Always
// succeeds for messages of arclane.v1. No newline at the end.
std::string ToJson(const google::protobuf::Message& message, JsonLayout layout);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_REQUEST_INPUT_H_
