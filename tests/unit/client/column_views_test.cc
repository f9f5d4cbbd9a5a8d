// SPDX-License-Identifier: Apache-2.0
#include "client/sdk/column_views.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/client/plan_examples.h"

namespace arclane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SampleViewTest, ColumnsThatWereNotAskedForAreEmpty) {
  v1::Route route;
  for (const double s : {0.0, 0.5, 0.75}) route.mutable_samples()->add_distance(s);
  for (const double v : {0.0, 1.0, 0.5}) route.mutable_samples()->add_speed(v);
  const auto view = SampleView::Of(route);
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->size, 3u);
  EXPECT_THAT(view->distance, ElementsAre(0, 0.5, 0.75));
  EXPECT_THAT(view->speed, ElementsAre(0, 1, 0.5));
  EXPECT_TRUE(view->time_s.empty());
  EXPECT_TRUE(view->position.empty());
}

TEST(SampleViewTest, NoSamplesAreAnEmptyView) {
  const auto view = SampleView::Of(v1::Route());
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->size, 0u);
}

TEST(SampleViewTest, NamesTheColumnOfOddLength) {
  v1::Route route;
  route.mutable_samples()->add_distance(0);
  route.mutable_samples()->add_distance(1);
  route.mutable_samples()->add_speed(3);
  const auto view = SampleView::Of(route);
  EXPECT_EQ(view.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(view.status().message(), "samples: speed has 1 elements, distance has 2");
}

TEST(PointsViewTest, CoordinatesOfAnEmptyColumnAreZero) {
  v1::PointColumns columns;
  columns.add_x(1);
  columns.add_z(3);
  const auto view = PointsView::Of(columns, "p");
  ASSERT_TRUE(view.ok()) << view.status();
  EXPECT_EQ(view->size(), 1u);
  EXPECT_EQ(view->x(0), 1);
  EXPECT_EQ(view->y(0), 0);
  EXPECT_EQ(view->z(0), 3);
  columns.add_z(4);
  EXPECT_EQ(PointsView::Of(columns, "p").status().message(), "p: z has 2 elements, x has 1");
}

TEST(RouteViewsTest, ReadAWholeRoute) {
  const auto plan = testing::RoundedPlan();
  const auto segments = SegmentView::Of(plan.response.route());
  ASSERT_TRUE(segments.ok()) << segments.status();
  EXPECT_EQ(segments->size, 5u);
  EXPECT_EQ(segments->kind[1], v1::SEGMENT_KIND_ARC);
  EXPECT_EQ(segments->start.x(1), 10);
  const auto phases = PhaseView::Of(plan.response.route());
  ASSERT_TRUE(phases.ok()) << phases.status();
  EXPECT_EQ(phases->size, 9u);
  EXPECT_EQ(phases->segment_index[3], 1u);
  const auto corners = CornerView::Of(plan.response.route());
  ASSERT_TRUE(corners.ok()) << corners.status();
  EXPECT_EQ(corners->reason[1], v1::CORNER_REASON_NO_ROOM);
}

TEST(RouteViewsTest, RefuseColumnsThatDoNotFit) {
  auto plan = testing::RoundedPlan();
  v1::Route& route = *plan.response.mutable_route();
  route.mutable_phases()->set_segment_index(2, 5);
  EXPECT_THAT(std::string(PhaseView::Of(route).status().message()),
              HasSubstr("segment_index[2] is 5 of 5 segments"));
  route.mutable_corners()->add_radius(1);
  EXPECT_EQ(CornerView::Of(route).status().code(), absl::StatusCode::kDataLoss);
  route.mutable_segments()->mutable_length()->RemoveLast();
  EXPECT_EQ(SegmentView::Of(route).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace arclane
