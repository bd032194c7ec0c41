#include "attend/decode/labels.h"

#include <algorithm>
#include <cmath>

#include "attend/base/counted.h"
#include "attend/base/error.h"
#include "attend/data/words.h"
#include "attend/decode/text_batches.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

std::vector<double> log_softmax(std::span<const float> logits) {
  const double largest = double{*std::ranges::max_element(logits)};
  double sum = 0;
  for (const float x : logits) sum += std::exp(double{x} - largest);
  std::vector<double> found;
  found.reserve(logits.size());
  for (const float x : logits) found.push_back(double{x} - largest - std::log(sum));
  return found;
}

WordTokens word_tokens(const Tokenizer& tokenizer, std::string_view text) {
  const auto encode = [&](std::string_view word) { return tokenizer.encode(word); };
  return encode_words(encode, attend::words_of(text), tokenizer.special().unknown);
}

WordTag word_tag(const DecodedTags& decoded, size_t row, size_t ranked) {
  const std::vector<float> all = decoded.probabilities.slice_rows(row, 1).to_vector();
  const auto best = static_cast<size_t>(decoded.best[row]);
  WordTag found{{best, double{all[best]}}};
  if (ranked == 0) return found;
  for (size_t i = 0; i < all.size(); ++i) found.ranked.push_back({i, double{all[i]}});
  std::ranges::stable_sort(found.ranked, std::greater{}, &RankedTag::probability);
  found.ranked.resize(std::min(found.ranked.size(), ranked));
  return found;
}

// The columns that a model reads, in their order: the text, and the second text of a pair.
std::vector<ColumnSpec> read_columns(const TextModel& model) {
  std::vector<ColumnSpec> columns;
  for (const ColumnSpec& column : model.model->signature().columns) {
    if (!column.written && column.kind == ColumnKind::kTokens) columns.push_back(column);
  }
  return columns;
}

// The ids of texts, column by column.
using ColumnIds = std::vector<std::vector<std::vector<int32_t>>>;

ColumnIds encoded(const TextModel& model, const AskedTexts& asked) {
  const std::vector<ColumnSpec> columns = read_columns(model);
  const std::span<const std::string> texts[] = {asked.texts, asked.pairs};
  if (columns.size() > 2 || (columns.size() == 2) != !asked.pairs.empty() ||
      (columns.size() == 2 && asked.pairs.size() != asked.texts.size())) {
    throw ConfigError("the model reads {}, but is asked about {} and {} second texts",
                      columns.size() == 2 ? "two texts each time" : "one text each time",
                      counted(asked.texts.size(), "text"), asked.pairs.size());
  }
  ColumnIds ids;
  for (size_t c = 0; c < columns.size(); ++c) {
    const Tokenizer& tokenizer = model.tokenizer(columns[c].name);
    auto& of_column = ids.emplace_back();
    for (const std::string& text : texts[c]) of_column.push_back(tokenizer.encode(text));
  }
  return ids;
}

// Some texts as the model reads them.
Batch answer_inputs(const TextModel& model, const ColumnIds& ids, std::span<const size_t> some) {
  Batch batch(some.size());
  const std::vector<ColumnSpec> columns = read_columns(model);
  for (size_t c = 0; c < columns.size(); ++c) {
    TokenLines lines;
    const SpecialTokens special = model.tokenizer(columns[c].name).special();
    for (const size_t i : some) lines.add(framed(ids[c][i], columns[c].framing, special));
    batch.add(columns[c].name, lines.tokens());
  }
  return batch;
}

// Calls take(numbers of the texts, inputs) for each batch.
template <typename Take>
void in_answer_batches(const TextModel& model, const ColumnIds& ids, size_t batch_tokens,
                       const Take& take) {
  std::vector<size_t> lengths(ids.front().size(), 1);
  for (const auto& of_column : ids) {
    for (size_t i = 0; i < of_column.size(); ++i) lengths[i] += of_column[i].size();
  }
  for (const std::vector<size_t>& some : batches_by_length(lengths, batch_tokens)) {
    take(some, answer_inputs(model, ids, some));
  }
}

}  // namespace

bool reads_pairs(const TextModel& model) { return read_columns(model).size() == 2; }

size_t tokens_read(const TextModel& model, const ColumnSpec& column, std::string_view text) {
  const Tokenizer& tokenizer = model.tokenizer(column.name);
  return model.model->tagger() == nullptr ? tokenizer.encode(text).size()
                                          : word_tokens(tokenizer, text).ids.size();
}

std::vector<std::vector<double>> label_log_probabilities(const TextModel& model,
                                                         const AskedTexts& asked,
                                                         size_t batch_tokens) {
  const NoGrad no_grad;
  const Classifier& classifier = model.classifier();
  if (asked.texts.empty()) return {};
  std::vector<std::vector<double>> found(asked.texts.size());
  in_answer_batches(model, encoded(model, asked), batch_tokens,
                    [&](std::span<const size_t> some, const Batch& inputs) {
                      const Tensor logits = classifier.label_logits(inputs);
                      for (size_t i = 0; i < some.size(); ++i) {
                        found[some[i]] = log_softmax(logits.slice_rows(i, 1).to_vector());
                      }
                    });
  return found;
}

std::vector<std::vector<double>> label_log_probabilities(const TextModel& model,
                                                         std::span<const std::string> lines,
                                                         size_t batch_tokens) {
  return label_log_probabilities(model, {.texts = lines}, batch_tokens);
}

std::vector<RankedLabel> best_labels(std::span<const double> log_probabilities, size_t count) {
  std::vector<RankedLabel> all;
  for (size_t i = 0; i < log_probabilities.size(); ++i) all.push_back({i, log_probabilities[i]});
  std::ranges::stable_sort(all, std::greater{}, &RankedLabel::log_probability);
  all.resize(std::min(all.size(), count));
  return all;
}

std::vector<std::vector<WordTag>> best_tags(const TextModel& model,
                                            std::span<const std::string> texts, size_t batch_tokens,
                                            size_t ranked) {
  const Tagger& tagger = model.tagger();
  const ColumnSpec column = read_columns(model).front();
  const Tokenizer& tokenizer = model.tokenizer(column.name);
  std::vector<WordTokens> words;
  std::vector<size_t> lengths, wordy;  // the latter: texts that have words
  for (size_t i = 0; i < texts.size(); ++i) {
    WordTokens tokens = word_tokens(tokenizer, texts[i]);
    if (tokens.last.empty()) continue;
    lengths.push_back(tokens.ids.size() + 1);
    words.push_back(std::move(tokens));
    wordy.push_back(i);
  }
  std::vector<std::vector<WordTag>> found(texts.size());
  for (const std::vector<size_t>& some : batches_by_length(lengths, batch_tokens)) {
    TokenLines lines, ends;
    for (const size_t i : some) {
      lines.add(framed(words[i].ids, column.framing, tokenizer.special()));
      std::vector<int32_t> last = words[i].last;
      for (int32_t& place : last) place += column.framing.start ? 1 : 0;
      ends.add(last);
    }
    const Tokens last = ends.tokens();
    Batch batch(column.name, lines.tokens());
    batch.add(words_column(column.name), Column{last.ids, last.packing});
    const DecodedTags decoded = tagger.decode_tags(batch);
    for (size_t i = 0; i < some.size(); ++i) {
      for (size_t row = decoded.packing.begin(i); row < decoded.packing.end(i); ++row) {
        found[wordy[some[i]]].push_back(word_tag(decoded, row, ranked));
      }
    }
  }
  return found;
}

std::string tag_text(const TextModel& model, size_t number) {
  const Tokenizer& tags = model.tokenizer("tags");
  const int32_t id = tags.first_piece() + static_cast<int32_t>(number);
  return tags.decode(std::span(&id, 1));
}

std::vector<double> predicted_numbers(const TextModel& model, const AskedTexts& asked,
                                      size_t batch_tokens) {
  const NoGrad no_grad;
  const Regressor& regressor = model.regressor();
  if (asked.texts.empty()) return {};
  std::vector<double> found(asked.texts.size());
  in_answer_batches(model, encoded(model, asked), batch_tokens,
                    [&](std::span<const size_t> some, const Batch& inputs) {
                      const Tensor standard = regressor.standard_numbers(inputs);
                      for (size_t i = 0; i < some.size(); ++i) {
                        found[some[i]] =
                            regressor.mean() + regressor.deviation() * double{standard.data()[i]};
                      }
                    });
  return found;
}

}  // namespace attend
