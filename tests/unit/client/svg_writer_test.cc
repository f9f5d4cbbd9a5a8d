// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/svg_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "client/cli/plot/axis_scale.h"
#include "client/cli/plot/color_ramp.h"

namespace arclane {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SvgNumberTest, RoundsToHundredthsWithoutTrailingZeros) {
  EXPECT_EQ(SvgNumber(0), "0");
  EXPECT_EQ(SvgNumber(-0.001), "0");
  EXPECT_EQ(SvgNumber(1.5), "1.5");
  EXPECT_EQ(SvgNumber(-1.25), "-1.25");
  EXPECT_EQ(SvgNumber(0.04), "0.04");
  EXPECT_EQ(SvgNumber(2.999), "3");
  EXPECT_EQ(SvgNumber(-0.5), "-0.5");
}

TEST(SvgNumberTest, HasAFiniteTextForEveryDouble) {
  EXPECT_EQ(SvgNumber(std::numeric_limits<double>::quiet_NaN()), "0");
  EXPECT_EQ(SvgNumber(std::numeric_limits<double>::infinity()), "10000000");
  EXPECT_EQ(SvgNumber(-1e300), "-10000000");
}

TEST(SvgEscapeTest, LeavesNothingThatXmlReads) {
  EXPECT_EQ(SvgEscape("<a & \"b\">\x01"), "&lt;a &amp; &quot;b&quot;&gt; ");
}

TEST(SvgPathTest, WritesArcsWithTheirDirection) {
  SvgPath path;
  path.MoveTo({0, 0});
  path.ArcTo(3, /*clockwise=*/true, {3, 3});
  path.ArcTo(3, /*clockwise=*/false, {6, 6});
  path.LineTo({7.5, 6});
  EXPECT_EQ(path.d(), "M0,0A3,3 0 0 1 3,3A3,3 0 0 0 6,6L7.5,6");
}

TEST(SvgWriterTest, ClosesWhatIsOpenAndEscapesText) {
  SvgWriter svg(10, 20, "a < b", "", "");
  svg.OpenGroup("class=\"x\"");
  svg.Text({1, 2}, "R & D", "");
  const std::string text = svg.Finish();
  EXPECT_THAT(text, HasSubstr("<title>a &lt; b</title>"));
  EXPECT_THAT(text, HasSubstr("<text x=\"1\" y=\"2\">R &amp; D</text>"));
  EXPECT_THAT(text, ::testing::EndsWith("</g>\n</svg>\n"));
}

TEST(RampColorTest, RunsFromVioletToYellowAndClamps) {
  EXPECT_EQ(RampColor(0), "#440154");
  EXPECT_EQ(RampColor(1), "#fde725");
  EXPECT_EQ(RampColor(-3), RampColor(0));
  EXPECT_EQ(RampColor(7), RampColor(1));
  EXPECT_EQ(RampColor(std::numeric_limits<double>::quiet_NaN()), RampColor(0));
}

std::vector<std::string> Labels(const AxisScale& scale) {
  std::vector<std::string> labels;
  for (const double tick : scale.ticks()) labels.push_back(scale.Label(tick));
  return labels;
}

TEST(AxisScaleTest, TicksAreRoundNumbersWithinTheRange) {
  EXPECT_THAT(Labels(AxisScale(0, 6.4, 5)), ElementsAre("0", "2", "4", "6"));
  EXPECT_THAT(Labels(AxisScale(-0.3, 0.31, 6)), ElementsAre("-0.2", "0.0", "0.2"));
}

TEST(AxisScaleTest, MovesAFarOffsetIntoTheTitle) {
  const AxisScale scale(1e7 + 0.1, 1e7 + 0.9, 5);
  EXPECT_THAT(Labels(scale), ElementsAre("0.2", "0.4", "0.6", "0.8"));
  EXPECT_EQ(scale.Title("x"), "x \xe2\x88\x92 10000000");
}

TEST(AxisScaleTest, MovesASmallUnitIntoTheTitle) {
  const AxisScale scale(0, 6e-6, 3);
  EXPECT_THAT(Labels(scale), ElementsAre("0", "2", "4", "6"));
  EXPECT_EQ(scale.Title("x"), "x [1e-6]");
}

TEST(AxisScaleTest, RoundStepsEncloseTheirValue) {
  for (const double value : {1e-9, 0.3, 1.0, 2.0, 4.9, 5.0, 7.1, 123456.0}) {
    EXPECT_LE(RoundStepBelow(value), value * (1 + 1e-9)) << value;
    EXPECT_GE(RoundStepAbove(value), value * (1 - 1e-9)) << value;
  }
  EXPECT_EQ(RoundStepBelow(4.9), 2);
  EXPECT_EQ(RoundStepAbove(4.9), 5);
}

}  // namespace
}  // namespace arclane
