// SPDX-License-Identifier: Apache-2.0
#include "client/cli/plot/svg_writer.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace arclane {
namespace {

constexpr double kLargestPixel = 1e7;

std::string Pair(Pixel point) { return SvgNumber(point.x) + "," + SvgNumber(point.y); }

std::string Attribute(const char* name, double value) {
  return absl::StrCat(" ", name, "=\"", SvgNumber(value), "\"");
}

std::string Given(std::string_view attributes) {
  std::string given;
  if (!attributes.empty()) given.append(1, ' ').append(attributes);
  return given;
}

}  // namespace

std::string SvgNumber(double value) {
  if (std::isnan(value)) value = 0;
  value = std::clamp(value, -kLargestPixel, kLargestPixel);
  const auto hundredths = static_cast<long long>(std::llround(value * 100));
  const long long magnitude = std::llabs(hundredths);
  std::string text = absl::StrCat(hundredths < 0 ? "-" : "", magnitude / 100);
  if (magnitude % 100 != 0) {
    absl::StrAppendFormat(&text, ".%02d", magnitude % 100);
    if (text.back() == '0') text.pop_back();
  }
  return text;
}

std::string SvgEscape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

void SvgPath::MoveTo(Pixel to) { d_ += "M" + Pair(to); }
void SvgPath::LineTo(Pixel to) { d_ += "L" + Pair(to); }
void SvgPath::ArcTo(double radius, bool clockwise, Pixel to) {
  const std::string r = SvgNumber(radius);
  absl::StrAppend(&d_, "A", r, ",", r, " 0 0 ", clockwise ? "1 " : "0 ", Pair(to));
}
void SvgPath::Close() { d_ += "Z"; }

SvgWriter::SvgWriter(double width, double height, std::string_view title,
                     std::string_view description, std::string_view style) {
  const std::string w = SvgNumber(width);
  const std::string h = SvgNumber(height);
  text_ =
      absl::StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", w, "\" height=\"", h,
                   "\" viewBox=\"0 0 ", w, " ", h, "\" role=\"img\">\n<title>", SvgEscape(title),
                   "</title>\n<desc>", SvgEscape(description), "</desc>\n<style>\n");
  text_.append(style);
  text_ += "</style>\n";
}

void SvgWriter::OpenGroup(std::string_view attributes) {
  text_ += "<g" + Given(attributes) + ">\n";
  ++open_groups_;
}
void SvgWriter::CloseGroup() {
  text_ += "</g>\n";
  --open_groups_;
}

void SvgWriter::Line(Pixel from, Pixel to, std::string_view attributes) {
  absl::StrAppend(&text_, "<line", Attribute("x1", from.x), Attribute("y1", from.y),
                  Attribute("x2", to.x), Attribute("y2", to.y), Given(attributes), "/>\n");
}

void SvgWriter::Rect(Pixel corner, double width, double height, std::string_view attributes) {
  absl::StrAppend(&text_, "<rect", Attribute("x", corner.x), Attribute("y", corner.y),
                  Attribute("width", width), Attribute("height", height), Given(attributes),
                  "/>\n");
}

void SvgWriter::Circle(Pixel center, double radius, std::string_view attributes) {
  absl::StrAppend(&text_, "<circle", Attribute("cx", center.x), Attribute("cy", center.y),
                  Attribute("r", radius), Given(attributes), "/>\n");
}

void SvgWriter::Points(std::string_view element, std::span<const Pixel> points,
                       std::string_view attributes) {
  text_ += "<";
  text_ += element;
  text_ += " points=\"";
  for (size_t i = 0; i < points.size(); ++i) {
    if (i > 0) text_ += ' ';
    text_ += Pair(points[i]);
  }
  text_ += "\"" + Given(attributes) + "/>\n";
}
void SvgWriter::Polygon(std::span<const Pixel> points, std::string_view attributes) {
  Points("polygon", points, attributes);
}
void SvgWriter::Polyline(std::span<const Pixel> points, std::string_view attributes) {
  Points("polyline", points, attributes);
}

void SvgWriter::Path(const SvgPath& path, std::string_view attributes) {
  if (path.empty()) return;
  text_ += "<path d=\"" + path.d() + "\"" + Given(attributes) + "/>\n";
}

void SvgWriter::Text(Pixel anchor, std::string_view text, std::string_view attributes) {
  absl::StrAppend(&text_, "<text", Attribute("x", anchor.x), Attribute("y", anchor.y),
                  Given(attributes), ">", SvgEscape(text), "</text>\n");
}

void SvgWriter::ClipRect(std::string_view id, Pixel corner, double width, double height) {
  absl::StrAppend(&text_, "<clipPath id=\"", std::string(id), "\">");
  Rect(corner, width, height, "");
  text_ += "</clipPath>\n";
}

std::string SvgWriter::Finish() {
  while (open_groups_ > 0) CloseGroup();
  text_ += "</svg>\n";
  return std::move(text_);
}

}  // namespace arclane
