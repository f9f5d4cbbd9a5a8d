// SPDX-License-Identifier: Apache-2.0
// Points and vectors of the horizontal plane, in the caller's length unit. Heading is the angle
// from the first axis towards the second; *left* is the side towards which heading grows.
#ifndef ARCLANE_SERVER_PLANNING_GEOMETRY_VEC2_H_
#define ARCLANE_SERVER_PLANNING_GEOMETRY_VEC2_H_

#include <cmath>

namespace arclane {

struct Vec2 {
  double x = 0.0;
  double y = 0.0;

  friend constexpr Vec2 operator+(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
  friend constexpr Vec2 operator-(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }
  friend constexpr Vec2 operator-(Vec2 a) { return {-a.x, -a.y}; }
  friend constexpr Vec2 operator*(Vec2 a, double s) { return {a.x * s, a.y * s}; }
  friend constexpr Vec2 operator*(double s, Vec2 a) { return {a.x * s, a.y * s}; }
  friend constexpr bool operator==(Vec2 a, Vec2 b) = default;
};

constexpr double Dot(Vec2 a, Vec2 b) { return a.x * b.x + a.y * b.y; }
// Positive when b lies to the left of a.
constexpr double Cross(Vec2 a, Vec2 b) { return a.x * b.y - a.y * b.x; }
constexpr double SquaredNorm(Vec2 a) { return Dot(a, a); }
// Plain square root: coordinates are validated to stay below 1e150, where squares cannot overflow.
inline double Norm(Vec2 a) { return std::sqrt(SquaredNorm(a)); }
inline double Distance(Vec2 a, Vec2 b) { return Norm(b - a); }
// A quarter turn to the left.
constexpr Vec2 LeftNormal(Vec2 a) { return {-a.y, a.x}; }
constexpr Vec2 Lerp(Vec2 a, Vec2 b, double t) { return a + (b - a) * t; }
// The heading of a vector in (-pi, pi]; 0 for the zero vector.
inline double Heading(Vec2 a) { return std::atan2(a.y, a.x); }
inline Vec2 UnitVector(double heading) { return {std::cos(heading), std::sin(heading)}; }
// The signed angle from a to b in (-pi, pi]; exactly pi for a reversal to the left or straight
// back.
inline double TurnAngle(Vec2 a, Vec2 b) { return std::atan2(Cross(a, b), Dot(a, b)); }

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_GEOMETRY_VEC2_H_
