// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh_codec/content_codec.h"

#include "server/navmesh_codec/neutral_mesh_codec.h"

namespace arclane {
namespace {

void Add(const MeshPoint& point, v1::PointColumns* columns) {
  columns->add_x(point.x);
  columns->add_y(point.y);
  columns->add_z(point.z);
}

}  // namespace

void EncodeOverview(const NavMeshView& view, v1::NavMeshOverview* message) {
  const NavMeshSnapshot& mesh = view.snapshot();
  message->set_version(view.version().value);
  message->set_epoch(view.epoch().value);
  message->set_world_epoch(view.world_epoch().value);
  message->set_format(mesh.info().source == TileSource::kDetour ? v1::NAV_MESH_FORMAT_DETOUR_MSET
                                                                : v1::NAV_MESH_FORMAT_NEUTRAL);
  message->set_up_axis(EncodeUpAxis(mesh.info().up));
  message->set_baked_radius(mesh.info().baked_radius);
  message->set_tile_count(mesh.tile_count());
  message->set_polygon_count(mesh.polygon_count());
  message->set_link_count(mesh.CountLinks());
  for (const GateDefinition& gate : mesh.gates().gates()) {
    EncodeGate(gate, message->add_gates());
    if (!view.IsOpen(gate.id)) message->add_closed_gates(gate.id.value);
  }
  for (uint32_t slot = 0; slot < mesh.slot_count(); ++slot) {
    if (mesh.tile(slot) == nullptr) continue;
    const Tile& tile = *mesh.tile(slot)->tile;
    for (uint32_t p = tile.ground_count; p < tile.polygon_count(); ++p) {
      const PolygonRef ref = tile.ref_of(p);
      if (!view.IsEnabled(ref)) message->add_disabled_links(ref.value);
    }
  }
}

void EncodeTile(const NavMeshSnapshot& snapshot, uint32_t slot, v1::NavMeshTile* message) {
  const LinkedTile& linked = *snapshot.tile(slot);
  const Tile& tile = *linked.tile;
  message->set_tile_ref(tile.ref.value);
  message->set_x(tile.at.x);
  message->set_y(tile.at.y);
  message->set_layer(tile.at.layer);
  message->set_ground_count(tile.ground_count);
  for (const MeshPoint& vertex : tile.vertices) Add(vertex, message->mutable_vertices());
  v1::TileLinks* links = message->mutable_links();
  for (uint32_t p = 0; p < tile.polygon_count(); ++p) {
    const auto vertices = tile.vertices_of(p);
    message->add_vertex_count(static_cast<uint32_t>(vertices.size()));
    for (const uint32_t vertex : vertices) message->add_vertex_index(vertex);
    message->add_polygon_ref(tile.ref_of(p).value);
    message->add_area(tile.area[p]);
    message->add_flags(tile.flags[p]);
    snapshot.ForEachLink({slot, p}, [&](const PolygonLink& link) {
      links->add_from_polygon(p);
      links->add_to_ref(snapshot.RefOf(link.to).value);
      links->add_edge(link.edge);
      links->add_tile_side(link.side);
      links->add_low(link.low);
      links->add_high(link.high);
      Add(link.ends.left, links->mutable_left());
      Add(link.ends.right, links->mutable_right());
    });
  }
  for (const LandedLink& link : linked.links) {
    Add(link.start, message->mutable_link_start());
    Add(link.end, message->mutable_link_end());
  }
}

}  // namespace arclane
