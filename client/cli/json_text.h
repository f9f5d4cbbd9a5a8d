// SPDX-License-Identifier: Apache-2.0
// Positions in JSON text: where a value ends, where a member stands, which line that is. It builds
// nothing and is used to split input and to tell where an error is; what a request means is decided
// by Protobuf alone.
#ifndef ARCLANE_CLIENT_CLI_JSON_TEXT_H_
#define ARCLANE_CLIENT_CLI_JSON_TEXT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace arclane {

struct TextPosition {
  size_t line = 1;    // From 1.
  size_t column = 1;  // From 1, in bytes.
};
// Precondition: offset <= text.size().
TextPosition PositionOf(std::string_view text, size_t offset);

struct JsonExtent {
  size_t begin = 0;
  size_t end = 0;     // Behind the last character; where the fault is, if there is one.
  std::string fault;  // Empty, or what was expected at `end`.
  bool ok() const { return fault.empty(); }
};

// The value that starts at or, after white space, behind `offset`. Strict JSON, nested at most 100
// deep. Linear.
JsonExtent ScanJsonValue(std::string_view text, size_t offset = 0);

// Whether the text is one value and white space.
bool IsOneJsonValue(std::string_view text);

// The value at a path such as "agent.limits.max_speed" or "closed_gates[3]"; member names match in
// snake case and in lower camel case alike, as Protobuf's do. nullopt when there is none or the
// text is faulty before it.
std::optional<JsonExtent> FindJsonMember(std::string_view text, std::string_view path);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_JSON_TEXT_H_
