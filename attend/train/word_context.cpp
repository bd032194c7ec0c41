#include "attend/train/word_context.h"

#include "attend/base/error.h"
#include "attend/data/windows.h"

namespace attend {
namespace {

const WordPredictor& predictor_of(const Model& model) {
  if (const WordPredictor* const found = model.word_predictor()) return *found;
  throw ConfigError(
      "train: training.objective word_context needs a model of word vectors; leave it out, or "
      "choose such a model (attend train --list-presets)");
}

// How often each id occurs; what a window repeats of the one before it counts once.
std::vector<uint64_t> counts_of(const Corpus& corpus, std::string_view name, size_t vocabulary) {
  std::vector<uint64_t> counts(vocabulary);
  const size_t column = corpus.column(name);
  const std::string context = context_column(name);
  const bool windows = corpus.has(context);
  std::vector<int32_t> ids, repeated;
  for (size_t record = 0; record < corpus.size(); ++record) {
    ids.clear();
    repeated.assign(windows ? 0 : 1, 0);
    corpus.append(record, column, ids);
    if (windows) corpus.append(record, corpus.column(context), repeated);
    for (auto i = static_cast<size_t>(repeated[0]); i < ids.size(); ++i) {
      ++counts[static_cast<size_t>(ids[i])];
    }
  }
  return counts;
}

}  // namespace

WordContextLoss::WordContextLoss(const RunConfig& config, const Signature& signature) {
  if (config.training.coverage_loss > 0) {
    throw ConfigError(
        "train: training.coverage_loss is for models that write sequences; leave it out");
  }
  for (const ColumnSpec& column : signature.columns) {
    if (column.kind == ColumnKind::kTokens && column_.empty()) column_ = column.name;
  }
}

void WordContextLoss::prepare(const Corpus& corpus, const Tokenizers& tokenizers) {
  const Tokenizer& tokenizer = *tokenizers.at(column_);
  counts_ = counts_of(corpus, column_, tokenizer.size());
  first_ = static_cast<size_t>(tokenizer.first_piece());
}

const WordSampler& WordContextLoss::sampler_for(const WordPredictor& predictor) const {
  std::call_once(made_, [&] { sampler_ = WordSampler(counts_, first_, predictor.word_context()); });
  return sampler_;
}

Loss WordContextLoss::loss(const Model& model, const Batch& batch,
                           const LossContext& context) const {
  const WordPredictor& predictor = predictor_of(model);
  const WordSampler::Drawn drawn =
      sampler_for(predictor).draw(batch.tokens(column_), context.random);
  const Tensor x = predictor.word_rows(Tensor::ids(drawn.ids, {drawn.ids.size()}));
  const WordContextSum loss = word_context_loss(x, predictor.word_outputs(), drawn.windows);
  return {.sum = loss.sum, .count = loss.count, .summed = true};
}

}  // namespace attend
