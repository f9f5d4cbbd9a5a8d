// SPDX-License-Identifier: Apache-2.0
// Who may scrape the metrics: HTTP basic authentication against a password in a file.
#ifndef ARCLANE_SERVER_TELEMETRY_METRICS_ACCESS_H_
#define ARCLANE_SERVER_TELEMETRY_METRICS_ACCESS_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"

namespace arclane {

// Whether a user with a password may scrape.
using MetricsAccess = std::function<bool(const std::string& user, const std::string& password)>;

// The password is the file's first line, read at each question, so that it can be replaced; without
// the file nobody gets in. The comparison takes as long for a wrong password as for the right one.
// INVALID_ARGUMENT when the file cannot be read now or holds no password.
absl::StatusOr<MetricsAccess> PasswordFileAccess(const std::string& user, const std::string& path);

}  // namespace arclane

#endif  // ARCLANE_SERVER_TELEMETRY_METRICS_ACCESS_H_
