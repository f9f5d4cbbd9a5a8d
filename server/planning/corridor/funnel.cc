// SPDX-License-Identifier: Apache-2.0
#include "server/planning/corridor/funnel.h"

#include <cmath>
#include <cstdint>

#include "server/planning/geometry/predicates.h"

// The walk over a portal is a handful of instructions that a call would double; what is rarely
// needed stays out of it.
#define ARCLANE_HOT [[gnu::always_inline]] inline
#define ARCLANE_COLD [[gnu::noinline, gnu::cold]]

namespace arclane {
namespace {

// Bounds the rounding error of the cross product of two differences of points, u and v, relative to
// (|u| + |v|)^2 in the L1 norm: each of the two products has three roundings of half an ulp, their
// difference one more, and the products' sum is at most |u| |v| <= (|u| + |v|)^2 / 4.
constexpr double kCrossErrorBound = 0x1p-53;

template <int kSide>
inline constexpr CornerSide kCornerSide = kSide > 0 ? CornerSide::kLeft : CornerSide::kRight;

// What belongs to the left and to the right end, reckoned at once.
using Pair [[gnu::vector_size(16)]] = double;
using PairBits [[gnu::vector_size(16)]] = int64_t;

inline Pair Exchanged(Pair a) { return __builtin_shufflevector(a, a, 1, 0); }
inline Pair Magnitude(Pair a) { return (Pair)((PairBits)a & INT64_MAX); }

inline double L1Norm(Vec2 v) { return std::abs(v.x) + std::abs(v.y); }

}  // namespace

double PathLength(const CorridorPath& path) {
  // Neumaier's compensated sum: a path of 1e5 corners keeps the accuracy of one of a few.
  double sum = 0.0;
  double compensation = 0.0;
  Vec2 from = path.start;
  const auto add = [&](Vec2 to) {
    const double term = Distance(from, to);
    const double next = sum + term;
    compensation += sum >= term ? (sum - next) + term : (term - next) + sum;
    sum = next;
    from = to;
  };
  for (const PathCorner& corner : path.corners) add(corner.point);
  add(path.goal);
  return sum + compensation;
}

// One pass over the portals. The funnel is an apex with two chains of portal ends, each from the
// apex outwards: the left chain turns left at every end, the right chain right. `kSide` is 1 for
// the left, -1 for the right; what is said of the left holds of the right in the mirror.
class Funnel::Run {
 public:
  Run(Funnel* funnel, Vec2 start, double tolerance, std::vector<PathCorner>* corners)
      : noise_(kPortalNoiseTolerances * tolerance),
        squared_tolerance_(tolerance * tolerance),
        squared_noise_(noise_ * noise_),
        corners_(*corners) {
    left_.ends = funnel->left_.data();
    right_.ends = funnel->right_.data();
    apex_ = start;
  }

  // `before` is the portal before it; before the first lies the start.
  ARCLANE_HOT void Cross(const Portal& before, const Portal& portal, uint32_t index) {
    old_left_ = Last<1>();
    old_right_ = Last<-1>();
    if (SquaredNorm(portal.left - portal.right) <= squared_tolerance_) {
      PassPoint(portal.left);
      corners_.push_back({portal.left, index, CornerSide::kPoint});
      return;
    }
    Add<1>(before.left, portal.left, index);
    Add<-1>(before.right, portal.right, index);
  }

  // Crosses a portal that a funnel without ends becomes a wedge by; false, with nothing done,
  // otherwise or in doubt.
  bool BeginWedge(const Portal& portal, uint32_t index) {
    if (!left_.empty() || !right_.empty()) return false;
    const Wedge first(apex_, portal.left, portal.right);
    if (!IsOpen(first, Doubt(first.size))) return false;
    left_.ends[left_.end++] = {portal.left, index};
    right_.ends[right_.end++] = {portal.right, index};
    return true;
  }

  // True when each chain has one end.
  bool IsWedge() const { return left_.end - left_.begin == 1 && right_.end - right_.begin == 1; }

  // Crosses portals from index i on as long as each chain keeps one end and nothing is in doubt,
  // and returns the first portal that is left. What Cross would do, with all that is looked at in
  // registers. Precondition: IsWedge().
  size_t CrossAsWedge(std::span<const Portal> portals, size_t i) {
    ChainEnd left = left_.ends[left_.begin];
    ChainEnd right = right_.ends[right_.begin];
    Wedge wedge(apex_, left.point, right.point);
    for (; i < portals.size(); ++i) {
      const Portal& portal = portals[i];
      const auto index = static_cast<uint32_t>(i);
      const Wedge next(wedge.apex, portal.left, portal.right);
      const double doubt = Doubt(wedge.size + next.size);
      const Pair own = wedge.CrossOwn(next);      // Of each end with its successor.
      const Pair other = wedge.CrossOther(next);  // Of each end with the other's successor.
      if (own[0] < -doubt) {
        if (other[0] > doubt) {
          // The left end moves in; so does the right end, or it stays.
          if (own[1] > doubt) [[likely]] {
            if (!IsOpen(next, doubt)) break;
            right.point = portal.right;
          } else if (portal.right != right.point) {
            break;
          }
          wedge = next;
        } else {
          // The left end moves past the right one: the line turns there.
          wedge = Wedge(right.point, portal.left, portal.right);
          if (!(other[0] < -doubt) || !IsOpen(wedge, Doubt(wedge.size))) break;
          Emit<-1>(right);
          apex_ = right.point;
          right.point = portal.right;
        }
      } else if (own[1] > doubt) {
        if (other[1] < -doubt) {
          if (portal.left != left.point) break;
          right.point = portal.right;
          wedge = next;
        } else {
          // The left end moves out and the right one past where it was.
          wedge = Wedge(left.point, portal.left, portal.right);
          if (!(own[0] > doubt) || !(other[1] > doubt) || !IsOpen(wedge, Doubt(wedge.size))) {
            break;
          }
          Emit<1>(left);
          apex_ = left.point;
          right.point = portal.right;
        }
      } else {
        break;
      }
      left = {portal.left, index};
      right.portal = index;
    }
    left_.clear();
    right_.clear();
    left_.ends[left_.end++] = left;
    right_.ends[right_.end++] = right;
    return i;
  }

  // True when the chain on this side has ends and the other has one.
  template <int kSide>
  bool IsFan() {
    const Chain& inner = Side<kSide>();
    const Chain& outer = Side<-kSide>();
    return !inner.empty() && outer.end - outer.begin == 1;
  }

  // Crosses portals from index i on as long as the corridor bends to this side: the chain there
  // grows, the other one's only end moves in, beyond doubt. Returns the first portal that is left.
  // What Cross would do, with both sides reckoned at once. Precondition: IsFan<kSide>().
  template <int kSide>
  size_t CrossAsFan(std::span<const Portal> portals, size_t i) {
    Chain& inner = Side<kSide>();
    Chain& outer = Side<-kSide>();
    Vec2 across = outer.ends[outer.begin].point;
    Vec2 base = Base<kSide>();
    Vec2 top = Last<kSide>();
    bool stays = true;
    for (; stays && i < portals.size(); ++i) {
      const Portal& portal = portals[i];
      const Vec2 next = kSide > 0 ? portal.left : portal.right;
      const Vec2 next_across = kSide > 0 ? portal.right : portal.left;
      const Pair from_x = {base.x, apex_.x};
      const Pair from_y = {base.y, apex_.y};
      const Pair ux = Pair{top.x, across.x} - from_x;
      const Pair uy = Pair{top.y, across.y} - from_y;
      const Pair vx = Pair{next.x, next_across.x} - from_x;
      const Pair vy = Pair{next.y, next_across.y} - from_y;
      const Pair turn = kSide * (ux * vy - uy * vx);
      const Pair size = Magnitude(ux) + Magnitude(uy) + Magnitude(vx) + Magnitude(vy);
      const Pair doubt = Doubt(size);
      if (!(turn[0] > doubt[0] && turn[1] > doubt[1]) ||
          SquaredNorm(next - next_across) <= squared_tolerance_) {
        break;
      }
      old_left_ = kSide > 0 ? top : across;
      old_right_ = kSide > 0 ? across : top;
      const auto index = static_cast<uint32_t>(i);
      inner.ends[inner.end++] = {next, index};
      outer.clear();
      outer.ends[outer.end++] = {next_across, index};
      MoveApex<-kSide>(next_across);
      stays = !inner.empty();
      base = inner.end - inner.begin > 1 ? top : apex_;
      top = next;
      across = next_across;
    }
    return i;
  }

  // Ends the line at the goal when each chain has one end, both of the last portal, and nothing is
  // in doubt; false, with nothing done, otherwise. What PassPoint would do.
  bool EndWedge(Vec2 goal) {
    if (!IsWedge()) return false;
    const ChainEnd& left = left_.ends[left_.begin];
    const ChainEnd& right = right_.ends[right_.begin];
    const Wedge wedge(apex_, left.point, right.point);
    const Wedge to(apex_, goal, goal);
    const double doubt = Doubt(wedge.size + to.size);
    const Pair sides = wedge.CrossOwn(to);
    if (sides[0] < -doubt && sides[1] > doubt) return true;
    if (left.portal != right.portal) return false;
    const bool round_left = sides[0] > doubt;
    if (!round_left && !(sides[1] < -doubt)) return false;
    const ChainEnd& corner = round_left ? left : right;
    if (SquaredNorm(corner.point - goal) <= squared_tolerance_) return false;
    corners_.push_back(
        {corner.point, corner.portal, round_left ? kCornerSide<1> : kCornerSide<-1>});
    return true;
  }

  // Ends the line at `point` with the corners on the way, and begins a new funnel there.
  [[gnu::noinline]] void PassPoint(Vec2 point) {
    old_left_ = Last<1>();
    old_right_ = Last<-1>();
    Narrow<1>(point);
    for (size_t i = left_.begin; i < left_.end; ++i) Emit<1>(left_.ends[i]);
    // What lies within the tolerance of the point is the point.
    while (!corners_.empty() && corners_.back().side != CornerSide::kPoint &&
           SquaredNorm(corners_.back().point - point) <= squared_tolerance_) {
      corners_.pop_back();
    }
    left_.clear();
    right_.clear();
    apex_ = point;
  }

 private:
  struct Chain {
    ChainEnd* ends = nullptr;
    size_t begin = 0;
    size_t end = 0;

    bool empty() const { return begin == end; }
    void clear() { begin = end = 0; }
  };

  template <int kSide>
  ARCLANE_HOT Chain& Side() {
    return kSide > 0 ? left_ : right_;
  }

  // The last portal's end on this side.
  template <int kSide>
  ARCLANE_HOT Vec2 Last() {
    const Chain& chain = Side<kSide>();
    return chain.empty() ? apex_ : chain.ends[chain.end - 1].point;
  }

  template <int kSide>
  void Emit(const ChainEnd& end) {
    corners_.push_back({end.point, end.portal, kCornerSide<kSide>});
  }

  // Both sides' only ends as seen from the apex.
  struct Wedge {
    Wedge(Vec2 from, Vec2 left_end, Vec2 right_end)
        : apex(from),
          x(Pair{left_end.x, right_end.x} - from.x),
          y(Pair{left_end.y, right_end.y} - from.y) {
      const Pair norms = Magnitude(x) + Magnitude(y);
      size = norms[0] + norms[1];
    }

    // {left x next.left, right x next.right}
    Pair CrossOwn(const Wedge& next) const { return x * next.y - y * next.x; }
    // {right x next.left, left x next.right}
    Pair CrossOther(const Wedge& next) const {
      return Exchanged(x) * next.y - Exchanged(y) * next.x;
    }

    Vec2 apex;
    Pair x, y;
    double size;  // The sum of the L1 norms.
  };

  // True when the left end is to the left of the right end, beyond doubt.
  static bool IsOpen(const Wedge& wedge, double doubt) {
    const Pair products = wedge.x * Exchanged(wedge.y);
    return products[0] - products[1] < -doubt;
  }

  // Bounds what rounding and noise can change in the cross product of two vectors of the
  // given sum of L1 norms.
  template <typename Size>
  Size Doubt(Size size) const {
    return size * (noise_ + kCrossErrorBound * size);
  }

  // Whether p is the last portal's end once more, which was sent as `before` and is kept as `end`.
  bool IsEndOf(Vec2 end, Vec2 before, Vec2 p) const {
    const double squared = SquaredNorm(p - end);
    return squared <= squared_tolerance_ ||
           (squared <= squared_noise_ &&
            (SquaredNorm(p - before) <= squared_tolerance_ || IsBehindLastPortal(p)));
  }

  template <int kSide>
  ARCLANE_HOT void Add(Vec2 before, Vec2 p, uint32_t index) {
    Chain& chain = Side<kSide>();
    if (chain.empty()) {
      if (IsEndOf(apex_, before, p)) {
        if (!corners_.empty() && corners_.back().side == kCornerSide<kSide>) {
          corners_.back().portal = index;
        }
        return;
      }
    } else {
      ChainEnd& top = chain.ends[chain.end - 1];
      const Turn turn = TurnAt<kSide>(Base<kSide>(), top.point, p);
      if (turn == Turn::kYes) [[likely]] {
        chain.ends[chain.end++] = {p, index};
        return;
      }
      // A turn beyond doubt implies that p is not within the noise of the last end.
      if (turn == Turn::kInDoubt && IsEndOf(top.point, before, p)) {
        top.portal = index;
        return;
      }
      if (turn == Turn::kNo) --chain.end;
    }
    Narrow<kSide>(p);
    chain.ends[chain.end++] = {p, index};
  }

  // Takes from the chain every end that a taut line to p does not touch; when none is left, moves
  // the apex along the other chain as far as such a line touches that.
  template <int kSide>
  ARCLANE_HOT void Narrow(Vec2 p) {
    Chain& chain = Side<kSide>();
    while (!chain.empty()) {
      const Vec2 top = chain.ends[chain.end - 1].point;
      const Turn turn = TurnAt<kSide>(Base<kSide>(), top, p);
      if (turn == Turn::kYes) return;
      if (turn == Turn::kInDoubt && DoubtfulTurn<kSide>(Base<kSide>(), top, p)) return;
      --chain.end;
    }
    chain.clear();
    MoveApex<kSide>(p);
  }

  // Moves the apex along the other chain as far as a taut line to p touches that.
  template <int kSide>
  ARCLANE_HOT void MoveApex(Vec2 p) {
    Chain& other = Side<-kSide>();
    while (!other.empty() && IsBeyond<kSide>(other.ends[other.begin].point, p)) {
      Emit<-kSide>(other.ends[other.begin]);
      apex_ = other.ends[other.begin].point;
      ++other.begin;
    }
    if (other.empty()) other.clear();
  }

  enum class Turn { kNo, kYes, kInDoubt };

  // The point before the chain's last end, which must exist.
  template <int kSide>
  ARCLANE_HOT Vec2 Base() {
    const Chain& chain = Side<kSide>();
    return chain.end - chain.begin > 1 ? chain.ends[chain.end - 2].point : apex_;
  }

  // Whether a taut line base -> top -> p turns at top towards this side.
  template <int kSide>
  ARCLANE_HOT Turn TurnAt(Vec2 base, Vec2 top, Vec2 p) const {
    const Vec2 u = top - base;
    const Vec2 v = p - base;
    const double turn = kSide * arclane::Cross(u, v);
    const double doubt = Doubt(L1Norm(u) + L1Norm(v));
    if (turn > doubt) return Turn::kYes;
    return turn < -doubt ? Turn::kNo : Turn::kInDoubt;
  }

  // base, top and p lie on one line within the tolerance.
  template <int kSide>
  ARCLANE_COLD bool DoubtfulTurn(Vec2 base, Vec2 top, Vec2 p) const {
    const Vec2 u = top - base;
    const bool is_last_end = top == (kSide > 0 ? old_left_ : old_right_);
    const bool runs_back = Dot(u, p - top) < 0.0;
    if (is_last_end && runs_back && IsNear(arclane::Cross(u, p - base), u)) {
      double along = 0.0;
      // On the last portal or beyond its other end: the portal has become shorter, or the line
      // turns at the other end. Beyond this end: the line turns back at this end.
      if (OnLastPortalLine<kSide>(p, &along)) return along > 1.0;
      // Past the portal, as is the base: the portals have turned by half a circle about this end,
      // the end of a wall of no width, and the line turns back there. (Else the base lies before
      // the portal and p is past it by rounding only.)
      if (IsPastLastPortal(base) && IsPastLastPortal(p)) return true;
    }
    return kSide * Orient2D(base, top, p) > 0;
  }

  // True when p does not lie in front of the last portal, if that has a length.
  bool IsBehindLastPortal(Vec2 p) const {
    return old_left_ != old_right_ &&
           !(arclane::Cross(old_right_ - old_left_, p - old_right_) > 0.0);
  }

  // True when p lies in front of the last portal's line by more than the tolerance.
  bool IsPastLastPortal(Vec2 p) const {
    const Vec2 across = old_right_ - old_left_;
    const double front = arclane::Cross(across, p - old_right_);
    return front > 0.0 && front * front > squared_tolerance_ * SquaredNorm(across);
  }

  // True when `cross`, of `u` with another vector, is that of a point off the line of u by no more
  // than two tolerances.
  bool IsNear(double cross, Vec2 u) const {
    return cross * cross <= 4.0 * squared_tolerance_ * SquaredNorm(u);
  }

  // True when p lies strictly on the far side of the ray from the apex to `end`, an end of the
  // other chain.
  template <int kSide>
  ARCLANE_HOT bool IsBeyond(Vec2 end, Vec2 p) {
    const Turn inside = TurnAt<kSide>(apex_, end, p);
    if (inside != Turn::kInDoubt) return inside == Turn::kNo;
    return DoubtfulBeyond<kSide>(end, p);
  }

  // The apex, end and p lie on one line within the tolerance.
  template <int kSide>
  ARCLANE_COLD bool DoubtfulBeyond(Vec2 end, Vec2 p) {
    double along = 0.0;
    if (OnLastPortalLine<kSide>(p, &along) && along < 0.0) return true;
    // Opposite the end as seen from the apex, or nearer than it: the end does not bind.
    const Vec2 u = end - apex_;
    const Vec2 v = p - apex_;
    if (Dot(u, v) <= 0.0 || SquaredNorm(v) < SquaredNorm(u)) return false;
    return kSide * Orient2D(apex_, end, p) < 0;
  }

  // True when p lies within the tolerance of the line through the last portal; *along is then 0 at
  // the portal's end on the other side, 1 at the end on this side.
  template <int kSide>
  bool OnLastPortalLine(Vec2 p, double* along) const {
    const Vec2 far = kSide > 0 ? old_right_ : old_left_;
    const Vec2 portal = (kSide > 0 ? old_left_ : old_right_) - far;
    const double squared_length = SquaredNorm(portal);
    if (squared_length <= squared_tolerance_) return false;
    const double cross = arclane::Cross(portal, p - far);
    if (cross * cross > squared_tolerance_ * squared_length) return false;
    *along = Dot(p - far, portal) / squared_length;
    return true;
  }

  const double noise_;
  const double squared_tolerance_;
  const double squared_noise_;
  std::vector<PathCorner>& corners_;
  Vec2 apex_;
  Vec2 old_left_, old_right_;  // The last portal's ends, as merged.
  Chain left_, right_;
};

void Funnel::FindStraightOn(Vec2 start, Vec2 goal, std::span<const Portal> portals,
                            double tolerance, CorridorPath* path) {
  path->corners.clear();
  if (left_.size() < portals.size() + 1) {
    left_.resize(portals.size() + 1);
    right_.resize(portals.size() + 1);
  }
  Run run(this, start, tolerance, &path->corners);
  Portal begin;
  begin.left = begin.right = start;
  size_t i = 0;
  while (i < portals.size()) {
    if (run.IsWedge()) {
      i = run.CrossAsWedge(portals, i);
      if (i == portals.size()) break;
    }
    if (run.IsFan<1>()) i = run.CrossAsFan<1>(portals, i);
    if (i < portals.size() && run.IsFan<-1>()) i = run.CrossAsFan<-1>(portals, i);
    if (i == portals.size()) break;
    const auto index = static_cast<uint32_t>(i);
    if (!run.BeginWedge(portals[i], index))
      run.Cross(i == 0 ? begin : portals[i - 1], portals[i], index);
    ++i;
  }
  if (!run.EndWedge(goal)) run.PassPoint(goal);
}

void Funnel::FindShortestPath(Vec2 start, Vec2 goal, std::span<const Portal> portals,
                              double tolerance, bool turns_back, CorridorPath* path) {
  path->start = start;
  path->goal = goal;
  if (turns_back) {
    FindTurningBack(start, goal, portals, tolerance, path);
  } else {
    FindStraightOn(start, goal, portals, tolerance, path);
  }
  path->length = PathLength(*path);
}

}  // namespace arclane

#undef ARCLANE_HOT
#undef ARCLANE_COLD
