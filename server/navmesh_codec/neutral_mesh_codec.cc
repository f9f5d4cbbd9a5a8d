// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh_codec/neutral_mesh_codec.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

template <typename Field>
auto ToVector(const Field& field) {
  return std::vector<typename Field::value_type>(field.begin(), field.end());
}

// Columns that must have as many entries as another, or where allowed none.
void CheckLength(const std::string& path, int size, int wanted, bool may_be_empty,
                 MeshViolations& violations) {
  if (size == wanted || (may_be_empty && size == 0)) return;
  violations.Add(path, absl::StrCat("has ", size, " entries, must have ", wanted));
}

void ReadTiles(const v1::NeutralTiles& tiles, NeutralMesh& mesh, MeshViolations& violations) {
  const int size = tiles.tile_ref_size();
  const size_t before = violations.count();
  CheckLength("tiles.x", tiles.x_size(), size, false, violations);
  CheckLength("tiles.y", tiles.y_size(), size, false, violations);
  CheckLength("tiles.layer", tiles.layer_size(), size, true, violations);
  if (violations.count() > before) return;
  mesh.tiles.reserve(static_cast<size_t>(size));
  for (int i = 0; i < size; ++i) {
    const int32_t layer = tiles.layer_size() == 0 ? 0 : tiles.layer(i);
    mesh.tiles.push_back({tiles.tile_ref(i), {tiles.x(i), tiles.y(i), layer}});
  }
}

// The column of the up axis may be empty.
struct Points {
  const v1::PointColumns& columns;
  MeshPoint At(int i) const {
    const auto value = [i](const auto& column) { return column.empty() ? 0.0 : column.Get(i); };
    return {value(columns.x()), value(columns.y()), value(columns.z())};
  }
  void CheckLengths(const std::string& path, int size, MeshUpAxis up,
                    MeshViolations& violations) const {
    CheckLength(path + ".x", columns.x_size(), size, up == MeshUpAxis::kX, violations);
    CheckLength(path + ".y", columns.y_size(), size, up == MeshUpAxis::kY, violations);
    CheckLength(path + ".z", columns.z_size(), size, up == MeshUpAxis::kZ, violations);
  }
};

void ReadLinks(const v1::NeutralLinks& links, NeutralMesh& mesh, MeshViolations& violations) {
  const int size = links.link_ref_size();
  const size_t before = violations.count();
  const Points start{links.start()};
  const Points end{links.end()};
  start.CheckLengths("links.start", size, mesh.up, violations);
  end.CheckLengths("links.end", size, mesh.up, violations);
  CheckLength("links.start_polygon", links.start_polygon_size(), size, false, violations);
  CheckLength("links.end_polygon", links.end_polygon_size(), size, false, violations);
  CheckLength("links.radius", links.radius_size(), size, true, violations);
  CheckLength("links.bidirectional", links.bidirectional_size(), size, true, violations);
  CheckLength("links.area", links.area_size(), size, true, violations);
  CheckLength("links.flags", links.flags_size(), size, true, violations);
  if (violations.count() > before) return;
  mesh.links.reserve(static_cast<size_t>(size));
  for (int i = 0; i < size; ++i) {
    NeutralLink link;
    link.id = links.link_ref(i);
    link.start = start.At(i);
    link.end = end.At(i);
    link.start_polygon = links.start_polygon(i);
    link.end_polygon = links.end_polygon(i);
    if (links.radius_size() > 0) link.radius = links.radius(i);
    if (links.bidirectional_size() > 0) link.bidirectional = links.bidirectional(i);
    if (links.area_size() > 0) link.area = links.area(i);
    if (links.flags_size() > 0) link.flags = links.flags(i);
    mesh.links.push_back(link);
  }
}

}  // namespace

v1::UpAxis EncodeUpAxis(MeshUpAxis up) {
  switch (up) {
    case MeshUpAxis::kX:
      return v1::UP_AXIS_X;
    case MeshUpAxis::kY:
      return v1::UP_AXIS_Y;
    case MeshUpAxis::kZ:
      break;
  }
  return v1::UP_AXIS_Z;
}

NeutralMesh ReadNeutralMesh(const v1::NeutralNavMesh& message, MeshViolations& violations) {
  NeutralMesh mesh;
  switch (message.up_axis()) {
    case v1::UP_AXIS_X:
      mesh.up = MeshUpAxis::kX;
      break;
    case v1::UP_AXIS_Y:
      mesh.up = MeshUpAxis::kY;
      break;
    case v1::UP_AXIS_UNSPECIFIED:
    case v1::UP_AXIS_Z:
      break;
    default:
      violations.Add("up_axis", absl::StrCat("unknown value ", message.up_axis()));
  }
  if (!v1::CoordinateSource_IsValid(message.coordinate_source())) {
    violations.Add("coordinate_source",
                   absl::StrCat("unknown value ", message.coordinate_source()));
  }
  mesh.float32_coordinates = message.coordinate_source() == v1::COORDINATE_SOURCE_FLOAT32;
  mesh.baked_radius = message.baked_radius();
  mesh.max_step = message.max_step();
  mesh.x = ToVector(message.vertices().x());
  mesh.y = ToVector(message.vertices().y());
  mesh.z = ToVector(message.vertices().z());
  mesh.vertex_count = ToVector(message.vertex_count());
  mesh.vertex_index = ToVector(message.vertex_index());
  mesh.polygon_id = ToVector(message.polygon_ref());
  mesh.neighbour = ToVector(message.neighbour());
  mesh.area = ToVector(message.area());
  mesh.flags = ToVector(message.flags());
  mesh.polygon_tile = ToVector(message.polygon_tile());
  const size_t before = violations.count();
  ReadTiles(message.tiles(), mesh, violations);
  if (violations.count() > before) mesh.polygon_tile.clear();
  ReadLinks(message.links(), mesh, violations);
  mesh.gates = ReadGates(message.gates(), "gates", violations);
  return mesh;
}

std::vector<GateDefinition> ReadGates(const google::protobuf::RepeatedPtrField<v1::Gate>& messages,
                                      const std::string& path, MeshViolations& violations) {
  std::vector<GateDefinition> gates;
  gates.reserve(static_cast<size_t>(messages.size()));
  for (int i = 0; i < messages.size(); ++i) {
    const v1::Gate& message = messages.Get(i);
    GateDefinition gate;
    gate.id = {message.gate_id()};
    gate.name = message.name();
    gate.initially_open = !message.initially_closed();
    if (message.from_polygon_size() != message.to_polygon_size()) {
      violations.Add(
          absl::StrCat(path, "[", i, "].to_polygon"),
          absl::StrCat("must have as many entries as from_polygon, ", message.from_polygon_size(),
                       ", got ", message.to_polygon_size()));
    }
    const int borders = std::min(message.from_polygon_size(), message.to_polygon_size());
    for (int b = 0; b < borders; ++b) {
      gate.borders.push_back({{message.from_polygon(b)}, {message.to_polygon(b)}});
    }
    gates.push_back(std::move(gate));
  }
  return gates;
}

void EncodeGate(const GateDefinition& gate, v1::Gate* message) {
  message->set_gate_id(gate.id.value);
  message->set_name(gate.name);
  message->set_initially_closed(!gate.initially_open);
  for (const GateBorder& border : gate.borders) {
    message->add_from_polygon(border.a.value);
    message->add_to_polygon(border.b.value);
  }
}

}  // namespace arclane
