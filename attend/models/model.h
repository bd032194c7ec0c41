// What is trained, saved, run and looked at, whatever it reads and writes. What a model can do
// beyond that is a facet: it writes sequences, gives labels, or gives a row for each item that it
// reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attend/models/generator.h"
#include "attend/nn/visit.h"

namespace attend {

// A column that a model reads or writes.
struct ColumnSpec {
  std::string name;  // "source", "target", "text", "label"
  ColumnKind kind = ColumnKind::kTokens;
  bool written = false;  // and perhaps read as well: what a decoder wrote before
  Framing framing =
      {};  // of tokens that are only read; written ones always have a start and an end
  std::optional<size_t> positions = {};  // none past them, where they are learned

  // Tokens that the model reads beside those of a text: the end of what is written is never read.
  size_t frame() const;
  // Tokens of a text, its frame not counted; none: any number.
  std::optional<size_t> longest() const;
};

// Who looks at whom. A Recorder sees the layer by this name.
struct AttentionLayer {
  std::string name;
  std::string queries, keys;  // names of sequences; the same one where it looks at itself
  size_t heads = 1;
  // Which stages of the keys' sequence it looks at, as shares of its inputs and then of each of its
  // layers in turn; empty: at the last.
  std::vector<float> shares = {};

  bool looks_at_itself() const { return queries == keys; }
};

// All columns of a model that reads them one after the other as one sequence: a source, and then
// what it writes.
struct JoinedSequence {
  std::string name;                      // by which layers know it
  std::optional<size_t> positions = {};  // of all columns together, where they are learned
};

struct Signature {
  std::vector<ColumnSpec> columns;
  std::vector<AttentionLayer> layers;  // in the order in which data go through them
  std::optional<JoinedSequence> joined = {};

  // Tokens of all columns together, their frames not counted, where they are one sequence; none:
  // any number.
  std::optional<size_t> longest_together() const;

  const ColumnSpec& column(std::string_view name) const;  // throws ConfigError
  // That of the name; ConfigError with those there are.
  const AttentionLayer& layer(std::string_view name) const;
  // Those in which one sequence looks at another, or at itself.
  std::vector<AttentionLayer> layers_between(std::string_view queries, std::string_view keys) const;
};

// A row for each item of what is read.
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual size_t width() const = 0;
  virtual Column encode(const Batch& inputs) const = 0;  // rows [rows, width]
};

// A label for each record.
class Classifier {
 public:
  virtual ~Classifier() = default;
  virtual size_t labels() const = 0;
  virtual Tensor label_logits(const Batch& inputs) const = 0;  // [records, labels], on the tape
};

class Model {
 public:
  virtual ~Model() = default;
  // Parameters and buffers: both are saved, loaded and resumed.
  virtual void visit(Visitor& v) = 0;
  virtual Signature signature() const = 0;

  virtual const Generator* generator() const { return nullptr; }
  virtual const Classifier* classifier() const { return nullptr; }
  virtual const Encoder* encoder() const { return nullptr; }

  // Lays weights out for inference, in the memory they have: the model is faster from then on, but
  // can no longer be trained or saved. Does nothing where that would not help.
  virtual void pack() {}
};

}  // namespace attend
