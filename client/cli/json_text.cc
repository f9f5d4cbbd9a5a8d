// SPDX-License-Identifier: Apache-2.0
#include "client/cli/json_text.h"

#include <algorithm>
#include <charconv>

namespace arclane {
namespace {

constexpr int kMaxDepth = 100;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Lower camel case and snake case name the same field: underscores and the case of letters are
// passed over.
bool SameName(std::string_view a, std::string_view b) {
  const auto fold = [](std::string_view name) {
    std::string folded;
    for (const char c : name) {
      if (c == '_') continue;
      folded += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return folded;
  };
  return fold(a) == fold(b);
}

// Reads one value, depth first. When `target` is set it stops as soon as the value at that path is
// read.
class Scanner {
 public:
  Scanner(std::string_view text, size_t offset) : text_(text), at_(offset) {}

  JsonExtent Value() {
    SkipSpace();
    JsonExtent extent;
    extent.begin = at_;
    ReadValue(0, std::nullopt);
    extent.end = at_;
    extent.fault = fault_;
    return extent;
  }

  std::optional<JsonExtent> Find(std::string_view path) {
    SkipSpace();
    ReadValue(0, path);
    return found_;
  }

 private:
  using Path = std::optional<std::string_view>;

  bool Fail(const char* expected) {
    if (fault_.empty()) fault_ = expected;
    return false;
  }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  bool At(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool Take(char c) {
    if (!At(c)) return false;
    ++at_;
    return true;
  }

  // The rest of the path inside member `name` or element `index`, or nullopt when the path does not
  // lead there.
  static Path Inside(const Path& path, std::string_view name) {
    if (!path || path->empty()) return std::nullopt;
    const size_t end = std::min(path->find_first_of(".["), path->size());
    if (!SameName(path->substr(0, end), name)) return std::nullopt;
    return Rest(path->substr(end));
  }
  static Path Inside(const Path& path, size_t index) {
    if (!path || !path->starts_with('[')) return std::nullopt;
    const size_t end = path->find(']');
    if (end == std::string_view::npos) return std::nullopt;
    size_t wanted = 0;
    const auto parsed = std::from_chars(path->data() + 1, path->data() + end, wanted);
    if (parsed.ec != std::errc() || wanted != index) return std::nullopt;
    return Rest(path->substr(end + 1));
  }
  static Path Rest(std::string_view path) {
    if (path.starts_with('.')) path.remove_prefix(1);
    return path;
  }

  // All readers return false to stop: at a fault, or when the target is found.
  bool ReadValue(int depth, const Path& path) {
    if (depth > kMaxDepth) return Fail("less nesting");
    const size_t begin = at_;
    if (!ReadAny(depth, path)) return false;
    if (path && path->empty()) {
      found_ = JsonExtent{begin, at_, ""};
      return false;
    }
    return true;
  }

  bool ReadAny(int depth, const Path& path) {
    if (at_ >= text_.size()) return Fail("a value, not the end of the text");
    const char c = text_[at_];
    if (c == '{') return ReadObject(depth, path);
    if (c == '[') return ReadArray(depth, path);
    if (c == '"') return ReadString(nullptr);
    if (c == '-' || IsDigit(c)) return ReadNumber();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return true;
      }
    }
    return Fail("a value");
  }

  bool ReadObject(int depth, const Path& path) {
    ++at_;
    SkipSpace();
    if (Take('}')) return true;
    while (true) {
      std::string_view name;
      if (!At('"')) return Fail("a member name in double quotes");
      if (!ReadString(&name)) return false;
      SkipSpace();
      if (!Take(':')) return Fail("':'");
      SkipSpace();
      if (!ReadValue(depth + 1, Inside(path, name))) return false;
      SkipSpace();
      if (Take('}')) return true;
      if (!Take(',')) return Fail("',' or '}'");
      SkipSpace();
    }
  }

  bool ReadArray(int depth, const Path& path) {
    ++at_;
    SkipSpace();
    if (Take(']')) return true;
    for (size_t index = 0;; ++index) {
      if (!ReadValue(depth + 1, Inside(path, index))) return false;
      SkipSpace();
      if (Take(']')) return true;
      if (!Take(',')) return Fail("',' or ']'");
      SkipSpace();
    }
  }

  // `name` gets the text between the quotes, escapes as written.
  bool ReadString(std::string_view* name) {
    const size_t begin = ++at_;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        if (name != nullptr) *name = text_.substr(begin, at_ - begin);
        ++at_;
        return true;
      }
      if (text_[at_] == '\n') break;
      if (text_[at_] == '\\' && ++at_ >= text_.size()) break;
    }
    return Fail("the closing '\"' of a string");
  }

  bool ReadNumber() {
    Take('-');
    if (!ReadDigits()) return Fail("a digit");
    if (Take('.') && !ReadDigits()) return Fail("a digit");
    if (Take('e') || Take('E')) {
      if (!Take('-')) Take('+');
      if (!ReadDigits()) return Fail("a digit");
    }
    return true;
  }
  bool ReadDigits() {
    const size_t begin = at_;
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
    return at_ > begin;
  }

  const std::string_view text_;
  size_t at_;
  std::string fault_;
  std::optional<JsonExtent> found_;
};

}  // namespace

TextPosition PositionOf(std::string_view text, size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const size_t line_start = before.rfind('\n');
  TextPosition position;
  position.line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
  position.column = line_start == std::string_view::npos ? offset + 1 : offset - line_start;
  return position;
}

JsonExtent ScanJsonValue(std::string_view text, size_t offset) {
  return Scanner(text, offset).Value();
}

bool IsOneJsonValue(std::string_view text) {
  const JsonExtent extent = ScanJsonValue(text);
  return extent.ok() &&
         std::all_of(text.begin() + static_cast<std::ptrdiff_t>(extent.end), text.end(), IsSpace);
}

std::optional<JsonExtent> FindJsonMember(std::string_view text, std::string_view path) {
  return Scanner(text, 0).Find(path);
}

}  // namespace arclane
