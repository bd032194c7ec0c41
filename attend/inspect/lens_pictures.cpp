#include "attend/inspect/lens_pictures.h"

#include <fmt/format.h>

#include "attend/base/error.h"
#include "attend/inspect/npy.h"
#include "attend/inspect/text_width.h"
#include "attend/inspect/token_table.h"

namespace attend {
namespace {

// What a cell says when it is pointed at.
std::string description(const LogitLens& lens, size_t stage, size_t position) {
  const Candidates& cell = lens.at(stage, position);
  const auto shown = [](const std::string& text) { return isolated(visible(text)); };
  return fmt::format("{} after {}{}\nnext: {}, rank {}, probability {:.3g}", lens.stages[stage],
                     shown(lens.items[position]), described(cell.likeliest),
                     shown(lens.written[position]), cell.rank, cell.probability);
}

// The last stage on top.
TokenTable table_of(const LogitLens& lens) {
  TokenTable table{.title = "Logit lens",
                   .note = kLensNote,
                   .below = {{"reads", lens.items}, {"next", lens.written}}};
  for (size_t stage = lens.stages.size(); stage-- > 0;) {
    table.names.push_back(lens.stages[stage]);
    for (size_t i = 0; i < lens.positions(); ++i) {
      TokenTable::Cell& cell =
          table.cells.emplace_back(TokenTable::Cell{.description = description(lens, stage, i)});
      const Candidates& candidates = lens.at(stage, i);
      if (candidates.likeliest.empty()) continue;
      cell.text = candidates.likeliest.front().text;
      cell.probability = candidates.likeliest.front().probability;
    }
  }
  return table;
}

std::string npy_of(const LogitLens& lens) {
  std::vector<float> values;
  for (const Candidates& cell : lens.cells) values.push_back(cell.probability);
  return npy_bytes(Tensor::of(values, {lens.stages.size(), lens.positions()}));
}

}  // namespace

std::string draw_lens(const LogitLens& lens, PictureFormat format, const TerminalStyle& style) {
  if (format == PictureFormat::kJson) return lens_json(lens) + "\n";
  if (format == PictureFormat::kNpy) return npy_of(lens);
  if (format == PictureFormat::kMoses) {
    throw ConfigError("lens: the logit lens has no word links; choose another format");
  }
  return draw_token_table(table_of(lens), format, style);
}

}  // namespace attend
