// Attention weights of one record: of a layer and a head, or of several together. While an
// Intervention is installed (attention/intervention.h), they are what it makes of them.
#pragma once

#include <functional>

#include "attend/inspect/sequence_pair.h"

namespace attend {

// One head, or all together.
struct HeadChoice {
  enum class Kind { kOne, kMean, kMax };
  Kind kind = Kind::kMean;
  size_t head = 0;

  static HeadChoice parse(std::string_view text);  // "3", "mean", "max"; or ConfigError
};

// Throws ConfigError where the layer has no such head.
void check_head(const AttentionLayer& layer, HeadChoice choice);

// Weights [queries, keys] of a layer, from one pass over the whole record. Throws ConfigError where
// the model has no such layer or head.
Tensor attention_map(const TextModel& model, const Trace& trace, std::string_view layer,
                     HeadChoice head = {});

// Throws ConfigError where the installed Intervention names a layer or head that the model has not.
void check_intervention(const Trace& trace);

// One pass over the whole record, with what an Intervention changes of it: the logits after each
// written item, [items, vocabulary], or of the label, [1, labels]; undefined for an encoder.
Tensor logits_of(const TextModel& model, const Trace& trace);

// The same without gradients. Hands over some heads of some layers, all heads where none are named,
// one at a time: what is made of a map is kept, not the map.
using HeadVisitor = std::function<void(size_t layer, size_t head, const Tensor& weights)>;
Tensor visit_heads(const TextModel& model, const Trace& trace,
                   std::span<const AttentionLayer> layers, const HeadVisitor& visitor,
                   std::span<const size_t> heads = {});

// Maps of heads as one map.
Tensor together(std::span<const Tensor> heads, HeadChoice choice);

// One map for each layer, of the heads chosen, from one pass.
std::vector<Tensor> attention_maps(const TextModel& model, const Trace& trace,
                                   std::span<const AttentionLayer> layers, HeadChoice choice = {});
// The mean of all layers of a pair. Throws ConfigError where there are none.
Tensor mean_map(const TextModel& model, const Trace& trace, const SequencePair& pair);

}  // namespace attend
