// SPDX-License-Identifier: Apache-2.0
// Plans one corridor and prints its length and first samples; then sends a wrong request and prints
// what is wrong with it.
//   plan_corridor_example [HOST:PORT] < request.json
#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>

#include "client/sdk/client.h"
#include "client/sdk/column_views.h"
#include "google/protobuf/util/json_util.h"

namespace {

void PrintRoute(const arclane::v1::Route& route) {
  std::cout << arclane::v1::Outcome_Name(route.outcome()) << ", length " << route.length() << ", "
            << route.duration_s() << " s\n";
  const auto samples = arclane::SampleView::Of(route);
  if (!samples.ok()) {
    std::cerr << samples.status() << '\n';
    return;
  }
  for (size_t i = 0; i < std::min<size_t>(samples->size, 5); ++i) {
    std::cout << "  s=" << samples->distance[i] << " t=" << samples->time_s[i] << " at ("
              << samples->position.x(i) << ", " << samples->position.y(i) << ") speed "
              << samples->speed[i] << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  arclane::ClientOptions options;
  if (argc > 1) options.target = argv[1];
  const auto client = arclane::Client::Create(options);
  if (!client.ok()) {
    std::cerr << client.status() << '\n';
    return 1;
  }

  arclane::v1::PlanCorridorRequest request;
  const std::string json(std::istreambuf_iterator<char>(std::cin), {});
  if (const auto parsed = google::protobuf::util::JsonStringToMessage(json, &request);
      !parsed.ok()) {
    std::cerr << parsed << '\n';
    return 1;
  }
  const auto answer = (*client)->PlanCorridor(request);
  if (!answer.ok()) {
    std::cerr << answer.error() << '\n';
    return 1;
  }
  PrintRoute(answer->route());

  request.mutable_agent()->mutable_limits()->set_max_speed(-1);
  const auto refused = (*client)->PlanCorridor(request);
  if (refused.ok()) {
    std::cerr << "a negative speed was not refused\n";
    return 1;
  }
  std::cout << absl::StatusCodeToString(refused.error().code) << '\n';
  for (const arclane::FieldViolation& violation : refused.error().violations) {
    std::cout << "  " << violation.field << ": " << violation.description << '\n';
  }
  return 0;
}
