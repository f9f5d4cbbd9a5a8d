// SPDX-License-Identifier: Apache-2.0
// How a Client reaches its servers, and what one call may override.
#ifndef ARCLANE_CLIENT_SDK_CLIENT_OPTIONS_H_
#define ARCLANE_CLIENT_SDK_CLIENT_OPTIONS_H_

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace grpc {
class ChannelCredentials;
}  // namespace grpc

namespace arclane {

// The gRPC service config that a Client uses unless told otherwise; its text is
// default_service_config.json beside this file, fit for any gRPC language. It spreads calls over
// all addresses of the target (round robin) and makes up to 4 attempts when a server is UNAVAILABLE
// or sheds load (RESOURCE_EXHAUSTED). A server's push-back trailer (grpc-retry-pushback-ms)
// replaces the back-off; -1 forbids the retry. Retries pause while most calls fail. CANCELLED is
// retried as well: gRPC resets what reaches a server that is just stopping before a handler sees
// it; and UNKNOWN, which some proxies make of that. Every method that the config names can be asked
// twice.
std::string_view DefaultServiceConfig();

// The same for a single server that is restarted in place: calls wait for it up to their deadline
// instead of failing with UNAVAILABLE, so that its absence is bridged, and a server that stays away
// shows itself as DEADLINE_EXCEEDED. Its text is waiting_service_config.json.
std::string_view WaitingServiceConfig();

// Paths of PEM files. They are read when the Client is made; a Client made later has what is new.
struct TlsOptions {
  std::string ca_file;  // The authorities that the server is trusted by; empty: the system's.
  // The client's own certificate and its key, for servers that ask for one; both or neither.
  std::string certificate_file;
  std::string key_file;
  // The name that the server's certificate must have; empty: the host of the target.
  std::string server_name;
};

struct ClientOptions {
  // Where the servers are: host:port, dns:///host:port (every address behind the name gets its
  // share of the calls), unix:/path, ipv4:1.2.3.4:5,1.2.3.5:5.
  std::string target = "localhost:50051";
  // Deadline of calls that name none, retries included; > 0, or absl::InfiniteDuration(). Streams
  // have none by default.
  absl::Duration deadline = absl::Seconds(5);
  // Retry policy and load balancing as a gRPC service config in JSON.
  std::string service_config_json = std::string(DefaultServiceConfig());
  // An HTTP/2 ping goes out when a connection with open calls is silent this long;
  // InfiniteDuration() sends none. A server that sees more pings than it allows closes the
  // connection.
  absl::Duration keepalive_time = absl::Seconds(60);
  // The connection counts as dead when a ping is not answered within this time.
  absl::Duration keepalive_timeout = absl::Seconds(10);
  // Largest message either way, bytes; > 0. What a server accepts is told by GetLimits.
  int max_message_bytes = 64 << 20;
  // Put before gRPC's own user agent, such as "my-game/1.2". Default: nothing.
  std::string user_agent;
  // TLS; unset: clear text.
  std::optional<TlsOptions> tls;
  // Credentials of the channel of the caller's own making, in place of `tls`. Null: none.
  std::shared_ptr<grpc::ChannelCredentials> credentials;
};

struct CallOptions {
  // Replaces ClientOptions::deadline; > 0.
  std::optional<absl::Duration> deadline;
  // A stop request cancels the call, which then ends with CANCELLED. Default: never.
  std::stop_token stop;
  // Sent along with the call. Keys in lower case; keys ending in -bin carry any bytes.
  std::vector<std::pair<std::string, std::string>> metadata;
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_SDK_CLIENT_OPTIONS_H_
