// SPDX-License-Identifier: Apache-2.0
// CPU profiles of the running process, taken by gperftools, for `pprof` and `google-pprof`.
#ifndef ARCLANE_SERVER_TELEMETRY_CPU_PROFILE_H_
#define ARCLANE_SERVER_TELEMETRY_CPU_PROFILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace arclane {

// Begins a profile of all threads, 100 samples a second of CPU time, and returns its file in
// `directory`, which must exist. FAILED_PRECONDITION while one is being taken, UNIMPLEMENTED in a
// build without gperftools, UNAVAILABLE when the file cannot be written.
absl::StatusOr<std::string> StartCpuProfile(const std::string& directory);
// Ends it and completes the file. Harmless when none is being taken.
void StopCpuProfile();
bool CpuProfileIsRunning();

}  // namespace arclane

#endif  // ARCLANE_SERVER_TELEMETRY_CPU_PROFILE_H_
