// SPDX-License-Identifier: Apache-2.0
#ifndef ARCLANE_CLIENT_LOADGEN_PROCESS_CPU_H_
#define ARCLANE_CLIENT_LOADGEN_PROCESS_CPU_H_

#include <optional>

namespace arclane {

// CPU time of all threads of a process since it began, seconds; pid 0 is this process. nullopt when
// there is none of that id.
std::optional<double> ProcessCpuSeconds(int pid);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_LOADGEN_PROCESS_CPU_H_
