// SPDX-License-Identifier: Apache-2.0
#include "server/planning/speed/decoupled_plan.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>

#include "server/planning/speed/motion_tolerance.h"
#include "server/planning/speed/pair.h"

namespace arclane {
namespace {

constexpr double kNoBraking = std::numeric_limits<double>::quiet_NaN();

// Constants of the motion.
struct Rates {
  explicit Rates(const MotionBudget& budget)
      : acceleration(budget.accelerate.limit),
        braking(budget.brake.limit),
        twice_a(2.0 * acceleration),
        twice_b(2.0 * braking),
        per_twice_a(1.0 / twice_a),
        per_twice_b(1.0 / twice_b),
        start_weight(twice_b / (twice_a + twice_b)),
        end_weight(twice_a / (twice_a + twice_b)),
        length_weight(twice_b * end_weight) {}

  double acceleration;
  double braking;
  double twice_a;
  double twice_b;
  double per_twice_a;
  double per_twice_b;
  // Acceleration from x0 and braking to x1 over l meet at start_weight x0 + end_weight x1 +
  // length_weight l.
  double start_weight;
  double end_weight;
  double length_weight;
};

// The work columns of a block of pieces, which stay in the first-level cache. One loop a step keeps
// the steps' latencies, of roots and quotients above all, out of each other's way; the loops are
// short enough for a processor to begin the next while one still waits for its results. Pieces are
// worked on in pairs: behind an odd last one lies a leftover whose results are not used.
struct Block {
  static constexpr std::size_t kSize = 16;
  using Column = std::array<double, kSize>;
  using BoundaryColumn = std::array<double, kSize + kPairSize>;

  BoundaryColumn x;
  Column start;
  Column length;
  Column cap;
  Column peak;    // squared, like x
  Column rising;  // lengths of the parts; 0: there is none
  Column level;
  Column falling;
  Column rise_s;
  Column level_s;
  Column fall_s;
  Column falls_from;
};

// The plan's columns at a block's first piece.
struct Rows {
  double* v;  // boundary speeds
  double* v_peak;
  double* brake_start;
  double* seconds;
};

void Roots(const double* squares, std::size_t count, double* roots) {
  for (std::size_t i = 0; i < count; ++i) roots[i] = std::sqrt(squares[i]);
}

// Where each piece's speed rises, is level and falls.
void SplitPieces(const Rates& rates, std::size_t count, Block& block) {
  for (std::size_t i = 0; i < count; i += kPairSize) {
    const Pair x0 = LoadPair(&block.x[i]);
    const Pair x1 = LoadPair(&block.x[i + 1]);
    const Pair length = LoadPair(&block.length[i]);
    const Pair cap = LoadPair(&block.cap[i]);
    const Pair higher = Larger(x0, x1);
    const Pair meet =
        rates.start_weight * x0 + rates.end_weight * x1 + rates.length_weight * length;
    const Pair peak = Smaller(cap, Larger(meet, higher));
    const Pair negligible = kNegligiblePart * length;
    const Pair up = (peak - x0) * rates.per_twice_a;
    const Pair down = (peak - x1) * rates.per_twice_b;
    const PairMask goes_up = up >= negligible;
    const PairMask goes_down = down >= negligible;
    const Pair rising = Where(goes_up, up);
    const Pair falling = Where(goes_down, down);
    const Pair level = length - rising - falling;
    const PairMask is_level = (peak >= cap) & (level >= negligible);
    // No plateau: the two parts fill the piece.
    const Pair filled = Where(goes_up, Select(goes_down, Smaller(rising, length), length));
    // One motion all along, which the boundary speeds tell better than differences do.
    const PairMask rises = (x0 < cap) & (x1 >= x0) & (x1 >= kOnCap * (x0 + rates.twice_a * length));
    const PairMask falls = ~rises & (x1 < cap) & (x0 >= kOnCap * (x1 + rates.twice_b * length));
    const PairMask one = rises | falls;
    StorePair(Select(one, Where(rises, length), Select(is_level, rising, filled)),
              &block.rising[i]);
    StorePair(Where(is_level & ~one, level), &block.level[i]);
    StorePair(Select(one, Where(falls, length), Select(is_level, falling, length - filled)),
              &block.falling[i]);
    StorePair(Select(one, higher, peak), &block.peak[i]);
  }
}

void TimeParts(std::size_t count, const Rows& rows, Block& block) {
  for (std::size_t i = 0; i < count; i += kPairSize) {
    const Pair v_peak = LoadPair(&rows.v_peak[i]);
    const Pair low = LoadPair(&rows.v[i]) + v_peak;
    const Pair high = v_peak + LoadPair(&rows.v[i + 1]);
    const Pair falling = LoadPair(&block.falling[i]);
    // One quotient for three; the peak is positive over a positive length.
    const Pair inverse = 1.0 / (low * high * v_peak);
    const Pair rise_s = 2.0 * LoadPair(&block.rising[i]) * (high * v_peak * inverse);
    const Pair level_s = LoadPair(&block.level[i]) * (low * high * inverse);
    const Pair fall_s = 2.0 * falling * (low * v_peak * inverse);
    const Pair falls_from = LoadPair(&block.start[i]) + (LoadPair(&block.length[i]) - falling);
    StorePair(rise_s, &block.rise_s[i]);
    StorePair(level_s, &block.level_s[i]);
    StorePair(fall_s, &block.fall_s[i]);
    StorePair(falls_from, &block.falls_from[i]);
    StorePair(rise_s + level_s + fall_s, &rows.seconds[i]);
    StorePair(Select(falling > BothOf(0.0), falls_from, BothOf(kNoBraking)), &rows.brake_start[i]);
  }
}

// The first members of a phase as one value, and accelerations as integers: few processors store
// more than one floating-point register at a time.
struct PhaseHead {
  std::uint32_t piece;
  SpeedPhaseKind kind;
  SpeedLaw law;
  std::uint16_t padding;
};
static_assert(offsetof(SpeedPhase, kind) == offsetof(PhaseHead, kind) &&
              offsetof(SpeedPhase, law) == offsetof(PhaseHead, law) &&
              offsetof(SpeedPhase, start_distance) == sizeof(PhaseHead));

// Drives over the pieces block by block and writes what it finds.
class DecoupledDrive {
 public:
  DecoupledDrive(const MotionBudget& budget, double x_start, SpeedPlan& plan)
      : budget_(budget), rates_(budget), plan_(plan), x_(x_start) {}

  double x() const { return x_; }
  double distance() const { return distance_; }
  double time() const { return time_; }

  // The pieces from row `first` of the plan on, with bound[i] the squared speed allowed at the end
  // of the i-th; `left` pieces are left, these included.
  void Through(std::span<const SpeedPiece> pieces, const double* bound, std::size_t first,
               std::size_t left) {
    const std::size_t count = pieces.size();
    block_.x[0] = x_;
    for (std::size_t i = 0; i < count; ++i) {
      const double length = pieces[i].length;
      block_.length[i] = length;
      block_.cap[i] = budget_.CapAt(pieces[i].radius);
      block_.start[i] = distance_;
      distance_ += length;
      x_ = std::min(bound[i], x_ + rates_.twice_a * length);
      block_.x[i + 1] = x_;
    }
    const Rows rows = {plan_.boundary_speed.data() + first, plan_.peak_speed.data() + first,
                       plan_.brake_start_distance.data() + first,
                       plan_.piece_time_s.data() + first};
    Roots(block_.x.data() + 1, count, rows.v + 1);
    SplitPieces(rates_, count, block_);
    Roots(block_.peak.data(), count, rows.v_peak);
    TimeParts(count, rows, block_);
    MakeRoom(left);
    WritePhases(first, count, rows);
  }

  void Finish() { plan_.phases.resize(static_cast<std::size_t>(next_ - plan_.phases.data())); }

 private:
  static constexpr std::size_t kPhasesPerPiece = 3;
  // Phases by which the plan grows at a time.
  static constexpr std::size_t kRoom = 2 * kPhasesPerPiece * Block::kSize;

  void WritePhases(std::size_t first, std::size_t count, const Rows& rows) {
    constexpr SpeedLaw kLaw = SpeedLaw::kConstantAcceleration;
    const auto acceleration = std::bit_cast<std::uint64_t>(rates_.acceleration);
    const auto braking = std::bit_cast<std::uint64_t>(-rates_.braking);
    SpeedPhase* next = next_;
    double time = time_;
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = static_cast<std::uint32_t>(first + i);
      const double rising = block_.rising[i];
      const double level = block_.level[i];
      const double falling = block_.falling[i];
      const double level_at = time + block_.rise_s[i];
      const double v_peak = rows.v_peak[i];
      Put({row, SpeedPhaseKind::kAccelerate, kLaw, 0}, block_.start[i], time, rising,
          block_.rise_s[i], rows.v[i], v_peak, acceleration, next);
      next += rising > 0.0 ? 1 : 0;
      Put({row, SpeedPhaseKind::kCruise, kLaw, 0}, block_.start[i] + rising, level_at, level,
          block_.level_s[i], v_peak, v_peak, 0, next);
      next += level > 0.0 ? 1 : 0;
      Put({row, SpeedPhaseKind::kBrake, kLaw, 0}, block_.falls_from[i],
          level_at + block_.level_s[i], falling, block_.fall_s[i], v_peak, rows.v[i + 1], braking,
          next);
      next += falling > 0.0 ? 1 : 0;
      time += rows.seconds[i];
    }
    next_ = next;
    time_ = time;
  }

  // Makes sure that all phases of the next block of `left` pieces can be written.
  void MakeRoom(std::size_t left) {
    const std::size_t most = kPhasesPerPiece * std::min(left, Block::kSize);
    if (static_cast<std::size_t>(limit_ - next_) >= most) return;
    const auto count = static_cast<std::size_t>(next_ - plan_.phases.data());
    plan_.phases.resize(count + std::min(kRoom, kPhasesPerPiece * left));
    next_ = plan_.phases.data() + count;
    limit_ = plan_.phases.data() + plan_.phases.size();
  }

  static void Put(PhaseHead head, double start, double starts_at, double length, double seconds,
                  double v0, double v1, std::uint64_t acceleration, SpeedPhase* phase) {
    std::memcpy(static_cast<void*>(phase), &head, sizeof(head));
    phase->start_distance = start;
    phase->start_time_s = starts_at;
    phase->length = length;
    phase->duration_s = seconds;
    phase->start_speed = v0;
    phase->end_speed = v1;
    std::memcpy(&phase->acceleration, &acceleration, sizeof(acceleration));
    phase->first = 0.0;
    phase->second = 0.0;
  }

  const MotionBudget& budget_;
  const Rates rates_;
  SpeedPlan& plan_;
  double x_;
  double distance_ = 0.0;
  double time_ = 0.0;
  // Phases of earlier plans are overwritten.
  SpeedPhase* next_ = plan_.phases.data();
  SpeedPhase* limit_ = plan_.phases.data() + plan_.phases.size();
  Block block_;
};

}  // namespace

void PassBackwardDecoupled(std::span<const SpeedPiece> pieces, double x_end,
                           const MotionBudget& budget, std::vector<double>& backward) {
  const std::size_t n = pieces.size();
  backward.resize(n + 1);
  double* const out = backward.data();
  const double twice_b = 2.0 * budget.brake.limit;
  double cap = budget.CapAt(pieces[n - 1].radius);
  double x = std::min(x_end, cap);
  out[n] = x;
  for (std::size_t i = n - 1; i > 0; --i) {
    const double before = budget.CapAt(pieces[i - 1].radius);
    x = std::min(std::min(cap, before), x + twice_b * pieces[i].length);
    out[i] = x;
    cap = before;
  }
  out[0] = std::min(cap, x + twice_b * pieces[0].length);
}

double WriteDecoupledPlan(std::span<const SpeedPiece> pieces, double x_start, double start_speed,
                          double end_speed, const MotionBudget& budget,
                          std::span<const double> backward, SpeedPlan& plan) {
  const std::size_t n = pieces.size();
  const std::size_t padded = n + n % kPairSize;
  plan.boundary_speed.resize(padded + 1);
  plan.peak_speed.resize(padded);
  plan.brake_start_distance.resize(padded);
  plan.piece_time_s.resize(padded);
  plan.piece_index.resize(n);
  plan.boundary_speed.front() = start_speed;
  DecoupledDrive drive(budget, x_start, plan);
  for (std::size_t i = 0; i < n; i += Block::kSize) {
    drive.Through(pieces.subspan(i, std::min(Block::kSize, n - i)), backward.data() + i + 1, i,
                  n - i);
  }
  drive.Finish();
  plan.boundary_speed.resize(n + 1);
  plan.peak_speed.resize(n);
  plan.brake_start_distance.resize(n);
  plan.piece_time_s.resize(n);
  plan.boundary_speed.back() = end_speed;
  // Speeds at the ends are the request's bit for bit, but where a last part was too short to write.
  const auto adopt = [](double speed, double& written) {
    if (std::abs(written - speed) <= kSpeedRoundoff * speed) written = speed;
  };
  adopt(start_speed, plan.phases.front().start_speed);
  adopt(end_speed, plan.phases.back().end_speed);
  std::iota(plan.piece_index.begin(), plan.piece_index.end(), 0u);
  plan.length = drive.distance();
  plan.duration_s = drive.time();
  return drive.x();
}

}  // namespace arclane
