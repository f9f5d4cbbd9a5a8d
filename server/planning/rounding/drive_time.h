// SPDX-License-Identifier: Apache-2.0
// The least time over pieces of constant speed cap under independent limits of acceleration and
// braking, kept so that a change of a few pieces is evaluated without visiting the others. It
// agrees with speed_plan.h on decoupled limits. The total is kept by differences: each accepted
// change adds a rounding of the total to its error.
//
// With x = v^2 the passes are linear: braking first, x_i <= min(cap, x_(i+1) + 2 b l), then
// accelerating.
#ifndef ARCLANE_SERVER_PLANNING_ROUNDING_DRIVE_TIME_H_
#define ARCLANE_SERVER_PLANNING_ROUNDING_DRIVE_TIME_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace arclane {

struct DrivePiece {
  double length = 0.0;     // >= 0.
  double speed_cap = 0.0;  // >= 0, finite; 0 only for pieces of no length: the agent rests there.
  double rest_s = 0.0;     // Time spent at rest, for pieces of cap 0.
};

class DriveTime {
 public:
  // acceleration, braking > 0, may be infinite. Speeds >= 0.
  DriveTime(double acceleration, double braking, double start_speed, double goal_speed);

  // Replaces all pieces.
  void Reset(std::span<const DrivePiece> pieces);

  struct Result {
    double time_s = 0.0;
    // v_start^2 less what braking for the pieces allows, if positive: the start speed cannot be
    // kept.
    double start_excess = 0.0;
    // The same at the end: goal speed^2 less what the pieces allow it to be.
    double goal_excess = 0.0;
  };
  const Result& current() const { return current_; }

  // The result with the pieces [first, last) replaced by `pieces`. Nothing is changed until
  // Accept().
  Result Try(size_t first, size_t last, std::span<const DrivePiece> pieces);
  // Makes the last tried replacement current.
  void Accept();
  // Pieces visited by the last Try, a measure of its work.
  size_t visited() const { return visited_; }

 private:
  // Node i lies before piece i; node n after the last.
  struct Node {
    double braking_x = 0.0;  // After the braking pass.
    double x = 0.0;          // After both.
    double v = 0.0;
  };
  double PieceTime(const DrivePiece& piece, const Node& from, const Node& to) const;

  double acceleration_;
  double braking_;
  double inverse_acceleration_;
  double inverse_braking_;
  double harmonic_;  // Of acceleration and braking: 1 / (1 / a + 1 / b).
  double start_x_;
  double goal_x_;

  std::vector<DrivePiece> pieces_;
  std::vector<double> piece_time_;
  std::vector<Node> nodes_;
  Result current_;

  // The last tried change: pieces [try_first_, try_last_) give way to try_pieces_. In the numbering
  // after the change only nodes [node_first_, node_limit_) differ; try_nodes_ and try_time_ are
  // indexed by it.
  std::vector<DrivePiece> try_pieces_;
  std::vector<Node> try_nodes_;
  std::vector<double> try_time_;
  size_t try_first_ = 0;
  size_t try_last_ = 0;
  size_t node_first_ = 0;
  size_t node_limit_ = 0;
  Result try_result_;
  size_t visited_ = 0;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_PLANNING_ROUNDING_DRIVE_TIME_H_
