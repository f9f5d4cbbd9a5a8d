// SPDX-License-Identifier: Apache-2.0
#include "server/service/security/tls_material.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/files/whole_file.h"

namespace arclane {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(ASN1_TIME* time) const { ASN1_TIME_free(time); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

// Longer files are no certificates; what is read is kept in memory.
constexpr size_t kMostBytes = 1 << 20;
constexpr double kSecondsPerDay = 86400;

void ReadPem(const std::string& path, const char* setting, std::string& pem,
             std::vector<std::string>& errors) {
  auto bytes = ReadWholeFile(path, kMostBytes);
  if (bytes.ok()) {
    pem = *std::move(bytes);
  } else {
    errors.push_back(absl::StrCat(setting, ": ", bytes.status().message()));
  }
}

Owned<BIO> Reader(const std::string& pem) {
  return Owned<BIO>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

// The certificates of a PEM text are counted; the first is returned.
Owned<X509> ReadCertificates(const std::string& pem, int& count) {
  const Owned<BIO> reader = Reader(pem);
  Owned<X509> first;
  count = 0;
  while (X509* certificate = PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr)) {
    Owned<X509> owned(certificate);
    if (count++ == 0) first = std::move(owned);
  }
  // The end of the text is reported as an error: only "no more start line" is one that is expected.
  const unsigned long error = ERR_peek_last_error();
  if (error != 0 && ERR_GET_REASON(error) != PEM_R_NO_START_LINE) count = 0;
  ERR_clear_error();
  return first;
}

// A key with a passphrase must fail rather than ask on a terminal.
int NoPassphrase(char*, int, int, void*) { return -1; }

double SecondsSinceEpoch(const ASN1_TIME* time) {
  const Owned<ASN1_TIME> epoch(ASN1_TIME_set(nullptr, 0));
  int days = 0, seconds = 0;
  if (ASN1_TIME_diff(&days, &seconds, epoch.get(), time) != 1) return 0;
  return days * kSecondsPerDay + seconds;
}

std::string SubjectOf(X509* certificate) {
  const Owned<BIO> text(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(text.get(), X509_get_subject_name(certificate), 0, XN_FLAG_ONELINE);
  const char* bytes = nullptr;
  const long size = BIO_get_mem_data(text.get(), &bytes);
  return size > 0 ? std::string(bytes, static_cast<size_t>(size)) : std::string();
}

absl::Status Wrong(const std::vector<std::string>& errors) {
  return errors.empty() ? absl::OkStatus()
                        : absl::InvalidArgumentError(absl::StrJoin(errors, "\n"));
}

}  // namespace

absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files) {
  TlsMaterial material;
  std::vector<std::string> errors;
  ReadPem(files.certificate, "tls_certificate", material.certificate_pem, errors);
  ReadPem(files.key, "tls_key", material.key_pem, errors);
  if (!files.client_ca.empty()) {
    ReadPem(files.client_ca, "tls_client_ca", material.client_ca_pem, errors);
  }
  if (absl::Status status = Wrong(errors); !status.ok()) return status;
  return material;
}

absl::Status CheckTlsMaterial(const TlsFiles& files, double now_s, TlsMaterial& material) {
  ERR_clear_error();
  std::vector<std::string> errors;
  const auto wrong = [&errors](const char* setting, const std::string& path, const char* what) {
    ERR_clear_error();
    errors.push_back(absl::StrCat(setting, ": ", path, " ", what));
  };
  int count = 0;
  const Owned<X509> certificate = ReadCertificates(material.certificate_pem, count);
  if (count == 0) {
    wrong("tls_certificate", files.certificate, "holds no certificate in PEM form");
  } else {
    material.expiry_s = SecondsSinceEpoch(X509_get0_notAfter(certificate.get()));
    material.subject = SubjectOf(certificate.get());
    if (material.expiry_s <= now_s)
      wrong("tls_certificate", files.certificate, "holds a certificate that has expired");
  }
  const Owned<BIO> key_reader = Reader(material.key_pem);
  const Owned<EVP_PKEY> key(
      PEM_read_bio_PrivateKey(key_reader.get(), nullptr, &NoPassphrase, nullptr));
  if (key == nullptr) {
    wrong("tls_key", files.key, "holds no private key in PEM form, or needs a passphrase");
  } else if (count > 0 && X509_check_private_key(certificate.get(), key.get()) != 1) {
    wrong("tls_key", files.key, "does not belong to the certificate of tls_certificate");
  }
  if (!files.client_ca.empty()) {
    int authorities = 0;
    ReadCertificates(material.client_ca_pem, authorities);
    if (authorities == 0)
      wrong("tls_client_ca", files.client_ca, "holds no certificate in PEM form");
  }
  return Wrong(errors);
}

}  // namespace arclane
