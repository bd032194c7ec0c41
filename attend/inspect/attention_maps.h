// Attention weights of one record: of one layer and head, or of several combined. An installed
// Intervention (attention/intervention.h) is applied.
#pragma once

#include <functional>

#include "attend/inspect/sequence_pair.h"

namespace attend {

// One head, or all heads combined.
struct HeadChoice {
  // How heads are combined.
  enum class Kind { kOne, kMean, kMax };
  Kind kind = Kind::kMean;
  size_t head = 0;

  static HeadChoice parse(std::string_view text);  // "3", "mean", "max"; throws ConfigError
};

// Throws ConfigError if the layer has no such head.
void check_head(const AttentionLayer& layer, HeadChoice choice);

// Weights [queries, keys] of a layer, from one pass over the whole record. Throws ConfigError if
// the model has no such layer or head.
Tensor attention_map(const TextModel& model, const Trace& trace, std::string_view layer,
                     HeadChoice head = {});

// Throws ConfigError if the installed Intervention names a layer or head that the model does not
// have.
void check_intervention(const Trace& trace);

// The logits of one pass over the whole record: after each written item, [items, vocabulary], or of
// the label, [1, labels]; undefined for an encoder.
Tensor logits_of(const TextModel& model, const Trace& trace);

// The same without gradients, with the weights of some heads of some layers given to `visitor` one
// at a time, so that they need not all be in memory. No heads: all of them.
using HeadVisitor = std::function<void(size_t layer, size_t head, const Tensor& weights)>;
Tensor visit_heads(const TextModel& model, const Trace& trace,
                   std::span<const AttentionLayer> layers, const HeadVisitor& visitor,
                   std::span<const size_t> heads = {});

// Maps of several heads combined into one.
Tensor together(std::span<const Tensor> heads, HeadChoice choice);

// One map for each layer, by the chosen heads, from one pass.
std::vector<Tensor> attention_maps(const TextModel& model, const Trace& trace,
                                   std::span<const AttentionLayer> layers, HeadChoice choice = {});
// The mean over all layers of a pair. Throws ConfigError if there are none.
Tensor mean_map(const TextModel& model, const Trace& trace, const SequencePair& pair);

}  // namespace attend
