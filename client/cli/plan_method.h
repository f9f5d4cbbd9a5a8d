// SPDX-License-Identifier: Apache-2.0
// The four ways to plan as the commands need them: one struct a method of the service, all of the
// same shape, so that what reads, sends, tells and draws is written once.
#ifndef ARCLANE_CLIENT_CLI_PLAN_METHOD_H_
#define ARCLANE_CLIENT_CLI_PLAN_METHOD_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "arclane/v1/planner.pb.h"
#include "client/cli/plot/curve_plot.h"
#include "client/cli/plot/route_plot.h"
#include "client/sdk/client.h"

namespace arclane {

struct CorridorMethod {
  using Request = v1::PlanCorridorRequest;
  using Response = v1::PlanCorridorResponse;
  static constexpr char kCommand[] = "plan-corridor";
  static constexpr char kRequestName[] = "PlanCorridorRequest";
  static constexpr bool kHasSampling = true;

  static void Start(Client& client, Request request, Client::Callback<Response> done) {
    client.PlanCorridorAsync(std::move(request), {}, std::move(done));
  }
  static Result<Response> Call(Client& client, const Request& request) {
    return client.PlanCorridor(request);
  }
  // Asks for what a picture needs and the request leaves out.
  static void AskForPicture(Request& request) { request.set_include_corridor(true); }
  static absl::StatusOr<std::string> Plot(const Request& request, const Response& response,
                                          const RoutePlotOptions& options) {
    return PlotRoute(request, response, options);
  }
};

struct WaypointsMethod {
  using Request = v1::PlanWaypointsRequest;
  using Response = v1::PlanWaypointsResponse;
  static constexpr char kCommand[] = "plan-waypoints";
  static constexpr char kRequestName[] = "PlanWaypointsRequest";
  static constexpr bool kHasSampling = true;

  static void Start(Client& client, Request request, Client::Callback<Response> done) {
    client.PlanWaypointsAsync(std::move(request), {}, std::move(done));
  }
  static Result<Response> Call(Client& client, const Request& request) {
    return client.PlanWaypoints(request);
  }
  static void AskForPicture(Request&) {}
  static absl::StatusOr<std::string> Plot(const Request& request, const Response& response,
                                          const RoutePlotOptions& options) {
    return PlotRoute(request, response, options);
  }
};

struct SplineMethod {
  using Request = v1::PlanSplineRequest;
  using Response = v1::PlanSplineResponse;
  static constexpr char kCommand[] = "plan-spline";
  static constexpr char kRequestName[] = "PlanSplineRequest";
  static constexpr bool kHasSampling = true;

  static void Start(Client& client, Request request, Client::Callback<Response> done) {
    client.PlanSplineAsync(std::move(request), {}, std::move(done));
  }
  static Result<Response> Call(Client& client, const Request& request) {
    return client.PlanSpline(request);
  }
  // A curve is drawn from its samples.
  static void AskForPicture(Request& request) { AskForCurveSamples(request); }
  static absl::StatusOr<std::string> Plot(const Request& request, const Response& response,
                                          const RoutePlotOptions& options) {
    return PlotCurve(request, response, options);
  }
};

// Has no samples and no map.
struct SpeedMethod {
  using Request = v1::PlanSpeedRequest;
  using Response = v1::PlanSpeedResponse;
  static constexpr char kCommand[] = "plan-speed";
  static constexpr char kRequestName[] = "PlanSpeedRequest";
  static constexpr bool kHasSampling = false;

  static void Start(Client& client, Request request, Client::Callback<Response> done) {
    client.PlanSpeedAsync(std::move(request), {}, std::move(done));
  }
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLAN_METHOD_H_
