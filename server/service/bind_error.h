// SPDX-License-Identifier: Apache-2.0
// Why an address cannot be listened on: gRPC tells only that it failed.
#ifndef ARCLANE_SERVER_SERVICE_BIND_ERROR_H_
#define ARCLANE_SERVER_SERVICE_BIND_ERROR_H_

#include <string>

namespace arclane {

// Tries host:port or [ipv6]:port and returns the operating system's words, such as "Address already
// in use". To be asked after a failure only. Paths of Unix sockets,
// which SocketFile looks at before, get a general answer.
std::string BindError(const std::string& address);

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_BIND_ERROR_H_
