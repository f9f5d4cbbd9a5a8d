// SPDX-License-Identifier: Apache-2.0
#include "server/pipeline/plan_trace.h"

#include <chrono>
#include <thread>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace arclane {
namespace {

uint64_t SystemNanoseconds() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

#if defined(__x86_64__)

// "Invariant TSC": Intel SDM volume 2, CPUID leaf 80000007H, bit 8 of EDX.
bool CountsAtOneSpeed() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d >> 8 & 1u) != 0;
}

uint64_t Cycles() { return __rdtsc(); }
#else
bool CountsAtOneSpeed() { return false; }
uint64_t Cycles() { return 0; }
#endif

const bool kUsesCycles = CountsAtOneSpeed();

// Both clocks are read within well below a microsecond of each other: 1e-4 of this time.
constexpr auto kCalibrationTime = std::chrono::milliseconds(5);

double MeasureSecondsPerTick() {
  if (!kUsesCycles) return 1e-9;
  const uint64_t ns = SystemNanoseconds();
  const uint64_t cycles = Cycles();
  std::this_thread::sleep_for(kCalibrationTime);
  const uint64_t end_ns = SystemNanoseconds();
  const uint64_t end_cycles = Cycles();
  return 1e-9 * static_cast<double>(end_ns - ns) / static_cast<double>(end_cycles - cycles);
}

}  // namespace

uint64_t TickClock::Now() { return kUsesCycles ? Cycles() : SystemNanoseconds(); }

double TickClock::SecondsPerTick() {
  static const double seconds = MeasureSecondsPerTick();
  return seconds;
}

void PlanTrace::Add(Stage stage, double seconds) {
  if (seconds > 0)
    ticks_[static_cast<size_t>(stage)] +=
        static_cast<uint64_t>(seconds / TickClock::SecondsPerTick());
  ended_ |= 1u << static_cast<unsigned>(stage);
}

double PlanTrace::Seconds(Stage stage) const {
  return static_cast<double>(ticks_[static_cast<size_t>(stage)]) * TickClock::SecondsPerTick();
}

void PlanTrace::CountCorners(std::span<const RouteCorner> route_corners) {
  for (const RouteCorner& corner : route_corners) {
    ++corners[static_cast<size_t>(corner.action)];
    if (corner.action == CornerAction::kStop) ++corner_stops[static_cast<size_t>(corner.cause)];
  }
}

}  // namespace arclane
