// SPDX-License-Identifier: Apache-2.0
// What is wrong with an input: every fault with the path of its field, gathered in one pass and
// reported together.
#ifndef ARCLANE_SERVER_PLANNING_GEOMETRY_VIOLATION_H_
#define ARCLANE_SERVER_PLANNING_GEOMETRY_VIOLATION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <vector>

namespace arclane {

// Stable: values are never renumbered, only added.
enum class ViolationReason : uint8_t {
  kRequired = 1,        // A field that must be set is not.
  kNotFinite = 2,       // NaN or infinity.
  kOutOfRange = 3,      // A number outside the range of its field.
  kLengthMismatch = 4,  // Columns of one message differ in length.
  kLimitExceeded = 5,   // More elements than the limit in force allows.
  kTooFewVertices = 6,  // A polygon of less than two vertices.
  kNotConvex = 7,       // A polygon with a reflex vertex.
  kSelfCrossing = 8,    // A polygon whose edges cross, or that winds more than once.
  kDegenerate = 9,      // A polygon of three or more vertices without area.
  kGap = 10,            // Successive polygons share no edge.
  kMixedOrder = 11,     // A portal whose left and right contradict the other portals'.
  kOffCorridor = 12,    // Start or goal lies further outside the corridor than allowed.
  kUnknownValue = 13,   // An enum or index without meaning here.
  kConflict = 14,       // Fields that contradict one another.
};

// "NOT_CONVEX" for kNotConvex and so on; for logs and error details.
const char* ViolationReasonName(ViolationReason reason);

struct Violation {
  std::string field;        // Such as "polygons.vertices.x[7]".
  std::string description;  // Such as "must be finite, got NaN".
  ViolationReason reason = ViolationReason::kRequired;
};

// Keeps the first `capacity` violations and counts all, so that an input of a million faults costs
// no more than one of a few. Not thread-safe.
class Violations {
 public:
  static constexpr size_t kDefaultCapacity = 32;
  explicit Violations(size_t capacity = kDefaultCapacity) : capacity_(capacity) {}

  void Add(ViolationReason reason, std::string field, std::string description);
  // False when Add would only count: for callers whose text is costly to build.
  bool KeepsMore() const { return kept_.size() < capacity_; }

  bool empty() const { return total_ == 0; }
  size_t total() const { return total_; }
  std::span<const Violation> kept() const { return kept_; }
  void clear();

  // "FIELD: DESCRIPTION; FIELD: DESCRIPTION; and N more". Empty without violations.
  std::string ToString() const;

 private:
  size_t capacity_;
  size_t total_ = 0;
  std::vector<Violation> kept_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_GEOMETRY_VIOLATION_H_
