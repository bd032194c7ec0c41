// The objective of word vectors: words predict the words around them. Not for use outside train/.
#pragma once

#include <mutex>

#include "attend/train/objective.h"
#include "attend/train/word_sampler.h"

namespace attend {

// Its gradients are those of the sum over all predictions: the rate of an update is that of one.
class WordContextLoss : public Objective {
 public:
  WordContextLoss(const RunConfig& config, const Signature& signature);
  void prepare(const Corpus& corpus, const Tokenizers& tokenizers) override;
  Loss loss(const Model& model, const Batch& batch, const LossContext& context) const override;

 private:
  const WordSampler& sampler_for(const WordPredictor& predictor) const;

  std::string column_;
  std::vector<uint64_t> counts_;  // of each id, in the training text
  size_t first_ = 0;              // id of a word
  mutable std::once_flag made_;
  mutable WordSampler sampler_;  // by what the first model asks for
};

}  // namespace attend
