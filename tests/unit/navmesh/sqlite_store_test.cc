// SPDX-License-Identifier: Apache-2.0
#include "server/navmesh/sqlite_store.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "gtest/gtest.h"

namespace arclane {
namespace {

class SqliteStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = ::testing::TempDir() + "/arclane_store_" + std::to_string(::getpid());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::unique_ptr<SqliteStore> Open() {
    auto store = SqliteStore::Open(directory_);
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  static std::map<std::string, std::string> Rows(SqliteStore& store, size_t* damaged = nullptr) {
    std::map<std::string, std::string> rows;
    const absl::Status status =
        store.ForEach([&](std::string_view key, std::string_view value, bool intact) {
          if (intact)
            rows.emplace(key, value);
          else if (damaged != nullptr)
            ++*damaged;
        });
    EXPECT_TRUE(status.ok()) << status;
    return rows;
  }

  std::string directory_;
};

TEST_F(SqliteStoreTest, KeepsWhatWasCommitted) {
  const std::string binary("\0a\xff", 3);
  {
    auto store = Open();
    StoreBatch batch;
    batch.Put(binary, "one");
    batch.Put("b", "");
    batch.Put("c", std::string(1 << 20, 'x'));
    ASSERT_TRUE(store->Commit(batch).ok());
    StoreBatch more;
    more.Put(binary, "two");
    more.Remove("b");
    more.Remove("absent");
    ASSERT_TRUE(store->Commit(more).ok());
  }
  auto store = Open();
  const auto rows = Rows(*store);
  EXPECT_EQ(rows, (std::map<std::string, std::string>{{binary, "two"},
                                                      {"c", std::string(1 << 20, 'x')}}));
}

TEST_F(SqliteStoreTest, KeepsASecondServerOut) {
  auto store = Open();
  const auto second = SqliteStore::Open(directory_);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(std::string(second.status().message()).find("another server"), std::string::npos)
      << second.status();
}

TEST_F(SqliteStoreTest, RefusesAMissingDirectory) {
  EXPECT_FALSE(SqliteStore::Open(directory_ + "/no/such").ok());
}

TEST_F(SqliteStoreTest, ReportsDamagedValues) {
  {
    auto store = Open();
    StoreBatch batch;
    for (char c = 'a'; c <= 'e'; ++c) batch.Put(std::string(1, c), std::string(40000, c));
    ASSERT_TRUE(store->Commit(batch).ok());
  }
  const std::string path = directory_ + "/navmesh.sqlite";
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(file)), {});
  const size_t at = content.find(std::string(1000, 'c'));
  ASSERT_NE(at, std::string::npos);
  file.clear();
  file.seekp(static_cast<std::streamoff>(at + 500));
  file.put('?');
  file.close();
  auto store = Open();
  size_t damaged = 0;
  EXPECT_EQ(Rows(*store, &damaged).size(), 4u);
  EXPECT_EQ(damaged, 1u);
}

TEST_F(SqliteStoreTest, CommitsFromManyThreads) {
  {
    auto store = Open();
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          StoreBatch batch;
          batch.Put(std::to_string(t) + "/" + std::to_string(i), "x");
          batch.Put("last" + std::to_string(t), std::to_string(i));
          EXPECT_TRUE(store->Commit(batch).ok());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  auto store = Open();
  const auto rows = Rows(*store);
  EXPECT_EQ(rows.size(), 8u * 21u);
  for (int t = 0; t < 8; ++t) EXPECT_EQ(rows.at("last" + std::to_string(t)), "19");
}

TEST_F(SqliteStoreTest, ItsSizeGrowsWithWhatItKeeps) {
  const auto store = Open();
  const uint64_t before = store->SizeBytes();
  StoreBatch batch;
  batch.Put("key", std::string(1 << 20, 'v'));
  ASSERT_TRUE(store->Commit(batch).ok());
  EXPECT_GE(store->SizeBytes(), before + (1 << 20));
}

}  // namespace
}  // namespace arclane
