// SPDX-License-Identifier: Apache-2.0
// The picture of a navmesh: its polygons by kind of ground, the seams between tiles, off-mesh links
// and gates by their state.
#ifndef ARCLANE_CLIENT_CLI_PLOT_NAVMESH_PLOT_H_
#define ARCLANE_CLIENT_CLI_PLOT_NAVMESH_PLOT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "arclane/v1/navmesh.pb.h"

namespace arclane {

struct NavMeshPlotOptions {
  std::string title;
  double width = 1200;  // Pixels.
};

// `parts` as ReadNavMesh tells them. kInvalidArgument when they are no navmesh: no overview, or
// indices beyond their columns. Equal parts give equal bytes. O(polygons + links).
absl::StatusOr<std::string> DrawNavMesh(const std::vector<v1::ReadNavMeshResponse>& parts,
                                        const NavMeshPlotOptions& options);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_NAVMESH_PLOT_H_
