// SPDX-License-Identifier: Apache-2.0
// One line a call, for the calls that are worth one: a sample of those that succeeded, those that
// failed or were slow as far as a limit on their rate allows. What is not written is counted.
#ifndef ARCLANE_SERVER_TELEMETRY_ACCESS_LOG_H_
#define ARCLANE_SERVER_TELEMETRY_ACCESS_LOG_H_

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "server/telemetry/line_limit.h"
#include "server/telemetry/logging.h"
#include "server/telemetry/metrics.h"

namespace arclane {

struct AccessLogOptions {
  uint32_t success_sample = 1000;  // One call in so many that succeed; 0: none.
  uint32_t lines_per_s = 20;       // Most lines on failed and slow calls; as many at once.
  double slow_s = 0.25;            // Calls from this duration on are slow; 0: none.
};

// What a line tells. Borrows its texts; empty ones are left out.
struct CallRecord {
  struct Stage {
    std::string_view name;
    double seconds = 0;
  };
  std::string_view method;
  std::string_view code;     // The status by name.
  std::string_view message;  // Of the status.
  double duration_s = 0;
  std::string_view peer;    // The address.
  std::string_view caller;  // Who the peer is, if that was verified.
  std::string_view request_id;
  std::string_view traceparent;
  uint64_t request_bytes = 0;
  uint64_t response_bytes = 0;
  std::string_view cache;
  std::vector<Stage> stages;
};

// Thread-safe.
class AccessLog {
 public:
  // `metrics` must outlive the log.
  AccessLog(const AccessLogOptions& options, Metrics& metrics);

  enum class Cause { kNone, kSampled, kFailed, kSlow };
  // Whether a call that ended gets a line, and why. A call that failed or was slow takes a place
  // in the limit; without one it is counted as dropped. Costs a few nanoseconds for calls that
  // succeed. `fault` is true for codes that tell of a defect rather than of what the caller did.
  Cause Consider(bool ok, double duration_s);
  void Write(Cause cause, bool fault, const CallRecord& record);
  // A line about a caller's failure that is no call's end, such as a refusal before it. Takes a
  // place in the same limit.
  void Refused(std::string_view message, std::span<const LogField> fields);

  bool IsSlow(double duration_s) const;
  // From now on.
  void SetOptions(const AccessLogOptions& options);

 private:
  bool TakePlace();

  Metrics& metrics_;
  std::atomic<uint32_t> success_sample_{0};
  std::atomic<double> slow_s_{0};
  LineLimit limit_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_TELEMETRY_ACCESS_LOG_H_
