// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/record_answer.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "server/planning/follow/stopping_law.h"

namespace arclane::conformance {
namespace {

using nlohmann::json;

struct KindRow {
  std::string_view name;
  json (*answer)(const json& record);
};

constexpr KindRow kKinds[] = {
    {"discrete", AnswerDiscrete},
    {"discrete_fp", AnswerDiscreteFp},
    {"discrete_loop", AnswerDiscreteLoop},
    {"discrete_semantics", AnswerDiscreteSemantics},
};

// A loop that has not come to rest by then never will.
constexpr int kMaxSteps = 10'000'000;

template <typename T>
json FpAnswer(const json& record) {
  const T distance = record.at("d").get<T>();
  const T dt = record.at("dt").get<T>();
  const T speed = HoldStoppingLimit(distance, record.at("a_brake").get<T>(), dt);
  const T step = speed * dt;
  return {{"v_limit", static_cast<double>(speed)}, {"passes", step > distance}};
}

// An agent on a line that obeys its limits and the law.
struct LineAgent {
  explicit LineAgent(const json& record)
      : distance(record.at("d0").get<double>()),
        max_speed(record.at("v_max").get<double>()),
        acceleration(record.at("a_accel").get<double>()) {
    step.braking = record.at("a_brake").get<double>();
    step.dt = step.longest_dt = record.at("dt").get<double>();
    speed = record.value("v0", 0.0);
    peak = speed;
  }

  void Step() {
    const double command = std::min({max_speed, speed + acceleration * step.dt,
                                     StoppingLimit(integrator, distance, speed, step)});
    distance -= StepLength(integrator, speed, command, step.dt);
    max_deceleration = std::max(max_deceleration, (speed - command) / step.dt);
    speed = command;
    peak = std::max(peak, speed);
    lowest_distance = std::min(lowest_distance, distance);
    ++steps;
  }

  Integrator integrator = Integrator::kHold;
  StoppingStep<double> step;
  double distance;
  double max_speed;
  double acceleration;
  double speed = 0.0;
  double peak = 0.0;
  double max_deceleration = 0.0;
  double lowest_distance = 0.0;
  int steps = 0;
};

}  // namespace

json AnswerDiscrete(const json& record) {
  return {{"v_limit",
           HoldStoppingLimit(record.at("d").get<double>(), record.at("a_brake").get<double>(),
                             record.at("dt").get<double>())}};
}

json AnswerDiscreteFp(const json& record) {
  return record.at("precision") == "float" ? FpAnswer<float>(record) : FpAnswer<double>(record);
}

json AnswerDiscreteLoop(const json& record) {
  LineAgent agent(record);
  const double tolerance = record.at("tol").get<double>();
  while (agent.distance > tolerance && agent.steps < kMaxSteps) agent.Step();
  return {{"steps", agent.steps},
          {"d_final", agent.distance},
          {"v_peak", agent.peak},
          {"max_decel", agent.max_deceleration}};
}

json AnswerDiscreteSemantics(const json& record) {
  LineAgent agent(record);
  const auto integrator = record.at("integrator").get<std::string>();
  if (integrator == "ramp") {
    agent.integrator = Integrator::kRamp;
  } else if (integrator == "delay1") {
    agent.integrator = Integrator::kDelay;
  } else if (integrator != "hold") {
    return {{"error", "no integrator is called " + integrator}};
  }
  // At rest for good: at a distance that a billionth of the way is long.
  const double rest = 1e-9 * agent.distance;
  do {
    agent.Step();
  } while ((agent.distance > rest || agent.speed > 0.0) && agent.steps < kMaxSteps);
  return {{"overshoot", std::max(0.0, -agent.lowest_distance)},
          {"stop_short", std::max(0.0, agent.distance)},
          {"max_decel", agent.max_deceleration},
          {"steps", agent.steps}};
}

json Answer(const json& request) {
  const auto kind = request.at("kind").get<std::string>();
  for (const KindRow& row : kKinds) {
    if (row.name == kind) return row.answer(request.at("record"));
  }
  return {{"error", "no planning code answers records of kind " + kind}};
}

}  // namespace arclane::conformance
