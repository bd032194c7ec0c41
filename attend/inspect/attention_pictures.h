// Attention as heat maps, ready to be drawn; the strongest colour is the largest value.
#pragma once

#include "attend/inspect/graph.h"
#include "attend/inspect/heat_map.h"
#include "attend/inspect/saliency.h"

namespace attend {

// One layer, titled "decoder.1.cross, head 3".
HeatMap attention_picture(const TextModel& model, const Trace& trace, std::string_view layer,
                          HeadChoice head = {});
// Several layers from one pass, on one colour scale.
std::vector<HeatMap> attention_pictures(const TextModel& model, const Trace& trace,
                                        std::span<const AttentionLayer> layers,
                                        HeadChoice head = {});
// The mean over all layers of a pair and their heads, titled "target -> source, mean of 4 layers",
// or as the layer where there is one.
HeatMap mean_picture(const TextModel& model, const Trace& trace, const SequencePair& pair);
// Each head of a layer, or of several layers from one pass.
std::vector<HeatMap> head_pictures(const TextModel& model, const Trace& trace,
                                   std::string_view layer);
std::vector<HeatMap> head_pictures(const TextModel& model, const Trace& trace,
                                   std::span<const AttentionLayer> layers);

// What one part of a joined sequence sees of another: cuts that block out of pictures of the whole,
// and puts them on one colour scale. Throws ConfigError if there is no such block.
void cut_to_block(std::span<HeatMap> pictures, const Trace& trace, const SequencePair& block);

// The entropy of each head: a row for each layer, a column for each head, NaN where a layer has
// fewer heads.
HeatMap entropy_picture(const TextModel& model, const Trace& trace,
                        std::span<const AttentionLayer> layers);

// All layers combined: how much of each item of pair.keys is in each item of pair.queries.
HeatMap graph_picture(const TextModel& model, const Trace& trace, GraphMethod method,
                      const SequencePair& pair);
// Saliency by gradients: how much each item of the sequence `keys` contributed to each written
// item. Empty: the sequence that is read or, for a language model, its own text.
HeatMap saliency_picture(const TextModel& model, const Trace& trace, std::string_view keys = "",
                         const SaliencyConfig& config = {}, const SaliencyListener& listener = {});

}  // namespace attend
