#include "attend/train/answer_task.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/tensor/tape.h"
#include "attend/train/objective.h"

namespace attend {

AnswerTask::AnswerTask(bool pair, Answers answers) : answers_(answers) {
  columns = {{"text"}};
  if (pair) columns.push_back({"pair"});
  settings = {"text",          "valid_text",         "longest", "held_out", "weights",
              answers.setting, answers.valid_setting};
  if (pair) settings.insert(settings.end(), {"pair", "valid_pair"});
  records = pair ? "pairs" : "texts";
}

bool AnswerTask::has_text(const DataConfig& data, Split split) const {
  if (split == Split::kValidation) return !data.valid_text.empty() || data.held_out > 0;
  return !data.text.empty() && data.pair.empty() == !has_pair() &&
         !(data.*answers_.training).empty();
}

void AnswerTask::check(const RunConfig& config, const Signature& /*signature*/) const {
  const DataConfig& data = config.data;
  check_files(data);
  check_held_out(data, !data.valid_text.empty(), "data.valid_text");
  const bool has_answers = !(data.*answers_.validation).empty();
  if (data.valid_text.empty() == has_answers) {
    throw ConfigError("train: validation needs both data.valid_text and data.{}",
                      answers_.valid_setting);
  }
  if (has_pair() && data.valid_text.empty() != data.valid_pair.empty()) {
    throw ConfigError("train: validation needs both data.valid_text and data.valid_pair");
  }
}

void AnswerTask::check_files(const DataConfig& data) const {
  const TextFiles none;
  check_corpora({{"text", "text", data.text},
                 {"pair", "pair", has_pair() ? data.pair : none},
                 {answers_.column, answers_.setting, data.*answers_.training}});
  check_corpora({{"text", "valid_text", data.valid_text},
                 {"pair", "valid_pair", has_pair() ? data.valid_pair : none},
                 {answers_.column, answers_.valid_setting, data.*answers_.validation}});
  check_weights(data, data.text.size());
}

TextCorpora AnswerTask::texts(const DataConfig& data, Split split) const {
  const bool training = split == Split::kTraining || data.held_out > 0;
  const ColumnFiles text = training ? ColumnFiles{"text", "text", data.text}
                                    : ColumnFiles{"text", "valid_text", data.valid_text};
  const ColumnFiles pair = training ? ColumnFiles{"pair", "pair", data.pair}
                                    : ColumnFiles{"pair", "valid_pair", data.valid_pair};
  const ColumnFiles answers = {answers_.column,
                               training ? answers_.setting : answers_.valid_setting,
                               data.*(training ? answers_.training : answers_.validation)};
  return has_pair() ? corpora_of({text, pair, answers}) : corpora_of({text, answers});
}

// Both texts of a pair are read as one sequence, and have one tokenizer.
Tokenizers AnswerTask::train_tokenizers(const RunConfig& config) const {
  const TextCorpora text = texts(config.data, Split::kTraining);
  const HeldOut kept = part_of(config.data, Split::kTraining);
  const size_t answer = text.front().size() - 1;
  std::vector<size_t> read(answer);
  for (size_t i = 0; i < answer; ++i) read[i] = i;
  const auto tokenizer = train_on_columns(config.vocabulary.tokenizer, text, kept, read);
  Tokenizers made = {{"text", tokenizer}};
  if (has_pair()) made["pair"] = tokenizer;
  if (const auto tokens = answer_tokens(config.vocabulary)) {
    made[text.front()[answer].name] = train_on_columns(*tokens, text, kept, {answer});
  }
  return made;
}

AnswerJudge::AnswerJudge(const RunConfig& config, const Corpus& corpus)
    : config_(config), corpus_(corpus) {
  const size_t sentences = config.validation.sentences;
  count_ = sentences > 0 ? std::min(sentences, corpus.size()) : corpus.size();
}

double AnswerJudge::operator()(const TextModel& model, const std::atomic<bool>& stop) const {
  const NoGrad no_grad;
  const Signature signature = model.model->signature();
  const RecordLengths lengths = corpus_.lengths();
  const std::unique_ptr<Measurement> found = measurement();
  for (size_t begin = 0; begin < count_;) {
    if (stop) throw Stopped();
    std::vector<uint32_t> some;
    for (size_t rows = 0; begin < count_; ++begin) {
      rows += lengths.rows(begin);
      if (!some.empty() && rows > config_.batch.tokens) break;
      some.push_back(static_cast<uint32_t>(begin));
    }
    found->add(model, training_batch(make_batch(corpus_, some), signature, model.tokenizers));
  }
  return found->value();
}

void AnswerJudge::add_to(Hash& hash) const {
  const uint64_t parts[] = {corpus_.spec(), count_};
  hash.add({reinterpret_cast<const char*>(parts), sizeof parts});
}

}  // namespace attend
