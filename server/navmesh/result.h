// SPDX-License-Identifier: Apache-2.0
// How an operation on navmeshes fails: one reason that a caller can switch on, a message, and every
// violation found.
#ifndef ARCLANE_SERVER_NAVMESH_RESULT_H_
#define ARCLANE_SERVER_NAVMESH_RESULT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"

namespace arclane {

enum class NavMeshReason : uint8_t {
  kMalformed,    // The bytes are no navmesh of the named format. INVALID_ARGUMENT.
  kUnsupported,  // A known format of a kind that is not read, such as 64-bit refs.
                 // INVALID_ARGUMENT.
  kBrokenMesh,   // Read, but its content contradicts itself; see the violations. INVALID_ARGUMENT.
  kInvalidArgument,  // A field of the request is out of its range. INVALID_ARGUMENT.
  kUnknownNavMesh,   // NOT_FOUND.
  kUnknownVersion,   // NOT_FOUND.
  kUnknownWorld,     // NOT_FOUND.
  kNoActiveVersion,  // FAILED_PRECONDITION.
  kRetiredVersion,   // FAILED_PRECONDITION.
  kActiveVersion,    // The active version can neither be retired nor deleted. FAILED_PRECONDITION.
  kVersionInUse,     // Worlds stand on the version. FAILED_PRECONDITION.
  kDamagedVersion,   // Its stored bytes fail their digest. DATA_LOSS.
  kVersionExists,    // Same version, other content. ALREADY_EXISTS.
  kWorldExists,      // Same world, other version. ALREADY_EXISTS.
  kRequestIdReused,  // Same request id, other changes. ALREADY_EXISTS.
  kEpochMismatch,    // The state moved on; metadata current_epoch. ABORTED.
  kLimitExceeded,    // Count or bytes. RESOURCE_EXHAUSTED.
  kUnknownPolygon,   // A ref that never named a polygon of this navmesh. INVALID_ARGUMENT.
  kReplacedTile,     // A ref of a tile that was replaced or removed. FAILED_PRECONDITION.
  kNotAdjacent,      // Two successive refs share no border. INVALID_ARGUMENT.
  kStoreFailed,      // The durable store refused; nothing was changed. UNAVAILABLE.
};

// Upper-snake-case and stable, such as KNOWN_AS; for ErrorInfo.reason and metric labels.
std::string_view NavMeshReasonName(NavMeshReason reason);
absl::StatusCode NavMeshReasonCode(NavMeshReason reason);

// One thing that is wrong: where (such as `tiles[3].polygons[17]`), and what.
struct MeshViolation {
  std::string place;
  std::string description;
};

struct NavMeshFailure {
  NavMeshReason reason = NavMeshReason::kMalformed;
  std::string message;
  std::vector<MeshViolation> violations;
  size_t unlisted_violations = 0;  // Found beyond those listed.
  std::vector<std::pair<std::string, std::string>> metadata;

  // Code and message, the violations joined to the message.
  absl::Status ToStatus() const;
};

// Collects violations; keeps the first kListed and counts the rest.
class MeshViolations {
 public:
  static constexpr size_t kListed = 100;

  void Add(std::string place, std::string description);
  // Those of a failure too; one that has none is told by its message, at `place`.
  void AddAll(const NavMeshFailure& failure, const char* place);
  bool empty() const { return listed_.empty(); }
  size_t count() const { return listed_.size() + unlisted_; }
  // kBrokenMesh unless told otherwise. Must not be empty.
  NavMeshFailure ToFailure(NavMeshReason reason = NavMeshReason::kBrokenMesh) &&;

 private:
  std::vector<MeshViolation> listed_;
  size_t unlisted_ = 0;
};

// A value or a failure.
template <typename T>
class [[nodiscard]] NavMeshResult {
 public:
  NavMeshResult(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT
  NavMeshResult(NavMeshFailure failure)                                         // NOLINT
      : state_(std::in_place_index<1>, std::move(failure)) {}

  bool ok() const { return state_.index() == 0; }
  const T& value() const& { return std::get<0>(state_); }
  T& value() & { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  const NavMeshFailure& failure() const& { return std::get<1>(state_); }
  NavMeshFailure&& failure() && { return std::get<1>(std::move(state_)); }
  absl::Status status() const { return ok() ? absl::OkStatus() : failure().ToStatus(); }

 private:
  std::variant<T, NavMeshFailure> state_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_NAVMESH_RESULT_H_
