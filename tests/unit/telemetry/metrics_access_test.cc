// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry/metrics_access.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/status/status.h"

namespace arclane {
namespace {

class MetricsAccessTest : public ::testing::Test {
 protected:
  ~MetricsAccessTest() override { std::filesystem::remove_all(path_); }
  void Write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }

  const std::string path_ = ::testing::TempDir() + "arclane_password_" + std::to_string(getpid());
};

TEST_F(MetricsAccessTest, ThePasswordIsTheFirstLineReadEachTime) {
  Write("secret\r\nsecond line\n");
  const auto access = PasswordFileAccess("scraper", path_);
  ASSERT_TRUE(access.ok()) << access.status();
  EXPECT_TRUE((*access)("scraper", "secret"));
  EXPECT_FALSE((*access)("scraper", "second line"));
  EXPECT_FALSE((*access)("other", "secret"));
  Write("new");
  EXPECT_TRUE((*access)("scraper", "new"));
  EXPECT_FALSE((*access)("scraper", "secret"));
}

TEST_F(MetricsAccessTest, NobodyGetsInWhileADirectoryStandsThere) {
  Write("secret");
  const auto access = PasswordFileAccess("scraper", path_);
  ASSERT_TRUE(access.ok()) << access.status();
  std::filesystem::remove(path_);
  std::filesystem::create_directory(path_);
  EXPECT_FALSE((*access)("scraper", "secret"));
  EXPECT_FALSE((*access)("scraper", ""));
}

TEST_F(MetricsAccessTest, TellsWhyThereIsNoPassword) {
  EXPECT_EQ(PasswordFileAccess("scraper", path_).status(),
            absl::InvalidArgumentError("metrics_password_file: cannot read " + path_ +
                                       ": No such file or directory"));
  EXPECT_EQ(PasswordFileAccess("scraper", "/tmp").status(),
            absl::InvalidArgumentError("metrics_password_file: cannot read /tmp: Is a directory"));
  Write("\nsecret");
  EXPECT_EQ(PasswordFileAccess("scraper", path_).status(),
            absl::InvalidArgumentError("metrics_password_file: " + path_ +
                                       " holds no password in its first line"));
}

}  // namespace
}  // namespace arclane
