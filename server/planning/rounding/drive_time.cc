// SPDX-License-Identifier: Apache-2.0
#include "server/planning/rounding/drive_time.h"

#include <algorithm>
#include <cmath>

namespace arclane {
namespace {

// Stands for an infinite acceleration, so that products with a length of 0 stay 0. Its inverse
// vanishes against any time that matters.
constexpr double kUnlimited = 1e30;

double SquaredCap(const DrivePiece& piece) { return piece.speed_cap * piece.speed_cap; }

}  // namespace

DriveTime::DriveTime(double acceleration, double braking, double start_speed, double goal_speed)
    : acceleration_(std::min(acceleration, kUnlimited)),
      braking_(std::min(braking, kUnlimited)),
      inverse_acceleration_(1.0 / acceleration_),
      inverse_braking_(1.0 / braking_),
      harmonic_(1.0 / (inverse_acceleration_ + inverse_braking_)),
      start_x_(start_speed * start_speed),
      goal_x_(goal_speed * goal_speed) {}

void DriveTime::Reset(std::span<const DrivePiece> pieces) {
  pieces_.clear();
  piece_time_.clear();
  nodes_.assign(1, Node{goal_x_, 0.0, 0.0});
  current_ = {};
  Try(0, 0, pieces);
  Accept();
}

double DriveTime::PieceTime(const DrivePiece& piece, const Node& from, const Node& to) const {
  const double cap = piece.speed_cap;
  if (!(cap > 0.0)) return piece.rest_s;
  if (!(piece.length > 0.0)) return 0.0;
  const double cap_x = cap * cap;
  if (from.x == cap_x && to.x == cap_x) return piece.length / cap;
  const double peak =
      (2.0 * piece.length + from.x * inverse_acceleration_ + to.x * inverse_braking_) * harmonic_;
  const double top = peak <= cap_x ? std::sqrt(peak) : cap;
  const double changing = std::max(0.0, top - from.v) * inverse_acceleration_ +
                          std::max(0.0, top - to.v) * inverse_braking_;
  if (peak <= cap_x) return changing;
  const double cruise = piece.length - 0.5 * ((cap_x - from.x) * inverse_acceleration_ +
                                              (cap_x - to.x) * inverse_braking_);
  return changing + std::max(0.0, cruise) / cap;
}

DriveTime::Result DriveTime::Try(size_t first, size_t last, std::span<const DrivePiece> pieces) {
  try_first_ = first;
  try_last_ = last;
  try_pieces_.assign(pieces.begin(), pieces.end());
  const size_t limit = first + pieces.size();  // First piece after the change, new numbering.
  const size_t count = pieces_.size() - (last - first) + pieces.size();
  const auto piece = [&](size_t j) -> const DrivePiece& {
    if (j < first) return pieces_[j];
    if (j < limit) return pieces[j - first];
    return pieces_[j - limit + last];
  };
  const auto node_cap = [&](size_t j) {
    if (count == 0) return start_x_;
    const double before = j > 0 ? SquaredCap(piece(j - 1)) : SquaredCap(piece(0));
    return j < count ? std::min(before, SquaredCap(piece(j))) : before;
  };
  if (try_nodes_.size() < count + 1) {
    try_nodes_.resize(2 * count + 2);
    try_time_.resize(2 * count + 2);
  }

  double behind = 0.0;  // braking_x of node j + 1.
  if (limit == count) {
    behind = std::min(node_cap(count), goal_x_);
  } else {
    behind = std::min(node_cap(limit),
                      nodes_[last + 1].braking_x + 2.0 * braking_ * piece(limit).length);
  }
  try_nodes_[limit].braking_x = behind;
  size_t node = limit;
  while (node > 0) {
    const size_t j = node - 1;
    const double x = std::min(node_cap(j), behind + 2.0 * braking_ * piece(j).length);
    if (j < first && x == nodes_[j].braking_x) break;
    try_nodes_[j].braking_x = behind = x;
    node = j;
  }
  node_first_ = node;

  // Forward from there; node `node_first_ - 1` keeps its speed.
  Node before = node > 0 ? nodes_[node - 1] : Node{};
  double window_time = 0.0;
  size_t j = node;
  try_result_ = {};
  try_result_.start_excess = current_.start_excess;
  for (;; ++j) {
    const size_t old = j - limit + last;  // Meaningful for j >= limit.
    const double allowed = j <= limit ? try_nodes_[j].braking_x : nodes_[old].braking_x;
    double x = allowed;
    if (j == 0) {
      x = std::min(start_x_, allowed);
      try_result_.start_excess = start_x_ - x;
    } else {
      x = std::min(allowed, before.x + 2.0 * acceleration_ * piece(j - 1).length);
    }
    if (j > limit && x == nodes_[old].x) {
      try_time_[j - 1] = PieceTime(piece(j - 1), before, nodes_[old]);
      window_time += try_time_[j - 1];
      break;
    }
    Node& current = try_nodes_[j];
    current.braking_x = allowed;
    current.x = x;
    current.v = std::sqrt(x);
    if (j > 0) {
      try_time_[j - 1] = PieceTime(piece(j - 1), before, current);
      window_time += try_time_[j - 1];
    }
    before = current;
    if (j == count) {
      ++j;
      break;
    }
  }
  node_limit_ = j;
  const size_t time_first = node_first_ > 0 ? node_first_ - 1 : 0;
  const bool reaches_end = node_limit_ == count + 1;
  const size_t time_limit = reaches_end ? pieces_.size() : node_limit_ - limit + last;
  double old_window_time = 0.0;
  for (size_t i = time_first; i < time_limit; ++i) old_window_time += piece_time_[i];
  try_result_.time_s = current_.time_s + (window_time - old_window_time);
  const double goal_x = reaches_end ? try_nodes_[count].x : nodes_.back().x;
  try_result_.goal_excess = std::max(0.0, goal_x_ - goal_x);
  visited_ = node_limit_ - node_first_ + 1;
  return try_result_;
}

void DriveTime::Accept() {
  const auto replace = [this](auto& values, size_t added) {
    const size_t removed = try_last_ - try_first_;
    if (added == removed) return;
    if (added > removed) {
      values.insert(values.begin() + try_first_, added - removed, {});
    } else {
      values.erase(values.begin() + try_first_, values.begin() + try_first_ + (removed - added));
    }
  };
  replace(pieces_, try_pieces_.size());
  replace(piece_time_, try_pieces_.size());
  replace(nodes_, try_pieces_.size());
  std::copy(try_pieces_.begin(), try_pieces_.end(), pieces_.begin() + try_first_);
  std::copy(try_nodes_.begin() + node_first_, try_nodes_.begin() + node_limit_,
            nodes_.begin() + node_first_);
  const size_t time_first = node_first_ > 0 ? node_first_ - 1 : 0;
  const size_t time_limit = std::min(node_limit_, pieces_.size());
  std::copy(try_time_.begin() + time_first, try_time_.begin() + time_limit,
            piece_time_.begin() + time_first);
  current_ = try_result_;
}

}  // namespace arclane
