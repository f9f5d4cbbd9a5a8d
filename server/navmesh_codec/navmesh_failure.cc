// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh_codec/navmesh_failure.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace arclane {
namespace {

constexpr std::string_view kRefsPlace = "polygon_refs";
constexpr std::string_view kRefsField = "corridor.refs.ref";

std::string FieldOf(const std::string& place) {
  if (!place.starts_with(kRefsPlace)) return place;
  return std::string(kRefsField) + place.substr(kRefsPlace.size());
}

}  // namespace

Failure ToFailure(const NavMeshFailure& failure) {
  Failure converted;
  converted.own_reason = NavMeshReasonName(failure.reason);
  converted.own_code = NavMeshReasonCode(failure.reason);
  converted.message = failure.message;
  for (const MeshViolation& violation : failure.violations) {
    converted.violations.push_back({FieldOf(violation.place), violation.description});
  }
  if (!failure.violations.empty()) {
    converted.message +=
        ", first " + converted.violations[0].field + ": " + converted.violations[0].description;
  }
  for (const auto& [key, value] : failure.metadata) converted.metadata[key] = value;
  if (failure.unlisted_violations > 0) {
    converted.metadata["violation_count"] =
        std::to_string(failure.violations.size() + failure.unlisted_violations);
  }
  return converted;
}

Failure InvalidField(std::string field, std::string description) {
  std::vector<FieldViolation> violations;
  violations.push_back({std::move(field), std::move(description)});
  return InvalidFields(std::move(violations));
}

}  // namespace arclane
