// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/clearance.h"

namespace arclane {

void ClearancePlanner::FindPath(const Corridor& corridor, double clearance, CorridorPath* path,
                                std::vector<ClearanceShortfall>* shortfalls) {
  static_cast<void>(clearance);
  shortfalls->clear();
  funnel_.FindShortestPath(corridor, path);
}

}  // namespace arclane
