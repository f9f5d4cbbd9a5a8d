// SPDX-License-Identifier: Apache-2.0
// Neutral meshes as messages, and publishing them to a live server.
#ifndef ARCLANE_TESTS_SUPPORT_NEUTRAL_MESSAGE_H_
#define ARCLANE_TESTS_SUPPORT_NEUTRAL_MESSAGE_H_

#include <string>

#include "arclane/v1/navmesh.grpc.pb.h"
#include "server/digest/digest.h"
#include "server/navmesh/neutral_mesh.h"

namespace arclane::testing {

inline v1::NeutralNavMesh ToMessage(const NeutralMesh& mesh) {
  v1::NeutralNavMesh message;
  message.set_up_axis(mesh.up == MeshUpAxis::kX   ? v1::UP_AXIS_X
                      : mesh.up == MeshUpAxis::kY ? v1::UP_AXIS_Y
                                                  : v1::UP_AXIS_Z);
  if (mesh.float32_coordinates) message.set_coordinate_source(v1::COORDINATE_SOURCE_FLOAT32);
  message.set_baked_radius(mesh.baked_radius);
  message.set_max_step(mesh.max_step);
  auto& vertices = *message.mutable_vertices();
  vertices.mutable_x()->Assign(mesh.x.begin(), mesh.x.end());
  vertices.mutable_y()->Assign(mesh.y.begin(), mesh.y.end());
  vertices.mutable_z()->Assign(mesh.z.begin(), mesh.z.end());
  message.mutable_vertex_count()->Assign(mesh.vertex_count.begin(), mesh.vertex_count.end());
  message.mutable_vertex_index()->Assign(mesh.vertex_index.begin(), mesh.vertex_index.end());
  message.mutable_polygon_ref()->Assign(mesh.polygon_id.begin(), mesh.polygon_id.end());
  message.mutable_neighbour()->Assign(mesh.neighbour.begin(), mesh.neighbour.end());
  message.mutable_area()->Assign(mesh.area.begin(), mesh.area.end());
  message.mutable_flags()->Assign(mesh.flags.begin(), mesh.flags.end());
  message.mutable_polygon_tile()->Assign(mesh.polygon_tile.begin(), mesh.polygon_tile.end());
  for (const NeutralTile& tile : mesh.tiles) {
    auto& tiles = *message.mutable_tiles();
    tiles.add_tile_ref(tile.id);
    tiles.add_x(tile.at.x);
    tiles.add_y(tile.at.y);
    tiles.add_layer(tile.at.layer);
  }
  const auto add = [](const MeshPoint& point, v1::PointColumns* columns) {
    columns->add_x(point.x);
    columns->add_y(point.y);
    columns->add_z(point.z);
  };
  for (const NeutralLink& link : mesh.links) {
    auto& links = *message.mutable_links();
    links.add_link_ref(link.id);
    add(link.start, links.mutable_start());
    add(link.end, links.mutable_end());
    links.add_start_polygon(link.start_polygon);
    links.add_end_polygon(link.end_polygon);
    links.add_radius(link.radius);
    links.add_bidirectional(link.bidirectional);
    links.add_area(link.area);
    links.add_flags(link.flags);
  }
  for (const GateDefinition& gate : mesh.gates) {
    auto& added = *message.add_gates();
    added.set_gate_id(gate.id.value);
    added.set_name(gate.name);
    added.set_initially_closed(!gate.initially_open);
    for (const GateBorder& border : gate.borders) {
      added.add_from_polygon(border.a.value);
      added.add_to_polygon(border.b.value);
    }
  }
  return message;
}

template <typename Header>
void Describe(const std::string& content, v1::NavMeshFormat format, Header& header) {
  header.set_format(format);
  header.set_content_bytes(content.size());
  header.set_content_sha256(std::string(DigestOf(content).view()));
}

// Sends header and content, in pieces of `piece` bytes.
inline grpc::Status Publish(v1::NavMeshRegistry::Stub& stub, const v1::PublishNavMeshHeader& header,
                            const std::string& content, v1::PublishNavMeshResponse* response,
                            size_t piece = 1000) {
  grpc::ClientContext context;
  auto writer = stub.PublishNavMesh(&context, response);
  v1::PublishNavMeshRequest request;
  *request.mutable_header() = header;
  bool open = writer->Write(request);
  for (size_t at = 0; open && at < content.size(); at += piece) {
    request.set_content(content.substr(at, piece));
    open = writer->Write(request);
  }
  writer->WritesDone();
  return writer->Finish();
}

inline grpc::Status Publish(v1::NavMeshRegistry::Stub& stub, const std::string& navmesh_id,
                            uint64_t version, const NeutralMesh& mesh,
                            v1::PublishNavMeshResponse* response) {
  const std::string content = ToMessage(mesh).SerializeAsString();
  v1::PublishNavMeshHeader header;
  header.set_navmesh_id(navmesh_id);
  header.set_version(version);
  Describe(content, v1::NAV_MESH_FORMAT_NEUTRAL, header);
  return Publish(stub, header, content, response);
}

}  // namespace arclane::testing

#endif  // ARCLANE_TESTS_SUPPORT_NEUTRAL_MESSAGE_H_
