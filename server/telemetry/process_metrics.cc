// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace arclane {
namespace {

using prometheus::MetricFamily;
using prometheus::MetricType;

// Fields of /proc/self/stat behind the program's name, which may itself contain blanks and
// brackets; the first one here is field 3 of proc(5).
struct Stat {
  double thread_count = 0;    // Field 20.
  double start_ticks = 0;     // Field 22: since the boot.
  double virtual_bytes = 0;   // Field 23.
  double resident_pages = 0;  // Field 24.
};

std::optional<Stat> ReadStat() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::vector<std::string> values;
  for (std::string value; fields >> value;) values.push_back(value);
  if (values.size() < 22) return std::nullopt;
  return Stat{std::stod(values[17]), std::stod(values[19]), std::stod(values[20]),
              std::stod(values[21])};
}

std::optional<double> BootTime() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("btime ", 0) == 0) return std::stod(line.substr(6));
  }
  return std::nullopt;
}

std::optional<double> OpenDescriptors() {
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return std::nullopt;
  int count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count - 3;  // ".", ".." and the folder's own descriptor.
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void Add(std::vector<MetricFamily>& families, const char* name, const char* help, MetricType type,
         std::optional<double> value) {
  if (!value) return;
  prometheus::ClientMetric metric;
  (type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = *value;
  families.push_back({name, help, type, {metric}});
}

}  // namespace

std::vector<MetricFamily> ProcessMetrics::Collect() const {
  std::vector<MetricFamily> families;
  Add(families, "process_cpu_seconds_total", "CPU time used, user and system, seconds.",
      MetricType::Counter, CpuSeconds());
  Add(families, "process_open_fds", "Open file descriptors.", MetricType::Gauge, OpenDescriptors());
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    Add(families, "process_max_fds", "Most file descriptors allowed.", MetricType::Gauge,
        static_cast<double>(limit.rlim_cur));
  }
  if (const auto stat = ReadStat()) {
    Add(families, "process_resident_memory_bytes", "Resident memory, bytes.", MetricType::Gauge,
        stat->resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
    Add(families, "process_virtual_memory_bytes", "Virtual memory, bytes.", MetricType::Gauge,
        stat->virtual_bytes);
    Add(families, "process_threads", "Threads.", MetricType::Gauge, stat->thread_count);
    if (const auto boot = BootTime()) {
      Add(families, "process_start_time_seconds", "Start of the process, seconds since 1970.",
          MetricType::Gauge, *boot + stat->start_ticks / static_cast<double>(sysconf(_SC_CLK_TCK)));
    }
  }
  return families;
}

}  // namespace arclane
