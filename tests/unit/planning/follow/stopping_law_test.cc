// SPDX-License-Identifier: Apache-2.0
// The stopping laws against the reference records, and on random runs: no overshoot, exactly, in
// double and in float, for every integrator.
#include "server/planning/follow/stopping_law.h"

#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "tests/conformance/record_answer.h"
#include "tests/support/reference_data.h"

namespace arclane {
namespace {

using nlohmann::json;
using testing::ReadRecords;
using testing::ToDouble;

constexpr Integrator kIntegrators[] = {Integrator::kHold, Integrator::kRamp, Integrator::kDelay};

TEST(StoppingLawTest, FourMetresASecondNeedFourPointFourMetres) {
  EXPECT_NEAR(HoldStoppingLimit(4.4, 2.0, 0.1), 4.0, 1e-14);
  EXPECT_NEAR(HoldStoppingLimit(4.4f, 2.0f, 0.1f), 4.0f, 1e-6f);
  EXPECT_NEAR(RestDistance(Integrator::kHold, 4.0, 2.0, 0.1) + 0.4, 4.2, 1e-12);
  EXPECT_NEAR(RestDistance(Integrator::kRamp, 4.0, 2.0, 0.1), 4.0, 1e-12);
}

TEST(StoppingLawTest, NoDistanceIsNoSpeed) {
  const StoppingStep<double> step{2.0, 0.1, 0.1};
  for (const Integrator integrator : kIntegrators) {
    EXPECT_EQ(StoppingLimit(integrator, 0.0, 1.0, step), 0.0);
    EXPECT_EQ(StoppingLimit(integrator, -1.0, 1.0, step), 0.0);
    EXPECT_EQ(StoppingLimit(integrator, std::nan(""), 1.0, step), 0.0);
  }
}

TEST(StoppingLawTest, RampIsTheLargestSpeedThatStops) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int i = 0; i < 20000; ++i) {
    const double a = 0.5 + 20.0 * uniform(random), dt = 0.005 + 0.3 * uniform(random);
    const double previous = 10.0 * uniform(random);
    const double distance =
        previous * dt + RestDistance(Integrator::kRamp, previous, a, dt) * 2.0 * uniform(random);
    const double v = RampStoppingLimit(distance, previous, {a, dt, dt});
    const auto needed = [&](double speed) {
      return (previous + speed) * 0.5 * dt + RestDistance(Integrator::kRamp, speed, a, dt);
    };
    if (v > 0.0) {
      EXPECT_LE(needed(v), distance * (1.0 + 1e-12)) << i;
    }
    EXPECT_GE(needed(v * (1.0 + 1e-9) + 1e-9 * a * dt), distance * (1.0 - 1e-12)) << i;
  }
}

TEST(StoppingLawTest, ReferenceRecords) {
  ARCLANE_REFERENCE_DIR_OR_SKIP(dir);
  int counted = 0;
  for (const json& record : ReadRecords(dir + "/speed/discrete_dev.jsonl.gz")) {
    const auto cat = record.at("cat").get<std::string>();
    SCOPED_TRACE(record.at("id").get<std::string>());
    const json answer = conformance::Answer({{"kind", cat}, {"record", record}});
    ASSERT_FALSE(answer.contains("error")) << answer;
    const json& expect = record.at("expect");
    if (cat == "discrete" || cat == "discrete_fp") {
      const bool single = record.value("precision", "double") == "float";
      const double v_limit = ToDouble(expect["v_limit"]);
      EXPECT_NEAR(ToDouble(answer["v_limit"]), v_limit, v_limit * (single ? 1e-6 : 1e-9));
      if (cat == "discrete_fp") {
        EXPECT_EQ(answer["passes"], false);
        EXPECT_GT(ToDouble(answer["v_limit"]), 0.0);
      }
    } else if (cat == "discrete_loop") {
      EXPECT_EQ(answer["steps"], expect["steps"]);
      EXPECT_NEAR(ToDouble(answer["d_final"]), ToDouble(expect["d_final"]),
                  1e-9 * ToDouble(record["d0"]));
      EXPECT_NEAR(ToDouble(answer["v_peak"]), ToDouble(expect["v_peak"]), 1e-9);
      EXPECT_NEAR(ToDouble(answer["max_decel"]), ToDouble(expect["max_decel"]), 1e-9);
    } else {
      ASSERT_EQ(cat, "discrete_semantics");
      EXPECT_LE(ToDouble(answer["overshoot"]), ToDouble(expect["max_overshoot"]));
      EXPECT_LE(ToDouble(answer["stop_short"]), ToDouble(expect["max_stop_short"]));
      EXPECT_LE(ToDouble(answer["max_decel"]), ToDouble(record["a_brake"]) * (1.0 + 1e-9));
    }
    ++counted;
  }
  EXPECT_GT(counted, 0);
}

// One run from rest to a stop, with one step of up to twice dt at a random time when asked.
template <typename T>
struct Run {
  Integrator integrator;
  T distance, max_speed, acceleration;
  StoppingStep<T> step;
  int long_step = -1;  // Which step is longer.
  T long_dt = 0;

  // The overshoot; fails when the agent does not come near the stop.
  T Overshoot(T arrival) {
    constexpr int kMaxSteps = 200000;
    T speed = 0, overshoot = 0;
    for (int i = 0; i < kMaxSteps; ++i) {
      T command = std::min({max_speed, speed + acceleration * step.dt,
                            StoppingLimit(integrator, distance, speed, step)});
      if (i > long_step && long_step >= 0) {
        // The margin may be used up; braking is never harder than it can be.
        const StoppingStep<T> plain{step.braking, step.dt, step.dt};
        command = std::max(command, std::min(FullBrakingSpeed(speed, step.braking, step.dt),
                                             StoppingLimit(integrator, distance, speed, plain)));
      }
      distance -= StepLength(integrator, speed, command, i == long_step ? long_dt : step.dt);
      overshoot = std::max(overshoot, -distance);
      deceleration = std::max(deceleration, (speed - command) / step.dt);
      speed = command;
      if (overshoot > 0 || (distance <= arrival && speed * step.dt <= arrival && i > long_step))
        return overshoot;
    }
    ADD_FAILURE() << "rests " << distance << " short";
    return overshoot;
  }
  T deceleration = 0;
};

template <typename T>
Run<T> RandomRun(uint64_t seed, Integrator integrator, bool with_long_step) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  Run<T> run;
  run.integrator = integrator;
  run.distance = static_cast<T>(std::exp(std::log(1e-3) + uniform(random) * std::log(1e5)));
  run.max_speed = static_cast<T>(0.2 + 15.0 * uniform(random));
  run.acceleration = static_cast<T>(0.2 + 20.0 * uniform(random));
  run.step.braking = static_cast<T>(0.2 + 20.0 * uniform(random));
  constexpr double kSteps[] = {1.0 / 120, 1.0 / 60, 1.0 / 50, 1.0 / 30, 0.05, 0.1, 0.25};
  run.step.dt = static_cast<T>(seed % 2 ? kSteps[seed / 2 % 7] : 0.005 + 0.3 * uniform(random));
  run.step.longest_dt = run.step.dt;
  if (with_long_step) {
    run.step.longest_dt = 2 * run.step.dt;
    run.long_step = static_cast<int>(200.0 * uniform(random));
    run.long_dt = static_cast<T>(run.step.dt * (1.0 + uniform(random)));
  }
  return run;
}

// Rounding of d - v dt over the run, in the units of the deceleration.
template <typename T>
T DecelerationRoundoff(const Run<T>& run, T start) {
  return 16 * std::numeric_limits<T>::epsilon() *
         (start / (run.step.dt * run.step.dt) + run.max_speed / run.step.dt);
}

template <typename T>
void NeverOvershoots(uint64_t runs, bool with_long_step) {
  for (uint64_t i = 0; i < 3 * runs; ++i) {
    const uint64_t seed = 1 + i / 3;
    Run<T> run = RandomRun<T>(seed, kIntegrators[i % 3], with_long_step);
    const T start = run.distance;
    SCOPED_TRACE("seed " + std::to_string(seed) + " integrator " + std::to_string(i % 3) +
                 " distance " + std::to_string(start));
    const T arrival = std::max(T(1e-5) * start, 16 * std::numeric_limits<T>::epsilon() * start);
    ASSERT_EQ(run.Overshoot(arrival), T{0});
    if (!with_long_step) {
      ASSERT_LE(run.deceleration, run.step.braking * (1 + 64 * std::numeric_limits<T>::epsilon()) +
                                      DecelerationRoundoff(run, start));
    }
  }
}

TEST(StoppingLawPropertyTest, NoOvershootInDouble) { NeverOvershoots<double>(200000, false); }
TEST(StoppingLawPropertyTest, NoOvershootInFloat) { NeverOvershoots<float>(200000, false); }
TEST(StoppingLawPropertyTest, OneStepOfTwiceTheLengthInDouble) {
  NeverOvershoots<double>(50000, true);
}
TEST(StoppingLawPropertyTest, OneStepOfTwiceTheLengthInFloat) {
  NeverOvershoots<float>(50000, true);
}

}  // namespace
}  // namespace arclane
