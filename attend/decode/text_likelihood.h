// How probable a language model finds running text: documents, read through a window that slides.
#pragma once

#include "attend/data/documents.h"
#include "attend/metrics/perplexity.h"
#include "attend/models/text_model.h"

namespace attend {

struct TextLikelihoodConfig {
  size_t context = 256;  // tokens read at once; with a document's start
  // Tokens by which the window moves on, and so the most that are predicted in one; the fewer, the
  // more each of them has before it, and the longer it takes. 0: the context.
  size_t stride = 0;
  size_t batch_tokens = 4096;

  void check() const;  // throws ConfigError
};

struct TextLikelihood {
  LikelihoodStats stats;  // every token of every document, and its end
  uint64_t characters = 0, bytes = 0, documents = 0;
  uint64_t unknown = 0;  // tokens
  LineCounts read = {};  // what was repaired or left out, in all files

  // Of all tokens and ends, for each character or byte of the text. 0 of no text.
  double bits_per_character() const;
  double bits_per_byte() const;
};

// Throws ConfigError where the model writes nothing or has fewer positions than the context, and
// DataError where the files have no text.
TextLikelihood text_likelihood(const TextModel& model, const DocumentFiles& files,
                               const TextLikelihoodConfig& config);

}  // namespace attend
