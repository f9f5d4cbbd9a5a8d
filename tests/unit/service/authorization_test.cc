// SPDX-License-Identifier: Apache-2.0
#include "server/service/security/authorization.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace arclane {
namespace {

using ::testing::HasSubstr;

using Kind = Identity::Kind;

TEST(RoleGrantTest, ReadsRoleAndPattern) {
  const auto grant = ParseRoleGrant("publisher=spiffe://ops/*=x");
  ASSERT_TRUE(grant.ok());
  EXPECT_EQ(grant->role, Role::kPublisher);
  EXPECT_EQ(grant->pattern, "spiffe://ops/*=x");
  for (const char* wrong : {"", "planner", "planner=", "Planner=a", "=a", "king=a"}) {
    EXPECT_THAT(std::string(ParseRoleGrant(wrong).status().message()),
                HasSubstr("planner, changer, publisher, admin"))
        << wrong;
  }
}

TEST(RoleGrantTest, PatternsFitOnlyTheirKind) {
  struct Case {
    const char* pattern;
    Identity identity;
    bool fits;
  };
  for (const Case& c :
       std::vector<Case>{{"spiffe://game/*", {Kind::kUri, "spiffe://game/a/b"}, true},
                         {"spiffe://game/*", {Kind::kUri, "spiffe://game/"}, true},
                         {"spiffe://game/*", {Kind::kUri, "spiffe://games/a"}, false},
                         {"spiffe://game/*", {Kind::kUri, "xspiffe://game/a"}, false},
                         {"spiffe://game/*", {Kind::kDns, "spiffe://game/a"}, false},
                         {"spiffe://game/a", {Kind::kUri, "spiffe://game/A"}, false},
                         {"*://*", {Kind::kUri, "spiffe://x"}, true},
                         {"ops.example", {Kind::kDns, "OPS.Example"}, true},
                         {"ops.example", {Kind::kDns, "ops.example.evil"}, false},
                         {"ops.example", {Kind::kUri, "ops.example"}, false},
                         {"*.example", {Kind::kDns, "a.b.example"}, true},
                         {"*.example", {Kind::kDns, "example"}, false},
                         {"a*b*c", {Kind::kDns, "abxbc"}, true},
                         {"a*b*c", {Kind::kDns, "abxb"}, false},
                         {"ops.example", {Kind::kDns, "*.example"}, false},
                         {"unix", {Kind::kSocket, "unix"}, true},
                         {"unix", {Kind::kDns, "unix"}, false},
                         {"u*", {Kind::kSocket, "unix"}, false},
                         {"*", {Kind::kSocket, "unix"}, true},
                         {"*", {Kind::kDns, "a"}, true},
                         {"*", {Kind::kUri, "a://b"}, true}}) {
    EXPECT_EQ(Fits({Role::kPlanner, c.pattern}, c.identity), c.fits)
        << c.pattern << " against " << c.identity.name;
  }
}

TEST(AuthorizationPolicyTest, EachRoleMayDoWhatTheOnesBeforeItMay) {
  const std::string planner = "/arclane.v1.PathPlanner/PlanCorridor";
  const std::string reader = "/arclane.v1.NavMeshRegistry/WatchRoutes";
  const std::string changer = "/arclane.v1.NavMeshRegistry/ApplyChanges";
  const std::string publisher = "/arclane.v1.NavMeshRegistry/UpdateTiles";
  const std::string unknown = "/arclane.v1.NavMeshRegistry/Explode";
  const std::vector<std::pair<std::string, Role>> needed = {{planner, Role::kPlanner},
                                                            {reader, Role::kPlanner},
                                                            {changer, Role::kChanger},
                                                            {publisher, Role::kPublisher},
                                                            {unknown, Role::kAdmin}};
  const std::vector<Identity> who = {{Kind::kDns, "a"}};
  for (const Role role : {Role::kPlanner, Role::kChanger, Role::kPublisher, Role::kAdmin}) {
    const AuthorizationPolicy policy({{role, "a"}}, {});
    for (const auto& [path, least] : needed) {
      EXPECT_EQ(policy.Decide(path, who).ok(), role >= least) << path << RoleName(role);
    }
  }
}

TEST(AuthorizationPolicyTest, PathsOfNoForm) {
  const AuthorizationPolicy policy({{Role::kPublisher, "*"}}, {"", "grpc.health.v1.Health"});
  const std::vector<Identity> who = {{Kind::kDns, "a"}};
  for (const char* path :
       {"", "/", "//", "Ping", "/grpc.health.v1.Health", "/grpc.health.v1.HealthX/Check",
        "/arclane.v1.PathPlannerX/Ping", "x/grpc.health.v1.Health/Check"}) {
    EXPECT_FALSE(policy.Decide(path, who).ok()) << path;
  }
  EXPECT_TRUE(policy.Decide("/grpc.health.v1.Health/Check", {}).ok());
}

TEST(AuthorizationPolicyTest, AMessageNamesMethodCallerAndRoleAndNothingThatCouldBreakALine) {
  const AuthorizationPolicy policy({}, {});
  const std::vector<Identity> who = {{Kind::kDns, "host"}, {Kind::kUri, "spiffe://a\n\x80"}};
  const absl::Status status = policy.Decide("/arclane.v1.NavMeshRegistry/DeleteWorld", who);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(std::string(status.message()),
            "the caller \"spiffe://a??\" may not call /arclane.v1.NavMeshRegistry/DeleteWorld: it "
            "needs the role changer");
  EXPECT_THAT(std::string(policy.Decide("/x/y", {}).message()), HasSubstr("without identity"));
}

}  // namespace
}  // namespace arclane
