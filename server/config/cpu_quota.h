// SPDX-License-Identifier: Apache-2.0
// How many processors this process may really use: a container's quota hides behind the full
// processor count.
#ifndef ARCLANE_SERVER_CONFIG_CPU_QUOTA_H_
#define ARCLANE_SERVER_CONFIG_CPU_QUOTA_H_

#include <optional>
#include <string>

namespace arclane {

// The cgroup's CPU quota in processors (0.5 is half of one), the smallest along the process's own
// group and the groups above it; nullopt without a quota. Reads versions 1 and 2 of the interface.
// `root` stands before the paths /proc/self/cgroup and /sys/fs/cgroup, for tests.
std::optional<double> CgroupCpuQuota(const std::string& root = "");

// Processors of the affinity mask, at most the quota rounded up; at least 1.
int UsableProcessors();

}  // namespace arclane

#endif  // ARCLANE_SERVER_CONFIG_CPU_QUOTA_H_
