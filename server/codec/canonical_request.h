// SPDX-License-Identifier: Apache-2.0
// The canonical form of a PlanCorridor request: two requests whose canonical bytes are equal have
// the same answer, and a request is planned in its canonical form, so that an answer that was kept
// is the very bytes that planning would give.
//
// Gone are: unknown fields; what belongs to one call (`include_stage_times`, and `cache_mode`
// unless it is an unknown one, which the plan refuses); the name of the navmesh, which is part of
// the cache's key, and with `corridor.refs` version and world too, since what the answer was read
// from is checked by stamps; tolerances that only followers read. Made equal are: -0.0 and 0.0;
// what is unset and what is set to its default (empty messages included), except the frame's up
// axis and precision by reference, whose defaults depend on the navmesh, and max_endpoint_shift,
// whose default depends on the corridor; `closed_gates` and the columns of samples in any order.
#ifndef ARCLANE_SERVER_CODEC_CANONICAL_REQUEST_H_
#define ARCLANE_SERVER_CODEC_CANONICAL_REQUEST_H_

#include <string>
#include <string_view>

#include "arclane/v1/planner.pb.h"

namespace arclane {

// Makes the request canonical. O(bytes).
void Canonicalize(v1::PlanCorridorRequest& request);
// The same, and writes its bytes.
void Canonicalize(v1::PlanCorridorRequest& request, std::string* bytes);

// Whether a -0.0 may be among the doubles of an encoded message. Of all that canonical bytes make
// equal, -0.0 and 0.0 alone could lead to plans whose bits differ: a request by reference without
// one is planned as it is, to the same answer. O(bytes), at the speed of memory.
bool MayHoldNegativeZero(std::string_view encoded);

// What can be told of an encoded request without parsing it.
struct RequestGlance {
  bool names_navmesh = false;
  bool bypasses_cache = false;
};
// O(top-level fields). For bytes that are no message, anything.
RequestGlance GlanceAt(std::string_view encoded);

}  // namespace arclane

#endif  // ARCLANE_SERVER_CODEC_CANONICAL_REQUEST_H_
