// The likelihood of documents under a language model, read through a sliding window.
#pragma once

#include "attend/data/documents.h"
#include "attend/metrics/perplexity.h"
#include "attend/models/text_model.h"

namespace attend {

struct TextLikelihoodConfig {
  size_t context = 256;  // tokens read at once, with a document's start
  // Tokens by which the window moves, and so the most that are predicted in one. A smaller stride
  // gives each token more context and takes longer. 0: the context.
  size_t stride = 0;
  size_t batch_tokens = 4096;

  void check() const;  // throws ConfigError
};

// The result for all documents.
struct TextLikelihood {
  LikelihoodStats stats;  // of every token of every document, and of its end
  uint64_t characters = 0, bytes = 0, documents = 0;
  uint64_t unknown = 0;  // tokens
  LineCounts read = {};  // lines read, repaired and left out, in all files

  // Per character or byte of the text, over all tokens and ends; 0 without text.
  double bits_per_character() const;
  double bits_per_byte() const;
};

// Throws ConfigError if the model writes nothing or has fewer positions than the context, and
// DataError if the files have no text.
TextLikelihood text_likelihood(const TextModel& model, const DocumentFiles& files,
                               const TextLikelihoodConfig& config);

}  // namespace attend
