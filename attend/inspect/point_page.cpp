#include "attend/inspect/point_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>

#include "attend/base/base64.h"
#include "attend/base/sha256.h"
#include "attend/inspect/svg_map.h"
#include "attend/inspect/text_width.h"

namespace attend {
namespace {

constexpr double kPlotWidth = 860, kPlotHeight = 640, kEdge = 24;  // pixels
constexpr double kHeading = 26, kAxisLine = 22, kKeyLine = 20, kKeyWidth = 230;
constexpr double kNameSize = 11, kNameColumn = 6.4;      // of texts beside points
constexpr size_t kLongestName = 24, kLongestText = 400;  // columns of text
constexpr size_t kMostNamed = 2000;                      // points with a text beside them

// Hues that can be told apart, also by most who are colour-blind; then the same with other shapes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kHues = {{
    {"#0b6fa4", "#5ab8ea"},
    {"#d1560f", "#f59a5b"},
    {"#138a5e", "#4fc898"},
    {"#a23b9c", "#dd88d6"},
    {"#a47a00", "#e0bf4c"},
    {"#4f4fd0", "#a1a1f7"},
    {"#c2354a", "#f2808d"},
    {"#5d4a3a", "#c9b29b"},
}};
constexpr size_t kShapes = 3;  // circle, square, triangle
constexpr size_t kMostLabels = kHues.size() * kShapes;

std::string point_style() {
  std::string light =
                  "svg{background:#fff}text{fill:#222}.quiet{fill:#666}.frame{stroke:#ddd}"
                  ".halo{stroke:#fff}.other{fill:#8a9095}",
              dark =
                  "svg{background:#1b1b1f}.back{fill:#1b1b1f}text{fill:#ddd}.quiet{fill:#aaa}"
                  ".frame{stroke:#444}.halo{stroke:#1b1b1f}.other{fill:#8a9095}";
  for (size_t i = 0; i < kHues.size(); ++i) {
    light += fmt::format(".h{}{{fill:{}}}", i, kHues[i].first);
    dark += fmt::format(".h{}{{fill:{}}}", i, kHues[i].second);
  }
  return light + "@media(prefers-color-scheme:dark){" + dark + "}";
}

// Where a value of one axis stands in the picture.
struct PointScale {
  double least, most, from, to;

  double operator()(float value) const {
    const double span = most - least;
    const double part = span > 0 ? (double{value} - least) / span : 0.5;
    return from + part * (to - from);
  }
};

template <typename Get>
PointScale scale_of(const PointMap& map, const Get& get, double from, double to) {
  PointScale scale{get(map.points.front()), get(map.points.front()), from, to};
  for (const MapPoint& point : map.points) {
    scale.least = std::min(scale.least, double{get(point)});
    scale.most = std::max(scale.most, double{get(point)});
  }
  return scale;
}

std::string readable(const std::string& text, size_t most) {
  return xml_escaped(isolated(cut_to(visible(text), most)));
}

// What a label looks like.
struct Mark {
  std::string kind;  // its class
  std::string_view fill;
  size_t shape = 0;
};

Mark mark_of(size_t number) {
  if (number >= kMostLabels) return {"other", "#8a9095", 0};
  const size_t hue = number % kHues.size();
  return {fmt::format("h{}", hue), kHues[hue].first, number / kHues.size()};
}

class PointDrawing {
 public:
  explicit PointDrawing(const PointMap& map) : map_(map), labels_(map.labels()) {
    for (size_t i = 0; i < labels_.size(); ++i) numbers_[labels_[i].label] = i;
    const size_t count = map.points.size();
    radius_ = count <= 200 ? 5 : count <= 1000 ? 4 : count <= 5000 ? 3 : 2;
  }

  std::string svg() {
    const double width = kPlotWidth + 2 * kEdge + (labels_.empty() ? 0 : kKeyWidth);
    const double key = static_cast<double>(std::min(labels_.size(), kMostLabels) + 1) * kKeyLine;
    const double height =
        std::max(kPlotHeight + 2 * kEdge + kHeading + kAxisLine, key + 2 * kEdge + kHeading);
    write(R"x(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" )x"
          R"x(viewBox="0 0 {0:.0f} {1:.0f}" font-family="system-ui, sans-serif" fill="#222">)x"
          "\n<style>{2}</style>\n"
          R"x(<rect class="back" fill="#fff" width="100%" height="100%"/>)x"
          "\n",
          std::ceil(width), std::ceil(height), point_style());
    write(R"x(<text x="{}" y="{}" font-size="13" font-weight="600">{}</text>)x"
          "\n",
          kEdge, kEdge + 4, readable(map_.title, 100));
    frame();
    if (!map_.points.empty()) points();
    key_of_labels();
    return text_ + "</svg>\n";
  }

 private:
  template <typename... Args>
  void write(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  static constexpr double left() { return kEdge; }
  static constexpr double top() { return kEdge + kHeading; }

  void frame() {
    write(R"x(<rect class="frame" fill="none" stroke="#ddd" x="{}" y="{}" width="{}" )x"
          R"x(height="{}"/>)x"
          "\n",
          left(), top(), kPlotWidth, kPlotHeight);
    if (!map_.x_axis.empty()) {
      write(R"x(<text class="quiet" fill="#666" font-size="11" text-anchor="end" x="{}" y="{}">)x"
            "{} →</text>\n",
            left() + kPlotWidth, top() + kPlotHeight + 16, readable(map_.x_axis, 60));
    }
    if (map_.y_axis.empty()) return;
    write(R"x(<text class="quiet" fill="#666" font-size="11" x="{}" y="{}">{} ↑</text>)x"
          "\n",
          left() + 6, top() + 15, readable(map_.y_axis, 60));
  }

  void shape(const Mark& mark, double x, double y, double r, const std::string& more) {
    const std::string common = fmt::format(
        R"x(class="halo {}" fill="{}" stroke="#fff" stroke-width="0.7")x", mark.kind, mark.fill);
    if (mark.shape == 0) {
      write(R"x(<circle {} cx="{:.1f}" cy="{:.1f}" r="{}"{})x", common, x, y, r, more);
    } else if (mark.shape == 1) {
      write(R"x(<rect {} x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"{})x", common,
            x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r, more);
    } else {
      write(R"x(<path {} d="M{:.1f} {:.1f}l{:.1f} {:.1f}h{:.1f}z"{})x", common, x, y - 1.2 * r,
            1.15 * r, 2 * r, -2.3 * r, more);
    }
  }

  void points() {
    const double margin = 14;
    const PointScale across = scale_of(
        map_, [](const MapPoint& p) { return p.x; }, left() + margin, left() + kPlotWidth - margin);
    const PointScale up = scale_of(
        map_, [](const MapPoint& p) { return p.y; }, top() + kPlotHeight - margin,
        top() + margin + (map_.y_axis.empty() ? 0 : 12));
    write("<g class=\"points\">\n");
    for (size_t i = 0; i < map_.points.size(); ++i) {
      const MapPoint& point = map_.points[i];
      const size_t number = labels_.empty() ? 0 : numbers_.at(point.label);
      shape(mark_of(number), across(point.x), up(point.y), radius_,
            fmt::format(R"x( data-label="{}">)x", labels_.empty() ? 0 : number));
      const std::string label =
          point.label.empty() ? "" : "\n" + readable(point.label, kLongestText);
      write("<title>{}{}</title></{}>\n", readable(point.text, kLongestText), label,
            element_of(mark_of(number)));
    }
    write("</g>\n");
    if (map_.named) names(across, up);
  }

  static std::string_view element_of(const Mark& mark) {
    constexpr std::array<std::string_view, kShapes> kElements = {"circle", "rect", "path"};
    return kElements[mark.shape];
  }

  // Texts beside their points; one that would cover another is left out, the first ones first.
  void names(const PointScale& across, const PointScale& up) {
    struct Box {
      double left, right, y;
    };
    std::vector<Box> taken;
    write("<g class=\"names\" font-size=\"{}\">\n", kNameSize);
    for (size_t i = 0; i < std::min(map_.points.size(), kMostNamed); ++i) {
      const MapPoint& point = map_.points[i];
      const std::string name = cut_to(visible(point.text), kLongestName);
      const double length = kNameColumn * static_cast<double>(columns_of(name));
      const double apart = radius_ + 2, y = up(point.y) + 4;
      // On the other side where the picture ends.
      const bool fits = across(point.x) + apart + length <= left() + kPlotWidth;
      const double x = across(point.x) + (fits ? apart : -apart - length);
      const Box box{x, x + length, y};
      const bool covers = std::ranges::any_of(taken, [&](const Box& other) {
        return std::abs(other.y - y) < kNameSize && box.left < other.right &&
               other.left < box.right;
      });
      if (covers || x < left()) continue;
      taken.push_back(box);
      write(R"x(<text x="{:.1f}" y="{:.1f}" pointer-events="none">{}</text>)x"
            "\n",
            x, y, xml_escaped(isolated(name)));
    }
    write("</g>\n");
  }

  void key_of_labels() {
    if (labels_.empty()) return;
    const double x = left() + kPlotWidth + 22;
    double y = top() + 12;
    size_t others = 0, other_points = 0;
    for (size_t i = 0; i < labels_.size(); ++i) {
      if (i >= kMostLabels) {
        ++others, other_points += labels_[i].points;
        continue;
      }
      const std::string name = labels_[i].label.empty() ? "(none)" : labels_[i].label;
      entry(mark_of(i), x, y, fmt::format("{}", i),
            fmt::format("{} ({})", readable(name, kLongestName), labels_[i].points));
      y += kKeyLine;
    }
    if (others == 0) return;
    entry(mark_of(kMostLabels), x, y, "other",
          fmt::format("{} other labels ({})", others, other_points));
  }

  void entry(const Mark& mark, double x, double y, const std::string& number,
             const std::string& text) {
    write(R"x(<g class="key" data-label="{}">)x", number);
    shape(mark, x, y, 5, "/>");
    write(R"x(<text font-size="12" x="{:.1f}" y="{:.1f}">{}</text></g>)x"
          "\n",
          x + 12, y + 4, text);
  }

  const PointMap& map_;
  std::vector<PointMap::LabelCount> labels_;
  std::map<std::string, size_t> numbers_;
  double radius_ = 5;
  std::string text_;
};

constexpr std::string_view kPointPageStyle = R"css(
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 12px; max-width: 1200px; }
body { font: 15px/1.5 system-ui, sans-serif; background: #fff; color: #222; }
h1 { margin: 0; font-size: 1.2rem; }
.note { margin: 4px 0 12px; max-width: 46em; color: #555; }
output { display: block; min-height: 3.2em; max-width: 60em; overflow-wrap: anywhere; }
output b { font-weight: 600; }
svg { max-width: 100%; height: auto; }
.points > * { cursor: default; }
.points .near { stroke: currentColor; stroke-width: 2; }
.key { cursor: pointer; }
.off { opacity: 0.08; pointer-events: none; }
.key.off { opacity: 0.4; pointer-events: auto; }
@media (prefers-color-scheme: dark) {
  body { background: #1b1b1f; color: #ddd; }
  .note { color: #aaa; }
}
)css";

// Shows the text of the point that is nearest to the pointer, and switches labels off and on.
constexpr std::string_view kPointPageScript = R"js(
const picture = document.querySelector('svg');
const shown = document.querySelector('output');
const hint = shown.textContent;
const points = [...picture.querySelectorAll('.points > *')];
const keys = [...picture.querySelectorAll('.key')];
const labels = keys.length;
const places = points.map((node) => {
  const { x, y, width, height } = node.getBBox();
  return { node, x: x + width / 2, y: y + height / 2 };
});
let near = null;
function show(place) {
  if (place === near) return;
  near?.node.classList.remove('near');
  near = place;
  near?.node.classList.add('near');
  const [text, label] = near ? near.node.querySelector('title').textContent.split('\n') : [hint];
  shown.textContent = text;
  if (!label) return;
  const bold = document.createElement('b');
  bold.textContent = label;
  shown.append(document.createElement('br'), bold);
}
picture.addEventListener('pointermove', (event) => {
  const { x, y } = new DOMPoint(event.clientX, event.clientY)
    .matrixTransform(picture.getScreenCTM().inverse());
  let best = null;
  let least = 400;
  for (const place of places) {
    const far = (place.x - x) ** 2 + (place.y - y) ** 2;
    if (far >= least || place.node.classList.contains('off')) continue;
    [best, least] = [place, far];
  }
  show(best);
});
picture.addEventListener('pointerleave', () => show(null));
for (const key of keys) {
  key.addEventListener('click', () => {
    const off = key.classList.toggle('off');
    const { label } = key.dataset;
    for (const point of points) {
      const own = point.dataset.label;
      const isMeant = label === 'other' ? Number(own) >= labels - 1 : own === label;
      if (isMeant) point.classList.toggle('off', off);
    }
  });
}
)js";

std::string point_hash(std::string_view content) {
  return "'sha256-" + base64(sha256(content)) + "'";
}

}  // namespace

std::string points_svg(const PointMap& map) { return PointDrawing(map).svg(); }

std::string points_html(const PointMap& map) {
  // One style element for both: the picture's own would need a hash of its own.
  std::string svg = points_svg(map);
  const std::string inner = point_style();
  const std::string element = "<style>" + inner + "</style>\n";
  svg.erase(svg.find(element), element.size());
  const std::string style = inner + std::string(kPointPageStyle);
  const std::string title = xml_escaped(visible(map.title));
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {}; "
      "style-src {}; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<h1>{}</h1>\n",
      point_hash(kPointPageScript), point_hash(style), title, style, title);
  page += fmt::format("<p class=\"note\">{}</p>\n", xml_escaped(kPointsNote));
  page +=
      "<output aria-live=\"polite\">Point at the picture to read the text of a point. Click a "
      "label to hide its points.</output>\n";
  page += svg;
  return page + fmt::format("<script>{}</script>\n</body>\n</html>\n", kPointPageScript);
}

}  // namespace attend
