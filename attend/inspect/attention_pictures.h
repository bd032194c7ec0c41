// What a model looks at, ready to be drawn.
#pragma once

#include "attend/inspect/graph.h"
#include "attend/inspect/heat_map.h"
#include "attend/inspect/saliency.h"

namespace attend {

// The strongest colour is the largest value.

// One layer: "decoder.1.cross, head 3".
HeatMap attention_picture(const TextModel& model, const Trace& trace, std::string_view layer,
                          HeadChoice head = {});
// Several, from one pass, in colours that can be compared.
std::vector<HeatMap> attention_pictures(const TextModel& model, const Trace& trace,
                                        std::span<const AttentionLayer> layers,
                                        HeadChoice head = {});
// Each head of a layer, or of several from one pass.
std::vector<HeatMap> head_pictures(const TextModel& model, const Trace& trace,
                                   std::string_view layer);
std::vector<HeatMap> head_pictures(const TextModel& model, const Trace& trace,
                                   std::span<const AttentionLayer> layers);

// How spread out each head looks: a row for each layer, a column for each head; what a layer has
// not is no number.
HeatMap entropy_picture(const TextModel& model, const Trace& trace,
                        std::span<const AttentionLayer> layers);

// All layers together: what of pair.keys is in pair.queries.
HeatMap graph_picture(const TextModel& model, const Trace& trace, GraphMethod method,
                      const SequencePair& pair);
// Gradients: what each written item is due to in the sequence `keys`; empty: the one that is read
// first, or for a model that reads nothing else, what it wrote.
HeatMap saliency_picture(const TextModel& model, const Trace& trace, std::string_view keys = "",
                         const SaliencyConfig& config = {}, const SaliencyListener& listener = {});

}  // namespace attend
