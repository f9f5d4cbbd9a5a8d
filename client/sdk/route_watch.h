// SPDX-License-Identifier: Apache-2.0
// Keeps the followers of planned routes informed: watches what the routes were read from, over one
// stream to the service, and tells followers which gates, links, tiles and costs have changed.
//
//   arclane::RouteWatch watch(client->navmeshes(), scope);
//   auto route = arclane::FollowedRouteOf(request, *answer, version);
//   auto source = watch.Watch(*route, answer->answer());
//   // Every tick:
//   const arclane::MotionRequest& next = follower.Step(input, source.get());
#ifndef ARCLANE_CLIENT_SDK_ROUTE_WATCH_H_
#define ARCLANE_CLIENT_SDK_ROUTE_WATCH_H_

#include <memory>

#include "absl/status/status.h"
#include "arclane/v1/navmesh.pb.h"
#include "arclane/v1/planner.pb.h"
#include "client/sdk/follower.h"
#include "client/sdk/navmesh_client.h"

namespace arclane {

struct RouteWatchOptions {
  // Real seconds. When nothing was heard for longer, what is known is not trusted and followers
  // brake until the service is heard again. > 0.
  double age_limit_s = 1.0;
  // How often the service is asked whether it is still there; well below the age limit.
  double heartbeat_s = 0.25;
};

// Thread-safe. The stream is opened again by itself when it ends, with all that is watched. Lives
// no longer than the client.
class RouteWatch {
 public:
  RouteWatch(NavMeshClient& client, const v1::WatchRoutesScope& scope,
             const RouteWatchOptions& options = {});
  ~RouteWatch();
  RouteWatch(const RouteWatch&) = delete;
  RouteWatch& operator=(const RouteWatch&) = delete;

  // Watches a route from the moment of its plan on, until the source is destroyed; it may outlive
  // the watch, and is silent then. A change is never taken back: between the two the route was
  // wrong, and its agent has been told to replan.
  std::shared_ptr<const ReadSetSource> Watch(std::shared_ptr<const FollowedRoute> route,
                                             const v1::AnswerInfo& planned);

  // Why nothing will be heard any more, such as that the navmesh is not there; OK while it may.
  absl::Status status() const;

 private:
  class Feed;
  class Source;
  const std::shared_ptr<Feed> feed_;
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_SDK_ROUTE_WATCH_H_
