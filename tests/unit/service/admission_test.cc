// SPDX-License-Identifier: Apache-2.0
#include "server/service/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/synchronization/notification.h"

namespace arclane {
namespace {

using ::testing::HasSubstr;

class NoJob final : public PlannerPool::Job {
 public:
  void Run() override {}
};

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest()
      : metrics_(CurrentBuild(), ServiceLabels()),
        pool_({.thread_count = 1,
               .queue_limit = 2,
               .nice = 0,
               .before_job = [this] { open_.WaitForNotification(); }}),
        admission_(pool_, 1000, metrics_) {}
  ~AdmissionTest() override { open_.Notify(); }

  absl::Notification open_;
  Metrics metrics_;
  NoJob jobs_[3];
  PlannerPool pool_;
  Admission admission_;
};

TEST_F(AdmissionTest, RefusesWhenTheQueueIsFullAndCountsNothing) {
  EXPECT_FALSE(admission_.Admit(jobs_[0], 10));
  EXPECT_FALSE(admission_.Admit(jobs_[1], 10));
  const auto refusal = admission_.Admit(jobs_[2], 10);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, FailureReason::kQueueFull);
  EXPECT_EQ(refusal->metadata.at("limit"), "max_queued_plans");
  EXPECT_EQ(refusal->metadata.at("maximum"), "2");
  ASSERT_TRUE(refusal->retry_delay_s);
  EXPECT_GT(*refusal->retry_delay_s, 0);
  const std::string text = metrics_.Text();
  EXPECT_THAT(text, HasSubstr("arclane_queued_plans 2"));
  EXPECT_THAT(text, HasSubstr("arclane_admitted_bytes 20"));
  EXPECT_THAT(text, HasSubstr("arclane_shed_total{reason=\"queue_full\"} 1"));
}

TEST_F(AdmissionTest, RefusesWhenTheBytesAreTooManyTogether) {
  EXPECT_FALSE(admission_.Admit(jobs_[0], 600));
  const auto refusal = admission_.Admit(jobs_[1], 500);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->metadata.at("limit"), "max_admitted_bytes");
  EXPECT_FALSE(admission_.Admit(jobs_[1], 400));
  EXPECT_THAT(metrics_.Text(), HasSubstr("arclane_shed_total{reason=\"admitted_bytes\"} 1"));
}

TEST_F(AdmissionTest, EstimatesTheWaitFromWhatPlansTook) {
  EXPECT_EQ(admission_.EstimatedWait(), 0);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_FALSE(admission_.Admit(jobs_[0], 100));
    ASSERT_TRUE(pool_.TryRemove(jobs_[0]));
    admission_.LeftQueue(100);
    admission_.Finished(100, 0.25);
  }
  EXPECT_EQ(admission_.EstimatedWait(), 0);
  ASSERT_FALSE(admission_.Admit(jobs_[0], 100));
  ASSERT_FALSE(admission_.Admit(jobs_[1], 100));
  EXPECT_NEAR(admission_.EstimatedWait(), 0.5, 0.01);
  const auto refusal = admission_.Admit(jobs_[2], 100);
  ASSERT_TRUE(refusal);
  EXPECT_NEAR(*refusal->retry_delay_s, 0.5, 0.01);
}

}  // namespace
}  // namespace arclane
