// SPDX-License-Identifier: Apache-2.0
// The roles that the setting `authorize` grants to callers.
#ifndef ARCLANE_SERVER_CONFIG_ROLE_GRANT_H_
#define ARCLANE_SERVER_CONFIG_ROLE_GRANT_H_

#include <array>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace arclane {

// Each role may do what the ones before it may.
enum class Role {
  kPlanner,    // Plans, follows, reads and watches navmeshes.
  kChanger,    // Changes states: gates, links, costs; makes, moves and deletes worlds.
  kPublisher,  // Publishes, activates, retires and deletes versions.
  kAdmin,      // Everything, also what this version does not know.
};
inline constexpr std::array<std::string_view, 4> kRoleNames = {"planner", "changer", "publisher",
                                                               "admin"};
std::string_view RoleName(Role role);

// `role` for every caller whose identity `pattern` fits. '*' stands for any characters, also none
// and slashes. Patterns with "://" are for URIs alone, "unix" for Unix sockets, "*" for all kinds,
// others for DNS names, in any case of letters.
struct RoleGrant {
  Role role = Role::kPlanner;
  std::string pattern;
};

// "planner=spiffe://game/*". INVALID_ARGUMENT tells what is wrong.
absl::StatusOr<RoleGrant> ParseRoleGrant(std::string_view text);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CONFIG_ROLE_GRANT_H_
