#include "attend/inspect/token_table_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "attend/base/base64.h"
#include "attend/base/sha256.h"
#include "attend/inspect/colour_scale.h"
#include "attend/inspect/svg_map.h"
#include "attend/inspect/text_width.h"

namespace attend {
namespace {

constexpr int kProbabilitySteps = 16;  // of colour, each a class
constexpr size_t kMostColumns = 14;
constexpr double kTableCharacter = 7.4, kTableLine = 22, kTableMargin = 12,
                 kTablePadding = 8;  // pixels

int probability_step(float probability) {
  return static_cast<int>(std::lround(std::clamp(probability, 0.0f, 1.0f) * kProbabilitySteps));
}

bool wants_white(Rgb colour) {
  return 299 * colour.red + 587 * colour.green + 114 * colour.blue < 140'000;
}

// `property` is what a class colours: fill or background.
std::string colours(Theme theme, std::string_view property) {
  std::string style;
  for (int step = 0; step <= kProbabilitySteps; ++step) {
    const Rgb colour = colour_of(static_cast<float>(step) / kProbabilitySteps, theme);
    const std::string_view ink = wants_white(colour) ? "#fff" : "#000";
    style += fmt::format(".p{}{{{}:{}}}", step, property, colour.text());
    style += property == "fill" ? fmt::format(".t{}{{fill:{}}}", step, ink)
                                : fmt::format(".p{}{{color:{}}}", step, ink);
  }
  return style;
}

std::string shown(const std::string& text) { return xml_escaped(isolated(visible(text))); }

// Where columns begin, and the last one ends.
struct Layout {
  double left = 0;  // of the first cell
  std::vector<double> edges;

  explicit Layout(const TokenTable& table) {
    size_t name = 5;
    for (const std::string& each : table.names) name = std::max(name, columns_of(each));
    left = kTableMargin + static_cast<double>(name) * kTableCharacter + kTablePadding;
    edges = {left};
    for (size_t column = 0; column < table.columns(); ++column) {
      size_t most = 2;
      const auto see = [&](const std::string& text) {
        most = std::max(most, columns_of(visible(text)));
      };
      for (const TokenTable::Line& line : table.below) see(line.texts[column]);
      for (size_t row = 0; row < table.names.size(); ++row) see(table.at(row, column).text);
      const auto columns = static_cast<double>(std::min(most, kMostColumns));
      edges.push_back(edges.back() + columns * kTableCharacter + 2 * kTablePadding);
    }
  }
};

class TableDrawing {
 public:
  explicit TableDrawing(const TokenTable& table) : table_(table), layout_(table) {}

  std::string svg() {
    const size_t lines = table_.names.size() + table_.below.size();
    const double width = layout_.edges.back() + kTableMargin;
    const double height = 2 * kTableMargin + static_cast<double>(lines) * kTableLine;
    write(R"x(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" )x"
          R"x(viewBox="0 0 {0:.0f} {1:.0f}" font-family="system-ui, sans-serif" font-size="12">)x"
          "\n",
          std::ceil(width), std::ceil(height));
    write(
        "<style>svg{{background:#fff}}text{{fill:#222}}.name{{fill:#666}}{}"
        "@media(prefers-color-scheme:dark){{svg{{background:#1b1b1f}}.back{{fill:#1b1b1f}}"
        "text{{fill:#ddd}}.name{{fill:#aaa}}{}}}</style>\n",
        colours(Theme::kLight, "fill"), colours(Theme::kDark, "fill"));
    write("<rect class=\"back\" fill=\"#fff\" width=\"100%\" height=\"100%\"/>\n");
    for (size_t row = 0; row < table_.names.size(); ++row) cells(row);
    size_t line = table_.names.size();
    for (const TokenTable::Line& below : table_.below) texts(below, line++);
    return text_ + "</svg>\n";
  }

 private:
  template <typename... Args>
  void write(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  static double top_of(size_t line) {
    return kTableMargin + static_cast<double>(line) * kTableLine;
  }

  void name(const std::string& text, size_t line) {
    write(R"x(<text class="name" text-anchor="end" x="{:.1f}" y="{:.1f}">{}</text>)x"
          "\n",
          layout_.left - kTablePadding, top_of(line) + 15, shown(text));
  }

  void token(const std::string& text, size_t position, size_t line, const std::string& kind) {
    const double middle = (layout_.edges[position] + layout_.edges[position + 1]) / 2;
    write(R"x(<text{} text-anchor="middle" x="{:.1f}" y="{:.1f}">{}</text>)x", kind, middle,
          top_of(line) + 15, shown(cut_to(visible(text), kMostColumns)));
  }

  void cells(size_t row) {
    name(table_.names[row], row);
    for (size_t i = 0; i < table_.columns(); ++i) {
      const TokenTable::Cell& cell = table_.at(row, i);
      const int step = probability_step(cell.probability);
      const Rgb colour = colour_of(static_cast<float>(step) / kProbabilitySteps, Theme::kLight);
      write(R"x(<g><rect class="p{}" fill="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" )x"
            R"x(height="{}"><title>{}</title></rect>)x",
            step, colour.text(), layout_.edges[i], top_of(row),
            layout_.edges[i + 1] - layout_.edges[i] - 1, kTableLine - 1,
            xml_escaped(cell.description));
      token(cell.text, i, row,
            fmt::format(R"x( class="t{}" fill="{}" pointer-events="none")x", step,
                        wants_white(colour) ? "#fff" : "#000"));
      write("</g>\n");
    }
  }

  void texts(const TokenTable::Line& below, size_t line) {
    name(below.name, line);
    for (size_t i = 0; i < below.texts.size(); ++i) token(below.texts[i], i, line, "");
    write("\n");
  }

  const TokenTable& table_;
  Layout layout_;
  std::string text_;
};

constexpr std::string_view kPageStyle = R"css(
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 12px; max-width: 1300px; }
body { font: 15px/1.5 system-ui, sans-serif; background: #fff; color: #222; }
h1 { margin: 0; font-size: 1.2rem; }
.note { margin: 4px 0 12px; max-width: 46em; color: #555; }
.scroll { overflow: auto; }
table { border-spacing: 1px; font-size: 13px; }
th { font-weight: 400; color: #666; text-align: right; padding: 1px 8px 1px 0; }
thead th, tfoot td { text-align: center; }
td { padding: 1px 8px; text-align: center; white-space: pre; cursor: default; }
tfoot td { color: inherit; }
)css";

}  // namespace

std::string token_table_svg(const TokenTable& table) { return TableDrawing(table).svg(); }

std::string token_table_html(const TokenTable& table) {
  const std::string style =
      std::string(kPageStyle) + colours(Theme::kLight, "background") +
      "@media(prefers-color-scheme:dark){body{background:#1b1b1f;color:#ddd}.note,th{color:#aaa}" +
      colours(Theme::kDark, "background") + "}";
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'sha256-{0}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{2}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{2}</h1>\n"
      "<p class=\"note\">{3}</p>\n<div class=\"scroll\">\n<table>\n<tbody>\n",
      base64(sha256(style)), style, xml_escaped(table.title), xml_escaped(table.note));
  for (size_t row = 0; row < table.names.size(); ++row) {
    page += fmt::format("<tr><th scope=\"row\">{}</th>", xml_escaped(table.names[row]));
    for (size_t i = 0; i < table.columns(); ++i) {
      const TokenTable::Cell& cell = table.at(row, i);
      page +=
          fmt::format("<td class=\"p{}\" title=\"{}\">{}</td>", probability_step(cell.probability),
                      xml_escaped(cell.description), shown(cell.text));
    }
    page += "</tr>\n";
  }
  page += "</tbody>\n<tfoot>\n";
  for (const TokenTable::Line& line : table.below) {
    page += fmt::format("<tr><th scope=\"row\">{}</th>", xml_escaped(line.name));
    for (const std::string& text : line.texts) page += fmt::format("<td>{}</td>", shown(text));
    page += "</tr>\n";
  }
  return page + "</tfoot>\n</table>\n</div>\n</body>\n</html>\n";
}

}  // namespace attend
