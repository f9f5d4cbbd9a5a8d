// SPDX-License-Identifier: Apache-2.0
// What of each portal keeps a clearance from the walls, for corridors that differ in their start
// and goal alone.
#ifndef ARCLANE_SERVER_PLANNING_CORRIDOR_PORTAL_SECTIONS_H_
#define ARCLANE_SERVER_PLANNING_CORRIDOR_PORTAL_SECTIONS_H_

#include <vector>

namespace arclane {

struct PortalSections {
  struct Open {
    // Parameters of the portal, 0 at its left end.
    double low = 0.0;
    double high = 1.0;
    bool lasts = false;  // No wall of the first or the last cell was looked at.
  };
  double clearance = 0.0;  // 0: nothing is known.
  std::vector<Open> open;  // By portal.
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_CORRIDOR_PORTAL_SECTIONS_H_
