// SPDX-License-Identifier: Apache-2.0
// Every method of the interface has a role of its own, so that none is left to administrators
// because it was forgotten.
#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "arclane/v1/follow.pb.h"
#include "arclane/v1/navmesh.pb.h"
#include "arclane/v1/planner.pb.h"
#include "server/service/security/authorization.h"
#include "server/service/service_labels.h"

namespace arclane {
namespace {

TEST(MethodRolesTest, EveryMethodOfTheInterfaceIsKnown) {
  int methods = 0;
  for (const auto* file :
       {v1::PlanCorridorRequest::descriptor()->file(),
        v1::PublishNavMeshRequest::descriptor()->file(), v1::FollowRequest::descriptor()->file()}) {
    for (int s = 0; s < file->service_count(); ++s) {
      const auto* service = file->service(s);
      for (int m = 0; m < service->method_count(); ++m, ++methods) {
        const std::string path = "/" + service->full_name() + "/" + service->method(m)->name();
        EXPECT_NE(AuthorizationPolicy::RoleNeeded(path), Role::kAdmin) << path;
        EXPECT_LT(MethodIndexOf(path), ServiceLabels().methods.size()) << path;
        const bool changes_nothing = service->name() != "NavMeshRegistry" ||
                                     service->method(m)->name().rfind("Get", 0) == 0 ||
                                     service->method(m)->name().rfind("List", 0) == 0 ||
                                     service->method(m)->name().rfind("Read", 0) == 0 ||
                                     service->method(m)->name().rfind("Watch", 0) == 0;
        EXPECT_EQ(AuthorizationPolicy::RoleNeeded(path) == Role::kPlanner, changes_nothing) << path;
      }
    }
  }
  EXPECT_GT(methods, 20);
  EXPECT_EQ(MethodIndexOf("/grpc.health.v1.Health/Check"), ServiceLabels().methods.size());
  EXPECT_EQ(MethodIndexOf("/arclane.v1.PathPlanner/Nothing"), ServiceLabels().methods.size());
}

}  // namespace
}  // namespace arclane
