#include "attend/inspect/token_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "attend/base/error.h"
#include "attend/inspect/png_map.h"
#include "attend/inspect/terminal_cells.h"
#include "attend/inspect/text_width.h"
#include "attend/inspect/token_table_page.h"

namespace attend {
namespace {

constexpr size_t kWidestTableToken = 12, kWidestTableName = 16;  // columns of a terminal

// A text in exactly so many columns.
std::string fitted(const std::string& text, size_t columns) {
  const std::string shown = cut_to(visible(text), columns);
  return isolated(shown) + std::string(columns - std::min(columns, columns_of(shown)), ' ');
}

// The table of a terminal.
class TerminalTable {
 public:
  TerminalTable(const TokenTable& table, const TerminalStyle& style)
      : table_(table), style_(style) {
    for (const std::string& name : table.names) name_ = std::max(name_, columns_of(name));
    const auto see = [&](const std::string& text) {
      token_ = std::max(token_, std::min(columns_of(visible(text)), kWidestTableToken));
    };
    for (const TokenTable::Line& line : table.below) {
      name_ = std::max(name_, columns_of(line.name));
      std::ranges::for_each(line.texts, see);
    }
    name_ = std::min(name_, kWidestTableName);
    for (const TokenTable::Cell& cell : table.cells) see(cell.text);
  }

  std::string drawn() const {
    const size_t cell = token_ + 1 + (style_.colours == ColourDepth::kNone ? 1 : 0);
    const size_t beside = style_.columns > name_ + 1 ? style_.columns - name_ - 1 : 0;
    const size_t fit = std::max<size_t>(1, beside / cell);
    std::string text;
    for (size_t begin = 0; begin < table_.columns(); begin += fit) {
      if (begin > 0) text += '\n';
      band(text, begin, std::min(table_.columns(), begin + fit));
    }
    return text;
  }

 private:
  void band(std::string& text, size_t begin, size_t end) const {
    for (size_t row = 0; row < table_.names.size(); ++row) {
      line(text, table_.names[row], begin, end,
           [&](size_t column) { return cell(table_.at(row, column)); });
    }
    for (const TokenTable::Line& below : table_.below) {
      line(text, below.name, begin, end, [&](size_t i) { return plain(below.texts[i]); });
    }
  }

  template <typename F>
  void line(std::string& text, const std::string& name, size_t begin, size_t end,
            const F& cell) const {
    std::string made = fitted(name, name_) + " ";
    for (size_t column = begin; column < end; ++column) made += cell(column);
    made.erase(made.find_last_not_of(' ') + 1);
    text += made + '\n';
  }

  bool has_colours() const { return style_.colours != ColourDepth::kNone; }

  std::string plain(const std::string& token) const {
    return fitted(token, token_) + (has_colours() ? " " : "  ");
  }

  std::string cell(const TokenTable::Cell& cell) const {
    if (cell.text.empty()) return plain("");
    const std::string token = fitted(cell.text, token_);
    if (!has_colours()) return fmt::format("{}{} ", token, shade_of(cell.probability));
    const Rgb colour = colour_of(cell.probability, style_.theme);
    return background(colour, style_.colours) + token + std::string(kColoursOff) + " ";
  }

  const TokenTable& table_;
  const TerminalStyle& style_;
  size_t name_ = 0, token_ = 1;  // columns
};

}  // namespace

std::string described(std::span<const CandidateToken> likeliest) {
  std::string text;
  for (const CandidateToken& token : likeliest) {
    text += fmt::format("\n{}  {:.3f}", isolated(visible(token.text)), token.probability);
  }
  return text;
}

std::string draw_token_table(const TokenTable& table, PictureFormat format,
                             const TerminalStyle& style) {
  switch (format) {
    case PictureFormat::kTerminal:
      return TerminalTable(table, style).drawn();
    case PictureFormat::kSvg:
      return token_table_svg(table);
    case PictureFormat::kPng:
      return png_of_svg(token_table_svg(table));
    case PictureFormat::kHtml:
      return token_table_html(table);
    default:
      break;
  }
  throw ConfigError("{}: a table of tokens has no such form; choose another format", table.title);
}

}  // namespace attend
