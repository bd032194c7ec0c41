// Texts through a model that answers: gives labels, tags or numbers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/models/text_model.h"

namespace attend {

// What a model is asked about: texts, and for a model of pairs as many second texts.
struct AskedTexts {
  std::span<const std::string> texts, pairs = {};
};
// Whether the model reads two texts.
bool reads_pairs(const TextModel& model);
// The tokens that a text becomes, without its frame; a model that tags reads it word by word.
size_t tokens_read(const TextModel& model, const ColumnSpec& column, std::string_view text);

// The log-probability (natural logarithm) of each label, for each text. Here and below, a batch has
// at most `batch_tokens` tokens, or one text, and ConfigError says what the model is for where it
// gives no such answers.
std::vector<std::vector<double>> label_log_probabilities(const TextModel& model,
                                                         const AskedTexts& asked,
                                                         size_t batch_tokens);
std::vector<std::vector<double>> label_log_probabilities(const TextModel& model,
                                                         std::span<const std::string> lines,
                                                         size_t batch_tokens);

// A label by its number: TextModel::label() has its text.
struct RankedLabel {
  size_t number;
  double log_probability;
};
// The most probable labels, best first.
std::vector<RankedLabel> best_labels(std::span<const double> log_probabilities, size_t count);

// A tag by its number: tag_text() has its text.
struct RankedTag {
  size_t number;
  double probability;
};
// The tag of a word: of the most probable tags of a text together, and with them how probable each
// is by itself.
struct WordTag {
  RankedTag best;
  std::vector<RankedTag> ranked = {};  // the most probable ones of this word, best first
};
// The tags of each word (data/words.h) of each text, with so many ranked ones of each word.
std::vector<std::vector<WordTag>> best_tags(const TextModel& model,
                                            std::span<const std::string> texts, size_t batch_tokens,
                                            size_t ranked = 0);
std::string tag_text(const TextModel& model, size_t number);

// The number of each text, or pair.
std::vector<double> predicted_numbers(const TextModel& model, const AskedTexts& asked,
                                      size_t batch_tokens);

}  // namespace attend
