// The logit lens (nostalgebraist, 2020): what a model would write next if it stopped after each
// layer, by its own output layer.
#pragma once

#include "attend/inspect/trace.h"

namespace attend {

struct LensToken {
  int32_t id = 0;
  std::string text;
  float probability = 0.0f;
};

// One position after one stage.
struct LensCell {
  std::vector<LensToken> likeliest;  // the likeliest first
  float probability = 0.0f;          // of the token that stands next in the trace
  size_t rank = 1;                   // of that token: 1 is the likeliest
};

struct LogitLens {
  std::vector<std::string> stages;          // "embedding", then each layer, such as "layers.0"
  std::vector<std::string> items, written;  // the token at each position, and the one after it
  std::vector<LensCell> cells;              // (stages x positions)

  size_t positions() const { return items.size(); }
  const LensCell& at(size_t stage, size_t position) const {
    return cells[stage * positions() + position];
  }
};

// What the lens can show of a position.
inline constexpr size_t kMostLensTokens = 50;

// `top` tokens of each cell, 1 to kMostLensTokens. The last stage is the model's own output, to the
// bit. Throws ConfigError where the model has no layers whose rows its output layer can read.
LogitLens logit_lens(const TextModel& model, const Trace& trace, size_t top = 5);

// Whether there is a lens of a model: tried on empty texts.
bool has_logit_lens(const TextModel& model);

// One object: {"stages", "items", "written", "cells": [[{"likeliest": [[token, probability], ...],
// "probability", "rank"}, ...], ...]}.
std::string lens_json(const LogitLens& lens);

}  // namespace attend
