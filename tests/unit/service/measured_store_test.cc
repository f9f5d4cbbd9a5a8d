// SPDX-License-Identifier: Apache-2.0
#include "server/service/measured_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "server/service/service_labels.h"
#include "server/telemetry/build_info.h"

namespace arclane {
namespace {

using ::testing::HasSubstr;

class FullStore : public InMemoryStore {
 public:
  absl::Status Commit(const StoreBatch& batch) override {
    return full ? absl::UnavailableError("no space left") : InMemoryStore::Commit(batch);
  }
  uint64_t SizeBytes() const override { return 4096; }

  bool full = false;
};

TEST(MeasuredStoreTest, PassesEverythingOnAndCountsCommits) {
  Metrics metrics(CurrentBuild(), ServiceLabels());
  const auto kept = std::make_shared<FullStore>();
  MeasuredStore store(kept, metrics);
  StoreBatch batch;
  batch.Put("key", "value");
  EXPECT_TRUE(store.Commit(batch).ok());
  EXPECT_TRUE(store.Commit(batch).ok());
  kept->full = true;
  EXPECT_EQ(store.Commit(batch).message(), "no space left");
  EXPECT_EQ(store.SizeBytes(), 4096u);
  std::string seen;
  EXPECT_TRUE(store
                  .ForEach([&](std::string_view key, std::string_view value, bool intact) {
                    seen = std::string(key) + "=" + std::string(value) + (intact ? "" : " damaged");
                  })
                  .ok());
  EXPECT_EQ(seen, "key=value");
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr("arclane_store_commits_total{result=\"ok\"} 2"));
  EXPECT_THAT(text, HasSubstr("arclane_store_commits_total{result=\"failed\"} 1"));
  EXPECT_THAT(text, HasSubstr("arclane_store_commit_duration_seconds_count 3"));
}

}  // namespace
}  // namespace arclane
