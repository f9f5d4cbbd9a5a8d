// SPDX-License-Identifier: Apache-2.0
#include "tests/deployment/attempts.h"

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include <nlohmann/json.hpp>
#include <string>

namespace arclane {
namespace {

// channelz answers with the JSON form of its messages, in which 64-bit numbers are texts.
int64_t Number(const nlohmann::json& value) {
  return value.is_string() ? std::stoll(value.get<std::string>()) : value.get<int64_t>();
}

nlohmann::json Taken(char* text) {
  if (text == nullptr) return nlohmann::json::object();
  auto value = nlohmann::json::parse(text);
  gpr_free(text);
  return value;
}

}  // namespace

std::set<int64_t> Subchannels() {
  std::set<int64_t> ids;
  const nlohmann::json page = Taken(grpc_channelz_get_top_channels(0));
  for (const nlohmann::json& channel : page.value("channel", nlohmann::json::array())) {
    for (const nlohmann::json& reference : channel.value("subchannelRef", nlohmann::json::array()))
      ids.insert(Number(reference["subchannelId"]));
  }
  return ids;
}

int64_t AttemptsOver(const std::set<int64_t>& subchannels) {
  int64_t attempts = 0;
  for (const int64_t id : subchannels) {
    const nlohmann::json page = Taken(grpc_channelz_get_subchannel(id));
    if (!page.contains("subchannel")) continue;
    const nlohmann::json& data = page["subchannel"]["data"];
    if (data.contains("callsStarted")) attempts += Number(data["callsStarted"]);
  }
  return attempts;
}

}  // namespace arclane
