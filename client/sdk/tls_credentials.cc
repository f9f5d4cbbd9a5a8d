// SPDX-License-Identifier: Apache-2.0
#include "client/sdk/tls_credentials.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "grpcpp/security/credentials.h"
#include "server/files/whole_file.h"

namespace arclane {
namespace {

absl::Status ReadPem(const std::string& path, const char* what, std::string& pem) {
  if (path.empty()) return absl::OkStatus();
  auto bytes = ReadWholeFile(path);
  if (!bytes.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("tls.", what, ": ", bytes.status().message()));
  }
  pem = *std::move(bytes);
  if (pem.empty())
    return absl::InvalidArgumentError(absl::StrCat("tls.", what, ": ", path, " is empty"));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeTlsCredentials(
    const TlsOptions& options) {
  if (options.certificate_file.empty() != options.key_file.empty()) {
    return absl::InvalidArgumentError("tls.certificate_file and tls.key_file belong together");
  }
  grpc::SslCredentialsOptions ssl;
  absl::Status status = ReadPem(options.ca_file, "ca_file", ssl.pem_root_certs);
  if (status.ok())
    status = ReadPem(options.certificate_file, "certificate_file", ssl.pem_cert_chain);
  if (status.ok()) status = ReadPem(options.key_file, "key_file", ssl.pem_private_key);
  if (!status.ok()) return status;
  return grpc::SslCredentials(ssl);
}

}  // namespace arclane
