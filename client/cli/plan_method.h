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
  static constexpr char kExample[] =
      R"({"start": {"x": 0, "y": 0}, "goal": {"x": 6, "y": 5},
   "corridor": {"portals": {"left":  {"x": [1, 4], "y": [1, 4]},
                            "right": {"x": [1, 4], "y": [-1, 3]}}},
   "agent": {"limits": {"max_speed": 4, "max_acceleration": 3, "max_braking": 3}},
   "sampling": {"spacing": 0.5}})";
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
  static constexpr char kExample[] =
      R"({"waypoints": {"x": [0, 4, 4, 8], "y": [0, 0, 4, 4]},
   "radius": [1, 2],
   "agent": {"limits": {"max_speed": 6, "max_acceleration": 3, "max_braking": 4, "max_lateral_acceleration": 4}},
   "sampling": {"spacing": 0.5}})";
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
  static constexpr char kExample[] =
      R"({"spline": {"catmull_rom": {}, "closed": true,
              "control": {"x": [0, 6, 8, 2], "y": [0, 1, 6, 7]}},
   "agent": {"limits": {"max_speed": 3, "max_acceleration": 2, "max_braking": 2, "max_lateral_acceleration": 2}},
   "sampling": {"spacing": 0.5}})";
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
  static constexpr char kExample[] =
      R"({"pieces": {"length": [5, 2, 5], "radius": ["Infinity", 3, "Infinity"]},
   "limits": {"max_speed": 10, "max_acceleration": 2, "max_braking": 2, "max_lateral_acceleration": 4}})";
  static constexpr bool kHasSampling = false;

  static void Start(Client& client, Request request, Client::Callback<Response> done) {
    client.PlanSpeedAsync(std::move(request), {}, std::move(done));
  }
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLAN_METHOD_H_
