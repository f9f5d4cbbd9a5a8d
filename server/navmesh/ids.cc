// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/ids.h"

#include "absl/strings/str_cat.h"

namespace arclane {

std::string ToString(const TileCoordinates& coordinates) {
  return absl::StrCat("(", coordinates.x, ", ", coordinates.y, ", ", coordinates.layer, ")");
}

}  // namespace arclane
