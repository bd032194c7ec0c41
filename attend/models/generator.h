// What writes sequences, token by token, as search, sampling and a server drive it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "attend/data/batch.h"
#include "attend/tensor/named.h"

namespace attend {

// Which rows of a step are wanted: a prompt needs the last, a proposal that is verified needs all.
enum class StepRows { kLast, kAll };

// What teacher forcing gives.
struct Forced {
  Tensor logits;                            // after each row, [rows, vocabulary]
  std::vector<NamedTensor> auxiliary = {};  // further losses of the model's own, each a mean over
                                            // rows; only where gradients are recorded
};

class Generator {
 public:
  // Hypotheses that are being written: any number for each record that was admitted, those of one
  // record side by side, in the order of admission. What a hypothesis gives does not depend on the
  // others: it has the same bits alone and in any company.
  class State {
   public:
    virtual ~State() = default;
    virtual size_t size() const = 0;  // hypotheses

    // Records join behind the others, each with one hypothesis that has read nothing.
    virtual void admit(const Batch& inputs) = 0;
    // Hypothesis i becomes what hypothesis parents[i] was. There may be more or fewer than before:
    // a record whose last hypothesis is left out is retired.
    virtual void reorder(std::span<const size_t> parents) = 0;
    // Hypothesis i forgets all but the first lengths[i] tokens it has read.
    virtual void rewind(std::span<const int32_t> lengths) = 0;
    // How many tokens each hypothesis has read.
    virtual std::vector<int32_t> lengths() const = 0;
  };

  virtual ~Generator() = default;
  virtual size_t vocabulary() const = 0;

  // Nobody yet; or the records of a batch.
  virtual std::unique_ptr<State> start() const = 0;
  std::unique_ptr<State> start(const Batch& inputs) const;

  // Each hypothesis reads its tokens, at least one; sequence i of `tokens` belongs to hypothesis i.
  // The logits of what may follow: [hypotheses, vocabulary], or [rows of tokens, vocabulary].
  virtual Tensor step(State& state, const Tokens& tokens,
                      StepRows rows = StepRows::kLast) const = 0;
  Tensor step(State& state, std::span<const int32_t> one_each) const;

  // Teacher forcing: all of `written` at once, on the tape; sequence i belongs to record i. The
  // same numbers as steps give.
  virtual Forced force(const Batch& inputs, const Tokens& written) const = 0;
  Tensor logits(const Batch& inputs, const Tokens& written) const {
    return force(inputs, written).logits;
  }

  // What the output layer makes of rows between layers (nn/row_tap.h), as if they were the last:
  // the logit lens (nostalgebraist, 2020). Nothing where the model has no such layers.
  virtual std::optional<Tensor> logits_of_rows(const Tensor& /*rows*/) const {
    return std::nullopt;
  }
};

// Which record each hypothesis belongs to, and how many tokens it has read.
class Hypotheses {
 public:
  size_t size() const { return record_of_.size(); }
  size_t records() const { return records_; }
  size_t record_of(size_t hypothesis) const { return record_of_[hypothesis]; }
  std::span<const int32_t> lengths() const { return lengths_; }

  void admit(size_t records);
  // Throws DataError where parents leave the order of their records.
  void reorder(std::span<const size_t> parents);
  // Throws DataError where a hypothesis has not read as many.
  void rewind(std::span<const int32_t> lengths);
  void advance(const Packing& read);  // perhaps nothing

  // How many rows of `tokens`, one sequence for each hypothesis, each record has.
  Packing by_record(const Packing& tokens) const;
  // Tokens that the first hypothesis of each record has read; 0 where it has none.
  std::vector<int32_t> record_lengths() const;

  // Where at least half of the records have no hypothesis left, forgets those and gives the others,
  // which are numbered from 0 again: keeping a few that are done costs less than moving the rest
  // each time.
  std::optional<std::vector<size_t>> retire();

 private:
  size_t records_ = 0;
  std::vector<size_t> record_of_;
  std::vector<int32_t> lengths_;
};

// Throws DataError unless there are tokens for each hypothesis of a state.
void check_step(const Generator::State& state, const Tokens& tokens);

// What a step gives of x, the rows of all tokens: all of it, or the last row of each sequence.
Tensor wanted_rows(const Tensor& x, const Packing& packing, StepRows rows);

// What a language model is given before what it writes, such as the source of a translation: how
// many of the first tokens of each sequence, as a column of its inputs; none without that column.
// force() gives the logits of the rows after them.
inline constexpr const char* kPrefixColumn = "prefix";
Batch prefixed_inputs(std::span<const int32_t> lengths);
std::vector<int32_t> prefix_lengths(const Batch& inputs);
// Of x, the rows of all tokens, those after the prefixes.
Tensor rows_after_prefixes(const Tensor& x, const Packing& packing, const Batch& inputs);

// The tokens that each hypothesis has read, for states that cannot be cut and read them once more
// when they are rewound.
class ReadTokens {
 public:
  void admit(size_t hypotheses) { ids_.resize(ids_.size() + hypotheses); }
  void add(const Tokens& tokens);
  void reorder(std::span<const size_t> parents);
  // Empties it, and gives the first lengths[i] tokens of each.
  Tokens rewind(std::span<const int32_t> lengths);

 private:
  std::vector<std::vector<int32_t>> ids_;
};

}  // namespace attend
