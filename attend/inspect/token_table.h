// Tables of tokens, shaded by their probability: what the logit lens and masked tokens are drawn
// as. Not for use outside inspect/.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attend/inspect/candidates.h"
#include "attend/inspect/draw.h"

namespace attend {

struct TokenTable {
  struct Cell {
    std::string text;  // a token; empty: none
    float probability = 0.0f;
    std::string description;  // lines of text about it
  };
  // A row of texts below the cells.
  struct Line {
    std::string name;
    std::vector<std::string> texts;  // as many as there are columns
  };

  std::string title;
  std::string_view note;           // for readers
  std::vector<std::string> names;  // of the rows, from the top
  std::vector<Cell> cells;         // (names x columns)
  std::vector<Line> below;

  size_t columns() const { return below.empty() ? 0 : below.front().texts.size(); }
  const Cell& at(size_t row, size_t column) const { return cells[row * columns() + column]; }
};

// A line for each of the likeliest tokens: "a  0.250".
std::string described(std::span<const CandidateToken> likeliest);

// For a terminal, as SVG, PNG or HTML; other formats have numbers of their own. Tables too wide
// for a terminal are split into bands.
std::string draw_token_table(const TokenTable& table, PictureFormat format,
                             const TerminalStyle& style);

}  // namespace attend
