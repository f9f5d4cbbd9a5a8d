// SPDX-License-Identifier: Apache-2.0
// Where the points of a plan lie in the picture of its map.
#ifndef ARCLANE_CLIENT_CLI_PLOT_MAP_PROJECTION_H_
#define ARCLANE_CLIENT_CLI_PLOT_MAP_PROJECTION_H_

#include "client/cli/plot/route_trace.h"
#include "client/cli/plot/scene.h"
#include "client/cli/plot/svg_writer.h"

namespace arclane {

struct PanelArea {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
};

// Equal scale along both axes, the second axis upwards, the extent in the middle.
class MapProjection {
 public:
  MapProjection(const Extent& extent, const PanelArea& area);
  Pixel operator()(PlanePoint point) const;
  double pixels_per_unit() const { return scale_; }
  // The part of the plane that the area shows.
  const Extent& visible() const { return visible_; }

 private:
  PlanePoint center_;
  Pixel middle_;
  double scale_ = 1;
  Extent visible_;
};

// The height that suits a map of this extent and width: equal scale without much empty space,
// within [low, high].
double MapHeight(const Extent& extent, double width, double low, double high);

// Appends the route between two distances of one segment to a path that stands at its start: a true
// arc, or a line where the arc rises less than a fiftieth of a pixel over its chord.
void AppendSegment(const TraceSegment& segment, double from, double to,
                   const MapProjection& projection, SvgPath& path);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_MAP_PROJECTION_H_
