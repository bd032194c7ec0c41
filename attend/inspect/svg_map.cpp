#include "attend/inspect/svg_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "attend/base/base64.h"
#include "attend/inspect/colour_scale.h"
#include "attend/inspect/picture.h"
#include "attend/inspect/png_image.h"
#include "attend/inspect/text_width.h"

namespace attend {
namespace {

constexpr size_t kMostCells = 64 * 64;  // drawn as rectangles
constexpr int kColourSteps = 64;        // colours of rectangles, each a class

// Colours in attributes are the light ones, for readers that know no style sheets.
constexpr std::string_view kStyle =
    "svg{background:#fff}text{fill:#222}.title{font-weight:600}"
    "@media(prefers-color-scheme:dark){svg{background:#1b1b1f}.back{fill:#1b1b1f}text{fill:#ddd}"
    "image{filter:url(#dark)}.bar{fill:url(#dark-bar)}.edge{stroke:#555}"
    ".break{stroke:#f0966b}";

constexpr std::pair<char, std::string_view> kEntities[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};

int step_of(float level) { return static_cast<int>(std::lround(level * kColourSteps)); }

std::string class_of(int step) { return fmt::format("{}{}", step < 0 ? 'n' : 'p', std::abs(step)); }

std::string style_of(bool has_sign) {
  std::string style(kStyle);
  for (int step = has_sign ? -kColourSteps : 0; step <= kColourSteps; ++step) {
    const Rgb colour = colour_of(static_cast<float>(step) / kColourSteps, Theme::kDark);
    style += fmt::format(".{}{{fill:{}}}", class_of(step), colour.text());
  }
  return style + "}";
}

// Appends to a text by format.
class Writer {
 public:
  template <typename... Args>
  void operator()(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text), format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    (*this)(format, std::forward<Args>(args)...);
    text += '\n';
  }
  std::string text;
};

void write_text(Writer& write, const PlacedText& text, std::string_view kind) {
  constexpr const char* kAnchors[] = {"start", "middle", "end"};
  if (text.text.empty()) return;
  write(R"x(<text class="{}" font-size="{}" text-anchor="{}")x", kind, text.size,
        kAnchors[static_cast<int>(text.anchor)]);
  if (text.turned == 0) {
    write(R"x( x="{:.1f}" y="{:.1f}")x", text.x, text.y);
  } else {
    write(R"x( transform="translate({:.1f} {:.1f}) rotate(-{})")x", text.x, text.y, text.turned);
  }
  if (kind != "title") write(R"x( data-index="{}")x", text.index);
  write.line(">{}</text>", xml_escaped(isolated(text.text)));
}

std::vector<std::string> escaped_labels(const std::vector<std::string>& labels) {
  std::vector<std::string> all;
  all.reserve(labels.size());
  for (const std::string& label : labels) all.push_back(xml_escaped(isolated(visible(label))));
  return all;
}

void write_rectangles(Writer& write, const HeatMap& map, const PlacedMap& place, bool tooltips) {
  const double size = place.cell - place.gap;
  const auto rows = escaped_labels(map.rows), columns = escaped_labels(map.columns);
  for (size_t row = 0; row < map.rows.size(); ++row) {
    for (size_t column = 0; column < map.columns.size(); ++column) {
      const int step = step_of(map.level(row, column));
      write(R"x(<rect class="{}" fill="{}" x="{}" y="{}" width="{}" height="{}")x", class_of(step),
            colour_of(static_cast<float>(step) / kColourSteps, Theme::kLight).text(),
            static_cast<double>(column) * place.cell, static_cast<double>(row) * place.cell, size,
            size);
      if (tooltips) {
        write.line("><title>{} → {}: {:.4g}</title></rect>", rows[row], columns[column],
                   map.at(row, column));
      } else {
        write.line("/>");
      }
    }
  }
}

// Grey from white (the least) to black; a filter turns it into colours, light or dark.
void write_image(Writer& write, const HeatMap& map, const PlacedMap& place, bool has_sign) {
  std::vector<uint8_t> pixels;
  pixels.reserve(map.values.size());
  for (size_t row = 0; row < map.rows.size(); ++row) {
    for (size_t column = 0; column < map.columns.size(); ++column) {
      const float level = map.level(row, column);
      const float part = has_sign ? (level + 1) / 2 : level;
      pixels.push_back(static_cast<uint8_t>(std::lround(255 * (1 - part))));
    }
  }
  const std::string png = grey_png(pixels, map.columns.size(), map.rows.size());
  write.line(
      R"x(<image filter="url(#light)" image-rendering="pixelated" preserveAspectRatio="none" )x"
      R"x(width="{}" height="{}" href="data:image/png;base64,{}"/>)x",
      place.cell * static_cast<double>(place.columns), place.cell * static_cast<double>(place.rows),
      base64(png));
}

// The colours from the least value to the most.
std::vector<Rgb> all_colours(bool has_sign, Theme theme) {
  std::vector<Rgb> colours;
  const auto& below = colours_below(theme);
  const auto& above = colours_above(theme);
  if (has_sign) colours.assign(below.rbegin(), below.rend() - 1);
  colours.insert(colours.end(), above.begin(), above.end());
  return colours;
}

void write_scale(Writer& write, const char* name, const std::vector<Rgb>& colours) {
  write(R"x(<linearGradient id="{}-bar">)x", name);
  for (size_t i = 0; i < colours.size(); ++i) {
    write(R"x(<stop offset="{:.4f}" stop-color="{}"/>)x",
          static_cast<double>(i) / static_cast<double>(colours.size() - 1), colours[i].text());
  }
  write.line("</linearGradient>");
  write(R"x(<filter id="{}" color-interpolation-filters="sRGB" x="0" y="0" width="1" height="1">)x",
        name);
  write("<feComponentTransfer>");
  for (const auto& [channel, member] :
       {std::pair{'R', &Rgb::red}, std::pair{'G', &Rgb::green}, std::pair{'B', &Rgb::blue}}) {
    write(R"x(<feFunc{} type="table" tableValues=")x", channel);
    for (size_t i = colours.size(); i-- > 0;) write("{:.4f} ", (colours[i].*member) / 255.0);
    write(R"x("/>)x");
  }
  write.line("</feComponentTransfer></filter>");
}

void write_legend(Writer& write, const Legend& legend) {
  if (legend.width == 0) return;
  write.line(
      R"x(<rect class="bar edge" fill="url(#light-bar)" stroke="#bbb" x="{}" y="{}" width="{}" )x"
      R"x(height="{}"/>)x",
      legend.x, legend.y, legend.width, legend.height);
  for (const PlacedText& number : legend.numbers) write_text(write, number, "number");
}

// Lines where one text ends and the next begins, over the cells.
void write_breaks(Writer& write, const HeatMap& map, const PlacedMap& place) {
  std::string path;
  const double width = static_cast<double>(place.columns) * place.cell;
  const double height = static_cast<double>(place.rows) * place.cell;
  const auto at = [&](size_t index) {
    return static_cast<double>(index) * place.cell - place.gap / 2;
  };
  for (const size_t row : map.row_breaks) path += fmt::format("M0 {}H{}", at(row), width);
  for (const size_t column : map.column_breaks) path += fmt::format("M{} 0V{}", at(column), height);
  if (path.empty()) return;
  write.line(R"x(<path class="break" transform="translate({:.1f} {:.1f})" fill="none" )x"
             R"x(stroke="#a8441c" stroke-width="1.5" pointer-events="none" d="{}"/>)x",
             place.x, place.y, path);
}

// What all maps of a picture share.
struct Shared {
  bool as_image = false, has_sign = false;
  SvgOptions options;
};

void write_map(Writer& write, const HeatMap& map, const PlacedMap& place, const Shared& shared) {
  write.line(R"x(<g class="map" data-cell="{}" data-rows="{}" data-columns="{}"{}>)x", place.cell,
             place.rows, place.columns,
             shared.options.focus ? fmt::format(R"x( tabindex="0" role="group" aria-label="{}")x",
                                                xml_escaped(visible(map.title)))
                                  : "");
  write_text(write, place.title, "title");
  for (const PlacedText& label : place.row_labels) write_text(write, label, "row");
  for (const PlacedText& label : place.column_labels) write_text(write, label, "column");
  if (place.rows > 0 && place.columns > 0) {
    write.line(R"x(<g class="cells" transform="translate({:.1f} {:.1f})">)x", place.x, place.y);
    write.line(R"x(<rect class="edge" fill="none" pointer-events="all" stroke="#bbb" )x"
               R"x(x="-1" y="-1" width="{}" height="{}"/>)x",
               static_cast<double>(place.columns) * place.cell + 2 - place.gap,
               static_cast<double>(place.rows) * place.cell + 2 - place.gap);
    if (!shared.as_image) {
      write_rectangles(write, map, place, shared.options.tooltips);
    } else if (shared.options.images) {
      write_image(write, map, place, shared.has_sign);
    }
    write.line("</g>");
    write_breaks(write, map, place);
  }
  write.line("</g>");
}

// A file of its own.
std::string whole_svg(SvgParts parts) {
  const size_t first = parts.body.find('\n') + 1;  // after the opening tag
  parts.body.insert(first, "<style>" + parts.style + "</style>\n");
  return std::move(parts.body);
}

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string xml;
  for (const char c : text) {
    const auto* entity = std::find_if(std::begin(kEntities), std::end(kEntities),
                                      [c](const auto& each) { return each.first == c; });
    if (entity == std::end(kEntities)) {
      xml += c;
    } else {
      xml += entity->second;
    }
  }
  return xml;
}

bool drawn_as_images(std::span<const HeatMap> maps) {
  size_t cells = 0;
  for (const HeatMap& map : maps) cells += map.values.size();
  return cells > kMostCells;
}

SvgParts svg_parts(std::span<const HeatMap> maps, const SvgOptions& options) {
  const Picture picture = lay_out(maps);
  Shared shared{.options = options};
  for (const HeatMap& map : maps) shared.has_sign |= map.has_sign;
  shared.as_image = drawn_as_images(maps);
  Writer write;
  write.line(R"x(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" )x"
             R"x(viewBox="0 0 {0:.0f} {1:.0f}" font-family="system-ui, sans-serif" fill="#222">)x",
             std::ceil(picture.width), std::ceil(picture.height));
  write.line(R"x(<rect class="back" fill="#fff" width="100%" height="100%"/>)x");
  write.line("<defs>");
  for (const auto& [name, theme] : {std::pair{"light", Theme::kLight}, {"dark", Theme::kDark}}) {
    write_scale(write, name, all_colours(shared.has_sign, theme));
  }
  write.line("</defs>");
  for (size_t i = 0; i < maps.size(); ++i) {
    write_map(write, maps[i], picture.maps[i], shared);
  }
  write_legend(write, picture.legend);
  write.line("</svg>");
  return {style_of(shared.has_sign), std::move(write.text)};
}

std::string draw_svg(std::span<const HeatMap> maps) { return whole_svg(svg_parts(maps, {})); }

std::string draw_svg_frame(std::span<const HeatMap> maps) {
  return whole_svg(svg_parts(maps, {.images = false}));
}

}  // namespace attend
