// Beam search of one record: which hypotheses go on, and when it is done. Not for use outside
// decode/.
#pragma once

#include "attend/decode/frontier.h"

namespace attend {

// How many of the likeliest tokens after a hypothesis a beam looks at: all of its hypotheses may
// come from one parent, and each may end as well.
inline size_t beam_candidates(const SearchConfig& config) { return 2 * config.beam; }

// Appends the candidates that the beam of one record continues with, or that end. The observer may
// be null.
void extend_beam(const Frontier& frontier, const NextTokens& next, LiveRange range,
                 SearchObserver* observer, std::vector<Candidate>& chosen);

// Whether a record has its hypotheses: as many as the beam, or n_best that nothing in `range`,
// which is still being written, can beat.
bool is_decided(const Frontier& frontier, LiveRange range, std::span<const Hypothesis> finished);

}  // namespace attend
