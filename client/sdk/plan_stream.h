// SPDX-License-Identifier: Apache-2.0
// A stream of plans for a server that replans all the time. It survives the end of servers and
// connections: what was not answered is sent again on another stream, and each item is answered
// once.
//
//   auto stream = client->OpenPlanStream({});
//   stream->SetShared(shared);                       // navmesh, agents, samplings
//   stream->Send(item, {.agent_id = 17}, [](const PlanStream::Answer& answer) { ... });
//   stream->Flush(absl::Seconds(1));
#ifndef ARCLANE_CLIENT_SDK_PLAN_STREAM_H_
#define ARCLANE_CLIENT_SDK_PLAN_STREAM_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "arclane/v1/planner.pb.h"
#include "client/sdk/result.h"

namespace arclane {

struct PlanStreamOptions {
  // Most items that the server has and has not answered; at most its limit max_stream_items, below
  // which cancellations still reach it. Others wait here.
  size_t most_in_flight = 512;
  // Waits between attempts to open the stream anew: the first, and the longest of those that double
  // behind it.
  absl::Duration least_backoff = absl::Milliseconds(20);
  absl::Duration most_backoff = absl::Seconds(1);
};

// Thread-safe. Ends before its Client does.
class PlanStream {
 public:
  // An answer, or why there is none: the server's status (kAborted with the reason SUPERSEDED where
  // a newer item of the same agent took its place, kCancelled where it was cancelled,
  // kDeadlineExceeded), or an error that a new stream would meet again.
  using Answer = Result<v1::PlanItemAnswer>;
  // Called once, on a thread of the stream's own; it must not block, and may call Send and Cancel.
  using OnAnswer = absl::AnyInvocable<void(const Answer&)>;

  struct SendOptions {
    // A newer item of the same agent replaces one that is not started.
    std::optional<uint64_t> agent_id;
    // How long the answer is of use; counts from now, waits for a server included. Unset: without
    // end.
    std::optional<absl::Duration> time_budget;
  };

  virtual ~PlanStream() = default;

  // What items share, for those that are sent from now on. Indices of items that were not answered
  // refer to what was set when they were sent.
  virtual void SetShared(v1::PlanShared shared) = 0;
  // Returns the item's id.
  virtual uint64_t Send(v1::PlanItem item, const SendOptions& options, OnAnswer done) = 0;
  // The item is not wanted any more; `done` tells kCancelled unless it is answered already.
  virtual void Cancel(uint64_t id) = 0;
  // Waits until everything that was sent is answered; false when the time is over.
  virtual bool Flush(absl::Duration timeout) = 0;
  // How often the stream was opened anew.
  virtual int reopened() const = 0;
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_SDK_PLAN_STREAM_H_
