// SPDX-License-Identifier: Apache-2.0
// The server's certificate, key and trusted client authorities, as read from files and checked
// together: what does not belong together is never served.
#ifndef ARCLANE_SERVER_SERVICE_SECURITY_TLS_MATERIAL_H_
#define ARCLANE_SERVER_SERVICE_SECURITY_TLS_MATERIAL_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace arclane {

// Paths of PEM files.
struct TlsFiles {
  std::string certificate;  // The server's own first, then the authorities between, if any.
  std::string key;          // Without a passphrase.
  std::string client_ca;  // Authorities of clients; empty: clients are not asked for certificates.
};

struct TlsMaterial {
  std::string certificate_pem;
  std::string key_pem;
  std::string client_ca_pem;
  std::string subject;  // Of the server's certificate, for logs.
  double expiry_s = 0;  // When it ends, seconds since 1970 (UTC).

  bool SameFiles(const TlsMaterial& other) const {
    return certificate_pem == other.certificate_pem && key_pem == other.key_pem &&
           client_ca_pem == other.client_ca_pem;
  }
};

// The bytes of the files, unchecked. INVALID_ARGUMENT names every file that cannot be read, one a
// line.
absl::StatusOr<TlsMaterial> ReadTlsFiles(const TlsFiles& files);

// Fills `subject` and `expiry_s`. INVALID_ARGUMENT, without a byte of the key, tells all that is
// wrong, one a line: a file that holds no certificate or key, key and certificate that do not
// belong together, a certificate that ended before `now_s`.
absl::Status CheckTlsMaterial(const TlsFiles& files, double now_s, TlsMaterial& material);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_SECURITY_TLS_MATERIAL_H_
