// What a masked language model would write at each place of a text if the token there were hidden.
#pragma once

#include <functional>

#include "attend/inspect/candidates.h"
#include "attend/inspect/draw.h"
#include "attend/inspect/trace.h"

namespace attend {

// One place of a text, by the sequence of the trace and the item of it.
struct MaskedPlace {
  size_t sequence = 0, item = 0;
  Candidates candidates;  // `probability` and `rank` are of the token that was hidden
};

// A note for readers.
inline constexpr std::string_view kMaskedNote =
    "Each token is hidden in turn, and the model tells what it would write there. It sees all "
    "others: a likely token may be right because its neighbours give it away.";

struct MaskedTokensConfig {
  size_t top = 5;                      // candidates of each place, 1 to kMostCandidates
  size_t most_rows = 8192;             // that go through the model at once
  std::function<void()> on_pass = {};  // called after each pass
};

// The most rows that a computation may take.
inline constexpr size_t kMostMaskedRows = 1'200'000;

// All places of the texts that are read, without starts and ends: a copy of the texts for each
// place, packed together. Special tokens are no candidates; a hidden one that is unknown still has
// its probability. Throws ConfigError if the model predicts no masked tokens, and DataError if it
// would take more than kMostMaskedRows.
std::vector<MaskedPlace> masked_tokens(const TextModel& model, const Trace& trace,
                                       const MaskedTokensConfig& config = {});

// As JSON: {"places": [{"sequence", "item", "token", "likeliest": [[token, probability], ...],
// "probability", "rank"}, ...]}.
std::string masked_tokens_json(const Trace& trace, std::span<const MaskedPlace> places);

// Like draw_maps() (draw.h): a column for each place, the likeliest token on top. NPY has the
// probability of each hidden token, [places]. Throws ConfigError for Moses links.
std::string draw_masked_tokens(const Trace& trace, std::span<const MaskedPlace> places,
                               PictureFormat format, const TerminalStyle& style = {});

}  // namespace attend
