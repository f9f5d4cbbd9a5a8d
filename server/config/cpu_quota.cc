// SPDX-License-Identifier: Apache-2.0
#include "server/config/cpu_quota.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

namespace arclane {
namespace {

std::optional<double> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

// Version 2: "max 100000" or "150000 100000".
std::optional<double> QuotaOfV2(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return std::nullopt;
  std::istringstream digits(quota);
  double value = 0;
  if (!(digits >> value) || value <= 0) return std::nullopt;
  return value / period;
}

// Version 1: a quota of -1 means none.
std::optional<double> QuotaOfV1(const std::string& folder) {
  const auto quota = ReadNumber(folder + "/cpu.cfs_quota_us");
  const auto period = ReadNumber(folder + "/cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return *quota / *period;
}

using QuotaOf = std::optional<double> (*)(const std::string&);

// The smallest quota of `group` and of the groups above it. Inside a container the group named in
// /proc may lie outside the mounted hierarchy: its folders are then missing, and the mount itself
// is the container's group.
void TakeSmallest(const std::string& mount, std::string group, QuotaOf quota_of,
                  std::optional<double>& smallest) {
  while (true) {
    if (const auto quota = quota_of(mount + (group == "/" ? "" : group))) {
      smallest = smallest ? std::min(*smallest, *quota) : *quota;
    }
    const size_t slash = group.rfind('/');
    if (group.empty() || group == "/" || slash == std::string::npos) return;
    group.resize(slash);
  }
}

bool HasController(const std::string& controllers, const std::string& name) {
  std::istringstream list(controllers);
  for (std::string controller; std::getline(list, controller, ',');) {
    if (controller == name) return true;
  }
  return false;
}

}  // namespace

std::optional<double> CgroupCpuQuota(const std::string& root) {
  std::optional<double> smallest;
  std::ifstream groups(root + "/proc/self/cgroup");
  // Lines "id:controllers:path"; version 2 has id 0 and no controllers.
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      TakeSmallest(root + "/sys/fs/cgroup", group, QuotaOfV2, smallest);
    } else if (HasController(controllers, "cpu")) {
      TakeSmallest(root + "/sys/fs/cgroup/" + controllers, group, QuotaOfV1, smallest);
      TakeSmallest(root + "/sys/fs/cgroup/cpu", group, QuotaOfV1, smallest);
    }
  }
  return smallest;
}

int UsableProcessors() {
  int count = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof(mask), &mask) == 0) count = CPU_COUNT(&mask);
  if (const auto quota = CgroupCpuQuota()) {
    count = std::min(count, static_cast<int>(std::ceil(*quota)));
  }
  return std::max(count, 1);
}

}  // namespace arclane
