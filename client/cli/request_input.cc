// SPDX-License-Identifier: Apache-2.0
#include "client/cli/request_input.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/cli/json_text.h"
#include "google/protobuf/util/json_util.h"
#include "server/files/whole_file.h"

namespace arclane {
namespace {

bool IsBlank(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isspace(c); });
}

struct Line {
  std::string_view text;
  size_t number;
};

std::vector<Line> LinesOf(std::string_view text) {
  std::vector<Line> lines;
  for (size_t begin = 0, number = 1; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (!IsBlank(line)) lines.push_back({line, number});
    begin = end + 1;
  }
  return lines;
}

bool LooksLikeLines(const std::vector<Line>& lines) {
  const auto whole = std::count_if(lines.begin(), lines.end(), [](const Line& line) {
    return line.text.starts_with('{') && IsOneJsonValue(line.text);
  });
  return lines.size() >= 2 && 2 * static_cast<size_t>(whole) >= lines.size();
}

// Protobuf says "(agent.limits) max_sped: Cannot find field." or "(closed_gates[0]): invalid value
// -1 for type TYPE_FIXED64".
struct FieldFault {
  std::string path;  // Empty when the root is meant.
  std::string description;
};

std::optional<FieldFault> SplitProtobufMessage(const std::string& message) {
  std::string_view rest = message;
  FieldFault fault;
  if (rest.starts_with('(')) {
    const size_t end = rest.find(')');
    if (end == std::string_view::npos) return std::nullopt;
    fault.path = std::string(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
  }
  const size_t colon = rest.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view name = rest.substr(0, colon);
  const size_t name_begin = name.find_first_not_of(' ');
  if (name_begin != std::string_view::npos) {
    const std::string_view member = name.substr(name_begin);
    if (member.find_first_of(" \"'{}[],\n") != std::string_view::npos) return std::nullopt;
    absl::StrAppend(&fault.path, fault.path.empty() ? "" : ".",
                    absl::string_view(member.data(), member.size()));
  }
  fault.description = std::string(rest.substr(colon + 2));
  if (fault.description == "Cannot find field.") fault.description = "no such field";
  return fault;
}

std::string Place(const std::string& file, size_t first_line, std::string_view text,
                  size_t offset) {
  const TextPosition position = PositionOf(text, offset);
  return absl::StrCat(file, ":", first_line + position.line - 1, ":", position.column, ": ");
}

absl::Status CannotRead(absl::string_view what) {
  return absl::NotFoundError(absl::StrCat(what, "; check the name, or give - for standard input"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<RequestInput>> RequestInput::Open(const std::string& path,
                                                                 InputLayout layout,
                                                                 std::istream& standard_input) {
  std::unique_ptr<RequestInput> input(new RequestInput());
  const bool standard = path == "-";
  input->name_ = standard ? "standard input" : path;
  if (layout == InputLayout::kLines) {
    input->lines_ = &standard_input;
    if (standard) return input;
    input->file_ = std::make_unique<std::ifstream>(path, std::ios::binary);
    // A folder can be opened but not read.
    if (!*input->file_ || (input->file_->peek(), input->file_->bad())) {
      return CannotRead(absl::StrCat("cannot read ", path));
    }
    input->file_->clear();
    input->lines_ = input->file_.get();
    return input;
  }
  if (standard) {
    input->SplitWhole(std::string(std::istreambuf_iterator<char>(standard_input), {}));
  } else {
    const auto text = ReadWholeFile(path);
    if (!text.ok()) return CannotRead(text.status().message());
    input->SplitWhole(*text);
  }
  if (input->texts_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(input->name_, " is empty: a request in JSON is expected"));
  }
  return input;
}

void RequestInput::SplitWhole(const std::string& text) {
  if (!IsBlank(text)) {
    const std::vector<Line> lines = LinesOf(text);
    if (!IsOneJsonValue(text) && LooksLikeLines(lines)) {
      for (const Line& line : lines) texts_.push_back({std::string(line.text), line.number, true});
    } else {
      texts_.push_back({text, 1, false});
    }
  }
  count_ = texts_.size();
}

std::optional<RequestText> RequestInput::Next() {
  if (lines_ == nullptr) {
    if (texts_.empty()) return std::nullopt;
    RequestText next = std::move(texts_.front());
    texts_.pop_front();
    return next;
  }
  std::string line;
  while (std::getline(*lines_, line)) {
    ++line_;
    if (!IsBlank(line)) return RequestText{std::move(line), line_, true};
  }
  return std::nullopt;
}

absl::Status ParseJson(std::string_view text, const std::string& file, size_t first_line,
                       google::protobuf::Message& message) {
  const auto status = google::protobuf::util::JsonStringToMessage(
      google::protobuf::StringPiece(text.data(), text.size()), &message);
  if (status.ok()) return absl::OkStatus();
  const JsonExtent extent = ScanJsonValue(text);
  if (!extent.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(Place(file, first_line, text, extent.end), "expected ", extent.fault));
  }
  const std::string protobuf_says(status.message().data(), status.message().size());
  const std::optional<FieldFault> fault = SplitProtobufMessage(protobuf_says);
  if (!fault) {
    return absl::InvalidArgumentError(
        absl::StrCat(Place(file, first_line, text, extent.begin), protobuf_says));
  }
  const std::optional<JsonExtent> member = FindJsonMember(text, fault->path);
  return absl::InvalidArgumentError(
      absl::StrCat(Place(file, first_line, text, member ? member->begin : extent.begin),
                   fault->path, fault->path.empty() ? "" : ": ", fault->description));
}

std::string ToJson(const google::protobuf::Message& message, JsonLayout layout) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.add_whitespace = layout == JsonLayout::kIndented;
  std::string json;
  (void)google::protobuf::util::MessageToJsonString(message, &json, options);
  while (!json.empty() && json.back() == '\n') json.pop_back();
  return json;
}

}  // namespace arclane
