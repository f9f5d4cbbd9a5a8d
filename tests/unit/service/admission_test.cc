// SPDX-License-Identifier: Apache-2.0
#include "server/service/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "absl/synchronization/notification.h"

namespace arclane {
namespace {

using ::testing::HasSubstr;

class NoJob final : public PlannerPool::Job {
 public:
  void Run() override {}
};

PlanDemand Demand(size_t bytes, double remaining_s = std::numeric_limits<double>::infinity()) {
  PlanDemand demand;
  demand.bytes = bytes;
  demand.work.bytes = bytes;
  demand.remaining_s = remaining_s;
  return demand;
}

class AdmissionTest : public ::testing::Test {
 protected:
  explicit AdmissionTest(size_t queue_limit = 2)
      : metrics_(CurrentBuild(), ServiceLabels()),
        pool_({.thread_count = 1,
               .queue_limit = queue_limit,
               .nice = 0,
               .before_job = [this] { open_.WaitForNotification(); }}),
        admission_(pool_, 1000, metrics_) {}
  ~AdmissionTest() override { open_.Notify(); }

  // Plans of small requests take this long from now on.
  void Teach(double plan_s) {
    for (int i = 0; i < 1000; ++i) admission_.Learn(Demand(100).work, plan_s);
  }

  absl::Notification open_;
  Metrics metrics_;
  NoJob jobs_[64];
  PlannerPool pool_;
  Admission admission_;
};

TEST_F(AdmissionTest, RefusesWhenTheQueueIsFullAndCountsNothing) {
  EXPECT_FALSE(admission_.Admit(jobs_[0], Demand(10)));
  EXPECT_FALSE(admission_.Admit(jobs_[1], Demand(10)));
  const auto refusal = admission_.Admit(jobs_[2], Demand(10));
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
  EXPECT_FALSE(admission_.Admit(jobs_[0], Demand(600)));
  const auto refusal = admission_.Admit(jobs_[1], Demand(500));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->metadata.at("limit"), "max_admitted_bytes");
  EXPECT_FALSE(admission_.Admit(jobs_[1], Demand(400)));
  EXPECT_THAT(metrics_.Text(), HasSubstr("arclane_shed_total{reason=\"admitted_bytes\"} 1"));
}

TEST_F(AdmissionTest, EstimatesTheWaitFromWhatPlansTook) {
  EXPECT_EQ(admission_.EstimatedWait(), 0);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_FALSE(admission_.Admit(jobs_[0], Demand(100)));
    ASSERT_TRUE(pool_.TryRemove(jobs_[0]));
    admission_.LeftQueue();
    admission_.Finished(Demand(100), 0.01);
  }
  EXPECT_EQ(admission_.EstimatedWait(), 0);
  ASSERT_FALSE(admission_.Admit(jobs_[0], Demand(100)));
  ASSERT_FALSE(admission_.Admit(jobs_[1], Demand(100)));
  EXPECT_NEAR(pool_.EstimatedWait(0.01), 0.02, 0.001);
  const auto refusal = admission_.Admit(jobs_[2], Demand(100));
  ASSERT_TRUE(refusal);
  EXPECT_NEAR(*refusal->retry_delay_s, 0.02, 0.001);
}

class AdmissionByWaitTest : public AdmissionTest {
 protected:
  AdmissionByWaitTest() : AdmissionTest(64) {}

  // How many of 64 plans with this deadline are admitted at once.
  int AdmittedOf64(double remaining_s) {
    int admitted = 0;
    for (NoJob& job : jobs_) {
      if (!admission_.Admit(job, Demand(10, remaining_s))) ++admitted;
    }
    return admitted;
  }
};

TEST_F(AdmissionByWaitTest, ABurstMayWaitForHalfOfWhatIsLeft) {
  Teach(0.01);
  // Plans wait for 0, 10, 20, ... 250 ms.
  EXPECT_NEAR(AdmittedOf64(0.5), 26, 1);
  EXPECT_THAT(metrics_.Text(), HasSubstr("arclane_shed_total{reason=\"deadline\"} "));
}

TEST_F(AdmissionByWaitTest, AfterABurstThatWasTooLargeTheQueueIsKeptShort) {
  Teach(0.01);
  AdmittedOf64(0.5);
  std::vector<NoJob*> waiting;
  for (NoJob& job : jobs_) {
    if (pool_.TryRemove(job)) admission_.LeftQueue();
  }
  // 0, 10, 20, 30 ms: a sixteenth of 0.5 s.
  EXPECT_NEAR(AdmittedOf64(0.5), 4, 1);
  EXPECT_THAT(metrics_.Text(), HasSubstr("arclane_shed_total{reason=\"overload\"} "));
}

TEST_F(AdmissionByWaitTest, AQueueThatStandsIsKeptShortAndSaysSo) {
  Teach(0.01);
  for (int i = 0; i < 5; ++i) ASSERT_FALSE(admission_.Admit(jobs_[i], Demand(10, 0.5)));
  std::this_thread::sleep_for(std::chrono::milliseconds(80));
  const auto refusal = admission_.Admit(jobs_[5], Demand(10, 0.5));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, FailureReason::kQueueFull);
  EXPECT_EQ(refusal->metadata.at("limit"), "estimated_wait");
  EXPECT_EQ(refusal->metadata.at("requested"), "50 ms");
  EXPECT_NEAR(*refusal->retry_delay_s, 0.05, 0.001);
  // Callers who have the time may wait.
  EXPECT_FALSE(admission_.Admit(jobs_[6], Demand(10, 5)));
  EXPECT_FALSE(admission_.Admit(jobs_[7], Demand(10)));
}

TEST_F(AdmissionByWaitTest, WhatCannotBeDoneInTimeIsRefusedUnlessAThreadIsFree) {
  Teach(1);
  EXPECT_FALSE(admission_.Admit(jobs_[0], Demand(10, 0.1))) << "the estimate may be wrong";
  EXPECT_TRUE(admission_.Admit(jobs_[1], Demand(10, 0.1)));
}

TEST(PlanCostTest, LearnsByKindAndByWhatIsAsked) {
  PlanCost cost;
  WorkGlance small, rounded, spline;
  small.bytes = 500;
  rounded.bytes = 500;
  rounded.corner_budget_s = 0.02;
  spline.kind = WorkKind::kSpline;
  spline.bytes = 500;
  EXPECT_NEAR(cost.Estimate(rounded) / rounded.PriorSeconds(), 1, 1e-9);
  for (int i = 0; i < 100; ++i) {
    cost.Learn(small, 5e-6);
    cost.Learn(rounded, 0.015);
  }
  EXPECT_NEAR(cost.Estimate(small), 5e-6, 1e-9);
  EXPECT_NEAR(cost.Estimate(rounded), 0.015, 1e-9);
  EXPECT_EQ(cost.Estimate(spline), spline.PriorSeconds());
  // What was never seen follows its neighbour.
  rounded.corner_budget_s = 0.5;
  EXPECT_GT(cost.Estimate(rounded), 0.1);
  // A change of pace is learned.
  for (int i = 0; i < 300; ++i) cost.Learn(small, 50e-6);
  EXPECT_NEAR(cost.Estimate(small), 50e-6, 1e-6);
}

}  // namespace
}  // namespace arclane
