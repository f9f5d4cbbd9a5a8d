// SPDX-License-Identifier: Apache-2.0
// What making one plan took and came to, for metrics and logs. Nothing of it is in the answer.
#ifndef ARCLANE_SERVER_PIPELINE_PLAN_TRACE_H_
#define ARCLANE_SERVER_PIPELINE_PLAN_TRACE_H_

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "server/planning/route/plan_stage.h"
#include "server/planning/route/route_plan.h"

namespace arclane {

inline constexpr size_t kCornerActionCount = 4;
inline constexpr size_t kCornerCauseCount = 9;

// A monotonic clock that costs about half of a look at the system's: the processor's cycle counter
// where it runs at one speed on all cores, otherwise the system's clock in nanoseconds.
class TickClock {
 public:
  static uint64_t Now();
  // Right to 1e-4; found once, which takes some milliseconds.
  static double SecondsPerTick();
};

// Not thread-safe; of one plan at a time.
class PlanTrace {
 public:
  // The first stage begins now.
  PlanTrace() : last_(TickClock::Now()) {}

  // The next stage begins now, or so many ticks ago that were spent on it already.
  void Restart(uint64_t spent_ticks = 0) { last_ = TickClock::Now() - spent_ticks; }
  // Ends a stage that began when the one before ended, or at Restart.
  void End(Stage stage) {
    const uint64_t now = TickClock::Now();
    // The counters of two cores may be a few ticks apart.
    ticks_[static_cast<size_t>(stage)] += now > last_ ? now - last_ : 0;
    ended_ |= 1u << static_cast<unsigned>(stage);
    last_ = now;
  }
  // Adds a time that was taken by other means.
  void Add(Stage stage, double seconds);

  bool Ended(Stage stage) const { return (ended_ >> static_cast<unsigned>(stage) & 1u) != 0; }
  double Seconds(Stage stage) const;

  void CountCorners(std::span<const RouteCorner> corners);

  std::optional<uint64_t> portals;  // Of plans in a corridor.
  uint64_t samples = 0;
  std::array<uint32_t, kCornerActionCount> corners{};      // By CornerAction.
  std::array<uint32_t, kCornerCauseCount> corner_stops{};  // By CornerCause, of the stops.

 private:
  uint64_t last_;
  std::array<uint64_t, kStageCount> ticks_{};
  uint32_t ended_ = 0;  // A bit a stage.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_PLAN_TRACE_H_
