#include "attend/models/word2vec.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/base/utf8.h"
#include "attend/nn/init.h"
#include "attend/ops/embedding.h"
#include "attend/tensor/tape.h"
#include "attend/text/tokenizer.h"

namespace attend {
namespace {

constexpr Named<WordPrediction> kPredictions[] = {{WordPrediction::kSkipgram, "skipgram"},
                                                  {WordPrediction::kCbow, "cbow"}};
constexpr Named<WordOutput> kWordOutputs[] = {
    {WordOutput::kNegativeSampling, "negative_sampling"},
    {WordOutput::kHierarchicalSoftmax, "hierarchical_softmax"}};

// FNV-1a.
uint32_t hash_of(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

}  // namespace

std::string_view name_of(WordPrediction prediction) {
  return name_from_value(kPredictions, prediction);
}
std::string_view name_of(WordOutput output) { return name_from_value(kWordOutputs, output); }

void Word2vecConfig::check() const {
  check_ranges(*this, "word2vec");
  if (text_vocabulary == 0) {
    throw ConfigError("word2vec: a vocabulary of 0 words; it must be known");
  }
  if (!(subsample >= 0)) {
    throw ConfigError("word2vec: subsample is {}; it must be 0 or more", subsample);
  }
  if (!(exponent >= 0 && exponent <= 10)) {
    throw ConfigError("word2vec: exponent is {}; it must be between 0 and 10", exponent);
  }
  if (longest_ngram > 0 && (longest_ngram < shortest_ngram || ngram_rows == 0)) {
    throw ConfigError(
        "word2vec: parts of {} to {} characters and {} vectors for them; longest_ngram must be at "
        "least shortest_ngram, and ngram_rows above 0",
        shortest_ngram, longest_ngram, ngram_rows);
  }
}

ModelKind word2vec_kind() {
  ModelKind kind = kind_of<Word2vecModel, Word2vecConfig>(
      "word2vec", "word vectors, by which words predict the words around them",
      {{"skipgram", "skip-gram with negative sampling, 100 wide (Mikolov et al., 2013)",
        [] { return AnyConfig(Word2vecConfig()); }},
       {"cbow", "continuous bag of words with negative sampling, 100 wide",
        [] {
          Word2vecConfig c;
          c.prediction = WordPrediction::kCbow;
          return AnyConfig(c);
        }},
       {"fasttext", "skip-gram with vectors for parts of words (Bojanowski et al., 2017)", [] {
          Word2vecConfig c;
          c.longest_ngram = 6;
          return AnyConfig(c);
        }}});
  kind.make_encoder = encoder_of<WordVectors, Word2vecConfig>;
  return kind;
}

std::vector<int32_t> ngram_numbers(std::string_view word, size_t shortest, size_t longest,
                                   size_t buckets) {
  const std::string marked = "<" + std::string(word) + ">";
  std::vector<size_t> starts;  // of characters, and the end
  for (std::string_view rest = marked; !rest.empty();) {
    starts.push_back(marked.size() - rest.size());
    rest.remove_prefix(first_code_point(rest).bytes);
  }
  starts.push_back(marked.size());
  std::vector<int32_t> numbers;
  for (size_t begin = 0; begin + 1 < starts.size(); ++begin) {
    for (size_t length = shortest; length <= longest && begin + length < starts.size(); ++length) {
      const size_t from = starts[begin], to = starts[begin + length];
      const uint32_t hash = hash_of(std::string_view(marked).substr(from, to - from));
      numbers.push_back(static_cast<int32_t>(hash % buckets));
    }
  }
  return numbers;
}

WordVectors::WordVectors(const Word2vecConfig& c, Rng& rng) : config(c) {
  const size_t rows = c.text_vocabulary + (c.longest_ngram > 0 ? c.ngram_rows : 0);
  embedding.weight =
      Weight(parameter({rows, c.width}, Init::kUniform, rng, 0.5f / static_cast<float>(c.width)));
  embedding.sparse = true;
  // Special tokens are no words and are never trained: in a mean of vectors they should say
  // nothing.
  if (embedding.weight.value.allocated()) {
    const size_t special = std::min<size_t>(kSpecialTokens, c.text_vocabulary) * c.width;
    std::fill_n(embedding.weight.value.data(), special, 0.0f);
  }
}

void WordVectors::read_words(const Tokenizer& tokenizer) {
  if (config.longest_ngram == 0) return;
  parts_.clear();
  first_part_ = {0};
  const auto vocabulary = static_cast<int32_t>(config.text_vocabulary);
  for (int32_t id = 0; id < vocabulary; ++id) {
    parts_.push_back(id);
    const bool word = id >= tokenizer.first_piece() && static_cast<size_t>(id) < tokenizer.size();
    if (word) {
      for (const int32_t part :
           ngram_numbers(tokenizer.decode(std::span(&id, 1)), config.shortest_ngram,
                         config.longest_ngram, config.ngram_rows)) {
        parts_.push_back(vocabulary + part);
      }
    }
    first_part_.push_back(static_cast<uint32_t>(parts_.size()));
  }
}

Tensor WordVectors::rows_of(const Tensor& ids) const {
  if (first_part_.empty()) return embedding(ids);
  const auto look_up = [this](const Tensor& known) {
    std::vector<int32_t> rows, lengths;
    for (const int32_t id : known.index_span()) {
      const auto at = static_cast<size_t>(id);
      const auto begin = parts_.begin() + first_part_[at],
                 end = parts_.begin() + first_part_[at + 1];
      rows.insert(rows.end(), begin, end);
      lengths.push_back(static_cast<int32_t>(end - begin));
    }
    return sparse_embedding_means(embedding.weight.value, Tensor::ids(rows, {rows.size()}),
                                  Packing(lengths));
  };
  EmbeddingTap* const tap = current_embedding_tap();
  return tap == nullptr ? look_up(ids) : tap->embed(ids, look_up);
}

Tensor WordVectors::unseen_word(std::string_view word) const {
  if (config.longest_ngram == 0) return {};
  std::vector<int32_t> rows =
      ngram_numbers(word, config.shortest_ngram, config.longest_ngram, config.ngram_rows);
  if (rows.empty()) return {};
  for (int32_t& row : rows) row += static_cast<int32_t>(config.text_vocabulary);
  const NoGrad no_grad;
  return sparse_embedding_means(embedding.weight.value, Tensor::ids(rows, {rows.size()}),
                                Packing(std::vector{static_cast<int32_t>(rows.size())}))
      .reshape({config.width});
}

Word2vecModel::Word2vecModel(const Word2vecConfig& config, Rng& rng) {
  config.check();
  vectors_ = WordVectors(config, rng);
  output_ = constant_parameter({config.text_vocabulary, config.width}, 0.0f);
}

void Word2vecModel::read_words(std::string_view column, const Tokenizer& tokenizer) {
  if (column == "text") vectors_.read_words(tokenizer);
}

Column Word2vecModel::encode(const Batch& inputs) const {
  const Tokens text = inputs.tokens("text");
  return {vectors_.rows(text), text.packing};
}

WordContextSettings Word2vecModel::word_context() const {
  const Word2vecConfig& c = vectors_.config;
  return {.together = c.prediction == WordPrediction::kCbow,
          .hierarchical = c.output == WordOutput::kHierarchicalSoftmax,
          .window = c.window,
          .negatives = c.negatives,
          .subsample = c.subsample,
          .exponent = c.exponent};
}

Signature Word2vecModel::signature() const {
  return {.columns = {{.name = "text"}}, .layers = {}, .objective = "word_context"};
}

void Word2vecModel::visit(Visitor& v) {
  vectors_.visit(v);
  v("output", output_);
}

}  // namespace attend
