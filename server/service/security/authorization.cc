// SPDX-License-Identifier: Apache-2.0
#include "server/service/security/authorization.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "server/config/absl_view.h"

namespace arclane {
namespace {

constexpr std::string_view kPlannerService = "/arclane.v1.PathPlanner/";
constexpr std::string_view kFollowerService = "/arclane.v1.RouteFollower/";
constexpr std::string_view kRegistryService = "/arclane.v1.NavMeshRegistry/";
constexpr std::string_view kReflectionService = "/grpc.reflection.v1alpha.ServerReflection/";
constexpr std::string_view kHealthService = "/grpc.health.v1.Health/";

// The registry's methods by what they change. A method that is in none of the lists is not known.
constexpr std::string_view kRegistryReads[] = {"GetNavMesh",   "ListNavMeshes", "ReadNavMesh",
                                               "WatchNavMesh", "WatchRoutes",   "ListWorlds"};
constexpr std::string_view kRegistryChanges[] = {"ApplyChanges", "InvalidateNavMesh", "CreateWorld",
                                                 "MoveWorld", "DeleteWorld"};
constexpr std::string_view kRegistryPublications[] = {
    "PublishNavMesh", "UpdateTiles", "ActivateNavMesh", "RetireNavMesh", "DeleteNavMesh"};

template <size_t kCount>
bool Holds(const std::string_view (&names)[kCount], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool Same(char a, char b, bool any_case) {
  return a == b || (any_case && absl::ascii_tolower(static_cast<unsigned char>(a)) ==
                                    absl::ascii_tolower(static_cast<unsigned char>(b)));
}

// '*' stands for any characters. Greedy with one point to go back to, so that no pattern takes more
// than the product of the lengths.
bool Glob(std::string_view pattern, std::string_view text, bool any_case) {
  size_t p = 0, t = 0, star = std::string_view::npos, resumed = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resumed = t;
    } else if (p < pattern.size() && Same(pattern[p], text[t], any_case)) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resumed;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// The service of /service/method; empty when the path has no such form.
std::string_view ServiceOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (path.empty() || path.front() != '/' || slash == 0) return {};
  return path.substr(1, slash - 1);
}

}  // namespace

bool Fits(const RoleGrant& grant, const Identity& identity) {
  if (grant.pattern == "*") return true;
  const bool for_uris = grant.pattern.find("://") != std::string::npos;
  switch (identity.kind) {
    case Identity::Kind::kUri:
      return for_uris && Glob(grant.pattern, identity.name, false);
    case Identity::Kind::kDns:
      return !for_uris && grant.pattern != kSocketIdentity &&
             Glob(grant.pattern, identity.name, true);
    case Identity::Kind::kSocket:
      return grant.pattern == kSocketIdentity;
  }
  return false;
}

AuthorizationPolicy::AuthorizationPolicy(std::vector<RoleGrant> grants,
                                         std::vector<std::string> open_services)
    : grants_(std::move(grants)), open_services_(std::move(open_services)) {}

Role AuthorizationPolicy::RoleNeeded(std::string_view path) {
  for (const std::string_view service :
       {kPlannerService, kFollowerService, kReflectionService, kHealthService}) {
    if (path.substr(0, service.size()) == service) return Role::kPlanner;
  }
  if (path.substr(0, kRegistryService.size()) != kRegistryService) return Role::kAdmin;
  const std::string_view method = path.substr(kRegistryService.size());
  if (Holds(kRegistryReads, method)) return Role::kPlanner;
  if (Holds(kRegistryChanges, method)) return Role::kChanger;
  if (Holds(kRegistryPublications, method)) return Role::kPublisher;
  return Role::kAdmin;
}

absl::Status AuthorizationPolicy::Decide(std::string_view path,
                                         std::span<const Identity> identities) const {
  const std::string_view service = ServiceOf(path);
  for (const std::string& open : open_services_) {
    if (!service.empty() && service == open) return absl::OkStatus();
  }
  const Role needed = RoleNeeded(path);
  for (const RoleGrant& grant : grants_) {
    if (grant.role < needed) continue;
    for (const Identity& identity : identities) {
      if (Fits(grant, identity)) return absl::OkStatus();
    }
  }
  const std::string name = NameOfCaller(identities);
  const std::string caller =
      name.empty() ? "a caller without identity" : absl::StrCat("the caller \"", name, "\"");
  return absl::PermissionDeniedError(absl::StrCat(caller, " may not call ", AbslView(path),
                                                  ": it needs the role ",
                                                  AbslView(RoleName(needed))));
}

std::string NameOfCaller(std::span<const Identity> identities) {
  // Longer names are no names.
  constexpr size_t kMostBytes = 256;
  const Identity* best = nullptr;
  for (const Identity& identity : identities) {
    if (best == nullptr ||
        (identity.kind == Identity::Kind::kUri && best->kind != Identity::Kind::kUri)) {
      best = &identity;
    }
  }
  if (best == nullptr) return "";
  std::string name = best->name.substr(0, kMostBytes);
  for (char& c : name) {
    if (c <= ' ' || c >= 0x7f) c = '?';
  }
  return name;
}

}  // namespace arclane
