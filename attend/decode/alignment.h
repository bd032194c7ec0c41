// Which source tokens each target token was written from, by the model's own attention.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attend/base/limits.h"
#include "attend/metrics/alignment.h"
#include "attend/models/generator.h"

namespace attend {

struct AlignmentConfig {
  std::string layer;  // empty: the mean of all that look at the source; see align_text.h for best
  std::optional<size_t> head;  // none: the mean of all
  bool leave_out_ends = true;  // the source's end gets no weight, and the others share it

  template <typename V>
  void fields(V& v) {
    v("layer", layer, "attention layer to align by, such as decoder.1.cross, or best; empty: all");
    v("head", head, "head to align by; none: the mean of all", limits::kHeads.or_0());
    v("leave_out_ends", leave_out_ends, "what the source's end gets is shared by the others");
  }
};

// Weights [target tokens + 1, source tokens] for each pair, the last row for the target's end; from
// one forced pass. Sources are as the model reads them. Throws ConfigError where the model has no
// such layer or head, or no attention.
std::vector<Tensor> alignments(const Seq2Seq& model, const Tokens& sources, const Tokens& targets,
                               const AlignmentConfig& config = {});

// The link of each target token to the source token that it looks at most. Ends are left out.
std::vector<Link> strongest_links(const Tensor& weights);
// Of each row to the column that it looks at most.
std::vector<Link> row_links(const Tensor& weights);

}  // namespace attend
