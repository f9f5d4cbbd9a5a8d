// SPDX-License-Identifier: Apache-2.0
#include "server/config/cpu_quota.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace arclane {
namespace {

class CpuQuotaTest : public ::testing::Test {
 protected:
  CpuQuotaTest() {
    root_ = ::testing::TempDir() + "arclane_cpu_quota_" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(root_);
  }
  ~CpuQuotaTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

TEST_F(CpuQuotaTest, NothingThereIsNoQuota) { EXPECT_EQ(CgroupCpuQuota(root_), std::nullopt); }

TEST_F(CpuQuotaTest, ReadsVersion2) {
  Write("/proc/self/cgroup", "0::/\n");
  Write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), 1.5);
}

TEST_F(CpuQuotaTest, Version2MaxIsNoQuota) {
  Write("/proc/self/cgroup", "0::/\n");
  Write("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), std::nullopt);
}

TEST_F(CpuQuotaTest, TakesTheSmallestOfTheGroupsAbove) {
  Write("/proc/self/cgroup", "0::/pod/container\n");
  Write("/sys/fs/cgroup/pod/cpu.max", "50000 100000\n");
  Write("/sys/fs/cgroup/pod/container/cpu.max", "200000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), 0.5);
}

TEST_F(CpuQuotaTest, ReadsVersion1WhereTheGroupIsTheMount) {
  Write("/proc/self/cgroup", "12:memory:/x\n4:cpu,cpuacct:/docker/0123\n0::/\n");
  Write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");
  Write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), 3.0);
}

TEST_F(CpuQuotaTest, Version1MinusOneIsNoQuota) {
  Write("/proc/self/cgroup", "4:cpu,cpuacct:/\n");
  Write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  Write("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CgroupCpuQuota(root_), std::nullopt);
}

TEST_F(CpuQuotaTest, GarbageIsNoQuota) {
  Write("/proc/self/cgroup", "nonsense\n:::\n0::\n4:cpu:/a\n");
  Write("/sys/fs/cgroup/cpu.max", "-5 zero\n");
  Write("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "abc\n");
  EXPECT_EQ(CgroupCpuQuota(root_), std::nullopt);
}

TEST(UsableProcessorsTest, IsAtLeastOne) { EXPECT_GE(UsableProcessors(), 1); }

}  // namespace
}  // namespace arclane
