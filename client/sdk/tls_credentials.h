// SPDX-License-Identifier: Apache-2.0
// Channel credentials from TLS files.
#ifndef ARCLANE_CLIENT_SDK_TLS_CREDENTIALS_H_
#define ARCLANE_CLIENT_SDK_TLS_CREDENTIALS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "client/sdk/client_options.h"

namespace arclane {

// kInvalidArgument when a file cannot be read, is empty, or certificate and key are not given
// together. What the files hold is judged by the first connection.
absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> MakeTlsCredentials(
    const TlsOptions& options);

}  // namespace arclane

#endif  // ARCLANE_CLIENT_SDK_TLS_CREDENTIALS_H_
