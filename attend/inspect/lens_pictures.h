// The logit lens as a table: a line for each layer, the last one on top, and a column for each
// position; a cell has the likeliest next token, darker as it is likelier.
#pragma once

#include "attend/inspect/draw.h"
#include "attend/inspect/lens.h"

namespace attend {

inline constexpr std::string_view kLensNote =
    "The logit lens reads the rows after each layer by the output layer, which was trained to read "
    "those after the last one only: what it says of the first layers is a hint, no more.";

// As draw_maps() (draw.h). Tables too wide for a terminal are cut into bands. NPY has the
// probability of the token that stands next, [stages, positions], the embedding first. Throws
// ConfigError for Moses links, of which there are none.
std::string draw_lens(const LogitLens& lens, PictureFormat format, const TerminalStyle& style = {});

}  // namespace attend
