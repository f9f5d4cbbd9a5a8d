// SPDX-License-Identifier: Apache-2.0
// What planning can keep from one request for the next: start points rarely repeat, corridors and
// curves do.
#ifndef ARCLANE_SERVER_PIPELINE_PREPARED_PLANS_H_
#define ARCLANE_SERVER_PIPELINE_PREPARED_PLANS_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "server/navmesh/corridor_refs.h"
#include "server/planning/corridor/prepared_corridor.h"
#include "server/planning/spline/arc_length.h"

namespace arclane {

// A corridor by reference, resolved and, where that is worth it, built.
struct PreparedRefs {
  PreparedRefs() = default;
  PreparedRefs(CorridorByRef resolved, std::optional<PreparedCorridor> made)
      : corridor(std::move(resolved)), built(std::move(made)) {}

  CorridorByRef corridor;
  std::optional<PreparedCorridor> built;

  // All that it holds outside of itself, in bytes.
  size_t ByteSize() const;
};

// Where they are kept. Thread-safe. Keys are bytes that tell all that a prepared thing depends on;
// for corridors besides the navmesh and the states that their read sets name.
class PreparedPlans {
 public:
  virtual ~PreparedPlans() = default;
  // Null when there is none that is current on the view.
  virtual std::shared_ptr<const PreparedRefs> FindCorridor(std::string_view key,
                                                           const NavMeshView& view) = 0;
  // Whether it is worth keeping: what is asked for once is not.
  virtual bool WantsCorridor(std::string_view key, const NavMeshView& view) = 0;
  virtual void KeepCorridor(std::string_view key, const NavMeshView& view,
                            std::shared_ptr<const PreparedRefs> corridor) = 0;

  virtual std::shared_ptr<const ArcLengthMap> FindCurve(std::string_view key) = 0;
  virtual bool WantsCurve(std::string_view key) = 0;
  virtual void KeepCurve(std::string_view key, std::shared_ptr<const ArcLengthMap> map) = 0;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PIPELINE_PREPARED_PLANS_H_
