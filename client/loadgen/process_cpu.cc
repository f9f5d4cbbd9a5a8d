// SPDX-License-Identifier: Apache-2.0
#include "client/loadgen/process_cpu.h"

#include <time.h>

namespace arclane {

std::optional<double> ProcessCpuSeconds(int pid) {
  clockid_t clock;
  timespec time;
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
    return std::nullopt;
  }
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace arclane
