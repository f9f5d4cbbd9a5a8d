// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/speed_request.h"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "absl/strings/str_cat.h"
#include "server/planning/speed/numeric_range.h"
#include "server/planning/speed/pair.h"

namespace arclane {
namespace {}  // namespace

bool HasOrdinaryPieces(std::span<const SpeedPiece> pieces) {
  static_assert(sizeof(SpeedPiece) == sizeof(Pair));
  const Pair smallest = BothOf(kSmallestOrdinary);
  const Pair largest = BothOf(kLargestOrdinary);
  // A line's radius; no length equals NaN.
  const Pair also = {std::numeric_limits<double>::quiet_NaN(), kStraight};
  PairMask all = {-1, -1};
  for (const SpeedPiece& piece : pieces) {
    const Pair pair = LoadPair(&piece.length);
    all &= (pair >= smallest) & ((pair <= largest) | (pair == also));
  }
  return !pieces.empty() && all[0] != 0 && all[1] != 0;
}

bool HasOrdinaryOrNoLengths(std::span<const SpeedPiece> pieces) {
  return std::all_of(pieces.begin(), pieces.end(), [](const SpeedPiece& piece) {
    return IsOrdinaryOrZero(piece.length) &&
           (IsOrdinary(piece.radius) || piece.radius == kStraight);
  });
}

void AppendPieceViolations(std::span<const SpeedPiece> pieces,
                           std::vector<SpeedViolation>& violations) {
  if (pieces.empty()) violations.push_back({"pieces", "must not be empty"});
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const SpeedPiece& piece = pieces[i];
    if (!(piece.length >= 0.0 && piece.length < kUnlimited)) {
      violations.push_back({absl::StrCat("pieces[", i, "].length"),
                            absl::StrCat("must be finite and >= 0, got ", piece.length)});
    }
    if (!(piece.radius > 0.0)) {
      violations.push_back({absl::StrCat("pieces[", i, "].radius"),
                            absl::StrCat("must be > 0, got ", piece.radius)});
    }
  }
}

void AppendSpeedAndStopViolations(const SpeedPlanRequest& request,
                                  std::vector<SpeedViolation>& violations) {
  const auto speed = [&violations](double value, const char* field) {
    if (value >= 0.0 && value < kUnlimited) return;
    violations.push_back({field, absl::StrCat("must be finite and >= 0, got ", value)});
  };
  speed(request.start_speed, "start_speed");
  speed(request.end_speed, "end_speed");
  for (std::size_t k = 0; k < request.stops.size(); ++k) {
    const SpeedStop& stop = request.stops[k];
    if (stop.boundary > request.pieces.size() ||
        (k > 0 && stop.boundary <= request.stops[k - 1].boundary)) {
      violations.push_back(
          {absl::StrCat("stops[", k, "].boundary"),
           absl::StrCat("must ascend and be <= ", request.pieces.size(), ", got ", stop.boundary)});
    }
    if (!(stop.dwell_s >= 0.0 && stop.dwell_s < kUnlimited)) {
      violations.push_back({absl::StrCat("stops[", k, "].dwell_s"),
                            absl::StrCat("must be finite and >= 0, got ", stop.dwell_s)});
    }
  }
}

}  // namespace arclane
