// SPDX-License-Identifier: Apache-2.0
#include "server/service/process_settings.h"

#include <malloc.h>

#include <csignal>
#include <cstdlib>

#include "absl/synchronization/mutex.h"

namespace arclane {
namespace {

void SetUpMalloc(int planner_threads) {
  constexpr int kArenasOfNetworkThreads = 4;
  constexpr int kKeptBytes = 64 << 20;
  constexpr int kOwnPagesBytes = 32 << 20;
  const auto set = [](const char* variable, int option, int value) {
    if (std::getenv(variable) == nullptr) mallopt(option, value);
  };
  set("MALLOC_ARENA_MAX", M_ARENA_MAX, planner_threads + kArenasOfNetworkThreads);
  set("MALLOC_TRIM_THRESHOLD_", M_TRIM_THRESHOLD, kKeptBytes);
  set("MALLOC_MMAP_THRESHOLD_", M_MMAP_THRESHOLD, kOwnPagesBytes);
}

}  // namespace

void SetUpServerProcess(int planner_threads) {
  SetUpMalloc(planner_threads);
  std::signal(SIGXFSZ, SIG_IGN);
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
}

}  // namespace arclane
