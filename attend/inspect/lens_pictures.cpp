#include "attend/inspect/lens_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/inspect/lens_page.h"
#include "attend/inspect/npy.h"
#include "attend/inspect/png_map.h"
#include "attend/inspect/terminal_cells.h"
#include "attend/inspect/text_width.h"

namespace attend {
namespace {

constexpr size_t kWidestLensToken = 12, kWidestStage = 16;  // columns of a terminal

// A text in exactly so many columns.
std::string fitted(const std::string& text, size_t columns) {
  const std::string shown = cut_to(visible(text), columns);
  return isolated(shown) + std::string(columns - std::min(columns, columns_of(shown)), ' ');
}

// The table of a terminal.
class LensTable {
 public:
  LensTable(const LogitLens& lens, const TerminalStyle& style) : lens_(lens), style_(style) {
    for (const std::string& stage : lens.stages) stage_ = std::max(stage_, columns_of(stage));
    stage_ = std::min(std::max(stage_, columns_of("next")), kWidestStage);
    const auto see = [&](const std::string& text) {
      token_ = std::max(token_, std::min(columns_of(visible(text)), kWidestLensToken));
    };
    std::ranges::for_each(lens.items, see);
    std::ranges::for_each(lens.written, see);
    for (const LensCell& cell : lens.cells) {
      if (!cell.likeliest.empty()) see(cell.likeliest.front().text);
    }
  }

  std::string drawn() const {
    const size_t cell = token_ + 1 + (style_.colours == ColourDepth::kNone ? 1 : 0);
    const size_t beside = style_.columns > stage_ + 1 ? style_.columns - stage_ - 1 : 0;
    const size_t fit = std::max<size_t>(1, beside / cell);
    std::string text;
    for (size_t begin = 0; begin < lens_.positions(); begin += fit) {
      if (begin > 0) text += '\n';
      band(text, begin, std::min(lens_.positions(), begin + fit));
    }
    return text;
  }

 private:
  void band(std::string& text, size_t begin, size_t end) const {
    for (size_t stage = lens_.stages.size(); stage-- > 0;) {
      line(text, lens_.stages[stage], begin, end,
           [&](size_t position) { return cell(lens_.at(stage, position)); });
    }
    line(text, "reads", begin, end, [&](size_t i) { return plain(lens_.items[i]); });
    line(text, "next", begin, end, [&](size_t i) { return plain(lens_.written[i]); });
  }

  template <typename F>
  void line(std::string& text, const std::string& name, size_t begin, size_t end,
            const F& cell) const {
    std::string made = fitted(name, stage_) + " ";
    for (size_t position = begin; position < end; ++position) made += cell(position);
    made.erase(made.find_last_not_of(' ') + 1);
    text += made + '\n';
  }

  bool has_colours() const { return style_.colours != ColourDepth::kNone; }

  std::string plain(const std::string& token) const {
    return fitted(token, token_) + (has_colours() ? " " : "  ");
  }

  std::string cell(const LensCell& cell) const {
    if (cell.likeliest.empty()) return plain("");
    const LensToken& best = cell.likeliest.front();
    const std::string token = fitted(best.text, token_);
    if (!has_colours()) return fmt::format("{}{} ", token, shade_of(best.probability));
    const Rgb colour = colour_of(best.probability, style_.theme);
    return background(colour, style_.colours) + token + std::string(kColoursOff) + " ";
  }

  const LogitLens& lens_;
  const TerminalStyle& style_;
  size_t stage_ = 0, token_ = 1;  // columns
};

std::string npy_of(const LogitLens& lens) {
  std::vector<float> values;
  for (const LensCell& cell : lens.cells) values.push_back(cell.probability);
  return npy_bytes(Tensor::of(values, {lens.stages.size(), lens.positions()}));
}

}  // namespace

std::string draw_lens(const LogitLens& lens, PictureFormat format, const TerminalStyle& style) {
  switch (format) {
    case PictureFormat::kTerminal:
      return LensTable(lens, style).drawn();
    case PictureFormat::kSvg:
      return lens_svg(lens);
    case PictureFormat::kPng:
      return png_of_svg(lens_svg(lens));
    case PictureFormat::kHtml:
      return lens_html(lens);
    case PictureFormat::kJson:
      return lens_json(lens) + "\n";
    case PictureFormat::kNpy:
      return npy_of(lens);
    case PictureFormat::kMoses:
      break;
  }
  throw ConfigError("lens: the logit lens has no word links; choose another format");
}

}  // namespace attend
