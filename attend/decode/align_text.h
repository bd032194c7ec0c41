// Alignments of given lines of text, token by token or word by word, and which layer and head of a
// model align best.
#pragma once

#include <string>
#include <vector>

#include "attend/decode/alignment.h"
#include "attend/metrics/alignment.h"
#include "attend/models/text_model.h"

namespace attend {

struct AlignedText {
  std::vector<int32_t> source, target;  // ids, without start and end
  Tensor weights;                       // as alignments() gives them
};

// Target i belongs to source i; the model is forced to write it. Where config.layer is "best", it
// is the one that the model directory remembers. Throws ConfigError where the model does not read
// one sequence and write another.
std::vector<AlignedText> align_text(const TextModel& model, std::span<const std::string> sources,
                                    std::span<const std::string> targets,
                                    const AlignmentConfig& config, size_t batch_tokens = 4096);

// Weights between words, which white space separates: the sum over a word's tokens on the source
// side, their mean on the target side. `source` and `target` are without start and end; the last
// row, the target's end, stays.
Tensor word_weights(const Tensor& weights, const TextModel& model, std::span<const int32_t> source,
                    std::span<const int32_t> target);

struct RankedAlignment {
  AlignmentPlace place;  // no head: the mean of the layer's
  AlignmentStats stats;
};

// Every layer in which the target looks at the source, and every head of it, by their error rate
// against gold links of words; the best first. Empty where there is no such layer.
std::vector<RankedAlignment> rank_alignments(const TextModel& model,
                                             std::span<const std::string> sources,
                                             std::span<const std::string> targets,
                                             std::span<const std::vector<Link>> gold,
                                             size_t batch_tokens = 4096);

// `config`, with the model's best place where its layer is "best". ConfigError if none is known.
AlignmentConfig with_best_place(AlignmentConfig config, const TextModel& model);

}  // namespace attend
