// Word vectors by which words predict the words around them: skip-gram and CBOW (Mikolov et al.,
// 2013), with vectors for the inside of words where wanted (Bojanowski et al., 2017).
#pragma once

#include <vector>

#include "attend/base/limits.h"
#include "attend/models/registry.h"
#include "attend/nn/embedding.h"

namespace attend {

// What predicts a word.
enum class WordPrediction {
  kSkipgram,  // each word of its window
  kCbow,      // all words of its window together
};
std::string_view name_of(WordPrediction prediction);

// How a word is told from others.
enum class WordOutput {
  kNegativeSampling,     // from a few that are drawn
  kHierarchicalSoftmax,  // from all, by the path to it in a Huffman tree
};
std::string_view name_of(WordOutput output);

struct Word2vecConfig {
  size_t text_vocabulary = 0;
  size_t width = 100;
  WordPrediction prediction = WordPrediction::kSkipgram;
  WordOutput output = WordOutput::kNegativeSampling;
  size_t window = 5, negatives = 5;
  double subsample = 1e-3, exponent = 0.75;
  size_t shortest_ngram = 3, longest_ngram = 0, ngram_rows = 100'000;

  bool operator==(const Word2vecConfig&) const = default;
  template <typename V>
  void fields(V& v) {
    v("text_vocabulary", text_vocabulary, "words of the text; set from its tokenizer",
      limits::kVocabulary);
    v("width", width, "of vectors", limits::kWidth);
    v("prediction", prediction,
      "skipgram: each word of a window predicts the word in its middle; cbow: all of them "
      "together");
    v("output", output,
      "what a word is told from: a few wrong ones, or all words in a binary tree");
    v("window", window, "words on each side that predict; how many is drawn from 1 to this",
      Range{1, 1000});
    v("negatives", negatives, "negative_sampling: wrong words for each right one", Range{1, 1000});
    v("subsample", subsample,
      "share of the text above which a word is left out at times; 0: never");
    v("exponent", exponent,
      "negative_sampling: wrong words are drawn by their count to this power");
    v("shortest_ngram", shortest_ngram,
      "characters of the shortest parts of words that have vectors", Range{1, 100});
    v("longest_ngram", longest_ngram,
      "characters of the longest, such as 6; 0: only whole words have vectors", Range{0, 100});
    v("ngram_rows", ngram_rows, "vectors that all parts of words share, by their hash",
      limits::kVocabulary);
  }

  void check() const;  // throws ConfigError
};

// Numbers from 0 to `buckets` - 1 of the parts of "<word>" that have `shortest` to `longest`
// characters, the start and end marks counted; bytes that are no UTF-8 count one each.
std::vector<int32_t> ngram_numbers(std::string_view word, size_t shortest, size_t longest,
                                   size_t buckets);

// A vector for each token: its own, or the mean of its own and those of its parts.
class WordVectors : public SequenceEncoder {
 public:
  Word2vecConfig config;
  Embedding embedding;

  WordVectors() = default;
  WordVectors(const Word2vecConfig& config, Rng& rng);

  size_t width() const override { return config.width; }
  Tensor rows(const Tokens& tokens) const override { return rows_of(tokens.ids); }
  Tensor rows_of(const Tensor& ids) const;          // [ids, width]
  Tensor unseen_word(std::string_view word) const;  // [width], of its parts; or undefined
  void visit(Visitor& v) override { v("embedding", embedding); }
  std::vector<AttentionLayer> layers(const std::string& /*sequence*/) const override { return {}; }
  std::optional<size_t> positions() const override { return std::nullopt; }
  bool first_sees_all() const override { return false; }
  bool last_sees_all() const override { return false; }
  const Embedding& table() const override { return embedding; }
  void read_words(const Tokenizer& tokenizer) override;

 private:
  std::vector<uint32_t> first_part_;  // of each token, in the list, and its size
  std::vector<int32_t> parts_;        // rows of the embedding: the token's own and its parts'
};

// Vectors, and what they predict.
class Word2vecModel : public Model, public Encoder, public WordPredictor {
 public:
  Word2vecModel(const Word2vecConfig& config, Rng& rng);

  void visit(Visitor& v) override;
  Signature signature() const override;
  const Encoder* encoder() const override { return this; }
  SequenceEncoder* shared_encoder() override { return &vectors_; }
  const WordPredictor* word_predictor() const override { return this; }
  void read_words(std::string_view column, const Tokenizer& tokenizer) override;
  Tensor unseen_word(std::string_view word) const override { return vectors_.unseen_word(word); }

  size_t width() const override { return vectors_.width(); }
  Column encode(const Batch& inputs) const override;

  WordContextSettings word_context() const override;
  Tensor word_rows(const Tensor& ids) const override { return vectors_.rows_of(ids); }
  Tensor word_outputs() const override { return output_; }

 private:
  WordVectors vectors_;
  Tensor output_;  // [vocabulary, width]; of a tree, nodes in the order of their making
};

ModelKind word2vec_kind();

}  // namespace attend
