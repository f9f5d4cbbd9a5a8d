// SPDX-License-Identifier: Apache-2.0
#include "server/service/bind_error.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace arclane {

std::string BindError(const std::string& address) {
  constexpr char kUnknown[] = "the address is in use, not allowed or not this machine's";
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || address.rfind("unix:", 0) == 0) return kUnknown;
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int error =
          getaddrinfo(host.c_str(), address.substr(colon + 1).c_str(), &hints, &found)) {
    return gai_strerror(error);
  }
  std::string reason = kUnknown;
  for (const addrinfo* candidate = found; candidate != nullptr; candidate = candidate->ai_next) {
    const int descriptor =
        socket(candidate->ai_family, candidate->ai_socktype, candidate->ai_protocol);
    if (descriptor < 0) continue;
    const int on = 1;
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(descriptor, candidate->ai_addr, candidate->ai_addrlen) != 0)
      reason = std::strerror(errno);
    close(descriptor);
  }
  freeaddrinfo(found);
  return reason;
}

}  // namespace arclane
