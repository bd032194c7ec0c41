// How probable a model finds given sequences: forced decoding.
#pragma once

#include "attend/models/generator.h"

namespace attend {

struct Scored {
  std::vector<float> log_probabilities;  // of each token, then of the end
  double total = 0;
};

// Target i belongs to source i; ids are without start and end.
std::vector<Scored> score(const Seq2Seq& model, const Tokens& sources, const Tokens& targets);

// What a decoder reads and what it should write: start + target, and target + end.
struct DecoderRows {
  Tokens inputs;
  Tensor labels;  // int32 [rows]
};
DecoderRows decoder_rows(const Tokens& targets);

}  // namespace attend
