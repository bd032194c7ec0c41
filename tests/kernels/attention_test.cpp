#include "attend/kernels/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "attend/base/parallel.h"
#include "tests/kernels/attention_reference.h"
#include "tests/kernels/targets.h"
#include "tests/special_values.h"

namespace attend::kernels {
namespace {

enum class Shared { kNone, kSequences, kHeads, kBoth, kNothing };  // kNone: no bias at all

// A problem with random values, and everything it points to.
struct Problem {
  std::string name;
  std::vector<int32_t> q_lengths, k_lengths;
  size_t heads = 2, kv_heads = 2, width = 8, value_width = 8;
  bool causal = false;
  int32_t window = -1;  // keys to the left, or all
  bool mask = false;
  Shared bias = Shared::kNone;
  bool relative = false, sinks = false, additive = false;
  float softcap = 0.0f, temperature = 1.0f, dropout = 0.0f;
  FusedWeighting weighting = FusedWeighting::kSoftmax;
};

class Attention {
 public:
  explicit Attention(const Problem& p) : problem(p) {
    spec.heads = p.heads;
    spec.kv_heads = p.kv_heads;
    spec.width = p.width;
    spec.value_width = p.value_width;
    spec.sequences = p.q_lengths.size();
    q_offsets = offsets(p.q_lengths);
    k_offsets = offsets(p.k_lengths);
    spec.q_offsets = q_offsets.data();
    spec.k_offsets = k_offsets.data();
    spec.scale = 0.7f;
    spec.softcap = p.softcap;
    spec.inverse_temperature = 1.0f / p.temperature;
    spec.weighting = p.weighting;
    spec.dropout = {p.dropout, RandomStream(5, 9)};
    fill_ranges();
    const size_t longest_q = longest(p.q_lengths), longest_k = longest(p.k_lengths);
    if (p.mask) {
      mask.resize(spec.sequences * p.heads * longest_q * longest_k);
      for (size_t i = 0; i < mask.size(); ++i) mask[i] = RandomStream(3, 3).uniform(i) < 0.7f;
      spec.mask = {mask.data(), p.heads * longest_q * longest_k, longest_q * longest_k, longest_k};
    }
    if (p.bias != Shared::kNone) {
      const size_t one = longest_q * longest_k;
      const bool per_sequence = p.bias == Shared::kHeads || p.bias == Shared::kNothing;
      const bool per_head = p.bias == Shared::kSequences || p.bias == Shared::kNothing;
      const size_t head_step = per_head ? one : 0;
      const size_t sequence_step = per_sequence ? (per_head ? p.heads * one : one) : 0;
      bias = random((per_sequence ? spec.sequences : 1) * (per_head ? p.heads : 1) * one, 11);
      spec.bias = {bias.data(), sequence_step, head_step, longest_k};
    }
    if (p.relative) {
      const size_t farthest = longest_q + longest_k;
      relative = random(p.heads * 2 * farthest, 12);
      spec.relative = {relative.data(), 2 * farthest, farthest};
      spec.positions = positions.data();
    }
    if (p.sinks) {
      sinks = random(p.heads, 13);
      spec.sinks = sinks.data();
    }
    if (p.additive) {
      vector = random(p.heads * p.width, 14);
      spec.vector = vector.data();
    }
    q = random(spec.q_rows() * p.heads * p.width, 1);
    k = random(spec.k_rows() * p.kv_heads * p.width, 2);
    v = random(spec.k_rows() * p.kv_heads * p.value_width, 3);
    dout = random(spec.q_rows() * p.heads * p.value_width, 4);
    in = {{q.data(), p.heads * p.width},
          {k.data(), p.kv_heads * p.width},
          {v.data(), p.kv_heads * p.value_width}};
  }

  void forward() {
    out.assign(dout.size(), kNaN);
    lse.assign(spec.q_rows() * spec.heads,
               spec.weighting == FusedWeighting::kSoftmax ? kNaN : 0.0f);
    attention_forward(spec, in, {out.data(), spec.heads * spec.value_width}, lse.data());
  }

  // Gradients start from `base` where they are added to, and from NaN where they are not.
  void backward(float base, bool add) {
    const auto start = [&](std::vector<float>& x, size_t size) { x.assign(size, base); };
    start(dq, q.size());
    start(dk, k.size());
    start(dv, v.size());
    if (!add) {
      for (auto* x : {&dq, &dk, &dv}) std::fill(x->begin(), x->end(), kNaN);
    }
    start(dbias, bias.size());
    start(drelative, relative.size());
    start(dsinks, sinks.size());
    start(dvector, vector.size());
    AttentionGradients grads{{dq.data(), in.q.stride, add},
                             {dk.data(), in.k.stride, add},
                             {dv.data(), in.v.stride, add}};
    if (!bias.empty()) {
      grads.dbias = {dbias.data(), spec.bias.sequence_step, spec.bias.head_step,
                     spec.bias.query_step};
    }
    if (!relative.empty()) grads.drelative = drelative.data();
    if (!sinks.empty()) grads.dsinks = dsinks.data();
    if (!vector.empty()) grads.dvector = dvector.data();
    const size_t stride = spec.heads * spec.value_width;
    attention_backward(spec, in, {out.data(), stride}, lse.data(), {dout.data(), stride}, grads);
  }

  // A query of a head may look at nothing.
  void mask_row(size_t sequence, size_t head, size_t query) {
    const size_t at = sequence * spec.mask.sequence_step + head * spec.mask.head_step;
    std::fill_n(mask.begin() + static_cast<ptrdiff_t>(at + query * spec.mask.query_step),
                spec.mask.query_step, uint8_t{0});
  }

  std::vector<std::vector<float>> results() const {
    return {out, lse, dq, dk, dv, dbias, drelative, dsinks, dvector};
  }

  static std::vector<float> random(size_t size, uint64_t stream) {
    std::vector<float> x(size);
    fill_normal(x, RandomStream(7, stream), 0.0f, 0.7f);
    return x;
  }

  Problem problem;
  AttentionSpec spec;
  AttentionInputs in{};
  std::vector<float> q, k, v, dout, bias, relative, sinks, vector;
  std::vector<float> out, lse, dq, dk, dv, dbias, drelative, dsinks, dvector;

 private:
  static std::vector<int32_t> offsets(const std::vector<int32_t>& lengths) {
    std::vector<int32_t> offsets{0};
    for (const int32_t length : lengths) offsets.push_back(offsets.back() + length);
    return offsets;
  }
  static size_t longest(const std::vector<int32_t>& lengths) {
    return static_cast<size_t>(*std::max_element(lengths.begin(), lengths.end()));
  }
  void fill_ranges() {
    for (size_t s = 0; s < spec.sequences; ++s) {
      const auto keys = static_cast<int32_t>(spec.k_count(s));
      const auto ahead = keys - static_cast<int32_t>(spec.q_count(s));
      for (int32_t i = 0; i < static_cast<int32_t>(spec.q_count(s)); ++i) {
        const int32_t at = i + ahead;
        positions.push_back(at);
        KeyRange range{0, keys};
        if (problem.causal) range.end = std::clamp(at + 1, 0, keys);
        if (problem.window >= 0) range.begin = std::clamp(at - problem.window, 0, keys);
        ranges.push_back(range);
      }
    }
    spec.ranges = ranges.data();
  }

  std::vector<int32_t> q_offsets, k_offsets;
  std::vector<int64_t> positions;
  std::vector<KeyRange> ranges;
  std::vector<uint8_t> mask;
};

void expect_all_near(const std::vector<float>& actual, const std::vector<double>& expected,
                     const char* what, double base = 0.0) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isinf(expected[i])) {
      ASSERT_EQ(actual[i], expected[i]) << what << " " << i;
    } else {
      ASSERT_NEAR(actual[i], expected[i] + base, 2e-5 + 2e-5 * std::abs(expected[i]))
          << what << " " << i;
    }
  }
}

std::vector<Problem> problems() {
  const std::vector<int32_t> mixed{5, 0, 1, 40, 17}, long_one{300}, short_ones{3, 7};
  std::vector<Problem> all{
      {.name = "dense", .q_lengths = mixed, .k_lengths = mixed},
      {.name = "one token", .q_lengths = {1}, .k_lengths = {1}, .width = 1, .value_width = 1},
      {.name = "no keys", .q_lengths = {3, 2}, .k_lengths = {0, 4}},
      {.name = "no queries", .q_lengths = {0, 2}, .k_lengths = {5, 4}},
      {.name = "cross", .q_lengths = {9, 30, 2}, .k_lengths = {20, 3, 150}},
      {.name = "causal", .q_lengths = mixed, .k_lengths = mixed, .causal = true},
      {.name = "more queries than keys", .q_lengths = {20}, .k_lengths = {9}, .causal = true},
      {.name = "long", .q_lengths = long_one, .k_lengths = {520}, .width = 16, .value_width = 20},
      {.name = "long causal", .q_lengths = long_one, .k_lengths = long_one, .causal = true},
      {.name = "window", .q_lengths = long_one, .k_lengths = long_one, .causal = true, .window = 6},
      {.name = "long and short",
       .q_lengths = {130, 220, 5},
       .k_lengths = {130, 220, 5},
       .heads = 4,
       .kv_heads = 4,
       .causal = true},
      {.name = "windows together",
       .q_lengths = {130, 220, 5},
       .k_lengths = {150, 220, 90},
       .heads = 4,
       .kv_heads = 4,
       .causal = true,
       .window = 45},
      {.name = "far window", .q_lengths = {40}, .k_lengths = {400}, .causal = true, .window = 70},
      {.name = "widths", .q_lengths = mixed, .k_lengths = mixed, .width = 13, .value_width = 35},
      {.name = "wide", .q_lengths = {7}, .k_lengths = {30}, .width = 600, .value_width = 64},
      {.name = "grouped", .q_lengths = mixed, .k_lengths = mixed, .heads = 6, .causal = true},
      {.name = "multi-query",
       .q_lengths = {1, 1, 2},
       .k_lengths = {70, 9, 33},
       .heads = 4,
       .kv_heads = 1},
      {.name = "mask", .q_lengths = mixed, .k_lengths = mixed, .mask = true},
      {.name = "mask and causal",
       .q_lengths = mixed,
       .k_lengths = mixed,
       .causal = true,
       .mask = true},
      {.name = "relative", .q_lengths = mixed, .k_lengths = {9, 3, 1, 50, 20}, .relative = true},
      {.name = "softcap", .q_lengths = mixed, .k_lengths = mixed, .causal = true, .softcap = 0.8f},
      {.name = "temperature", .q_lengths = mixed, .k_lengths = mixed, .temperature = 2.5f},
      {.name = "sinks",
       .q_lengths = mixed,
       .k_lengths = mixed,
       .heads = 4,
       .causal = true,
       .sinks = true},
      {.name = "sigmoid",
       .q_lengths = mixed,
       .k_lengths = mixed,
       .causal = true,
       .weighting = FusedWeighting::kSigmoid},
      {.name = "relu",
       .q_lengths = mixed,
       .k_lengths = mixed,
       .causal = true,
       .weighting = FusedWeighting::kRelu},
      {.name = "dropout",
       .q_lengths = {5, 200},
       .k_lengths = {5, 300},
       .causal = true,
       .dropout = 0.3f},
      {.name = "additive", .q_lengths = mixed, .k_lengths = {9, 3, 1, 50, 20}, .additive = true},
      {.name = "additive step",
       .q_lengths = {1, 1, 1},
       .k_lengths = {9, 70, 300},
       .heads = 4,
       .width = 19,
       .value_width = 32,
       .additive = true},
      {.name = "additive and more",
       .q_lengths = {150, 9},
       .k_lengths = {170, 9},
       .heads = 4,
       .causal = true,
       .mask = true,
       .relative = true,
       .sinks = true,
       .additive = true,
       .softcap = 1.5f,
       .dropout = 0.2f},
      {.name = "everything",
       .q_lengths = {150, 7},
       .k_lengths = {170, 9},
       .heads = 4,
       .width = 12,
       .value_width = 18,
       .causal = true,
       .window = 100,
       .mask = true,
       .bias = Shared::kSequences,
       .relative = true,
       .sinks = true,
       .softcap = 1.5f,
       .temperature = 1.7f,
       .dropout = 0.2f},
  };
  // A decoder's few rows, over one part of the keys and over several, beside a prompt.
  const Problem step{.name = "step",
                     .q_lengths = {1, 1, 9, 2, 1},
                     .k_lengths = {70, 600, 33, 257, 256},
                     .heads = 4,
                     .width = 32,
                     .value_width = 64};
  const auto push = [&all](Problem problem, const char* name, auto change) {
    problem.name = name;
    change(problem);
    all.push_back(problem);
  };
  all.push_back(step);
  push(step, "step of one head", [](Problem& p) { p.heads = p.kv_heads = 1; });
  push(step, "step of three", [](Problem& p) { p.heads = 6; });
  push(step, "step of odd widths", [](Problem& p) { p.width = 13; });
  push(step, "step with sinks", [](Problem& p) { p.sinks = true; });
  push(step, "step with terms", [](Problem& p) {
    p.bias = Shared::kSequences;
    p.relative = true;
    p.softcap = 1.5f;
    p.temperature = 1.7f;
  });
  push(step, "sigmoid step", [](Problem& p) { p.weighting = FusedWeighting::kSigmoid; });
  push(step, "relu step", [](Problem& p) { p.weighting = FusedWeighting::kRelu; });
  push(step, "step with a window", [](Problem& p) { p.causal = true, p.window = 300; });
  for (const auto& [name, shared] : {std::pair{"bias", Shared::kSequences},
                                     {"bias of a batch", Shared::kHeads},
                                     {"one bias", Shared::kBoth},
                                     {"bias of each", Shared::kNothing}}) {
    all.push_back(
        {.name = name, .q_lengths = {4, 200}, .k_lengths = {6, 180}, .heads = 4, .bias = shared});
  }
  return all;
}

TEST(AttentionKernel, EqualsTheReference) {
  for (const Problem& problem : problems()) {
    SCOPED_TRACE(problem.name);
    Attention attention(problem);
    AttentionReference reference(attention.spec, attention.in);
    reference.backward(attention.dout.data(), attention.bias.size());
    for_each_target([&] {
      attention.forward();
      expect_all_near(attention.out, reference.out, "out");
      if (problem.weighting == FusedWeighting::kSoftmax) {
        expect_all_near(attention.lse, reference.lse, "lse");
      }
      for (const bool add : {false, true}) {
        const float base = add ? 0.5f : 0.0f;
        attention.backward(base, add);
        expect_all_near(attention.dq, reference.dq, "dq", base);
        expect_all_near(attention.dk, reference.dk, "dk", base);
        expect_all_near(attention.dv, reference.dv, "dv", base);
        expect_all_near(attention.dbias, reference.dbias, "dbias", base);
        if (problem.relative)
          expect_all_near(attention.drelative, reference.drelative, "drel", base);
        if (problem.sinks) expect_all_near(attention.dsinks, reference.dsinks, "dsinks", base);
        if (problem.additive)
          expect_all_near(attention.dvector, reference.dvector, "dvector", base);
      }
    });
  }
}

TEST(AttentionKernel, HasTheSameBitsOnAnyNumberOfThreads) {
  for (const Problem& problem : problems()) {
    SCOPED_TRACE(problem.name);
    Attention attention(problem);
    std::vector<std::vector<float>> first;
    for (const int threads : {1, 2, 4}) {
      const ThreadCountScope scope(threads);
      attention.forward();
      attention.backward(0.0f, false);
      if (first.empty()) first = attention.results();
      EXPECT_EQ(attention.results(), first);
    }
  }
}

TEST(AttentionKernel, ASequenceHasTheBitsItHasAlone) {
  for (const Problem& problem : problems()) {
    if (problem.mask || problem.bias != Shared::kNone || problem.dropout > 0.0f) continue;
    SCOPED_TRACE(problem.name);
    Attention batch(problem), alone(problem);
    batch.forward();
    alone.forward();
    std::ranges::fill(alone.out, kNaN);
    for (size_t s = 0; s < batch.spec.sequences; ++s) {
      AttentionSpec one = alone.spec;
      one.sequences = 1;
      one.q_offsets += s;
      one.k_offsets += s;
      attention_forward(one, alone.in, {alone.out.data(), one.heads * one.value_width},
                        alone.lse.data());
    }
    EXPECT_EQ(alone.out, batch.out);
    EXPECT_EQ(alone.lse, batch.lse);
  }
}

TEST(AttentionKernel, RowsForTheEyeAreThoseOfTheReference) {
  for (const Problem& problem : problems()) {
    SCOPED_TRACE(problem.name);
    Attention attention(problem);
    attention.forward();
    const AttentionSpec& spec = attention.spec;
    AttentionReference(spec, attention.in).for_rows([&](const AttentionReference::Row& row) {
      if (row.query != spec.q_count(row.sequence) / 2) return;
      const size_t count = std::min<size_t>(2, spec.q_count(row.sequence) - row.query);
      std::vector<float> weights(count * row.weight.size()), scores = weights;
      const RowsOfInterest rows{row.sequence, row.head, row.query, count};
      attention_weights(spec, attention.in, attention.lse.data(), rows, weights.data());
      attention_scores(spec, attention.in, rows, scores.data());
      weights.resize(row.weight.size());
      scores.resize(row.weight.size());
      expect_all_near(weights, row.weight, "weights");
      expect_all_near(scores, row.score, "scores");
    });
  }
}

// What a causal row may not see: keys and values past it.
TEST(AttentionKernel, MaskedKeysAndValuesDoNotLeak) {
  const Problem problem{.name = "", .q_lengths = {40}, .k_lengths = {40}, .causal = true};
  for (const float bad : {kNaN, kInf, -kInf}) {
    for_each_target([&] {
      Attention clean(problem), spoiled(problem);
      clean.forward();
      const size_t row = 21;
      for (std::vector<float>* x : {&spoiled.k, &spoiled.v}) {
        std::fill_n(x->begin() + row * 16, 16, bad);
      }
      spoiled.forward();
      const auto rows_before = static_cast<ptrdiff_t>(row * 16);
      EXPECT_TRUE(
          std::equal(clean.out.begin(), clean.out.begin() + rows_before, spoiled.out.begin()));
      EXPECT_TRUE(std::isnan(spoiled.out[row * 16]));
      // A loss of the first rows alone has no gradient at the bad ones, and none of them is NaN.
      for (Attention* attention : {&clean, &spoiled}) {
        std::fill(attention->dout.begin() + rows_before, attention->dout.end(), 0.0f);
        std::fill(attention->out.begin() + rows_before, attention->out.end(), 0.0f);
      }
      clean.backward(0.0f, false);
      spoiled.backward(0.0f, false);
      EXPECT_TRUE(std::equal(clean.dq.begin(), clean.dq.begin() + rows_before, spoiled.dq.begin()));
    });
  }
}

TEST(AttentionKernel, RowsThatMayAttendToNothingAreZero) {
  Attention attention({.name = "", .q_lengths = {9}, .k_lengths = {4}, .causal = true});
  std::fill_n(attention.q.begin(), 5 * 16, kNaN);  // the first five queries are before all keys
  attention.forward();
  attention.backward(0.0f, false);
  for (size_t i = 0; i < 5 * 16; ++i) {
    EXPECT_EQ(attention.out[i], 0.0f);
    EXPECT_EQ(attention.dq[i], 0.0f);
  }
  for (size_t i = 0; i < 5 * 2; ++i) EXPECT_EQ(attention.lse[i], -kInf);
  for (const auto* x : {&attention.out, &attention.dk, &attention.dv, &attention.dq}) {
    for (const float value : *x) ASSERT_FALSE(std::isnan(value));
  }
}

// By the table of pairs rather than by its range; neither the row nor its gradient is read.
TEST(AttentionKernel, RowsWhosePairsAreAllMaskedAreZero) {
  for (const bool additive : {false, true}) {
    for_each_target([&] {
      const Problem problem{.name = "",
                            .q_lengths = {9, 40},
                            .k_lengths = {7, 30},
                            .mask = true,
                            .sinks = true,
                            .additive = additive,
                            .softcap = 1.5f};
      const size_t row = 3, width = 16;  // of the first sequence, in both heads
      Attention clean(problem), spoiled(problem);
      for (const auto& [attention, bad] : {std::pair(&clean, 0.0f), {&spoiled, kNaN}}) {
        for (size_t head = 0; head < 2; ++head) attention->mask_row(0, head, row);
        std::fill_n(attention->q.begin() + row * width, width, bad);
        std::fill_n(attention->dout.begin() + row * width, width, bad);
        attention->forward();
        attention->backward(0.0f, false);
      }
      EXPECT_EQ(spoiled.results(), clean.results());
      for (size_t i = row * width; i < (row + 1) * width; ++i) {
        EXPECT_EQ(spoiled.out[i], 0.0f);
        EXPECT_EQ(spoiled.dq[i], 0.0f);
      }
    });
  }
}

}  // namespace
}  // namespace attend::kernels
