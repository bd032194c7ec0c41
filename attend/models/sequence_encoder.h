// The part of a model that turns tokens into rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attend/models/model.h"
#include "attend/nn/embedding.h"

namespace attend {

class SequenceEncoder {
 public:
  virtual ~SequenceEncoder() = default;
  virtual size_t width() const = 0;                     // of a row
  virtual Tensor rows(const Tokens& tokens) const = 0;  // [rows, width]
  // The same of sequences that hold several texts: `segments`, int32 [rows], has the number of each
  // row's text. An encoder without embeddings for segments ignores them.
  virtual Tensor rows_of_segments(const Tokens& tokens, const Tensor& /*segments*/) const {
    return rows(tokens);
  }
  virtual const Embedding& table() const = 0;  // in which tokens are looked up
  virtual void visit(Visitor& v) = 0;
  // Its self-attention layers, for a sequence of this name.
  virtual std::vector<AttentionLayer> layers(const std::string& sequence) const = 0;
  // How many positions it has learned; none: no limit.
  virtual std::optional<size_t> positions() const = 0;
  // Whether the first row depends on the others.
  virtual bool first_sees_all() const { return true; }
  virtual bool last_sees_all() const { return true; }  // the same of the last row
  // Whether it expects a start before each text, also where nothing is read from that row.
  virtual bool wants_start() const { return false; }
  // As Model::read_words().
  virtual void read_words(const Tokenizer& /*tokenizer*/) {}
};

}  // namespace attend
