// Vectors of texts and of tokens, and what is near them: by any model that has an encoder.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/models/text_model.h"

namespace attend {

// How the rows of a text become one vector. Rows are those that the model reads, its start and end
// included.
enum class EmbeddingPooling {
  kMean,
  kFirst,
  kLast,
  kAttention,  // by the query that a model learned, where it pools so (models/pooled_encoder.h)
};
std::string_view name_of(EmbeddingPooling pooling);

struct EmbeddingOptions {
  EmbeddingPooling pooling = EmbeddingPooling::kMean;
  bool normalize = false;      // to length 1; a vector of zeros stays as it is
  size_t batch_tokens = 4096;  // of a batch, at most, or one text
};

// A vector for each text, [texts, width]: what the encoder gives to the first column that it reads,
// or to the text that it writes. Texts are batched by length, without padding; the vector of a text
// does not depend on the others. A text without tokens becomes zeros. Throws ConfigError if the
// model has no encoder, or no query for kAttention, and DataError for a text that is longer than
// the model has positions for.
Tensor embed_texts(const TextModel& model, std::span<const std::string> texts,
                   const EmbeddingOptions& options = {});

// The rows of a text's tokens, those of a start and end not among them.
struct TokenRows {
  std::vector<std::string> pieces;
  Tensor rows;  // [pieces, width]
};
std::vector<TokenRows> embed_tokens(const TextModel& model, std::span<const std::string> texts,
                                    const EmbeddingOptions& options = {});

// The vectors in which a model looks up the tokens of a column, [vocabulary, width], whatever the
// model is.
Tensor token_vectors(const TextModel& model, std::string_view column);
// The column that embed_texts() reads.
std::string embedded_column(const TextModel& model);

double cosine(std::span<const float> a, std::span<const float> b);  // 0 if one is zero

// A vector's place and how near it is.
struct Neighbour {
  size_t number = 0;
  double similarity = 0;  // the cosine
};

// Vectors among which the nearest are found.
class NearestVectors {
 public:
  explicit NearestVectors(const Tensor& vectors);  // [vectors, width]; copied

  size_t size() const { return unit_.extent(0); }
  size_t width() const { return unit_.width(); }
  std::span<const float> unit(size_t number) const;  // of length 1, or zeros
  // The nearest to `query`, nearest first, without those in `left_out` and those that are zero.
  std::vector<Neighbour> operator()(std::span<const float> query, size_t count,
                                    std::span<const size_t> left_out = {}) const;

 private:
  Tensor unit_;
};

// The words of a model's vocabulary by their vectors.
class WordNeighbours {
 public:
  // Words that are near each other; throws ConfigError for a column that the model does not have.
  explicit WordNeighbours(TextModel model, std::string column = "");

  // A token that was found.
  struct Word {
    std::string text;
    double similarity;
  };
  // The nearest to a query: a word, or words with " + " and " - " between them, as in "king - man +
  // woman". A word that is several tokens has their mean; one without a token has a vector where
  // the model makes one of its parts. Words of the query are not among what is found. Throws
  // DataError for a word that has no vector.
  std::vector<Word> operator()(std::string_view query, size_t count) const;

 private:
  struct Meant {
    std::vector<float> vector;
    std::vector<size_t> tokens;
  };
  Meant meant_by(std::string_view word) const;

  TextModel model_;
  std::string column_;
  NearestVectors vectors_;
};

}  // namespace attend
