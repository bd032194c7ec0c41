// One input of a model, what was written from it, and who looked at whom meanwhile.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/decode/search.h"
#include "attend/models/text_model.h"

namespace attend {

struct Reading {
  std::vector<int32_t> source;  // with its end, as the model reads it
  std::vector<int32_t> target;  // without start and end
  // What a person sees of each, ends left out: known where the text was given, which is where
  // unknown tokens can say what they stand for.
  std::vector<std::string> source_pieces = {}, target_pieces = {};
};

// One sequence alone, as models read it.
Tokens one_sequence(std::span<const int32_t> ids);

// A target that is given, or the best that the model finds.
Reading given_reading(const TextModel& model, std::string_view source, std::string_view target);
Reading written_reading(const TextModel& model, std::string_view source,
                        const SearchConfig& search = {});

// What the rows (queries) and columns (keys) of a part's maps are. Encoder: the source at itself;
// decoder: what the decoder reads, a start and the target, at itself; cross: what is written, the
// target and its end, at the source.
struct MapLabels {
  std::vector<std::string> rows, columns;
};
MapLabels map_labels(const TextModel& model, const Reading& reading, AttentionPart part);

// One head, or all together.
struct HeadChoice {
  enum class Kind { kOne, kMean, kMax };
  Kind kind = Kind::kMean;
  size_t head = 0;

  static HeadChoice parse(std::string_view text);  // "3", "mean", "max"; or ConfigError
};

// Throws ConfigError where the layer has no such head.
void check_head(const AttentionLayer& layer, HeadChoice choice);

// The layer of that name. Throws ConfigError with those there are.
AttentionLayer attention_layer(const Seq2Seq& model, std::string_view name);

// Those of a part. Throws ConfigError where the model has none.
std::vector<AttentionLayer> attention_layers(const Seq2Seq& model, AttentionPart part);

// Weights [queries, keys] of a layer, from one forced pass. Throws ConfigError where the model has
// no such layer or head.
Tensor attention_map(const TextModel& model, const Reading& reading, std::string_view layer,
                     HeadChoice head = {});

// Hands over some heads of some layers, all where none are named, one at a time, from one forced
// pass, whose logits it returns: what is made of a map is kept, not the map.
using HeadVisitor = std::function<void(size_t layer, size_t head, const Tensor& weights)>;
Tensor visit_heads(const TextModel& model, const Reading& reading,
                   std::span<const AttentionLayer> layers, const HeadVisitor& visitor,
                   std::span<const size_t> heads = {});

// Maps of heads as one map.
Tensor together(std::span<const Tensor> heads, HeadChoice choice);

// One map for each layer, of the heads chosen, from one forced pass.
std::vector<Tensor> attention_maps(const TextModel& model, const Reading& reading,
                                   std::span<const AttentionLayer> layers, HeadChoice choice);
// The mean over heads of each layer.
std::vector<Tensor> mean_maps(const TextModel& model, const Reading& reading,
                              std::span<const AttentionLayer> layers);
// The mean of those of a part. Throws ConfigError where the model has none.
Tensor mean_map(const TextModel& model, const Reading& reading, AttentionPart part);

}  // namespace attend
