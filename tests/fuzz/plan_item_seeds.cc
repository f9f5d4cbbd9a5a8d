// SPDX-License-Identifier: Apache-2.0
// Writes messages of batches, streams and their items for the fuzzers to start from, all small.
// Usage: plan_item_seeds FOLDER
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "arclane/v1/planner.pb.h"
#include "tests/support/random_items.h"

namespace {

// The first byte tells plan_methods_fuzz the kind of request.
std::string OfMethod(const arclane::v1::PlanItem& item) {
  if (item.has_waypoints()) return '\0' + item.waypoints().SerializeAsString();
  if (item.has_spline()) return '\1' + item.spline().SerializeAsString();
  if (item.has_speed()) return '\2' + item.speed().SerializeAsString();
  return item.corridor().SerializeAsString();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: plan_item_seeds FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder(argv[1]);
  std::filesystem::create_directories(folder);
  int count = 0;
  const auto write = [&](const std::string& bytes) {
    std::ofstream(folder / std::to_string(count++), std::ios::binary) << bytes;
  };
  arclane::testing::RandomItems random(1);
  for (int i = 0; i < 40; ++i) {
    arclane::v1::PlanBatchRequest batch;
    arclane::v1::PlanStreamRequest stream;
    *batch.mutable_shared() = *stream.mutable_shared() = arclane::testing::RandomItems::Shared();
    for (int k = 0; k < 3; ++k) {
      const arclane::v1::PlanItem item = random.Next();
      *batch.add_items() = item;
      arclane::v1::PlanStreamItem& sent = *stream.add_items();
      sent.set_correlation_id(static_cast<uint64_t>(count));
      *sent.mutable_item() = item;
      write(OfMethod(item));
    }
    write(batch.SerializeAsString());
    write(stream.SerializeAsString());
  }
  std::cout << count << " seeds in " << folder.string() << '\n';
  return 0;
}
