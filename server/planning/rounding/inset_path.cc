// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/inset_path.h"

#include <algorithm>

namespace arclane {
namespace {

struct Gate {
  Vec2 left;
  Vec2 right;
  Vec2 left_contact;
  Vec2 right_contact;
};

std::vector<Gate> InsetGates(const Corridor& corridor, double inset, bool reversed) {
  const size_t count = corridor.portals.size();
  std::vector<Gate> gates;
  gates.reserve(count + 1);
  for (size_t i = 0; i < count; ++i) {
    const Portal& portal = corridor.portals[reversed ? count - 1 - i : i];
    const Vec2 left = reversed ? portal.right : portal.left;
    const Vec2 right = reversed ? portal.left : portal.right;
    const Vec2 across = right - left;
    const double length = Norm(across);
    const double share = length > 0.0 ? std::min(inset / length, kInsetShare) : 0.0;
    gates.push_back({left + across * share, right - across * share, left, right});
  }
  const Vec2 goal = reversed ? corridor.start : corridor.goal;
  gates.push_back({goal, goal, goal, goal});
  return gates;
}

}  // namespace

InsetPath TautInsetPath(const Corridor& corridor, double inset, bool reversed) {
  const std::vector<Gate> gates = InsetGates(corridor, inset, reversed);
  InsetPath path;
  Vec2 apex = reversed ? corridor.goal : corridor.start;
  path.points.push_back(apex);
  size_t left = 0;
  size_t right = 0;
  const auto restart = [&](size_t gate, bool at_left) {
    apex = at_left ? gates[gate].left : gates[gate].right;
    if (!(apex == path.points.back())) {
      path.points.push_back(apex);
      path.contact.push_back(at_left ? gates[gate].left_contact : gates[gate].right_contact);
      path.side.push_back(at_left ? 1 : -1);
    }
    left = right = gate + 1;
  };
  size_t gate = 0;
  while (gate < gates.size()) {
    // Invariant: the funnel from the apex is spanned by the ends `left` and `right` of gates before `gate`.
    if (gate == std::max(left, right) && left == right) {
      ++gate;
      continue;
    }
    const Vec2 to_left = gates[left].left - apex;
    const Vec2 to_right = gates[right].right - apex;
    const Vec2 next_left = gates[gate].left - apex;
    const Vec2 next_right = gates[gate].right - apex;
    // Both sides are judged by the funnel as it was, so that a mirrored corridor gives the mirrored path.
    const bool right_narrows = Cross(to_right, next_right) >= 0.0;
    const bool left_narrows = Cross(to_left, next_left) <= 0.0;
    const bool right_crosses =
        right_narrows && !(to_right == Vec2{}) && Cross(to_left, next_right) > 0.0;
    const bool left_crosses =
        left_narrows && !(to_left == Vec2{}) && Cross(to_right, next_left) < 0.0;
    if (right_crosses && (!left_crosses || left <= right)) {
      restart(left, true);
      gate = left;
      continue;
    }
    if (left_crosses) {
      restart(right, false);
      gate = left;
      continue;
    }
    if (right_narrows) right = gate;
    if (left_narrows) left = gate;
    ++gate;
  }
  const Vec2 goal = gates.back().left;
  if (!(goal == path.points.back())) {
    path.points.push_back(goal);
  } else if (path.points.size() > 1 && !path.contact.empty()) {
    path.contact.pop_back();
    path.side.pop_back();
  }
  return path;
}

}  // namespace arclane
