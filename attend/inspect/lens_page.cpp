#include "attend/inspect/lens_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "attend/base/base64.h"
#include "attend/base/sha256.h"
#include "attend/inspect/colour_scale.h"
#include "attend/inspect/lens_pictures.h"
#include "attend/inspect/svg_map.h"
#include "attend/inspect/text_width.h"

namespace attend {
namespace {

constexpr int kProbabilitySteps = 16;  // of colour, each a class
constexpr size_t kMostColumns = 14;
constexpr double kCharacter = 7.4, kLine = 22, kMargin = 12, kPadding = 8;  // pixels

int step_of(float probability) {
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

// What a cell says when it is pointed at.
std::string description(const LogitLens& lens, size_t stage, size_t position) {
  const LensCell& cell = lens.at(stage, position);
  std::string text = fmt::format("{} after {}", lens.stages[stage], shown(lens.items[position]));
  for (const LensToken& token : cell.likeliest) {
    text += fmt::format("\n{}  {:.3f}", shown(token.text), token.probability);
  }
  return text + fmt::format("\nnext: {}, rank {}, probability {:.3g}",
                            shown(lens.written[position]), cell.rank, cell.probability);
}

std::string best_of(const LensCell& cell) {
  return cell.likeliest.empty() ? "" : cell.likeliest.front().text;
}

float most_of(const LensCell& cell) {
  return cell.likeliest.empty() ? 0.0f : cell.likeliest.front().probability;
}

// Where columns begin, and the last one ends.
struct Layout {
  double left = 0;  // of the first cell
  std::vector<double> edges;

  explicit Layout(const LogitLens& lens) {
    size_t stage = 5;
    for (const std::string& name : lens.stages) stage = std::max(stage, columns_of(name));
    left = kMargin + static_cast<double>(stage) * kCharacter + kPadding;
    edges = {left};
    for (size_t position = 0; position < lens.positions(); ++position) {
      size_t most = std::max(columns_of(visible(lens.items[position])),
                             columns_of(visible(lens.written[position])));
      for (size_t s = 0; s < lens.stages.size(); ++s) {
        most = std::max(most, columns_of(visible(best_of(lens.at(s, position)))));
      }
      const auto columns = static_cast<double>(std::clamp<size_t>(most, 2, kMostColumns));
      edges.push_back(edges.back() + columns * kCharacter + 2 * kPadding);
    }
  }
};

class LensDrawing {
 public:
  explicit LensDrawing(const LogitLens& lens) : lens_(lens), layout_(lens) {}

  std::string svg() {
    const size_t lines = lens_.stages.size() + 2;
    const double width = layout_.edges.back() + kMargin;
    const double height = 2 * kMargin + static_cast<double>(lines) * kLine;
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
    for (size_t i = 0; i < lens_.stages.size(); ++i) stage(i);
    names("reads", lens_.items, lens_.stages.size());
    names("next", lens_.written, lens_.stages.size() + 1);
    return text_ + "</svg>\n";
  }

 private:
  template <typename... Args>
  void write(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  static double top_of(size_t line) { return kMargin + static_cast<double>(line) * kLine; }

  void name(const std::string& text, size_t line) {
    write(R"x(<text class="name" text-anchor="end" x="{:.1f}" y="{:.1f}">{}</text>)x"
          "\n",
          layout_.left - kPadding, top_of(line) + 15, shown(text));
  }

  void token(const std::string& text, size_t position, size_t line, const std::string& kind) {
    const double middle = (layout_.edges[position] + layout_.edges[position + 1]) / 2;
    write(R"x(<text{} text-anchor="middle" x="{:.1f}" y="{:.1f}">{}</text>)x", kind, middle,
          top_of(line) + 15, shown(cut_to(visible(text), kMostColumns)));
  }

  void stage(size_t stage) {
    const size_t line = lens_.stages.size() - 1 - stage;
    name(lens_.stages[stage], line);
    for (size_t i = 0; i < lens_.positions(); ++i) {
      const LensCell& cell = lens_.at(stage, i);
      const int step = step_of(most_of(cell));
      const Rgb colour = colour_of(static_cast<float>(step) / kProbabilitySteps, Theme::kLight);
      write(R"x(<g><rect class="p{}" fill="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" )x"
            R"x(height="{}"><title>{}</title></rect>)x",
            step, colour.text(), layout_.edges[i], top_of(line),
            layout_.edges[i + 1] - layout_.edges[i] - 1, kLine - 1, description(lens_, stage, i));
      token(best_of(cell), i, line,
            fmt::format(R"x( class="t{}" fill="{}" pointer-events="none")x", step,
                        wants_white(colour) ? "#fff" : "#000"));
      write("</g>\n");
    }
  }

  void names(const std::string& title, const std::vector<std::string>& tokens, size_t line) {
    name(title, line);
    for (size_t i = 0; i < tokens.size(); ++i) token(tokens[i], i, line, "");
    write("\n");
  }

  const LogitLens& lens_;
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

std::string row_of(std::string_view name, const std::vector<std::string>& tokens) {
  std::string row = fmt::format("<tr><th scope=\"row\">{}</th>", name);
  for (const std::string& token : tokens) row += fmt::format("<td>{}</td>", shown(token));
  return row + "</tr>\n";
}

}  // namespace

std::string lens_svg(const LogitLens& lens) { return LensDrawing(lens).svg(); }

std::string lens_html(const LogitLens& lens) {
  const std::string style =
      std::string(kPageStyle) + colours(Theme::kLight, "background") +
      "@media(prefers-color-scheme:dark){body{background:#1b1b1f;color:#ddd}.note,th{color:#aaa}" +
      colours(Theme::kDark, "background") + "}";
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'sha256-{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>Logit lens</title>\n<style>{}</style>\n</head>\n<body>\n<h1>Logit lens</h1>\n"
      "<p class=\"note\">{}</p>\n<div class=\"scroll\">\n<table>\n<tbody>\n",
      base64(sha256(style)), style, xml_escaped(kLensNote));
  for (size_t stage = lens.stages.size(); stage-- > 0;) {
    page += fmt::format("<tr><th scope=\"row\">{}</th>", xml_escaped(lens.stages[stage]));
    for (size_t i = 0; i < lens.positions(); ++i) {
      const LensCell& cell = lens.at(stage, i);
      page += fmt::format("<td class=\"p{}\" title=\"{}\">{}</td>", step_of(most_of(cell)),
                          description(lens, stage, i), shown(best_of(cell)));
    }
    page += "</tr>\n";
  }
  page += "</tbody>\n<tfoot>\n" + row_of("reads", lens.items) + row_of("next", lens.written);
  return page + "</tfoot>\n</table>\n</div>\n</body>\n</html>\n";
}

}  // namespace attend
