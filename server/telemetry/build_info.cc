// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/build_info.h"

#include "arclane_build.h"

namespace arclane {

BuildInfo CurrentBuild() {
#ifdef __clang__
  const std::string compiler = "Clang " __clang_version__;
#else
  const std::string compiler = "GCC " __VERSION__;
#endif
  return {ARCLANE_BUILD_VERSION, ARCLANE_BUILD_COMMIT, compiler};
}

std::string DescribeBuild(const BuildInfo& build) {
  return "arclane-server " + build.version + " (" + build.commit + ", " + build.compiler + ")";
}

}  // namespace arclane
