// What fine-tuning changed: a model beside the one that it started from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attend/inspect/attention_maps.h"
#include "attend/inspect/heat_map.h"
#include "attend/inspect/trace.h"

namespace attend {

// How much the weights of a layer changed.
struct LayerChange {
  std::string name;       // "embedding", a layer such as "layers.0", or "output"
  size_t parameters = 0;  // that both models have, in the same shape
  double weights = 0;     // the length of the change, in parts of the length of the base's weights
};

struct TuningChange {
  std::vector<LayerChange> layers;  // in the order of the model's parts
  size_t fresh = 0, left = 0;       // tensors that only the tuned model has, or only the base
  // The cosine of each token's vector in both models, after each stage that both have; 1 where
  // nothing changed. Empty where there is none, as in recurrent models with attention.
  std::vector<std::string> stages, items;
  std::vector<float> cosines;  // (stages x items)

  float cosine_at(size_t stage, size_t item) const { return cosines[stage * items.size() + item]; }
};

// A note for readers.
inline constexpr std::string_view kTuningNote =
    "Vectors of tokens that turn far from those of the base are read differently; that weights of "
    "a "
    "layer changed much does not say that the output needs it.";

// The trace of the tuned model as its base reads it: the same tokens, so far as both have the same
// columns. A base of one text reads two as one; a base of two reads an empty second one. Throws
// ConfigError where the base reads other tokens, or other columns.
Trace trace_of_base(const TextModel& base, const TextModel& tuned, const Trace& trace);

// Tensors correspond as in training (models/transfer.h): by their place in the encoder, otherwise
// by name. Throws ConfigError where none do.
TuningChange tuning_change(const TextModel& base, const TextModel& tuned, const Trace& trace);

// 1 - cosine: a row for each stage, with the change of its weights, the last one on top, a column
// for each token.
HeatMap tuning_picture(const TuningChange& change);

// {"layers": [{"name", "parameters", "weights"}], "fresh", "left", "stages", "items", "cosines"}.
std::string tuning_json(const TuningChange& change);

// For each of some layers of the tuned model: the map of the base, that of the tuned model, on one
// scale, and their difference. Layers of the base correspond by their place among those of the same
// attention. Throws ConfigError where the base has no such layer or head.
std::vector<HeatMap> compared_attention(const TextModel& base, const TextModel& tuned,
                                        const Trace& trace, std::span<const AttentionLayer> layers,
                                        HeadChoice head = {});

}  // namespace attend
