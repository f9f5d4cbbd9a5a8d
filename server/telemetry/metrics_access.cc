// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/metrics_access.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/files/whole_file.h"

namespace arclane {
namespace {

// No password is this long.
constexpr size_t kMostPasswordBytes = 64 << 10;

absl::StatusOr<std::string> PasswordIn(const std::string& path) {
  const auto text = ReadWholeFile(path, kMostPasswordBytes);
  if (!text.ok()) return text.status();
  std::string line = text->substr(0, text->find('\n'));
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

// Looks at every byte of `given`, whatever the first difference.
bool Equal(const std::string& expected, const std::string& given) {
  size_t difference = expected.size() ^ given.size();
  for (size_t i = 0; i < given.size(); ++i) {
    const char other = expected.empty() ? '\0' : expected[i % expected.size()];
    difference |= static_cast<size_t>(static_cast<unsigned char>(given[i] ^ other));
  }
  return difference == 0;
}

}  // namespace

absl::StatusOr<MetricsAccess> PasswordFileAccess(const std::string& user, const std::string& path) {
  const auto now = PasswordIn(path);
  if (!now.ok() || now->empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "metrics_password_file: ",
        now.ok() ? path + " holds no password in its first line" : now.status().message()));
  }
  return MetricsAccess([user, path](const std::string& name, const std::string& password) {
    const std::string expected = PasswordIn(path).value_or("");
    const bool known = Equal(user, name);
    return Equal(expected, password) && known && !expected.empty();
  });
}

}  // namespace arclane
