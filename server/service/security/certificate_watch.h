// SPDX-License-Identifier: Apache-2.0
// Keeps the server's certificate current: reads its files again and again, and offers what belongs
// together. Own, because gRPC's file watcher offers a certificate and a key that do not match while
// they are being replaced one after the other, and then serves neither.
#ifndef ARCLANE_SERVER_SERVICE_SECURITY_CERTIFICATE_WATCH_H_
#define ARCLANE_SERVER_SERVICE_SECURITY_CERTIFICATE_WATCH_H_

#include <cstdint>
#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "server/service/security/tls_material.h"
#include "server/telemetry/metrics.h"

namespace arclane {

// Thread-safe.
class CertificateWatch {
 public:
  // Reads the files now, and every `interval_s` > 0 from then on. INVALID_ARGUMENT when they cannot
  // be served as they are. `metrics` must outlive the watch.
  static absl::StatusOr<std::shared_ptr<CertificateWatch>> Start(const TlsFiles& files,
                                                                 double interval_s,
                                                                 Metrics& metrics);
  ~CertificateWatch();
  CertificateWatch(const CertificateWatch&) = delete;
  CertificateWatch& operator=(const CertificateWatch&) = delete;

  // The last material that could be served, and its number: each has a higher one than those
  // before.
  std::pair<std::shared_ptr<const TlsMaterial>, uint64_t> Current() const;
  // Reads the files soon, whatever the interval.
  void CheckSoon();

 private:
  CertificateWatch(TlsFiles files, double interval_s, Metrics& metrics);
  void Work();
  void Check();
  void Serve(TlsMaterial material);

  const TlsFiles files_;
  const double interval_s_;
  Metrics& metrics_;
  TlsMaterial refused_;  // Of the watch's own thread: told once, however often it is read.
  mutable absl::Mutex mutex_;
  std::shared_ptr<const TlsMaterial> current_ ABSL_GUARDED_BY(mutex_);
  uint64_t number_ ABSL_GUARDED_BY(mutex_) = 0;
  bool wanted_ ABSL_GUARDED_BY(mutex_) = false;  // The thread has something to do before its time.
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_SECURITY_CERTIFICATE_WATCH_H_
