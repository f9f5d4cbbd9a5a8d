// SPDX-License-Identifier: Apache-2.0
// Writes SVG. The same calls give the same bytes: numbers are rounded to hundredths of a pixel and
// printed the same way everywhere. Coordinates are pixels, y down, as SVG has them.
#ifndef ARCLANE_CLIENT_CLI_PLOT_SVG_WRITER_H_
#define ARCLANE_CLIENT_CLI_PLOT_SVG_WRITER_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace arclane {

struct Pixel {
  double x = 0;
  double y = 0;
};

// At most two decimals, no trailing zeros, never "-0". Values that are not finite or beyond 1e7 are
// clamped to +-1e7; NaN gives 0.
std::string SvgNumber(double value);
// &, <, > and quotes as entities; control characters, which XML forbids, as spaces.
std::string SvgEscape(std::string_view text);

// The `d` attribute of a path.
class SvgPath {
 public:
  void MoveTo(Pixel to);
  void LineTo(Pixel to);
  // A circular arc of at most half a turn. `clockwise` as seen on the picture.
  void ArcTo(double radius, bool clockwise, Pixel to);
  void Close();
  bool empty() const { return d_.empty(); }
  const std::string& d() const { return d_; }

 private:
  std::string d_;
};

// Attributes are written as given, such as R"(class="wall" stroke-width="2")"; they must be
// well-formed. Text is escaped here.
class SvgWriter {
 public:
  // `title` and `description` are for screen readers. `style` is a style sheet.
  SvgWriter(double width, double height, std::string_view title, std::string_view description,
            std::string_view style);

  void OpenGroup(std::string_view attributes);
  void CloseGroup();
  void Line(Pixel from, Pixel to, std::string_view attributes);
  void Rect(Pixel corner, double width, double height, std::string_view attributes);
  void Circle(Pixel center, double radius, std::string_view attributes);
  void Polygon(std::span<const Pixel> points, std::string_view attributes);
  void Polyline(std::span<const Pixel> points, std::string_view attributes);
  // Nothing for an empty path.
  void Path(const SvgPath& path, std::string_view attributes);
  void Text(Pixel anchor, std::string_view text, std::string_view attributes);
  // A rectangle outside of which elements with clip-path="url(#id)" are not drawn.
  void ClipRect(std::string_view id, Pixel corner, double width, double height);

  // Closes everything that is open. The last call.
  std::string Finish();

 private:
  void Points(std::string_view element, std::span<const Pixel> points, std::string_view attributes);

  std::string text_;
  int open_groups_ = 0;
};

}  // namespace arclane

#endif  // ARCLANE_CLIENT_CLI_PLOT_SVG_WRITER_H_
