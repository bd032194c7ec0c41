// Alignments: which of the tokens that a model read each written token came from, by the model's
// attention.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attend/base/limits.h"
#include "attend/metrics/alignment.h"
#include "attend/models/model.h"

namespace attend {

struct AlignmentConfig {
  std::string layer;           // empty: the mean of all; "best": see align_text.h
  std::optional<size_t> head;  // none: the mean of all
  bool leave_out_ends = true;  // attention on the start and end of what was read is redistributed

  template <typename V>
  void fields(V& v) {
    v("layer", layer, "attention layer to align by, such as decoder.1.cross, or best; empty: all");
    v("head", head, "head to align by; none: the mean of all", limits::kHeads.or_0());
    v("leave_out_ends", leave_out_ends, "redistribute the attention on the end of the source");
  }
};

// The layers in which the written sequence attends to the one that is read; may be empty.
std::vector<AttentionLayer> alignment_layers(const Signature& signature);

// Weights [written tokens + 1, read tokens] for each record, from one pass of teacher forcing; the
// last row is for the end. Sequence i of `written`, without start and end, belongs to record i of
// `inputs`. Throws ConfigError if the model has no such layer or head, or no attention to what it
// reads.
std::vector<Tensor> alignments(const Model& model, const Batch& inputs, const Tokens& written,
                               const SpecialTokens& special, const AlignmentConfig& config = {});

// The same for any number of sequences of each record: all[i] are those of record i.
using SequencesOfRecords = std::vector<std::vector<std::vector<int32_t>>>;
std::vector<std::vector<Tensor>> alignments(const Model& model, const Batch& inputs,
                                            const SequencesOfRecords& all,
                                            const SpecialTokens& special,
                                            const AlignmentConfig& config = {});

// Links each written token to the token with the largest weight; the end has no link.
std::vector<Link> strongest_links(const Tensor& weights);
// Links each row to its largest column.
std::vector<Link> row_links(const Tensor& weights);

}  // namespace attend
