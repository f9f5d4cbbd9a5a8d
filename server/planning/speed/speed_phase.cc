// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/speed_phase.h"

#include <algorithm>
#include <cmath>

#include "server/planning/speed/grip_circle.h"
#include "server/planning/speed/linear_acceleration.h"

namespace arclane {
namespace {

// Seconds over distance d from speed u to speed w at constant acceleration; both 0 only if d is 0.
double MeanSpeedTime(double d, double u, double w) {
  const double sum = u + w;
  return sum > 0.0 ? 2.0 * d / sum : 0.0;
}

// Distance after t seconds of the antiderivative of sqrt(k + m d) = v^-1: t = (2 / 3m)(w^3 - w0^3),
// w = 1 / v.
double CapDistance(double k, double m, double t) {
  const double w0 = std::sqrt(k);
  if (m == 0.0) return t / w0;
  // w^3 = w0^3 + 1.5 m t; d = (w^2 - w0^2) / m, written without cancellation through w^3 - w0^3.
  const double cube = std::max(0.0, w0 * w0 * w0 + 1.5 * m * t);
  const double w = std::cbrt(cube);
  return 1.5 * t * (w + w0) / (w * w + w * w0 + w0 * w0);
}

double CapTime(double k, double m, double d) {
  const double w0 = std::sqrt(k);
  const double w = std::sqrt(std::max(0.0, k + m * d));
  // (2 / 3m)(w^3 - w0^3) with w^2 - w0^2 = m d.
  return d * (w * w + w * w0 + w0 * w0) / (1.5 * (w + w0));
}

double GripDistance(double x_low, double amplitude, double rate, double length, double t) {
  double low = 0.0;
  double high = length;
  // The slower end has the larger acceleration, so the constant-acceleration distance is an upper
  // bound.
  const double v_low = std::sqrt(x_low);
  const double a = 0.5 * rate * grip::Cosine(x_low, amplitude);
  double d = std::min(length, t * (v_low + 0.5 * a * t));
  for (int i = 0; i < 60 && high - low > 0.0; ++i) {
    const double error = grip::TravelTime(x_low, rate * d, amplitude, rate) - t;
    if (error == 0.0) return d;
    (error > 0.0 ? high : low) = d;
    const double v = std::sqrt(grip::Advance(x_low, rate * d, amplitude));
    double next = d - error * v;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::abs(next - d) <= 1e-16 * length) return next;
    d = next;
  }
  return d;
}

bool SlowerAtEnd(const SpeedPhase& phase) { return phase.end_speed < phase.start_speed; }

// Squares outside lost digits, or left the range of double altogether.
constexpr double kSmallestSquare = 0x1p-900;
constexpr double kLargestSquare = 0x1p900;
constexpr double kSmallestSquareRoot = 0x1p-450;
constexpr double kLargestSquareRoot = 0x1p450;

// Under the laws that start from the slower end, 0 < d < length.
template <typename Real>
Real SquaredSpeed(const SpeedPhase& phase, double d) {
  const bool reversed = SlowerAtEnd(phase);
  const Real slow = reversed ? phase.end_speed : phase.start_speed;
  const Real e = reversed ? Real{phase.length} - d : Real{d};
  if (phase.law == SpeedLaw::kGripCircle) {
    const Real rate = std::abs(Real{phase.second});
    Real amplitude = phase.first;
    if (!std::isnormal(phase.first)) {
      // R A does not fit a double, but its parts do: A from both accelerations at the start.
      const Real lateral = Real{phase.start_speed} * phase.start_speed * rate / 2;
      const Real along = phase.acceleration;
      amplitude = 2 / rate * std::sqrt(along * along + lateral * lateral);
    }
    return grip::Advance<Real>(slow * slow, rate * e, amplitude);
  }
  if (phase.law == SpeedLaw::kLinearAcceleration) {
    const Real c = phase.first;
    const Real a = reversed ? -(phase.acceleration + c * phase.length) : Real{phase.acceleration};
    return slow * slow + e * (2 * a + c * e);
  }
  return slow * slow + 2 * std::abs(Real{phase.acceleration}) * e;
}

}  // namespace

double SpeedAt(const SpeedPhase& phase, double d) {
  if (!(d > 0.0)) return phase.start_speed;
  if (d >= phase.length) return phase.end_speed;
  if (phase.law == SpeedLaw::kDwell) return 0.0;
  if (phase.law == SpeedLaw::kLateralCap) {
    return 1.0 / std::sqrt(phase.first + phase.second * d);
  }
  // Under the grip circle x stands beside R A, and both are squared.
  const bool squares_fit =
      phase.law != SpeedLaw::kGripCircle ||
      (phase.first >= kSmallestSquareRoot && phase.first <= kLargestSquareRoot);
  if (squares_fit) {
    const double x = SquaredSpeed<double>(phase, d);
    if (x >= kSmallestSquare && x <= kLargestSquare) return std::sqrt(x);
  }
  const long double square = SquaredSpeed<long double>(phase, d);
  return square > 0 ? static_cast<double>(std::sqrt(square)) : 0.0;
}

double AccelerationAt(const SpeedPhase& phase, double d) {
  d = std::clamp(d, 0.0, phase.length);
  switch (phase.law) {
    case SpeedLaw::kDwell:
      return 0.0;
    case SpeedLaw::kConstantAcceleration:
      return phase.acceleration;
    case SpeedLaw::kLinearAcceleration:
      return phase.acceleration + phase.first * d;
    case SpeedLaw::kGripCircle: {
      const double v = SpeedAt(phase, d);
      return 0.5 * phase.second * grip::Cosine(v * v, phase.first);
    }
    case SpeedLaw::kLateralCap: {
      const double inverse = phase.first + phase.second * d;
      return -0.5 * phase.second / (inverse * inverse);
    }
  }
  return 0.0;
}

double TimeAt(const SpeedPhase& phase, double d) { return TimeAt(phase, d, SpeedAt(phase, d)); }

double TimeAt(const SpeedPhase& phase, double d, double speed_at_d) {
  if (!(d > 0.0) || phase.law == SpeedLaw::kDwell) return 0.0;
  if (d >= phase.length) return phase.duration_s;
  if (phase.law == SpeedLaw::kLateralCap)
    return std::min(phase.duration_s, CapTime(phase.first, phase.second, d));
  const bool reversed = SlowerAtEnd(phase);
  const double slow = reversed ? phase.end_speed : phase.start_speed;
  const double e = reversed ? phase.length - d : d;
  double t = 0.0;
  if (phase.law == SpeedLaw::kGripCircle) {
    const double rate = std::abs(phase.second);
    t = grip::TravelTime(slow * slow, rate * e, phase.first, rate);
  } else if (phase.law == SpeedLaw::kLinearAcceleration) {
    t = linear_acceleration::Time(e, slow, speed_at_d, phase.first);
  } else {
    t = MeanSpeedTime(e, slow, speed_at_d);
  }
  return std::clamp(reversed ? phase.duration_s - t : t, 0.0, phase.duration_s);
}

double DistanceAtTime(const SpeedPhase& phase, double t) {
  if (!(t > 0.0) || phase.law == SpeedLaw::kDwell) return 0.0;
  if (t >= phase.duration_s) return phase.length;
  if (phase.law == SpeedLaw::kLateralCap) {
    return std::clamp(CapDistance(phase.first, phase.second, t), 0.0, phase.length);
  }
  const bool reversed = SlowerAtEnd(phase);
  const double slow = reversed ? phase.end_speed : phase.start_speed;
  const double r = reversed ? phase.duration_s - t : t;
  double e = 0.0;
  if (phase.law == SpeedLaw::kGripCircle) {
    e = GripDistance(slow * slow, phase.first, std::abs(phase.second), phase.length, r);
  } else if (phase.law == SpeedLaw::kLinearAcceleration) {
    const double a =
        reversed ? -(phase.acceleration + phase.first * phase.length) : phase.acceleration;
    e = linear_acceleration::Distance(r, slow, a, phase.first);
  } else {
    e = r * (slow + 0.5 * std::abs(phase.acceleration) * r);
  }
  return std::clamp(reversed ? phase.length - e : e, 0.0, phase.length);
}

}  // namespace arclane
