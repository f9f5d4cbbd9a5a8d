// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/result.h"

#include "absl/strings/str_cat.h"

namespace arclane {
namespace {

struct ReasonRow {
  NavMeshReason reason;
  std::string_view name;
  absl::StatusCode code;
};

using absl::StatusCode;
using enum NavMeshReason;
constexpr ReasonRow kReasons[] = {
    {kMalformed, "NAVMESH_MALFORMED", StatusCode::kInvalidArgument},
    {kUnsupported, "NAVMESH_UNSUPPORTED", StatusCode::kInvalidArgument},
    {kBrokenMesh, "NAVMESH_BROKEN", StatusCode::kInvalidArgument},
    {kInvalidArgument, "NAVMESH_INVALID_ARGUMENT", StatusCode::kInvalidArgument},
    {kUnknownNavMesh, "UNKNOWN_NAVMESH", StatusCode::kNotFound},
    {kUnknownVersion, "UNKNOWN_VERSION", StatusCode::kNotFound},
    {kUnknownWorld, "UNKNOWN_WORLD", StatusCode::kNotFound},
    {kNoActiveVersion, "NO_ACTIVE_VERSION", StatusCode::kFailedPrecondition},
    {kRetiredVersion, "RETIRED_VERSION", StatusCode::kFailedPrecondition},
    {kActiveVersion, "ACTIVE_VERSION", StatusCode::kFailedPrecondition},
    {kVersionInUse, "VERSION_IN_USE", StatusCode::kFailedPrecondition},
    {kDamagedVersion, "DAMAGED_VERSION", StatusCode::kDataLoss},
    {kVersionExists, "VERSION_EXISTS", StatusCode::kAlreadyExists},
    {kWorldExists, "WORLD_EXISTS", StatusCode::kAlreadyExists},
    {kRequestIdReused, "REQUEST_ID_REUSED", StatusCode::kAlreadyExists},
    {kEpochMismatch, "EPOCH_MISMATCH", StatusCode::kAborted},
    {kLimitExceeded, "NAVMESH_LIMIT_EXCEEDED", StatusCode::kResourceExhausted},
    {kUnknownPolygon, "UNKNOWN_POLYGON", StatusCode::kInvalidArgument},
    {kReplacedTile, "REPLACED_TILE", StatusCode::kFailedPrecondition},
    {kNotAdjacent, "NOT_ADJACENT", StatusCode::kInvalidArgument},
    {kStoreFailed, "STORE_FAILED", StatusCode::kUnavailable},
};

const ReasonRow& RowOf(NavMeshReason reason) { return kReasons[static_cast<size_t>(reason)]; }

constexpr bool RowsFollowTheEnum() {
  for (size_t i = 0; i < std::size(kReasons); ++i) {
    if (static_cast<size_t>(kReasons[i].reason) != i) return false;
  }
  return std::size(kReasons) == static_cast<size_t>(kStoreFailed) + 1;
}
static_assert(RowsFollowTheEnum());

}  // namespace

std::string_view NavMeshReasonName(NavMeshReason reason) { return RowOf(reason).name; }
absl::StatusCode NavMeshReasonCode(NavMeshReason reason) { return RowOf(reason).code; }

absl::Status NavMeshFailure::ToStatus() const {
  std::string text = message;
  for (const MeshViolation& violation : violations) {
    absl::StrAppend(&text, "; ", violation.place, ": ", violation.description);
  }
  if (unlisted_violations > 0) absl::StrAppend(&text, "; and ", unlisted_violations, " more");
  return absl::Status(NavMeshReasonCode(reason), text);
}

void MeshViolations::Add(std::string place, std::string description) {
  if (listed_.size() < kListed) {
    listed_.push_back({std::move(place), std::move(description)});
  } else {
    ++unlisted_;
  }
}

void MeshViolations::AddAll(const NavMeshFailure& failure, const char* place) {
  for (const MeshViolation& violation : failure.violations)
    Add(violation.place, violation.description);
  if (failure.violations.empty()) Add(place, failure.message);
  unlisted_ += failure.unlisted_violations;
}

NavMeshFailure MeshViolations::ToFailure(NavMeshReason reason) && {
  NavMeshFailure failure;
  failure.reason = reason;
  failure.message = absl::StrCat(count(), count() == 1 ? " violation" : " violations");
  failure.violations = std::move(listed_);
  failure.unlisted_violations = unlisted_;
  return failure;
}

}  // namespace arclane
