// SPDX-License-Identifier: Apache-2.0
#include "server/service/security/certificate_watch.h"

#include <string>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/telemetry/logging.h"

namespace arclane {
namespace {

double UnixSeconds() { return absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch()); }

std::string TimeText(double unix_s) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::UnixEpoch() + absl::Seconds(unix_s),
                          absl::UTCTimeZone());
}

}  // namespace

absl::StatusOr<std::shared_ptr<CertificateWatch>> CertificateWatch::Start(const TlsFiles& files,
                                                                          double interval_s,
                                                                          Metrics& metrics) {
  auto material = ReadTlsFiles(files);
  if (!material.ok()) return material.status();
  if (absl::Status status = CheckTlsMaterial(files, UnixSeconds(), *material); !status.ok()) {
    return status;
  }
  std::shared_ptr<CertificateWatch> watch(new CertificateWatch(files, interval_s, metrics));
  watch->Serve(*std::move(material));
  watch->thread_ = std::thread([raw = watch.get()] { raw->Work(); });
  return watch;
}

CertificateWatch::CertificateWatch(TlsFiles files, double interval_s, Metrics& metrics)
    : files_(std::move(files)), interval_s_(interval_s), metrics_(metrics) {}

CertificateWatch::~CertificateWatch() {
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
    wanted_ = true;
  }
  if (thread_.joinable()) thread_.join();
}

std::pair<std::shared_ptr<const TlsMaterial>, uint64_t> CertificateWatch::Current() const {
  absl::MutexLock lock(&mutex_);
  return {current_, number_};
}

void CertificateWatch::CheckSoon() {
  absl::MutexLock lock(&mutex_);
  wanted_ = true;
}

void CertificateWatch::Work() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      mutex_.AwaitWithTimeout(absl::Condition(&wanted_), absl::Seconds(interval_s_));
      if (ending_) return;
      wanted_ = false;
    }
    Check();
  }
}

void CertificateWatch::Check() {
  auto material = ReadTlsFiles(files_);
  absl::Status status = material.status();
  if (status.ok()) {
    if (material->SameFiles(*Current().first)) {
      refused_ = {};  // Also when the pair before was put back.
      return;
    }
    status = CheckTlsMaterial(files_, UnixSeconds(), *material);
  }
  if (status.ok()) {
    Serve(*std::move(material));
    metrics_.CertificateReloaded(true);
    refused_ = {};
    return;
  }
  // Counted each time, so that an alert lasts as long as its cause.
  metrics_.CertificateReloaded(false);
  TlsMaterial read = material.ok() ? *std::move(material) : TlsMaterial();
  if (!refused_.subject.empty() && read.SameFiles(refused_)) return;
  Log(LogLevel::kError, "the certificate on disk cannot be served; the one before stays",
      {{"why", std::string_view(status.message().data(), status.message().size())},
       {"served_until", TimeText(Current().first->expiry_s)}});
  refused_ = std::move(read);
  refused_.subject = "refused";
}

void CertificateWatch::Serve(TlsMaterial material) {
  metrics_.SetCertificateExpiry(material.expiry_s);
  Log(LogLevel::kInfo, "new connections get this certificate",
      {{"subject", material.subject},
       {"expires", TimeText(material.expiry_s)},
       {"client_certificates", !files_.client_ca.empty()}});
  absl::MutexLock lock(&mutex_);
  current_ = std::make_shared<const TlsMaterial>(std::move(material));
  ++number_;
}

}  // namespace arclane
