// SPDX-License-Identifier: Apache-2.0
// Which build this is.
#ifndef ARCLANE_SERVER_TELEMETRY_BUILD_INFO_H_
#define ARCLANE_SERVER_TELEMETRY_BUILD_INFO_H_

#include <string>

namespace arclane {

struct BuildInfo {
  std::string version;   // Such as 0.1.0.
  std::string commit;    // Short hash, or unknown.
  std::string compiler;  // Such as GCC 12.2.0.
};

BuildInfo CurrentBuild();
// One line: arclane-server 0.1.0 (e128ecb, GCC 12.2.0).
std::string DescribeBuild(const BuildInfo& build);

}  // namespace arclane

#endif  // ARCLANE_SERVER_TELEMETRY_BUILD_INFO_H_
