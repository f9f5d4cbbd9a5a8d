// SPDX-License-Identifier: Apache-2.0
// The whole gRPC side of the service: pool, handlers, health, reflection, ports, and its orderly
// end.
#ifndef ARCLANE_SERVER_SERVICE_SERVER_H_
#define ARCLANE_SERVER_SERVICE_SERVER_H_

#include <grpcpp/channel.h>
#include <grpcpp/support/channel_arguments.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/codec/request_limits.h"
#include "server/service/navmesh_backend.h"
#include "server/service/request_capture.h"
#include "server/service/security/server_security.h"
#include "server/telemetry/access_log.h"
#include "server/telemetry/metrics.h"

namespace arclane {

struct ServerOptions {
  // host:port, [ipv6]:port or unix:/path; port 0 takes a free one.
  std::vector<std::string> addresses = {"127.0.0.1:0"};
  RequestLimits limits;
  uint64_t max_admitted_bytes = 512 << 20;
  int planner_threads = 1;
  int planner_nice = 0;
  size_t quick_plan_bytes = 8192;
  uint32_t max_metadata_bytes = 8 << 10;
  uint32_t max_concurrent_streams = 10'000;  // Of one connection.
  double keepalive_s = 60;
  double keepalive_timeout_s = 20;
  double min_ping_interval_s = 1;
  double max_connection_age_s = 0;  // 0: connections last.
  double max_connection_age_grace_s = 30;
  SecurityOptions security;
  // Addresses that answer the health service alone, in clear text whatever the others do.
  std::vector<std::string> health_addresses;
  AccessLogOptions log;
  CaptureOptions capture;  // Nothing is captured without a directory.
  double write_stall_s = 60;
  NavMeshBackendOptions navmeshes;
  // Called on a planning thread before each plan, if set: a test holds plans here. All plans are
  // made there then.
  std::function<void()> before_plan;
};

// The names of the health service: ready are "" and the two services, alive is
// kLivenessHealthName.
inline constexpr char kPlannerHealthName[] = "arclane.v1.PathPlanner";
inline constexpr char kRegistryHealthName[] = "arclane.v1.NavMeshRegistry";
inline constexpr char kLivenessHealthName[] = "liveness";

class Server {
 public:
  // Serves and is ready as soon as it returns. UNAVAILABLE names the address that cannot be
  // listened on and why, also a Unix socket that a server answers or a path where something else
  // stands, INVALID_ARGUMENT the certificate file that cannot be served. Warns of addresses beyond
  // this machine in clear text. `metrics` must have the labels of ServiceLabels() and outlive the
  // server.
  static absl::StatusOr<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                                       Metrics& metrics);
  // Ends at once what Shutdown did not end.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void SetLogOptions(const AccessLogOptions& options);
  // Looks at the certificate's files soon.
  void ReloadCertificate();
  NavMeshBackend& navmeshes();

  // The addresses as bound, with the ports taken.
  const std::vector<std::string>& addresses() const;
  const std::vector<std::string>& health_addresses() const;
  // The port of the first address; 0 for a Unix socket.
  int port() const;
  std::shared_ptr<grpc::Channel> InProcessChannel(const grpc::ChannelArguments& arguments);

  // Not ready from now on; after `delay_s`, in which calls are served as before, closes the ports,
  // ends open streams, and lets calls in flight end for at most `timeout_s`. False when calls had
  // to be cancelled then. Streams whose clients do not read what is sent are cut off earlier, and
  // logged. Once.
  bool Shutdown(double delay_s, double timeout_s);

 private:
  struct Parts;
  explicit Server(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace arclane

#endif  // ARCLANE_SERVER_SERVICE_SERVER_H_
