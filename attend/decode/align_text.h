// Alignments of given lines of text by tokens or words, and which layer and head of a model align
// best.
#pragma once

#include <string>
#include <vector>

#include "attend/decode/alignment.h"
#include "attend/metrics/alignment.h"
#include "attend/models/text_model.h"

namespace attend {

// A pair of lines with its alignment.
struct AlignedText {
  std::vector<int32_t> source, target;  // ids, without start and end
  Tensor weights;                       // as from alignments()
};

// Aligns target i with source i, by teacher forcing. If config.layer is "best", the layer is the
// one stored in the model directory. Throws ConfigError if the model does not read one sequence and
// write another.
std::vector<AlignedText> align_text(const TextModel& model, std::span<const std::string> sources,
                                    std::span<const std::string> targets,
                                    const AlignmentConfig& config, size_t batch_tokens = 4096);

// Weights between words, which are separated by white space: the sum over a word's tokens on the
// source side, the mean on the target side. `source` and `target` have no start and end; the last
// row, for the end of the target, stays.
Tensor word_weights(const Tensor& weights, const TextModel& model, std::span<const int32_t> source,
                    std::span<const int32_t> target);

// A layer and head, and how well they align.
struct RankedAlignment {
  AlignmentPlace place;  // no head: the mean of all heads
  AlignmentStats stats;
};

// All layers in which the target attends to the source, and all their heads, ranked by error rate
// against gold word links, best first. Empty if there is no such layer.
std::vector<RankedAlignment> rank_alignments(const TextModel& model,
                                             std::span<const std::string> sources,
                                             std::span<const std::string> targets,
                                             std::span<const std::vector<Link>> gold,
                                             size_t batch_tokens = 4096);

// `config`, with the model's best layer and head if its layer is "best". Throws ConfigError if they
// are not known.
AlignmentConfig with_best_place(AlignmentConfig config, const TextModel& model);

}  // namespace attend
