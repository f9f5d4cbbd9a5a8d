// SPDX-License-Identifier: Apache-2.0
// A server with a small navmesh that has two gates, and corridors by reference through it.
#ifndef ARCLANE_TESTS_INTEGRATION_SERVICE_NAVMESH_FIXTURE_H_
#define ARCLANE_TESTS_INTEGRATION_SERVICE_NAVMESH_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/integration/service_harness.h"
#include "tests/support/grid_mesh.h"
#include "tests/support/neutral_message.h"

namespace arclane {

// 4 x 4 unit squares with refs 0 to 15, row by row, in 4 tiles 1000 to 1003. Gate 7 lies between
// the squares 1 and 2, gate 8 between 13 and 14.
inline NeutralMesh TwoGateGrid() {
  NeutralMesh mesh = testing::GridMesh({});
  mesh.gates = {{{7}, "west", {{{1}, {2}}}, true}, {{8}, "far", {{{13}, {14}}}, true}};
  return mesh;
}

// Along the lowest row of squares.
inline v1::PlanCorridorRequest RowRequest(std::vector<uint64_t> refs = {0, 1, 2, 3}) {
  v1::PlanCorridorRequest request;
  request.mutable_navmesh()->set_navmesh_id("map");
  request.mutable_start()->set_x(0.5);
  request.mutable_start()->set_y(0.5);
  request.mutable_goal()->set_x(3.5);
  request.mutable_goal()->set_y(0.5);
  request.mutable_corridor()->mutable_refs()->mutable_ref()->Assign(refs.begin(), refs.end());
  auto* limits = request.mutable_agent()->mutable_limits();
  limits->set_max_speed(2);
  limits->set_max_acceleration(4);
  limits->set_max_braking(4);
  return request;
}

class ServiceNavMeshTest : public ::testing::Test {
 protected:
  explicit ServiceNavMeshTest(ServerOptions options = {}, bool gate_open = true)
      : server_(options, gate_open), registry_(v1::NavMeshRegistry::NewStub(server_.channel())) {
    v1::PublishNavMeshResponse response;
    const grpc::Status status = testing::Publish(*registry_, "map", 1, TwoGateGrid(), &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
  }

  v1::PlanCorridorResponse Plan(const v1::PlanCorridorRequest& request) {
    AsyncPlan plan(server_.stub(), request);
    EXPECT_TRUE(plan.Await().ok()) << plan.Await().error_message();
    return plan.response();
  }
  v1::CacheOutcome CacheOf(const v1::PlanCorridorRequest& request) {
    return Plan(request).answer().cache();
  }
  grpc::Status PlanStatus(const v1::PlanCorridorRequest& request) {
    AsyncPlan plan(server_.stub(), request);
    return plan.Await();
  }

  grpc::Status Apply(const v1::ApplyChangesRequest& request,
                     v1::ApplyChangesResponse* response = nullptr) {
    grpc::ClientContext context;
    v1::ApplyChangesResponse ignored;
    return registry_->ApplyChanges(&context, request, response ? response : &ignored);
  }
  void SetGate(uint64_t gate, bool open, const std::string& world = "") {
    v1::ApplyChangesRequest request;
    request.set_navmesh_id("map");
    request.set_world_id(world);
    open ? request.mutable_changes()->add_open_gates(gate)
         : request.mutable_changes()->add_closed_gates(gate);
    EXPECT_TRUE(Apply(request).ok());
  }

  TestServer server_;
  std::unique_ptr<v1::NavMeshRegistry::Stub> registry_;
};

}  // namespace arclane

#endif  // ARCLANE_TESTS_INTEGRATION_SERVICE_NAVMESH_FIXTURE_H_
