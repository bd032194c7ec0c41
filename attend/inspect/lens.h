// The logit lens (nostalgebraist, 2020): what a model would write next if its output layer read
// each layer in turn.
#pragma once

#include "attend/inspect/candidates.h"
#include "attend/inspect/trace.h"

namespace attend {

// A table of stages and positions.
struct LogitLens {
  std::vector<std::string> stages;          // "embedding", then each layer, such as "layers.0"
  std::vector<std::string> items, written;  // the token at each position, and the one after it
  std::vector<Candidates> cells;            // (stages x positions), of the next token

  // How many positions, and the cell of one.
  size_t positions() const { return items.size(); }
  const Candidates& at(size_t stage, size_t position) const {
    return cells[stage * positions() + position];
  }
};

// With `top` tokens in each cell, 1 to kMostCandidates. The last stage is bitwise the model's own
// output. Throws ConfigError if the model has no layers that its output layer can read.
LogitLens logit_lens(const TextModel& model, const Trace& trace, size_t top = 5);

// Whether a model has a logit lens.
bool has_logit_lens(const TextModel& model);

// As JSON: `{"stages", "items", "written", "cells": [[{"likeliest": [[token, probability], ...],
// "probability", "rank"}, ...], ...]}`.
std::string lens_json(const LogitLens& lens);

}  // namespace attend
