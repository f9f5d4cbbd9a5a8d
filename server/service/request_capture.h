// SPDX-License-Identifier: Apache-2.0
// Keeps requests that were slow or failed as files of Protobuf JSON, which `arclane plan-corridor`
// and its likes read and send again. Bounded in files, bytes and rate; the oldest make room.
#ifndef ARCLANE_SERVER_SERVICE_REQUEST_CAPTURE_H_
#define ARCLANE_SERVER_SERVICE_REQUEST_CAPTURE_H_

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/service/service_labels.h"

namespace arclane {

struct CaptureOptions {
  std::string directory;
  uint32_t most_files = 100;
  uint64_t most_bytes = 64 << 20;
};

struct CapturedCall {
  MethodId method = MethodId::kPlanCorridor;
  grpc::ByteBuffer request;  // Shares the bytes with the call.
  std::string request_id;
  grpc::StatusCode code = grpc::StatusCode::OK;
  double duration_s = 0;
};

// Thread-safe. Files are written on a thread of its own.
class RequestCapture {
 public:
  // Makes the directory, for this user alone, if it is not there. Captures of earlier processes
  // count. UNAVAILABLE when it cannot be made or written to.
  static absl::StatusOr<std::unique_ptr<RequestCapture>> Start(const CaptureOptions& options);
  // Writes what was taken, and ends.
  ~RequestCapture();
  RequestCapture(const RequestCapture&) = delete;
  RequestCapture& operator=(const RequestCapture&) = delete;

  // Nothing happens for methods that plan nothing, while too many wait to be written, or within a
  // moment of the last ones.
  void Take(CapturedCall call);

 private:
  explicit RequestCapture(CaptureOptions options);
  void Work();
  void Write(const CapturedCall& call);
  void MakeRoom(uint64_t bytes) const;

  const CaptureOptions options_;
  absl::Mutex mutex_;
  std::deque<CapturedCall> waiting_ ABSL_GUARDED_BY(mutex_);
  uint64_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  double places_ ABSL_GUARDED_BY(mutex_);
  absl::Time refilled_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t sequence_ = 0;  // Of the thread alone.
  std::thread thread_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_REQUEST_CAPTURE_H_
