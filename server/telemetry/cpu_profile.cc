// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/cpu_profile.h"

#ifdef ARCLANE_HAVE_CPU_PROFILER
#include <gperftools/profiler.h>
#endif
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace arclane {

#ifdef ARCLANE_HAVE_CPU_PROFILER

absl::StatusOr<std::string> StartCpuProfile(const std::string& directory) {
  if (CpuProfileIsRunning()) return absl::FailedPreconditionError("a profile is being taken");
  const std::string path =
      absl::StrCat(directory, "/arclane-server-", getpid(), "-",
                   absl::FormatTime("%Y%m%dT%H%M%SZ", absl::Now(), absl::UTCTimeZone()), ".prof");
  if (ProfilerStart(path.c_str()) == 0) {
    return absl::UnavailableError(absl::StrCat("cannot write ", path));
  }
  return path;
}

void StopCpuProfile() { ProfilerStop(); }

bool CpuProfileIsRunning() { return ProfilingIsEnabledForAllThreads() != 0; }

#else

absl::StatusOr<std::string> StartCpuProfile(const std::string&) {
  return absl::UnimplementedError("this build has no profiler: libgoogle-perftools-dev was absent");
}
void StopCpuProfile() {}
bool CpuProfileIsRunning() { return false; }

#endif

}  // namespace arclane
