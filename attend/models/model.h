// The interface of all models: what is trained, saved, run and inspected. What else a model can do
// is a facet: write sequences (Generator), give labels (Classifier), tags (Tagger) or numbers
// (Regressor), tell what was hidden (MaskedPredictor), predict a text in both directions
// (BidirectionalPredictor), or give a row for each item it reads (Encoder).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/models/generator.h"
#include "attend/nn/visit.h"

namespace attend {

class Tokenizer;

// A column that a model reads or writes.
struct ColumnSpec {
  std::string name;  // "source", "target", "text", "label"
  ColumnKind kind = ColumnKind::kTokens;
  bool written = false;  // whether the model writes it; a decoder also reads what it has written
  // Of a column that is only read; written ones always have a start and an end.
  Framing framing = {};
  std::optional<size_t> positions = {};  // how many it has learned; none: no limit

  bool has_tokenizer() const { return kind != ColumnKind::kNumber; }
  // Tokens that the model reads beside those of a text; the end of a written column is never read.
  size_t frame() const;
  // The most tokens of a text, without its frame; none: no limit.
  std::optional<size_t> longest() const;
};

// An attention layer, under the name that a Recorder sees.
struct AttentionLayer {
  std::string name;
  std::string queries, keys;  // names of sequences, the same for self-attention
  size_t heads = 1;
  // Which stages of the keys' sequence it attends to: shares of its inputs, then of each of its
  // layers; empty: the last layer alone.
  std::vector<float> shares = {};

  // Whether it is self-attention.
  bool looks_at_itself() const { return queries == keys; }
};

// For a model that reads all its columns as one sequence: the source, then what it writes.
struct JoinedSequence {
  std::string name;                      // used by its attention layers
  std::optional<size_t> positions = {};  // of all columns together, if they are learned
};

// What a model reads and writes, and its attention layers.
struct Signature {
  std::vector<ColumnSpec> columns;
  std::vector<AttentionLayer> layers;  // in the order of computation
  std::optional<JoinedSequence> joined = {};
  std::string_view objective = {};  // what such a model is trained by; empty: what its task says

  // The most tokens of all columns together, without frames, if they are one sequence; none: no
  // limit.
  std::optional<size_t> longest_together() const;

  const ColumnSpec& column(std::string_view name) const;  // throws ConfigError
  // The layer of that name. Throws ConfigError that lists the layers.
  const AttentionLayer& layer(std::string_view name) const;
  // The layers in which `queries` attend to `keys`.
  std::vector<AttentionLayer> layers_between(std::string_view queries, std::string_view keys) const;
};

class SequenceEncoder;

// Gives a row for each item that is read.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual size_t width() const = 0;                      // of a row
  virtual Column encode(const Batch& inputs) const = 0;  // rows [rows, width]
  // One row of each sequence by attention of a learned query, [sequences, width]; undefined: the
  // model has learned none.
  virtual Tensor attention_pooled(const Column& /*rows*/) const { return {}; }
};

// Gives a label for each record.
class Classifier {
 public:
  virtual ~Classifier() = default;
  virtual size_t labels() const = 0;                           // how many there are
  virtual Tensor label_logits(const Batch& inputs) const = 0;  // [records, labels], on the tape
};

// What a tagger says of the words of each text.
struct DecodedTags {
  Packing packing;            // of the words
  std::vector<int32_t> best;  // a label for each word: the most probable ones of a text together
  Tensor probabilities;       // of each label at each word, [words, labels]
};

struct TagLossOptions {
  float label_smoothing = 0.0f;
  Tensor class_weights = {};  // as cross_entropy() takes them (ops/cross_entropy.h)
};

// Gives a label to each word of a text. Inputs have the column words_column() (data/words.h), which
// tells where each word ends. What it gives for a text does not depend on the others.
class Tagger {
 public:
  virtual ~Tagger() = default;
  virtual size_t labels() const = 0;  // how many there are
  // How well each label fits each word by itself, on the tape: [words, labels].
  virtual Column tag_scores(const Batch& inputs) const = 0;
  // -log of the probability of the gold labels, int32 [words], summed over all texts, on the tape.
  // A label kIgnoredTarget may be any. Throws ConfigError for options that it cannot follow.
  virtual Tensor tag_loss(const Batch& inputs, const Tensor& gold,
                          const TagLossOptions& options) const = 0;
  // The labels that it gives, off the tape.
  virtual DecodedTags decode_tags(const Batch& inputs) const = 0;
};

// Gives a number for each record.
class Regressor {
 public:
  virtual ~Regressor() = default;
  // Standardised, on the tape: [records, 1]; and what a standardised number means.
  virtual Tensor standard_numbers(const Batch& inputs) const = 0;
  virtual double mean() const = 0;
  virtual double deviation() const = 0;
};

// Tells what stands where tokens were hidden, and whether two texts belong together.
class MaskedPredictor {
 public:
  struct Predicted {
    Tensor tokens;  // logits of what stands at the rows asked for, [rows asked for, vocabulary]
    Tensor relation = {};  // logits of the relation of two texts, [records, 2], if the model has it
  };

  virtual ~MaskedPredictor() = default;
  virtual size_t vocabulary() const = 0;  // tokens that it can predict
  // `rows`, int32 [any number], are rows of joined_texts(inputs) (models/text_pair.h). One pass, on
  // the tape.
  virtual Predicted predict(const Batch& inputs, const Tensor& rows) const = 0;
};

// Predicts each token of a text twice: from those before it, and from those after it.
class BidirectionalPredictor {
 public:
  struct Predicted {
    Tensor forward;   // logits of each token but the first of a sequence, [tokens, vocabulary]
    Tensor backward;  // of each but the last
  };

  virtual ~BidirectionalPredictor() = default;
  virtual size_t vocabulary() const = 0;  // tokens that it can predict
  // Of the column "text", on the tape.
  virtual Predicted predict_both(const Batch& inputs) const = 0;
};

// How words predict the words around them.
struct WordContextSettings {
  bool together = false;      // the words of a window predict together (CBOW), or each for itself
  bool hierarchical = false;  // the path to a word in a binary tree, or the word among wrong ones
  size_t window = 5;          // words on each side, at most
  size_t negatives = 5;       // wrong words
  double subsample = 1e-3;    // share of the text above which a word is left out at times; 0: never
  double exponent = 0.75;     // of a word's count: how often it is drawn as a wrong one
};

// Has a vector for each word, by which the words around it are predicted.
class WordPredictor {
 public:
  virtual ~WordPredictor() = default;
  virtual WordContextSettings word_context() const = 0;
  virtual Tensor word_rows(const Tensor& ids) const = 0;  // [ids, width], on the tape
  virtual Tensor word_outputs() const = 0;                // [vocabulary, width], on the tape
};

// A model. Const members, and those of its facets, may be called from several threads at once.
class Model {
 public:
  virtual ~Model() = default;
  // Parameters and buffers: both are saved, loaded and resumed.
  virtual void visit(Visitor& v) = 0;
  // What it reads and writes.
  virtual Signature signature() const = 0;

  // Its facets, which live as long as the model; null: it does not have this one.
  virtual const Generator* generator() const { return nullptr; }
  virtual const Classifier* classifier() const { return nullptr; }
  virtual const Encoder* encoder() const { return nullptr; }
  virtual const Tagger* tagger() const { return nullptr; }
  virtual const Regressor* regressor() const { return nullptr; }
  virtual const MaskedPredictor* masked_predictor() const { return nullptr; }
  virtual const BidirectionalPredictor* bidirectional_predictor() const { return nullptr; }
  virtual const WordPredictor* word_predictor() const { return nullptr; }

  // Called once before the model is used, for each column of tokens and each of labels for words:
  // for models that look into words, or at the text of labels.
  virtual void read_words(std::string_view /*column*/, const Tokenizer& /*tokenizer*/) {}
  // The vector of a word that has no token, made from its parts; undefined if that is not possible.
  virtual Tensor unseen_word(std::string_view /*word*/) const { return {}; }

  // The part that models of other kinds can be built around (ModelKind::make_encoder), wherever it
  // is in this one: from it, weights find their place in a model of another kind (transfer.h).
  virtual SequenceEncoder* shared_encoder() { return nullptr; }

  // Lays the weights out for inference, in place. The model is then faster, but can no longer be
  // trained or saved. Does nothing if it would not help.
  virtual void pack() {}
};

}  // namespace attend
