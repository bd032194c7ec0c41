#include "attend/train/looks.h"

#include <algorithm>
#include <utility>

#include "attend/base/special_tokens.h"

namespace attend {

Looks::Looks(const LooksConfig& config, const Corpus& corpus, ModelDirectory directory)
    : every_(config.every), directory_(std::move(directory)) {
  for (size_t i = 0; every_ > 0 && i < std::min(config.sentences, corpus.size()); ++i) {
    Reading& sentence = sentences_.emplace_back();
    corpus.append_source(i, sentence.source);
    sentence.source.push_back(kEnd);
    corpus.append_target(i, sentence.target);
  }
}

void Looks::store(const TextModel& model, int64_t step) const {
  if (model.model->attention_layers().empty()) return;
  write_snapshot(directory_, step, model, sentences_);
}

}  // namespace attend
