// SPDX-License-Identifier: Apache-2.0
// A driven path under search: a string of discs from start to goal with everything that is needed
// to judge a local change at local cost: tangents, sweeps, the cells reached at every joint, and
// the driving time.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_DISC_STRING_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_DISC_STRING_H_

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/planning/geometry/stop_check.h"
#include "server/planning/geometry/vec2.h"
#include "server/planning/rounding/cell_chain.h"
#include "server/planning/rounding/disc_path.h"
#include "server/planning/rounding/drive_time.h"
#include "server/planning/rounding/driven_path.h"
#include "server/planning/rounding/round_corners.h"
#include "server/planning/rounding/wall_clearance.h"

namespace arclane {

// A disc and the corners of the taut path that it turns for: [corner_first, corner_limit), empty
// for start and goal.
struct CornerDisc {
  Disc disc;
  uint32_t corner_first = 0;
  uint32_t corner_limit = 0;
};

// What the paths are judged by, in this order. `excess` is by how much start and goal speed and the
// length break their bounds: a path that keeps them never gives way to one that does not.
struct PathCost {
  double excess = 0.0;
  uint32_t stops = 0;
  double time_s = 0.0;
};

enum class TryResult : uint8_t {
  kAccepted,
  kNoTangent,
  kTooLong,
  kNotBetter,
  kLeavesCorridor,
  kOutOfWork,
};

// Which contained replacements are taken.
enum class Acceptance : uint8_t {
  kBetter,
  kNotWorse,
  kAny,  // Whatever they cost: the begin of a trial.
};

// The direction in which a path must begin, within a tolerance.
struct FirstLine {
  Vec2 wanted;  // Unit vectors.
  double tolerance_rad = 0.0;
  Vec2 taut;  // Within the tolerance: what discs are moved to when their own line is not.

  bool Allows(Vec2 direction) const {
    return std::abs(TurnAngle(wanted, direction)) <= tolerance_rad;
  }
};

// What a string needs to know about its surroundings; all borrowed.
struct DiscStringContext {
  const CellChain* chain = nullptr;
  const WallClearance* walls = nullptr;  // Null without clearance.
  AgentTurning turning;
  DrivingLimits limits;
  RoundingObjective objective = RoundingObjective::kFewestStopsThenTime;
  double max_length = 0.0;
  std::optional<FirstLine> first_line;
};

// The work spent so far and the limit at which trying ends, or the caller's wish to stop.
class WorkMeter {
 public:
  WorkMeter(uint64_t work_limit, PacedStopCheck& stop) : limit(work_limit), stop_(stop) {}

  uint64_t used = 0;
  uint64_t limit = 0;

  bool exhausted() { return stopped() || used >= limit; }
  // Tells the stop check of the work since the last call.
  bool stopped() {
    const uint64_t steps = used - told_;
    told_ = used;
    return stop_.After(steps);
  }
  PacedStopCheck& stop() { return stop_; }

 private:
  PacedStopCheck& stop_;
  uint64_t told_ = 0;
};

class DiscString {
 public:
  struct Node {
    CornerDisc corner;
    double sweep = 0.0;  // >= 0 on discs; the signed turn where the radius is 0.
    Tangent line;        // To the next node; unused at the goal.
    CellRuns at_begin;   // Where the arc begins.
    CellRuns at_end;     // Where it ends and the line begins.
  };

  explicit DiscString(const DiscStringContext& context);

  // Starts from points without discs: a stop at each corner that turns. Points are distinct from
  // their neighbours; points[i] turns for corner i - 1. False when this path is not contained, or
  // when stopped before that was known.
  bool Reset(std::span<const Vec2> points, WorkMeter& work);

  // Replaces the discs [first, last), 0 < first <= last < size, when the path is contained, not too
  // long and better. Where the first line must keep its direction the first disc is moved until it
  // touches that line.
  TryResult Replace(size_t first, size_t last, std::span<const CornerDisc> discs, WorkMeter& work,
                    Acceptance acceptance = Acceptance::kBetter);
  // What Replace would return; the string stays as it is.
  TryResult Judge(size_t first, size_t last, std::span<const CornerDisc> discs, WorkMeter& work,
                  Acceptance acceptance = Acceptance::kBetter);

  size_t size() const { return nodes_.size(); }
  const Node& node(size_t i) const { return nodes_[i]; }
  bool IsStop(size_t i) const { return IsStop(nodes_[i].corner.disc.radius, nodes_[i].sweep); }
  const PathCost& cost() const { return cost_; }
  double length() const { return length_; }
  bool Better(const PathCost& a, const PathCost& b) const;

 private:
  bool IsStop(double radius, double sweep) const;
  DrivePiece ArcPiece(double radius, double sweep) const;
  double ArcLength(double radius, double sweep) const;
  bool KeepFirstLine(size_t added);
  bool Contained(size_t first, size_t last, WorkMeter& work);
  // One arc and one line; false when they leave the corridor.
  bool AdvanceArc(const CellRuns& from, const Disc& disc, Vec2 in, Vec2 out, double sweep,
                  CellRuns& to, WorkMeter& work) const;
  bool AdvanceLine(const CellRuns& from, const Tangent& line, CellRuns& to, WorkMeter& work) const;
  void Accept(size_t first, size_t last);

  DiscStringContext context_;
  std::vector<Node> nodes_;
  DriveTime time_;
  PathCost cost_;
  double length_ = 0.0;
  // The tried nodes: the one before the change, the new ones, the one after; and the runs of the
  // nodes that follow as far as they differ.
  std::vector<Node> tried_;
  std::vector<CellRuns> tried_after_;
  std::vector<DrivePiece> tried_pieces_;
  PathCost tried_cost_;
  double tried_length_ = 0.0;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_DISC_STRING_H_
