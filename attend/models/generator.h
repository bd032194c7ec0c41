// Anything that writes sequences, as greedy, beam, sampling and a server see it; and what reads a
// sequence first, as training sees it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/nn/visit.h"
#include "attend/tensor/packing.h"

namespace attend {

// Ids of a batch of sequences, one after the other.
struct Tokens {
  Tensor ids;  // int32 [rows]
  Packing packing;

  Tokens() = default;
  Tokens(std::span<const int32_t> values, Packing lengths)
      : ids(Tensor::ids(values, {values.size()})), packing(std::move(lengths)) {}
};

// Lines of ids, gathered one by one.
class TokenLines {
 public:
  void add(std::span<const int32_t> line) {
    ids_.insert(ids_.end(), line.begin(), line.end());
    lengths_.push_back(static_cast<int32_t>(line.size()));
  }
  Tokens tokens() const { return {ids_, Packing(lengths_)}; }

 private:
  std::vector<int32_t> ids_, lengths_;
};

class Generator {
 public:
  // Hypotheses that are being written: any number for each source, those of one source side by
  // side, in the order of the sources.
  class State {
   public:
    virtual ~State() = default;
    // Hypothesis i becomes what hypothesis parents[i] was; there may be more or fewer than before.
    virtual void reorder(std::span<const size_t> parents) = 0;
  };

  virtual ~Generator() = default;
  virtual size_t vocabulary() const = 0;
  // One hypothesis for each source, with nothing written.
  virtual std::unique_ptr<State> start(const Tokens& sources) const = 0;
  // Each hypothesis writes its token; the logits of what may follow, [hypotheses, vocabulary].
  virtual Tensor step(State& state, std::span<const int32_t> tokens) const = 0;
};

// Who looks at whom: the source at itself, what was written at itself, or that at the source.
enum class AttentionPart { kEncoder, kDecoder, kCross };
AttentionPart attention_part_from_name(std::string_view name);  // ConfigError with the choices
std::string_view name_of(AttentionPart part);

struct AttentionLayer {
  std::string name;  // as a Recorder sees it
  AttentionPart part;
  size_t heads = 1;
};

// Those of one part.
std::vector<AttentionLayer> layers_of(std::span<const AttentionLayer> layers, AttentionPart part);

// What teacher forcing gives.
struct Taught {
  Tensor logits;    // after each row, [rows, vocabulary]
  Tensor coverage;  // mean coverage loss of a row (See et al., 2017), where the model attends with
                    // coverage and gradients are recorded
};

// An encoder and a decoder. The same numbers come out all at once and step by step.
class Seq2Seq : public Generator {
 public:
  // Teacher forcing: the logits after each row of `inputs`, [rows, vocabulary]. Sequence i of the
  // inputs belongs to source i.
  virtual Tensor logits(const Tokens& sources, const Tokens& inputs) const = 0;
  // The same, with what else may be added to the loss.
  virtual Taught teach(const Tokens& sources, const Tokens& inputs) const {
    return {logits(sources, inputs), {}};
  }
  virtual void visit(Visitor& v) = 0;
  // Lays weights out for decoding, in the memory they have: the model is faster from then on, but
  // can no longer be trained or saved. Does nothing where that would not help.
  virtual void pack() {}
  // In the order in which data go through them; none where the model has no attention.
  virtual std::vector<AttentionLayer> attention_layers() const = 0;
};

// Which source each hypothesis belongs to.
class Hypotheses {
 public:
  explicit Hypotheses(size_t sources) : sources_(sources), source_of_(sources) {
    for (size_t i = 0; i < sources; ++i) source_of_[i] = i;
  }

  size_t count() const { return source_of_.size(); }
  size_t source_of(size_t hypothesis) const { return source_of_[hypothesis]; }
  // How many each source has, as a packing of their rows.
  Packing by_source() const;
  // Throws DataError where parents leave the order of their sources.
  void reorder(std::span<const size_t> parents);

 private:
  size_t sources_;
  std::vector<size_t> source_of_;
};

}  // namespace attend
