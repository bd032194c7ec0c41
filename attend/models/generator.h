// The interface of models that write sequences token by token, for search, sampling and servers.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "attend/data/batch.h"
#include "attend/tensor/named.h"

namespace attend {

// Which rows of a step need logits: a prompt needs the last, speculative decoding needs all.
enum class StepRows { kLast, kAll };

// The result of teacher forcing.
struct Forced {
  Tensor logits;                            // after each row, [rows, vocabulary]
  std::vector<NamedTensor> auxiliary = {};  // further losses of the model's own, each a mean over
                                            // rows; only where gradients are recorded
};

// Writes sequences. Const members may be called from several threads at once, each with its own
// State.
class Generator {
 public:
  // Hypotheses being written: any number for each admitted record, those of a record side by side,
  // in the order of admission. The results of a hypothesis do not depend on the others: it has the
  // same bits alone and in any batch.
  class State {
   public:
    virtual ~State() = default;
    virtual size_t size() const = 0;  // hypotheses

    // Appends records, each with one hypothesis that has read nothing.
    virtual void admit(const Batch& inputs) = 0;
    // Hypothesis i becomes what hypothesis parents[i] was. There may be more or fewer than before;
    // a record without hypotheses is retired.
    virtual void reorder(std::span<const size_t> parents) = 0;
    // Hypothesis i keeps only the first lengths[i] tokens it has read.
    virtual void rewind(std::span<const int32_t> lengths) = 0;
    // How many tokens each hypothesis has read.
    virtual std::vector<int32_t> lengths() const = 0;
  };

  virtual ~Generator() = default;
  virtual size_t vocabulary() const = 0;  // tokens that it can write

  // A state without records, or with those of a batch.
  virtual std::unique_ptr<State> start() const = 0;
  std::unique_ptr<State> start(const Batch& inputs) const;

  // Each hypothesis reads its tokens, at least one; sequence i of `tokens` belongs to hypothesis i.
  // Returns the logits of the next token: [hypotheses, vocabulary], or [rows of tokens, vocabulary]
  // for kAll.
  virtual Tensor step(State& state, const Tokens& tokens,
                      StepRows rows = StepRows::kLast) const = 0;
  // The same with one token for each hypothesis.
  Tensor step(State& state, std::span<const int32_t> one_each) const;

  // Teacher forcing: all of `written` at once, on the tape; sequence i belongs to record i. Gives
  // the same numbers as steps.
  virtual Forced force(const Batch& inputs, const Tokens& written) const = 0;
  // Its logits alone.
  Tensor logits(const Batch& inputs, const Tokens& written) const {
    return force(inputs, written).logits;
  }

  // The output layer applied to rows between layers (nn/row_tap.h): the logit lens (nostalgebraist,
  // 2020). None if the model has no such layers.
  virtual std::optional<Tensor> logits_of_rows(const Tensor& /*rows*/) const {
    return std::nullopt;
  }
};

// Which record each hypothesis belongs to, and how many tokens it has read.
class Hypotheses {
 public:
  // How many hypotheses and records; the record of a hypothesis; tokens read by each.
  size_t size() const { return record_of_.size(); }
  size_t records() const { return records_; }
  size_t record_of(size_t hypothesis) const { return record_of_[hypothesis]; }
  std::span<const int32_t> lengths() const { return lengths_; }

  // Appends records with one hypothesis each.
  void admit(size_t records);
  // Hypothesis i becomes what hypothesis parents[i] was. Throws DataError if that mixes the order
  // of records.
  void reorder(std::span<const size_t> parents);
  // Hypothesis i has read lengths[i] tokens. Throws DataError if it has read fewer.
  void rewind(std::span<const int32_t> lengths);
  void advance(const Packing& read);  // adds tokens, perhaps none, to each

  // How many rows of `tokens`, one sequence for each hypothesis, each record has.
  Packing by_record(const Packing& tokens) const;
  // Tokens that the first hypothesis of each record has read; 0 for a record without hypotheses.
  std::vector<int32_t> record_lengths() const;

  // If at least half of the records have no hypothesis left, drops those and returns the numbers of
  // the others, which are then numbered from 0. Keeping a few finished records costs less than
  // moving the rest each time.
  std::optional<std::vector<size_t>> retire();

 private:
  size_t records_ = 0;
  std::vector<size_t> record_of_;
  std::vector<int32_t> lengths_;
};

// Throws DataError unless there is at least one token for each hypothesis of a state.
void check_step(const Generator::State& state, const Tokens& tokens);

// Of x, the rows of all tokens: all of them, or the last row of each sequence.
Tensor wanted_rows(const Tensor& x, const Packing& packing, StepRows rows);

// The input column of language models that has the length of each sequence's prefix: tokens that
// are given and not predicted, such as the source of a translation. force() returns the logits of
// the rows after them.
inline constexpr const char* kPrefixColumn = "prefix";
// Such a column, and the lengths in it: all 0 if the inputs have none.
Batch prefixed_inputs(std::span<const int32_t> lengths);
std::vector<int32_t> prefix_lengths(const Batch& inputs);
// Of x, the rows of all tokens, those after the prefixes.
Tensor rows_after_prefixes(const Tensor& x, const Packing& packing, const Batch& inputs);

// The tokens that each hypothesis has read, for states that cannot be truncated and must read them
// again when they are rewound.
class ReadTokens {
 public:
  // Appends hypotheses; adds tokens that each has read; reorders as a State does.
  void admit(size_t hypotheses) { ids_.resize(ids_.size() + hypotheses); }
  void add(const Tokens& tokens);
  void reorder(std::span<const size_t> parents);
  // Clears the list and returns the first lengths[i] tokens of each hypothesis.
  Tokens rewind(std::span<const int32_t> lengths);

 private:
  std::vector<std::vector<int32_t>> ids_;
};

}  // namespace attend
