// SPDX-License-Identifier: Apache-2.0
#include "server/service/planner_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "absl/synchronization/notification.h"

namespace arclane {
namespace {

class FunctionJob final : public PlannerPool::Job {
 public:
  explicit FunctionJob(std::function<void()> function) : function_(std::move(function)) {}
  void Run() override { function_(); }

 private:
  std::function<void()> function_;
};

// Jobs that note the order in which they ran.
class PlannerPoolTest : public ::testing::Test {
 protected:
  FunctionJob& NotingJob(int number) {
    jobs_.push_back(std::make_unique<FunctionJob>([this, number] { order_.push_back(number); }));
    return *jobs_.back();
  }
  PlannerPoolOptions Held() {
    PlannerPoolOptions options;
    options.queue_limit = 3;
    options.nice = 0;
    options.before_job = [this] { open_.WaitForNotification(); };
    return options;
  }

  absl::Notification open_;
  std::vector<int> order_;  // One planning thread writes it, and is joined before it is read.
  std::vector<std::unique_ptr<FunctionJob>> jobs_;
};

TEST_F(PlannerPoolTest, RunsInOrderAndRefusesBeyondTheLimit) {
  {
    PlannerPool pool(Held());
    EXPECT_TRUE(pool.TryPush(NotingJob(1)));
    EXPECT_TRUE(pool.TryPush(NotingJob(2)));
    EXPECT_TRUE(pool.TryPush(NotingJob(3)));
    EXPECT_FALSE(pool.TryPush(NotingJob(4)));
    EXPECT_EQ(pool.queued(), 3u);
    open_.Notify();
  }
  EXPECT_EQ(order_, (std::vector<int>{1, 2, 3}));
}

TEST_F(PlannerPoolTest, RemovesFirstMiddleAndLast) {
  for (int removed = 1; removed <= 3; ++removed) {
    order_.clear();
    absl::Notification open;
    PlannerPoolOptions options = Held();
    options.before_job = [&open] { open.WaitForNotification(); };
    std::vector<int> expected;
    {
      PlannerPool pool(options);
      std::vector<FunctionJob*> pushed;
      for (int number = 1; number <= 3; ++number) {
        pushed.push_back(&NotingJob(number));
        ASSERT_TRUE(pool.TryPush(*pushed.back()));
        if (number != removed) expected.push_back(number);
      }
      EXPECT_TRUE(pool.TryRemove(*pushed[static_cast<size_t>(removed - 1)]));
      EXPECT_FALSE(pool.TryRemove(*pushed[static_cast<size_t>(removed - 1)]));
      EXPECT_EQ(pool.queued(), 2u);
      open.Notify();
    }
    EXPECT_EQ(order_, expected) << "removed " << removed;
  }
}

TEST_F(PlannerPoolTest, EmptiedByRemovalItTakesJobsAgain) {
  {
    PlannerPool pool(Held());
    FunctionJob& only = NotingJob(1);
    ASSERT_TRUE(pool.TryPush(only));
    ASSERT_TRUE(pool.TryRemove(only));
    EXPECT_EQ(pool.queued(), 0u);
    ASSERT_TRUE(pool.TryPush(NotingJob(2)));
    ASSERT_TRUE(pool.TryPush(only));
    open_.Notify();
  }
  EXPECT_EQ(order_, (std::vector<int>{2, 1}));
}

TEST_F(PlannerPoolTest, SmallJobsPassALargeOneAndDoNotStarveIt) {
  PlannerPoolOptions options = Held();
  options.queue_limit = 1000;
  {
    PlannerPool pool(options);
    // 0.1 s each; the first has no claim over the small ones that come later.
    for (int number = 1001; number <= 1003; ++number)
      ASSERT_TRUE(pool.TryPush(NotingJob(number), 0.1));
    for (int number = 1; number <= 300; ++number)
      ASSERT_TRUE(pool.TryPush(NotingJob(number), 0.0009));
    EXPECT_NEAR(pool.EstimatedWait(0.0001), 2 * 300 * 0.0009, 0.01);
    EXPECT_NEAR(pool.EstimatedWait(0.1), 0.3 + 300 * 0.0009, 0.01);
    open_.Notify();
  }
  ASSERT_EQ(order_.size(), 303u);
  const auto place = [this](int number) {
    return std::find(order_.begin(), order_.end(), number) - order_.begin();
  };
  // Between two large ones as much time goes to small ones: 0.1 s are 111 of them.
  EXPECT_LE(place(1001), 1);
  EXPECT_NEAR(static_cast<double>(place(1002) - place(1001)), 112, 2);
  EXPECT_NEAR(static_cast<double>(place(1003) - place(1002)), 112, 2);
  // Each class in the order of arrival.
  EXPECT_TRUE(std::is_sorted(order_.begin(), order_.end(),
                             [](int a, int b) { return a < 1000 && b < 1000 && a < b; }));
}

TEST_F(PlannerPoolTest, TheLongestJobsLeaveAThreadForOthers) {
  absl::Notification release, small_ran;
  std::atomic<int> long_running{0};
  FunctionJob first([&] { ++long_running, release.WaitForNotification(); });
  FunctionJob second([&] { ++long_running, release.WaitForNotification(); });
  FunctionJob small([&] { small_ran.Notify(); });
  {
    PlannerPool pool({.thread_count = 2, .queue_limit = 10, .nice = 0, .before_job = nullptr});
    ASSERT_TRUE(pool.TryPush(first, 1.0));
    ASSERT_TRUE(pool.TryPush(second, 1.0));
    ASSERT_TRUE(pool.TryPush(small, 1e-5));
    small_ran.WaitForNotification();
    EXPECT_LE(long_running, 1);
    release.Notify();
  }
  EXPECT_EQ(long_running, 2);
}

TEST_F(PlannerPoolTest, TellsForHowLongAQueueStands) {
  PlannerPool pool(Held());
  EXPECT_EQ(pool.QueueAge(), 0);
  FunctionJob& job = NotingJob(1);
  ASSERT_TRUE(pool.TryPush(job));
  EXPECT_GT(pool.QueueAge(), 0);
  ASSERT_TRUE(pool.TryRemove(job));
  EXPECT_EQ(pool.QueueAge(), 0);
  open_.Notify();
}

TEST_F(PlannerPoolTest, TheLongestWaitIsThatOfAJobLikeThoseThatWait) {
  PlannerPoolOptions options = Held();
  options.queue_limit = 100;
  PlannerPool pool(std::move(options));
  EXPECT_EQ(pool.LongestWait(), 0);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(pool.TryPush(NotingJob(i), 0.02));
  // A short job would go before all but one of them.
  EXPECT_LT(pool.EstimatedWait(1e-6), 0.03);
  EXPECT_NEAR(pool.LongestWait(), 50 * 0.02, 1e-9);
  for (auto& job : jobs_) ASSERT_TRUE(pool.TryRemove(*job));
  EXPECT_EQ(pool.LongestWait(), 0);
  open_.Notify();
}

TEST_F(PlannerPoolTest, AJobThatRanCannotBeRemoved) {
  PlannerPool pool({.thread_count = 1, .queue_limit = 1, .nice = 0, .before_job = nullptr});
  absl::Notification ran;
  FunctionJob job([&ran] { ran.Notify(); });
  ASSERT_TRUE(pool.TryPush(job));
  ran.WaitForNotification();
  EXPECT_FALSE(pool.TryRemove(job));
}

TEST_F(PlannerPoolTest, ThreadsAreNicerByTheAmountAsked) {
  PlannerPool pool({.thread_count = 1, .queue_limit = 1, .nice = 3, .before_job = nullptr});
  absl::Notification ran;
  int nice = 0;
  FunctionJob job([&] {
    nice = getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)));
    ran.Notify();
  });
  ASSERT_TRUE(pool.TryPush(job));
  ran.WaitForNotification();
  EXPECT_EQ(nice, getpriority(PRIO_PROCESS, 0) + 3);
}

TEST_F(PlannerPoolTest, ManyPushersAndRemoversLoseNothing) {
  constexpr int kThreads = 4, kRounds = 2000;
  std::atomic<int> ran{0};
  int removed = 0, refused = 0;
  std::vector<std::unique_ptr<FunctionJob>> jobs;
  for (int i = 0; i < kThreads * kRounds; ++i) {
    jobs.push_back(std::make_unique<FunctionJob>([&ran] { ++ran; }));
  }
  {
    PlannerPool pool({.thread_count = 2, .queue_limit = 64, .nice = 0, .before_job = nullptr});
    std::atomic<int> removed_total{0}, refused_total{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = t * kRounds; i < (t + 1) * kRounds; ++i) {
          FunctionJob& job = *jobs[static_cast<size_t>(i)];
          if (!pool.TryPush(job)) {
            ++refused_total;
          } else if (i % 3 == 0 && pool.TryRemove(job)) {
            ++removed_total;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    removed = removed_total;
    refused = refused_total;
  }
  EXPECT_EQ(ran + removed + refused, kThreads * kRounds);
}

}  // namespace
}  // namespace arclane
