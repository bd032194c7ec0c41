// What every model that writes must do, whatever is in it: one that reads something first, or a
// language model, which reads what it writes. What it is given follows from its signature.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "attend/attention/recorder.h"
#include "attend/data/words.h"
#include "attend/models/model.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"

namespace attend {

constexpr size_t kSourceTokens = 11, kTargetTokens = 13;  // what is read, and what is written

inline Tokens some_tokens(const std::vector<int32_t>& lengths, size_t vocabulary, uint64_t seed) {
  const Packing packing(lengths);
  std::vector<int32_t> ids(packing.rows());
  const RandomStream random(seed, 0);
  for (size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<int32_t>(random.below(i, vocabulary));
  }
  return {ids, packing};
}

// Tokens of these lengths for each column that the model reads; as many records without a column
// where it only writes.
// Words of one token each.
inline Column every_token(const std::vector<int32_t>& lengths) {
  std::vector<int32_t> places;
  for (const int32_t length : lengths) {
    for (int32_t i = 0; i < length; ++i) places.push_back(i);
  }
  return {Tensor::ids(places, {places.size()}), Packing(lengths)};
}

inline Batch some_inputs(const Model& model, const std::vector<int32_t>& lengths, uint64_t seed,
                         size_t vocabulary = kSourceTokens) {
  Batch inputs(lengths.size());
  for (const ColumnSpec& column : model.signature().columns) {
    if (column.written) continue;
    inputs.add(column.name, some_tokens(lengths, vocabulary, seed));
    if (model.tagger() != nullptr) inputs.add(words_column(column.name), every_token(lengths));
  }
  return inputs;
}

inline void expect_near(const Tensor& actual, const Tensor& expected, float tolerance = 2e-5f) {
  ASSERT_EQ(actual.shape(), expected.shape());
  const std::vector<float> a = actual.to_vector(), b = expected.to_vector();
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;  // infinities too
    ASSERT_NEAR(a[i], b[i], tolerance) << i;
  }
}

inline void expect_same(const Tensor& actual, const Tensor& expected) {
  EXPECT_EQ(actual.to_vector(), expected.to_vector());
}

// The logits after each row of `written`, step by step; sequences are retired as they end.
inline Tensor step_by_step(const Generator& model, const Batch& inputs, const Tokens& written) {
  const Packing& packing = written.packing;
  Tensor all = Tensor::zeros({packing.rows(), model.vocabulary()});
  const auto state = model.start(inputs);
  std::vector<size_t> live(packing.count());
  for (size_t s = 0; s < live.size(); ++s) live[s] = s;
  for (size_t t = 0; t < packing.longest(); ++t) {
    std::vector<size_t> parents, still;
    for (size_t i = 0; i < live.size(); ++i) {
      if (packing.length(live[i]) <= t) continue;
      parents.push_back(i);
      still.push_back(live[i]);
    }
    if (parents.size() < live.size()) state->reorder(parents);
    live = still;
    std::vector<int32_t> tokens(live.size());
    std::ranges::transform(live, tokens.begin(), [&](size_t s) { return written.sequence(s)[t]; });
    const Tensor logits = model.step(*state, tokens);
    for (size_t i = 0; i < live.size(); ++i) {
      std::ranges::copy(logits.slice_rows(i, 1).span(),
                        all.slice_rows(packing.begin(live[i]) + t, 1).span().begin());
    }
  }
  return all;
}

// One sequence alone, token by token: what all company must leave as it is, to the bit.
class Alone {
 public:
  Alone(const Generator& model, const Batch& input) : model_(model), state_(model.start(input)) {}
  std::vector<float> read(int32_t token) {
    return model_.step(*state_, std::vector{token}).to_vector();
  }

 private:
  const Generator& model_;
  std::unique_ptr<Generator::State> state_;
};

inline std::vector<float> last_alone(const Generator& model, const Batch& input,
                                     std::span<const int32_t> tokens) {
  Alone alone(model, input);
  std::vector<float> row;
  for (const int32_t token : tokens) row = alone.read(token);
  return row;
}

// Records that come and go, read one token or several, branch and are rewound: each hypothesis has
// the bits that it has alone.
inline void expect_company_changes_nothing(const Generator& model, const Batch& inputs,
                                           uint64_t seed) {
  const RandomStream random(seed, 1);
  uint64_t draws = 0;
  const auto below = [&](size_t n) { return static_cast<size_t>(random.below(draws++, n)); };
  struct Known {
    size_t record;
    std::vector<int32_t> read;
  };
  std::vector<Known> known;
  const auto state = model.start();
  for (int round = 0; round < 24; ++round) {
    if (known.empty() || below(3) == 0) {
      const std::vector<size_t> which = {below(inputs.size())};
      state->admit(inputs.pick(which));
      known.push_back({which[0], {}});
    } else if (below(4) == 0) {
      std::vector<size_t> parents;
      std::vector<Known> next;
      for (size_t i = 0; i < known.size(); ++i) {
        for (size_t copies = below(3); copies > 0; --copies) {
          parents.push_back(i);
          next.push_back(known[i]);
        }
      }
      state->reorder(parents);
      known = next;
    } else if (below(4) == 0) {
      std::vector<int32_t> lengths;
      for (Known& k : known) {
        k.read.resize(k.read.size() - below(std::min<size_t>(k.read.size(), 2) + 1));
        lengths.push_back(static_cast<int32_t>(k.read.size()));
      }
      state->rewind(lengths);
    }
    if (known.empty()) continue;
    TokenLines tokens;
    for (Known& k : known) {
      std::vector<int32_t> some(1 + below(3));
      for (int32_t& token : some) token = static_cast<int32_t>(below(model.vocabulary()));
      tokens.add(some);
      k.read.insert(k.read.end(), some.begin(), some.end());
    }
    const Tensor logits = model.step(*state, tokens.tokens());
    const std::vector<int32_t> lengths = state->lengths();
    for (size_t i = 0; i < known.size(); ++i) {
      const std::vector<size_t> which = {known[i].record};
      ASSERT_EQ(lengths[i], static_cast<int32_t>(known[i].read.size()));
      ASSERT_EQ(logits.slice_rows(i, 1).to_vector(),
                last_alone(model, inputs.pick(which), known[i].read))
          << "round " << round << ", hypothesis " << i;
    }
  }
}

// What a Recorder sees of each layer in steps is what it sees of the whole, row by row.
inline void expect_recorded_alike(const Model& model, const Batch& inputs, const Tokens& written) {
  const Generator& generator = *model.generator();
  Recorder recorder;
  generator.logits(inputs, written);
  const std::vector<RecordedHead> whole = std::exchange(recorder.heads, {});
  step_by_step(generator, inputs, written);
  const Signature signature = model.signature();
  // What is read is seen once, at first; of one sequence, together with the first step.
  const bool joined = signature.joined.has_value();
  const std::string& stepped = joined ? signature.joined->name : signature.columns.back().name;
  std::map<std::string, size_t> seen;  // rows of each layer, over all heads
  for (const RecordedHead& step : recorder.heads) {
    const AttentionLayer& layer = signature.layer(step.layer);
    if (layer.queries != stepped) continue;
    ASSERT_LT(step.head, layer.heads);
    seen[step.layer] += step.weights.rows();
    if (step.weights.rows() == 0) continue;  // of a record that has no hypothesis left
    if (!joined || step.first_query > 0) {
      ASSERT_EQ(step.weights.rows(), 1u);
    }
    for (size_t r = 0; r < step.weights.rows(); ++r) {
      const size_t query = step.first_query + r;
      const auto mine = step.weights.slice_rows(r, 1).to_vector();
      const auto found = std::ranges::find_if(whole, [&](const RecordedHead& all) {
        if (all.layer != step.layer || all.head != step.head) return false;
        if (query >= all.weights.rows()) return false;
        const auto row = all.weights.slice_rows(query, 1).to_vector();
        if (step.first_key + mine.size() > all.first_key + row.size()) return false;
        for (size_t j = 0; j < mine.size(); ++j) {
          if (std::abs(mine[j] - row[step.first_key - all.first_key + j]) > 1e-5f) return false;
        }
        return true;
      });
      ASSERT_NE(found, whole.end()) << step.layer << " query " << query;
    }
  }
  const size_t rows = written.packing.rows() + (joined ? inputs.rows() : 0);
  for (const AttentionLayer& layer : signature.layers) {
    if (layer.queries != stepped) continue;
    EXPECT_EQ(seen[layer.name], layer.heads * rows) << layer.name;
  }
}

// Steps and the whole agree; a batch and its records one by one; several hypotheses of one record,
// however they were reordered; and any company.
inline void expect_consistent(const Model& of) {
  ASSERT_NE(of.generator(), nullptr);
  const Generator& model = *of.generator();
  const NoGrad no_grad;
  const Batch inputs = some_inputs(of, {3, 1, 7, 4}, 1);
  const Tokens written = some_tokens({2, 5, 1, 4}, kTargetTokens, 2);
  const Tensor logits = model.logits(inputs, written);
  ASSERT_EQ(logits.shape(), Shape({written.packing.rows(), model.vocabulary()}));
  expect_near(step_by_step(model, inputs, written), logits);

  for (size_t s = 0; s < 4; ++s) {
    const std::vector<size_t> which = {s};
    const Tensor alone = model.logits(inputs.pick(which), pick_sequences(written, which));
    expect_near(alone, logits.slice_rows(written.packing.begin(s), written.packing.length(s)));
  }

  // A prompt at once, and all of its rows.
  const auto prompted = model.start(inputs);
  expect_near(model.step(*prompted, written, StepRows::kAll), logits);

  // Record 1 has two hypotheses, then three, of which the first is the child of the second.
  const auto state = model.start(inputs);
  model.step(*state, std::vector<int32_t>{1, 1, 1, 1});
  state->reorder(std::vector<size_t>{0, 1, 1, 2});
  model.step(*state, std::vector<int32_t>{4, 5, 6, 7});
  state->reorder(std::vector<size_t>{2, 1, 2});
  const Tensor branched = model.step(*state, std::vector<int32_t>{8, 8, 9});
  const std::vector<std::vector<int32_t>> expected = {{1, 6, 8}, {1, 5, 8}, {1, 6, 9}};
  for (size_t i = 0; i < expected.size(); ++i) {
    const Tensor whole =
        model.logits(inputs.pick(std::vector<size_t>{1}), one_sequence(expected[i]));
    expect_near(branched.slice_rows(i, 1), whole.slice_rows(2, 1));
  }
  expect_company_changes_nothing(model, inputs, 5);
  expect_recorded_alike(of, inputs, written);
}

// The largest element of a parameter's gradient is the slope of the loss.
template <typename Loss>
void expect_slope(const NamedTensor& p, const Loss& loss) {
  ASSERT_TRUE(p.tensor.grad().defined()) << p.name;
  const Tensor grad = p.tensor.grad();
  size_t largest = 0;
  for (size_t i = 0; i < grad.size(); ++i) {
    if (std::abs(grad.span()[i]) > std::abs(grad.span()[largest])) largest = i;
  }
  const NoGrad no_grad;
  float& value = p.tensor.span()[largest];
  const float before = value, step = 2e-3f;
  value = before + step;
  const float above = loss().item();
  value = before - step;
  const float below = loss().item();
  value = before;
  const float slope = (above - below) / (2 * step);
  EXPECT_NEAR(grad.span()[largest], slope, 2e-3f + 0.03f * std::abs(slope)) << p.name;
}

// Every parameter learns.
template <typename Loss>
void expect_slopes(Model& model, const Loss& loss) {
  backward(loss());
  for (const NamedTensor& p : parameters(model)) expect_slope(p, loss);
}

// Of a model whose written vocabulary is kTargetTokens, as all these are.
inline void expect_learns(Model& model) {
  const Batch inputs = some_inputs(model, {3, 1, 6}, 3);
  const Tokens written = some_tokens({4, 2, 5}, kTargetTokens, 4);
  const Tensor labels = some_tokens({4, 2, 5}, kTargetTokens, 5).ids;
  expect_slopes(model,
                [&] { return cross_entropy(model.generator()->logits(inputs, written), labels); });
}

}  // namespace attend
