// Looking at attention: what a Recorder gets, and that being looked at changes nothing.
#include "attend/attention/recorder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attend/attention/coverage.h"
#include "attend/attention/local.h"
#include "attend/attention/lstmn.h"
#include "attend/attention/memory.h"
#include "attend/attention/multi_head.h"
#include "attend/attention/pooling.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"
#include "tests/attention/values.h"

namespace attend {
namespace {

struct RecorderInputs {
  Packing queries = Packing::of({5, 3, 0}), keys = Packing::of({9, 3, 4});
  Tensor q = random_tensor({8, 4 * 6}, 1), k = random_tensor({16, 2 * 6}, 2),
         v = random_tensor({16, 2 * 5}, 3);

  AttentionOptions options() const {
    AttentionOptions o{.heads = 4, .kv_heads = 2};
    o.queries = queries;
    o.keys = keys;
    o.mask.causal = true;
    o.relative = alibi(4, 12);
    o.softcap = 2.0f;
    o.name = "layer";
    return o;
  }
  Attended run(const AttentionOptions& o) const { return attention(q, k, v, o); }
};

TEST(Recorder, OutputsAndPathDoNotChange) {
  const RecorderInputs in;
  for (const Weighting weighting :
       {Weighting::kSoftmax, Weighting::kSigmoid, Weighting::kRelu, Weighting::kSparsemax}) {
    AttentionOptions options = in.options();
    options.weighting = weighting;
    const Attended before = in.run(options);
    Recorder recorder;
    recorder.request = {.scores = true, .lse = true, .entropy = true};
    const Attended seen = in.run(options);
    EXPECT_EQ(seen.path, before.path);
    EXPECT_EQ(seen.path == AttentionPath::kFused, weighting != Weighting::kSparsemax);
    EXPECT_EQ(seen.output.to_vector(), before.output.to_vector());
    EXPECT_EQ(recorder.heads.size(), 3u * 4);
    EXPECT_EQ(recorder.heads[0].lse.defined(), weighting == Weighting::kSoftmax);
  }
}

TEST(Recorder, GradientsDoNotChange) {
  const RecorderInputs in;
  Tensor q = in.q;
  q.require_grad();
  const auto gradient = [&] {
    q.clear_grad();
    TrainingScope training(Rng(5));
    AttentionOptions options = in.options();
    options.dropout = 0.3f;
    backward(attention(q, in.k, in.v, options).output, random_tensor({8, 20}, 9));
    return q.grad().to_vector();
  };
  const std::vector<float> alone = gradient();
  Recorder recorder;
  EXPECT_EQ(gradient(), alone);
  EXPECT_FALSE(recorder.heads.front().weights.needs_grad());
}

// The output is the recorded weights times the values, and both paths record the same.
TEST(Recorder, WeightsAreThoseThatWereUsed) {
  const RecorderInputs in;
  for (const Weighting weighting : {Weighting::kSoftmax, Weighting::kSigmoid, Weighting::kRelu}) {
    AttentionOptions options = in.options();
    options.weighting = weighting;
    Recorder fused;
    const Tensor y = in.run(options).output;
    Recorder plain;
    options.plain = true;
    in.run(options);
    ASSERT_EQ(fused.heads.size(), plain.heads.size());
    for (size_t i = 0; i < fused.heads.size(); ++i) {
      const RecordedHead &a = fused.heads[i], &b = plain.heads[i];
      EXPECT_EQ(a.sequence, b.sequence);
      EXPECT_EQ(a.head, b.head);
      ASSERT_EQ(a.weights.shape(),
                (Shape{in.queries.length(a.sequence), in.keys.length(a.sequence)}));
      expect_values(a.weights, b.weights.to_vector(), 1e-6f);
      for (size_t r = 0; r < a.weights.rows(); ++r) {
        double total = 0.0, column = 0.0;
        for (size_t j = 0; j < a.weights.width(); ++j) {
          const float w = a.weights.data()[r * a.weights.width() + j];
          total += w;
          column += w * in.v.data()[(in.keys.begin(a.sequence) + j) * 10 + a.head / 2 * 5 + 1];
        }
        if (weighting == Weighting::kSoftmax) {
          EXPECT_NEAR(total, 1.0, 1e-5);
        }
        EXPECT_NEAR(y.data()[(in.queries.begin(a.sequence) + r) * 20 + a.head * 5 + 1], column,
                    1e-5);
      }
    }
  }
}

TEST(Recorder, ScoresLogSumExpAndEntropyAreThoseOfTheirDefinitions) {
  const RecorderInputs in;
  for (const bool sinks : {false, true}) {
    for (const bool plain : {false, true}) {
      AttentionOptions options = in.options();
      if (sinks) options.sinks = Tensor::of({0.3f, -1, 0.8f, 2}, {4});
      const Tensor lse = in.run(options).lse;
      options.plain = plain;
      Recorder recorder;
      recorder.request = {.scores = true, .lse = true, .entropy = true};
      in.run(options);
      for (const RecordedHead& head : recorder.heads) {
        const size_t keys = head.weights.width();
        for (size_t r = 0; r < head.weights.rows(); ++r) {
          const size_t row = in.queries.begin(head.sequence) + r;
          EXPECT_NEAR(head.lse.data()[r], lse.data()[row * 4 + head.head], 1e-5) << sinks << plain;
          double entropy = 0.0;
          for (size_t j = 0; j < keys; ++j) {
            const float s = head.scores.data()[r * keys + j];
            const double w = head.weights.data()[r * head.weights.stride() + j];
            const bool masked = j > keys - head.weights.rows() + r;
            EXPECT_EQ(s == -std::numeric_limits<float>::infinity(), masked);
            EXPECT_NEAR(w, std::exp(double{s} - head.lse.data()[r]), 1e-5);
            if (w > 0) entropy -= w * std::log(w);
          }
          EXPECT_NEAR(head.entropy.data()[r], entropy, 1e-5);
        }
      }
    }
  }
}

TEST(Recorder, HandsOverOnlyWhatWasAskedFor) {
  const RecorderInputs in;
  AttentionOptions options = in.options();
  Recorder all;
  in.run(options);
  for (const bool plain : {false, true}) {
    options.plain = plain;
    Recorder some;
    some.request.heads = {3, 1};
    some.request.sequences = {0};
    some.request.first_query = 2;
    some.request.query_count = 2;
    in.run(options);
    ASSERT_EQ(some.heads.size(), 2u);
    for (const RecordedHead& head : some.heads) {
      EXPECT_EQ(head.sequence, 0u);
      EXPECT_EQ(head.first_query, 2u);
      EXPECT_FALSE(head.scores.defined() || head.lse.defined() || head.entropy.defined());
      expect_values(head.weights, all.heads[head.head].weights.slice_rows(2, 2).to_vector(), 1e-6f);
    }
    EXPECT_EQ(some.heads[0].head, 1u);
    EXPECT_EQ(some.heads[1].head, 3u);
    some.heads.clear();
    some.request = {.first_query = 4, .weights = false, .entropy = true};
    in.run(options);
    ASSERT_EQ(some.heads.size(), 12u);
    EXPECT_FALSE(some.heads[0].weights.defined());
    EXPECT_EQ(some.heads[0].entropy.size(), 1u);
    EXPECT_EQ(some.heads[4].entropy.size(), 0u);  // a sequence of three queries
  }
}

// A call without a name is seen all the same, and its number tells it from the others.
TEST(Recorder, LayersWithoutANameShareOne) {
  const RecorderInputs in;
  AttentionOptions named = in.options(), options = in.options();
  options.name = "";
  Recorder recorder;
  recorder.request = {.heads = {1}, .sequences = {0}};
  for (const bool plain : {false, true}) {
    options.plain = plain;
    in.run(options);
    in.run(named);
  }
  ASSERT_EQ(recorder.heads.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(recorder.heads[i].layer, i % 2 == 0 ? "attention" : "layer");
    EXPECT_EQ(recorder.heads[i].call, i / 2);
  }
  expect_values(recorder.heads[0].weights, recorder.heads[1].weights.to_vector(), 0.0f);
}

// One call of a layer is one call, whatever it runs inside.
TEST(Recorder, ALayerWithoutANameIsRecordedOnce) {
  Rng rng(1);
  const Packing packing = Packing::of({5});
  const Tensor x = random_tensor({5, 8}, 1);
  const auto calls = [&](const auto& run) {
    Recorder recorder;
    recorder.request = {.heads = {0}};
    run();
    for (const RecordedHead& head : recorder.heads) EXPECT_EQ(head.layer, "attention");
    return recorder.heads.size();
  };
  const MultiHeadAttention heads({.width = 8, .heads = 2}, rng);
  EXPECT_EQ(calls([&] { heads(x, packing); }), 1u);
  const LocalAttention local({.width = 8, .reach = 2}, rng);
  EXPECT_EQ(calls([&] { local({x, x, x, packing, packing}); }), 1u);
  const MemoryAttention memory({.width = 8, .slots = 4, .hops = 3}, rng);
  EXPECT_EQ(calls([&] { memory(x); }), 3u);  // one for each hop
  const Lstmn lstmn({.input = 8, .hidden = 4}, rng);
  EXPECT_EQ(calls([&] { lstmn(x, packing); }), 1u);
  const AttentionPooling pooling({.queries = 1, .attention = {.width = 8, .heads = 2}}, rng);
  EXPECT_EQ(calls([&] { pooling(x, packing); }), 1u);
  const CoverageAttention coverage({.width = 8}, rng);
  const CoverageSource keys = coverage.remember(x, x, packing);
  CoverageState state = coverage.start(keys);
  EXPECT_EQ(calls([&] { coverage.step(x.slice_rows(0, 1), keys, state); }), 1u);
}

TEST(Recorder, ChoosesLayersByName) {
  struct Second : Recorder {
    std::optional<RecordRequest> wants(const std::string& layer) override {
      if (layer != "second") return std::nullopt;
      return RecordRequest{.heads = {0}, .sequences = {1}};
    }
  };
  const RecorderInputs in;
  Second recorder;
  for (const char* name : {"first", "second", "third"}) {
    AttentionOptions options = in.options();
    options.name = name;
    in.run(options);
  }
  ASSERT_EQ(recorder.heads.size(), 1u);
  EXPECT_EQ(recorder.heads[0].layer, "second");
}

TEST(Recorder, TheInnermostRecords) {
  const RecorderInputs in;
  EXPECT_EQ(current_recorder(), nullptr);
  Recorder outer;
  {
    Recorder inner;
    EXPECT_EQ(current_recorder(), &inner);
    in.run(in.options());
    EXPECT_EQ(inner.heads.size(), 12u);
  }
  EXPECT_TRUE(outer.heads.empty());
  in.run(in.options());
  EXPECT_EQ(outer.heads.size(), 12u);
}

// A decoder's steps are calls 0, 1, 2 ... of each of its layers.
TEST(Recorder, CountsTheCallsOfEachLayer) {
  Rng rng(1);
  MultiHeadConfig config;
  config.width = 8;
  config.heads = 2;
  config.causal = true;
  MultiHeadAttention first(config, rng), second(config, rng);
  first.name = "first";
  second.name = "second";
  const Tensor x = random_tensor({4, 8}, 1);
  Recorder whole;
  first(x, Packing::of({4}));
  Recorder recorder;
  KeyValueCache a = first.cache(1), b = second.cache(1);
  for (size_t t = 0; t < 4; ++t) {
    first.step(x.slice_rows(t, 1), Packing::of({1}), a);
    second.step(x.slice_rows(t, 1), Packing::of({1}), b);
  }
  ASSERT_EQ(recorder.heads.size(), 4u * 2 * 2);
  for (size_t i = 0; i < recorder.heads.size(); ++i) {
    const RecordedHead& head = recorder.heads[i];
    const size_t t = i / 4;
    EXPECT_EQ(head.call, t);
    EXPECT_EQ(head.first_query, t);
    EXPECT_EQ(head.first_key, 0u);
    EXPECT_EQ(head.layer, i % 4 < 2 ? "first" : "second");
    ASSERT_EQ(head.weights.shape(), (Shape{1, t + 1}));
    if (head.layer == "second") continue;
    const Tensor row = whole.heads[head.head].weights.slice_rows(t, 1).slice_columns(0, t + 1);
    expect_values(head.weights, row.to_vector(), 1e-6f);
  }
}

// Element (i, j) is known by its query and key, whatever a rolling cache has let go and however the
// sequences were cut into steps.
TEST(Recorder, StepsSayWhichQueriesAndKeysTheyAre) {
  Rng rng(1);
  MultiHeadAttention layer({.width = 8, .heads = 2, .causal = true, .window = 2}, rng);
  layer.name = "layer";
  const Packing packing = Packing::of({14, 9});
  const Tensor x = random_tensor({23, 8}, 1);
  Recorder whole;
  layer(x, packing);
  Recorder steps;
  steps.request = {.first_query = 4, .query_count = 6};
  KeyValueCache cache = layer.cache(2);
  layer.step(concat({x.slice_rows(0, 5), x.slice_rows(14, 1)}, 0), Packing::of({5, 1}), cache);
  for (size_t t = 0; t < 8; ++t) {
    layer.step(concat({x.slice_rows(5 + t, 1), x.slice_rows(15 + t, 1)}, 0), Packing::of({1, 1}),
               cache);
  }
  std::vector<size_t> rows(2);
  size_t moved = 0;
  for (const RecordedHead& head : steps.heads) {
    const Tensor& all = whole.heads[head.sequence * 2 + head.head].weights;
    for (size_t i = 0; i < head.weights.rows(); ++i, ++rows[head.sequence]) {
      const size_t query = head.first_query + i;
      EXPECT_TRUE(query >= 4 && query < 10);
      const Tensor row =
          all.slice_rows(query, 1).slice_columns(head.first_key, head.weights.width());
      expect_values(head.weights.slice_rows(i, 1), row.to_vector(), 1e-6f);
    }
    moved += head.first_key > 0;
  }
  EXPECT_EQ(rows, (std::vector<size_t>{6 * 2, 5 * 2}));
  EXPECT_GT(moved, 0u);
}

TEST(Recorder, LookingStepByStepCountsOn) {
  Rng rng(1);
  MultiHeadAttention layer({.width = 8, .heads = 2, .positions = Positions::kRotary}, rng);
  layer.name = "cross";
  const Packing queries = Packing::of({3, 2}), keys = Packing::of({4, 6});
  const Tensor x = random_tensor({5, 8}, 1), source = random_tensor({10, 8}, 2);
  const Tensor whole = layer(x, queries, source, keys);
  const KeyValueCache memory = layer.remember(source, keys);
  Recorder recorder;
  const Tensor y = layer.look(concat({x.slice_rows(2, 1), x.slice_rows(4, 1)}, 0),
                              Packing::of({1, 1}), memory, std::vector<int32_t>{2, 1});
  expect_values(y, concat({whole.slice_rows(2, 1), whole.slice_rows(4, 1)}, 0).to_vector(), 1e-5f);
  ASSERT_EQ(recorder.heads.size(), 4u);
  EXPECT_EQ(recorder.heads[0].first_query, 2u);
  EXPECT_EQ(recorder.heads[2].first_query, 1u);
  expect_error<ShapeError>([&] { layer.look(x, queries, memory, std::vector<int32_t>{2}); },
                           "1 counts of earlier rows, the least 2, for 2 sequences");
  expect_error<ShapeError>([&] { attention(x, x, x, {.earlier = {.queries = {-3}}}); },
                           "1 counts of earlier rows, the least -3, for 1 sequences");
}

}  // namespace
}  // namespace attend
