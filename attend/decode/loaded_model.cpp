#include "attend/decode/loaded_model.h"

#include <cmath>
#include <mutex>

#include "attend/base/error.h"
#include "attend/data/words.h"
#include "attend/decode/labels.h"
#include "attend/decode/line_limit.h"
#include "attend/decode/score.h"
#include "attend/models/adapter.h"

namespace attend {
namespace {

constexpr size_t kBatchTokens = 4096;  // of a batch that is labelled

// Throws ConfigError that names the member to use, where a model gives answers of another kind.
void check_answers(const TextModel& model, std::string_view member) {
  const Model& facets = *model.model;
  const std::string_view use = facets.classifier() != nullptr  ? "classify"
                               : facets.tagger() != nullptr    ? "tag"
                               : facets.regressor() != nullptr ? "number"
                                                               : member;
  if (use == member) return;
  throw ConfigError("{}: it is a {} model; use {}", member, model.config.kind.name, use);
}

// Throws DataError where a text has more tokens than the model has positions for.
void check_length(const TextModel& model, const ColumnSpec& column, std::string_view text,
                  std::string_view place) {
  const LineLimit limit = line_limit(column, 0);
  if (limit.tokens == 0) return;
  const size_t count = tokens_read(model, column, text);
  if (!limit.allows(count)) limit.fail(place, count);
}

void check_lengths(const TextModel& model, std::string_view member,
                   std::span<const std::string> texts) {
  const ColumnSpec column = *model.read();
  for (size_t i = 0; i < texts.size(); ++i) {
    check_length(model, column, texts[i], fmt::format("{}: text {}", member, i + 1));
  }
}

std::vector<std::vector<double>> log_probabilities(const TextModel& model,
                                                   std::span<const std::string> texts) {
  check_answers(model, "classify");
  model.classifier();  // throws where it gives no labels
  check_lengths(model, "classify", texts);
  return label_log_probabilities(model, texts, kBatchTokens);
}

std::vector<std::string> best_texts(const Translator& translate,
                                    std::span<const std::string> texts) {
  std::vector<std::string> best;
  best.reserve(texts.size());
  for (Translation& translation : translate(texts)) {
    best.push_back(std::move(translation.texts.front()));
  }
  return best;
}

std::string best_text(const Translator& translate, std::string_view text) {
  const std::string line(text);
  return std::move(best_texts(translate, {&line, 1}).front());
}

std::string first_text(const TextGenerator& generate, std::string_view prompt) {
  const std::string text(prompt);
  return std::move(generate(std::span(&text, 1)).front().texts.front().text);
}

double total_of(const TextModel& model, std::span<const std::string> sources,
                const std::string& target) {
  check_length(model, model.written(), target, "score: the text");
  return score_text(model, sources, {&target, 1}).front().scored.total;
}

}  // namespace

struct LoadedModel::State {
  TextModel model;
  std::optional<size_t> trained_context = {};

  // With default options, made when they are first used.
  std::once_flag translator_made = {}, generator_made = {}, neighbours_made = {};
  std::optional<Translator> translator = {};
  std::optional<TextGenerator> generator = {};
  std::optional<WordNeighbours> neighbours = {};
};

LoadedModel::LoadedModel(TextModel model, const LoadOptions& options)
    : state_(std::make_shared<State>(std::move(model))) {
  if (options.pack) state_->model.model->pack();
}

LoadedModel load(const std::filesystem::path& directory, const LoadOptions& options) {
  LoadedModel loaded(load_adapted(directory, options.adapters), options);
  const TextModel& model = loaded.text_model();
  if (model.model->generator() != nullptr && !model.read()) {
    loaded.state_->trained_context = trained_context(ModelDirectory{directory}, model);
  }
  return loaded;
}

const TextModel& LoadedModel::text_model() const { return state_->model; }

Translator LoadedModel::translator(TranslatorConfig options) const {
  return {{state_->model}, std::move(options)};
}

TextGenerator LoadedModel::text_generator(GenerationConfig options) const {
  // Learned positions that training never reached mean nothing.
  if (state_->trained_context && !options.context && state_->model.written().positions) {
    options.context = state_->trained_context;
  }
  return {state_->model, std::move(options)};
}

const Translator& LoadedModel::default_translator() const {
  std::call_once(state_->translator_made, [this] { state_->translator.emplace(translator()); });
  return *state_->translator;
}

const TextGenerator& LoadedModel::default_generator() const {
  std::call_once(state_->generator_made, [this] { state_->generator.emplace(text_generator()); });
  return *state_->generator;
}

const WordNeighbours& LoadedModel::word_neighbours() const {
  std::call_once(state_->neighbours_made, [this] { state_->neighbours.emplace(state_->model); });
  return *state_->neighbours;
}

std::string LoadedModel::translate(std::string_view text) const {
  return best_text(default_translator(), text);
}

std::vector<std::string> LoadedModel::translate(std::span<const std::string> texts) const {
  return best_texts(default_translator(), texts);
}

std::vector<std::string> LoadedModel::translate(std::initializer_list<std::string> texts) const {
  return translate(std::span(texts.begin(), texts.size()));
}

std::string LoadedModel::translate(std::string_view text, const TranslatorConfig& options) const {
  return best_text(translator(options), text);
}

std::vector<std::string> LoadedModel::translate(std::span<const std::string> texts,
                                                const TranslatorConfig& options) const {
  return best_texts(translator(options), texts);
}

std::string LoadedModel::generate(std::string_view prompt) const {
  return first_text(default_generator(), prompt);
}

std::string LoadedModel::generate(std::string_view prompt, const GenerationConfig& options) const {
  return first_text(text_generator(options), prompt);
}

std::vector<Label> LoadedModel::classify(std::span<const std::string> texts) const {
  std::vector<Label> found;
  for (const std::vector<double>& all : log_probabilities(state_->model, texts)) {
    const RankedLabel best = best_labels(all, 1).front();
    found.push_back({state_->model.label(best.number), std::exp(best.log_probability)});
  }
  return found;
}

std::vector<Label> LoadedModel::classify(std::initializer_list<std::string> texts) const {
  return classify(std::span(texts.begin(), texts.size()));
}

Label LoadedModel::classify(std::string_view text) const {
  const std::string line(text);
  return std::move(classify(std::span(&line, 1)).front());
}

std::vector<Label> LoadedModel::labels(std::string_view text) const {
  const std::string line(text);
  const std::vector<double> all = log_probabilities(state_->model, {&line, 1}).front();
  std::vector<Label> found;
  for (const RankedLabel& label : best_labels(all, all.size())) {
    found.push_back({state_->model.label(label.number), std::exp(label.log_probability)});
  }
  return found;
}

std::vector<std::vector<TaggedWord>> LoadedModel::tag(std::span<const std::string> texts) const {
  const TextModel& model = state_->model;
  check_answers(model, "tag");
  model.tagger();
  check_lengths(model, "tag", texts);
  std::vector<std::vector<TaggedWord>> found;
  for (const std::vector<WordTag>& tags : best_tags(model, texts, kBatchTokens)) {
    const std::vector<std::string_view> words = words_of(texts[found.size()]);
    std::vector<TaggedWord>& tagged = found.emplace_back();
    for (size_t i = 0; i < tags.size(); ++i) {
      tagged.push_back(
          {std::string(words[i]), tag_text(model, tags[i].best.number), tags[i].best.probability});
    }
  }
  return found;
}

std::vector<std::vector<TaggedWord>> LoadedModel::tag(
    std::initializer_list<std::string> texts) const {
  return tag(std::span(texts.begin(), texts.size()));
}

std::vector<TaggedWord> LoadedModel::tag(std::string_view text) const {
  const std::string line(text);
  return std::move(tag(std::span(&line, 1)).front());
}

std::vector<double> LoadedModel::numbers(std::span<const std::string> texts) const {
  const TextModel& model = state_->model;
  check_answers(model, "number");
  model.regressor();
  check_lengths(model, "number", texts);
  return predicted_numbers(model, {.texts = texts}, kBatchTokens);
}

std::vector<double> LoadedModel::numbers(std::initializer_list<std::string> texts) const {
  return numbers(std::span(texts.begin(), texts.size()));
}

double LoadedModel::number(std::string_view text) const {
  const std::string line(text);
  return numbers(std::span(&line, 1)).front();
}

double LoadedModel::number(std::string_view text, std::string_view pair) const {
  const TextModel& model = state_->model;
  check_answers(model, "number");
  model.regressor();
  const std::string first(text), second(pair);
  const Signature signature = model.model->signature();
  if (const auto most = signature.longest_together(); most && reads_pairs(model)) {
    const LineLimit limit{*most, true};
    const size_t count = tokens_read(model, signature.columns[0], first) +
                         tokens_read(model, signature.columns[1], second);
    if (!limit.allows(count)) limit.fail("number: the pair", count);
  }
  return predicted_numbers(model, {.texts = {&first, 1}, .pairs = {&second, 1}}, kBatchTokens)
      .front();
}

Tensor LoadedModel::embed(std::span<const std::string> texts,
                          const EmbeddingOptions& options) const {
  return embed_texts(state_->model, texts, options);
}

Tensor LoadedModel::embed(std::initializer_list<std::string> texts,
                          const EmbeddingOptions& options) const {
  return embed_texts(state_->model, std::span(texts.begin(), texts.size()), options);
}

std::vector<WordNeighbours::Word> LoadedModel::neighbours(std::string_view query,
                                                          size_t count) const {
  return word_neighbours()(query, count);
}

FilledMasks LoadedModel::fill(std::string_view text, size_t count) const {
  const std::string line(text);
  return std::move(fill_masks(state_->model, {&line, 1}, count).front());
}

double LoadedModel::score(std::string_view source, std::string_view target) const {
  const std::string line(source);
  state_->model.generator();  // throws where it writes no sequences
  const std::optional<ColumnSpec> read = state_->model.read();
  if (!read) throw ConfigError("score: the model reads no source; score the text alone");
  check_length(state_->model, *read, source, "score: the source");
  return total_of(state_->model, {&line, 1}, std::string(target));
}

double LoadedModel::score(std::string_view text) const {
  state_->model.generator();
  if (const std::optional<ColumnSpec> read = state_->model.read()) {
    throw ConfigError("score: the model reads a {} before it writes; give it beside the text",
                      read->name);
  }
  return total_of(state_->model, {}, std::string(text));
}

}  // namespace attend
