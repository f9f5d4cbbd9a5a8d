// SPDX-License-Identifier: Apache-2.0
#include "server/config/role_grant.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/config/absl_view.h"

namespace arclane {
std::string_view RoleName(Role role) { return kRoleNames[static_cast<size_t>(role)]; }

absl::StatusOr<RoleGrant> ParseRoleGrant(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, std::min(equals, text.size()));
  const auto* const found = std::find(kRoleNames.begin(), kRoleNames.end(), name);
  if (equals == std::string_view::npos || equals + 1 == text.size() || found == kRoleNames.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "must be ROLE=PATTERN with a role of ",
        absl::StrJoin(kRoleNames, ", ",
                      [](std::string* out, auto role) { absl::StrAppend(out, AbslView(role)); }),
        ", got \"", AbslView(text), "\""));
  }
  RoleGrant grant;
  grant.role = static_cast<Role>(found - kRoleNames.begin());
  grant.pattern = std::string(text.substr(equals + 1));
  return grant;
}

}  // namespace arclane
