// SPDX-License-Identifier: Apache-2.0
// Any bytes as what the cache is asked with: looks at bytes that are not parsed end, and the
// canonical form of a request is its own canonical form and the same for the request as written
// again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/codec/canonical_request.h"
#include "server/codec/work_glance.h"
#include "tests/fuzz/fuzz_check.h"

using arclane::fuzz::Require;

namespace {

std::string CanonicalOf(arclane::v1::PlanCorridorRequest request) {
  std::string bytes;
  arclane::Canonicalize(request, &bytes);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view encoded(reinterpret_cast<const char*>(data), size);
  const arclane::RequestGlance glance = arclane::GlanceAt(encoded);
  const bool may_hold_negative_zero = arclane::MayHoldNegativeZero(encoded);
  for (const arclane::WorkKind kind : {arclane::WorkKind::kCorridor, arclane::WorkKind::kWaypoints,
                                       arclane::WorkKind::kSpline, arclane::WorkKind::kSpeed}) {
    const double prior_s = arclane::GlanceAtWork(kind, encoded).PriorSeconds();
    Require(prior_s >= 0.0, "a cost that is a number");
  }
  arclane::v1::PlanCorridorRequest request;
  if (!request.ParseFromArray(data, static_cast<int>(size))) return 0;
  if (glance.names_navmesh) Require(request.has_navmesh(), "a navmesh where a glance saw its name");
  const std::string canonical = CanonicalOf(request);
  arclane::v1::PlanCorridorRequest again;
  Require(again.ParseFromString(canonical), "canonical bytes that can be parsed");
  Require(CanonicalOf(again) == canonical, "a canonical form of its own");
  if (!may_hold_negative_zero) {
    arclane::v1::PlanCorridorRequest rewritten;
    Require(rewritten.ParseFromString(request.SerializeAsString()), "the request again");
    Require(CanonicalOf(rewritten) == canonical, "the same form for the same request");
  }
  return 0;
}
