// SPDX-License-Identifier: Apache-2.0
// The client of a path-planning service. Start here:
//
//   arclane::ClientOptions options;
//   options.target = "dns:///planner:50051";
//   auto client = arclane::Client::Create(options);           // does not wait for a connection
//   auto answer = (*client)->PlanCorridor(request);           // Result<v1::PlanCorridorResponse>
//   if (!answer.ok()) LogPlanFailure(answer.error());         // code, reason, violations, retry
//   delay auto samples = arclane::SampleView::Of(answer->route());  // spans over the packed
//   columns (column_views.h)
#ifndef ARCLANE_CLIENT_SDK_CLIENT_H_
#define ARCLANE_CLIENT_SDK_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "arclane/v1/planner.pb.h"
#include "client/sdk/client_options.h"
#include "client/sdk/navmesh_client.h"
#include "client/sdk/plan_batch.h"
#include "client/sdk/plan_stream.h"
#include "client/sdk/result.h"

namespace arclane {

enum class ServingState {
  kServing,
  kNotServing,
  kUnknown,  // The server runs and knows no such service.
};

// One stream of pings, answered in order. Not thread-safe. Lives no longer than its Client.
// Destroying it cancels the stream.
class PingSession {
 public:
  virtual ~PingSession() = default;
  // Sends `payload` and waits for an answer of `response_size` bytes. After an error the session is
  // over.
  virtual Result<v1::PingStreamResponse> Exchange(std::string_view payload,
                                                  uint32_t response_size) = 0;
  // Ends the stream and waits for the server's status. At most once, and the last call.
  virtual Result<std::monostate> Finish() = 0;
};

// A channel to the servers of one target; make one and share it. Thread-safe: any number of threads
// may call at once. All calls share a few HTTP/2 connections (one an address), which are made on
// demand and made again when they break.
class Client {
 public:
  template <typename T>
  using Callback = absl::AnyInvocable<void(Result<T>)>;

  // Fails with kInvalidArgument for an empty target, a service config that gRPC refuses, a
  // duration or size <= 0, or a TLS file that cannot be read. Does not connect: a server that is
  // away shows itself as UNAVAILABLE at the first call.
  static absl::StatusOr<std::unique_ptr<Client>> Create(const ClientOptions& options);

  // Cancels all calls in flight and waits until their callbacks have returned; so never destroy a
  // Client in a callback.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Plans in a corridor. An outcome such as CANNOT_STOP is an answer, not an error: look at
  // route().outcome().
  Result<v1::PlanCorridorResponse> PlanCorridor(const v1::PlanCorridorRequest& request,
                                                const CallOptions& options = {});
  // As PlanCorridor, but returns at once. `done` is called exactly once, on a thread of gRPC, with
  // the answer; it must not block. It may start other calls.
  void PlanCorridorAsync(v1::PlanCorridorRequest request, const CallOptions& options,
                         Callback<v1::PlanCorridorResponse> done);

  // Plans along waypoints, along a curve, and a speed over geometry of the caller's own; in both
  // forms as above.
  Result<v1::PlanWaypointsResponse> PlanWaypoints(const v1::PlanWaypointsRequest& request,
                                                  const CallOptions& options = {});
  void PlanWaypointsAsync(v1::PlanWaypointsRequest request, const CallOptions& options,
                          Callback<v1::PlanWaypointsResponse> done);
  Result<v1::PlanSplineResponse> PlanSpline(const v1::PlanSplineRequest& request,
                                            const CallOptions& options = {});
  void PlanSplineAsync(v1::PlanSplineRequest request, const CallOptions& options,
                       Callback<v1::PlanSplineResponse> done);
  Result<v1::PlanSpeedResponse> PlanSpeed(const v1::PlanSpeedRequest& request,
                                          const CallOptions& options = {});
  void PlanSpeedAsync(v1::PlanSpeedRequest request, const CallOptions& options,
                      Callback<v1::PlanSpeedResponse> done);

  // Plans many items at once (plan_batch.h); the answers are in the items' order. An item that
  // fails is an answer; the call fails when the batch as a whole does. A batch whose stream breaks
  // is asked again while the deadline allows. `on_answer`, if given, is called with each answer as
  // it comes, which is not among the result then.
  Result<std::vector<v1::PlanItemAnswer>> PlanBatch(
      const v1::PlanBatchRequest& request, const CallOptions& options = {},
      absl::AnyInvocable<void(uint32_t index, v1::PlanItemAnswer answer)> on_answer = nullptr);
  // A stream of plans, which opens itself again (plan_stream.h).
  std::unique_ptr<PlanStream> OpenPlanStream(const PlanStreamOptions& stream = {},
                                             const CallOptions& options = {});

  // The limits on requests that the server has in force.
  Result<v1::GetLimitsResponse> GetLimits(const CallOptions& options = {});

  // Returns `response_size` bytes and does nothing else.
  Result<v1::PingResponse> Ping(std::string_view payload, uint32_t response_size,
                                const CallOptions& options = {});
  void PingAsync(v1::PingRequest request, const CallOptions& options,
                 Callback<v1::PingResponse> done);
  // Without options.deadline the stream has no deadline.
  std::unique_ptr<PingSession> OpenPingStream(const CallOptions& options = {});

  // Navmeshes: publishing, changing, asking and watching them. Watches end before the Client does.
  NavMeshClient& navmeshes();

  // The standard health check. "": the server as a whole; "arclane.v1.PathPlanner": ready for
  // plans; "liveness": alive.
  Result<ServingState> CheckHealth(const std::string& service = "",
                                   const CallOptions& options = {});

 private:
  class Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_SDK_CLIENT_H_
