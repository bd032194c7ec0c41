// The logit lens as a table: a row for each layer, the last on top, and a column for each position.
// A cell has the most probable next token; the darker, the more probable.
#pragma once

#include "attend/inspect/draw.h"
#include "attend/inspect/lens.h"

namespace attend {

// A note for readers.
inline constexpr std::string_view kLensNote =
    "The logit lens reads the rows after each layer by the output layer, which was trained to read "
    "those after the last one only: what it says of the first layers is a hint, no more.";

// Like draw_maps() (draw.h). Tables too wide for a terminal are split into bands. NPY has the
// probability of the token that comes next, [stages, positions], the embedding first. Throws
// ConfigError for Moses links.
std::string draw_lens(const LogitLens& lens, PictureFormat format, const TerminalStyle& style = {});

}  // namespace attend
