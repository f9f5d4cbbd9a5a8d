// SPDX-License-Identifier: Apache-2.0
#include "server/service/navmesh_backend.h"

#include <gtest/gtest.h>

namespace arclane {
namespace {

TEST(NavMeshBackendTest, LooksForIdleWorldsByTheTimeAfterWhichTheyAreIdle) {
  EXPECT_EQ(NavMeshBackend::ExpiryPeriod_s(3600), 5);
  EXPECT_EQ(NavMeshBackend::ExpiryPeriod_s(20), 5);
  EXPECT_EQ(NavMeshBackend::ExpiryPeriod_s(1), 0.25);
  EXPECT_EQ(NavMeshBackend::ExpiryPeriod_s(0.04), 0.1);
}

}  // namespace
}  // namespace arclane
