// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/metrics_access.h"

#include <fstream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

std::string PasswordIn(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
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
  if (PasswordIn(path).empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("metrics_password_file: ", path, " cannot be read or holds no password"));
  }
  return MetricsAccess([user, path](const std::string& name, const std::string& password) {
    const std::string expected = PasswordIn(path);
    const bool known = Equal(user, name);
    return Equal(expected, password) && known && !expected.empty();
  });
}

}  // namespace arclane
