// Multi-head attention: step by step equals all at once in every form, and the module's contracts.
#include "attend/attention/multi_head.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "attend/attention/recorder.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"
#include "tests/attention/modules.h"
#include "tests/names.h"

namespace attend {
namespace {

constexpr Positions kAllPositions[] = {Positions::kNone, Positions::kAlibi, Positions::kT5,
                                       Positions::kShaw, Positions::kRotary};

MultiHeadConfig small_heads() {
  MultiHeadConfig config;
  config.width = 8;
  config.heads = 4;
  config.head_width = 4;
  config.t5 = {.count = 8, .farthest = 12};
  config.shaw_farthest = 3;
  config.causal = true;
  return config;
}

MultiHeadAttention make_heads(const MultiHeadConfig& config) {
  Rng rng(3);
  MultiHeadAttention layer(config, rng);
  randomize(layer);
  return layer;
}

// Gives each sequence its next `rows` rows, as far as it has them, until none is left.
void expect_steps_equal_whole(const MultiHeadAttention& layer, const Packing& packing,
                              size_t rows) {
  const NoGrad no_grad;
  const Tensor x = random_tensor({packing.rows(), layer.config.width}, 9);
  const Tensor whole = layer(x, packing);
  KeyValueCache cache = layer.cache(packing.count());
  for (size_t at = 0; at < packing.longest(); at += rows) {
    std::vector<int32_t> lengths;
    std::vector<size_t> taken;
    for (size_t s = 0; s < packing.count(); ++s) {
      const size_t length = std::min(rows, packing.length(s) - std::min(at, packing.length(s)));
      lengths.push_back(static_cast<int32_t>(length));
      for (size_t i = 0; i < length; ++i) taken.push_back(packing.begin(s) + at + i);
    }
    const Tensor y = layer.step(pick_rows(x, taken), Packing(lengths), cache);
    expect_values(y, pick_rows(whole, taken).to_vector(), 2e-5f);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(MultiHead, CachedEqualsUncached) {
  const Packing packing = Packing::of({23, 1, 9, 0, 14});
  for (const Positions positions : kAllPositions) {
    for (const size_t kv_heads : {4, 2, 1}) {
      for (const auto& window :
           {std::optional<int64_t>(), std::optional<int64_t>(0), std::optional<int64_t>(3)}) {
        for (const size_t rows : {1, 3}) {
          MultiHeadConfig config = small_heads();
          config.positions = positions;
          config.kv_heads = kv_heads;
          config.window = window;
          SCOPED_TRACE(fmt::format("{} on {} key heads, window {}, {} rows", name_of(positions),
                                   kv_heads, window.value_or(-1), rows));
          expect_steps_equal_whole(make_heads(config), packing, rows);
          if (HasFailure()) return;
        }
      }
    }
  }
}

TEST(MultiHead, CachedEqualsUncachedWithEverythingElse) {
  MultiHeadConfig config = small_heads();
  config.positions = Positions::kRotary;
  config.rotary = {.layout = RotaryLayout::kInterleaved, .scale = 0.5f, .rotated = 2};
  config.rotary.scaling = {.method = RotaryScaling::kLlama3, .factor = 4.0f, .original_context = 9};
  config.kv_heads = 2;
  config.value_width = 3;
  config.qk_norm = config.sinks = true;
  config.softcap = 2.0f;
  config.bias = false;
  config.window = 4;
  expect_steps_equal_whole(make_heads(config), Packing::of({19, 6}), 1);
  config.sinks = false;
  for (const Weighting weighting : {Weighting::kSigmoid, Weighting::kSparsemax}) {
    config.weighting = weighting;
    expect_steps_equal_whole(make_heads(config), Packing::of({19, 6}), 2);
  }
}

// A step cannot see the rows that come after it, whatever the layer does when it has all of them.
TEST(MultiHead, StepsAreCausal) {
  MultiHeadConfig config = small_heads();
  const Tensor x = random_tensor({7, 8}, 9);
  const std::vector<float> causal = make_heads(config)(x, Packing::of({7})).to_vector();
  config.causal = false;
  const MultiHeadAttention layer = make_heads(config);
  KeyValueCache cache = layer.cache(1);
  const Tensor first = layer.step(x.slice_rows(0, 4), Packing::of({4}), cache);
  const Tensor second = layer.step(x.slice_rows(4, 3), Packing::of({3}), cache);
  expect_values(concat({first, second}, 0), causal, 1e-5f);
}

// Scores with weights of their own, and the one that reads no keys, step by step as well.
TEST(MultiHead, CachedEqualsUncachedWithEveryScore) {
  for (const Score score : all_scores()) {
    for (const size_t kv_heads : {4, 2}) {
      if (kv_heads != 4 && !traits_of(score).grouped) continue;
      for (const auto& window : {std::optional<int64_t>(), std::optional<int64_t>(3)}) {
        MultiHeadConfig config = small_heads();
        config.score = score;
        config.kv_heads = kv_heads;
        config.window = window;
        config.longest_keys = 23;
        SCOPED_TRACE(fmt::format("{} on {} key heads, window {}", name_of(score), kv_heads,
                                 window.value_or(-1)));
        expect_steps_equal_whole(make_heads(config), Packing::of({23, 1, 0, 14}), 2);
        if (HasFailure()) return;
      }
    }
  }
}

// The weights of a query and the keys before it, by the op: the layer's own projections are what
// an additive score projects with.
TEST(MultiHead, AdditiveScoresAreThoseOfThePaper) {
  MultiHeadConfig config = small_heads();
  config.score = Score::kAdditive;
  const MultiHeadAttention layer = make_heads(config);
  const Tensor x = random_tensor({5, 8}, 4);
  Recorder recorder;
  recorder.request = {.weights = false, .scores = true};
  layer(x, Packing::of({5}));
  const Tensor q = layer.query(x), k = layer.key(x);
  for (size_t h = 0; h < 4; ++h) {
    for (size_t i = 0; i < 5; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        double expected = 0.0;
        for (size_t c = h * 4; c < h * 4 + 4; ++c) {
          expected += double{layer.score_weights.vector.data()[c]} *
                      std::tanh(double{q.data()[i * 16 + c]} + k.data()[j * 16 + c]);
        }
        EXPECT_NEAR(recorder.heads[h].scores.data()[i * 5 + j], expected, 1e-5);
      }
    }
  }
}

// With strictly_causal a row knows nothing of itself: not in one call, not step by step.
TEST(MultiHead, StrictlyCausalRowsDoNotSeeThemselves) {
  for (const Positions positions : kAllPositions) {
    for (const auto& window : {std::optional<int64_t>(), std::optional<int64_t>(3)}) {
      MultiHeadConfig config = small_heads();
      config.causal = false;
      config.strictly_causal = true;
      config.positions = positions;
      config.window = window;
      SCOPED_TRACE(name_of(positions));
      expect_steps_equal_whole(make_heads(config), Packing::of({19, 1, 0, 6}), 1);
      expect_steps_equal_whole(make_heads(config), Packing::of({19, 1, 0, 6}), 3);
    }
  }
  MultiHeadConfig config = small_heads();
  config.strictly_causal = true;
  const MultiHeadAttention layer = make_heads(config);
  const Tensor x = random_tensor({4, 8}, 4);
  const std::vector<float> y = layer(x, Packing::of({4})).to_vector();
  const auto [q, k, v] = std::tuple(layer.query(x), layer.key(x), layer.value(x));
  const AttentionOptions options{.heads = 4, .mask = {.strictly_causal = true}};
  expect_values(layer.output(attention(q, k, v, options).output), y, 1e-6f);
  // The first row sees nothing, which leaves the bias of the output.
  expect_values(layer(x, Packing::of({4})).slice_rows(0, 1), layer.output.bias.to_vector(), 0.0f);
  config.softcap = 3.0f;  // without it a softmax does not feel the bias of keys
  MultiHeadAttention capped = make_heads(config);
  Tensor input = random_tensor({4, 8}, 4);
  expect_gradients(capped, input, [&] { return capped(input, Packing::of({4})); });
}

// Hypotheses of a beam: the rows of a parent are those of its child.
TEST(MultiHead, CachedEqualsUncachedAfterReorder) {
  const NoGrad no_grad;
  for (const Positions positions : kAllPositions) {
    MultiHeadConfig config = small_heads();
    config.positions = positions;
    config.kv_heads = 2;
    config.window = 5;
    const MultiHeadAttention layer = make_heads(config);
    KeyValueCache cache = layer.cache(2);
    std::vector<std::vector<float>> histories(2);
    for (uint64_t t = 0; t < 16; ++t) {
      if (t % 4 == 3) {
        const std::vector<size_t> parents =
            t == 3 ? std::vector<size_t>{1, 0, 1} : std::vector<size_t>{2, 2, 0};
        std::vector<std::vector<float>> children;
        children.reserve(parents.size());
        for (const size_t p : parents) children.push_back(histories[p]);
        histories = children;
        cache.reorder(parents);
      }
      const size_t count = histories.size();
      const Tensor x = random_tensor({count, 8}, t);
      const Tensor y = layer.step(x, Packing::even(count, 1), cache);
      for (size_t s = 0; s < count; ++s) {
        histories[s].insert(histories[s].end(), x.data() + s * 8, x.data() + s * 8 + 8);
        const Tensor all = Tensor::of(histories[s], {t + 1, 8});
        const Tensor whole = layer(all, Packing::even(1, t + 1));
        expect_values(y.slice_rows(s, 1), whole.slice_rows(t, 1).to_vector(), 2e-5f);
      }
      if (HasFailure()) return;
    }
  }
}

// A step finds the bias of the step before until the cache grows.
TEST(MultiHead, BiasTablesAreKeptBetweenSteps) {
  for (const Positions positions : {Positions::kAlibi, Positions::kT5}) {
    MultiHeadConfig config = small_heads();
    config.positions = positions;
    const MultiHeadAttention layer = make_heads(config);
    KeyValueCache cache = layer.cache(1);
    size_t tables = 0, capacity = 0;
    const float* last = nullptr;
    for (uint64_t t = 0; t < 40; ++t) {
      layer.step(random_tensor({1, 8}, t), Packing::of({1}), cache);
      EXPECT_EQ(last != cache.distances.data(), capacity != cache.capacity());
      tables += last != cache.distances.data();
      last = cache.distances.data();
      capacity = cache.capacity();
    }
    EXPECT_EQ(tables, 3u);  // for 16, 32 and 64 keys
    EXPECT_FALSE(cache.distances.needs_grad());
    const KeyValueCache memory = layer.remember(random_tensor({5, 8}, 1), Packing::of({5}));
    EXPECT_EQ(memory.distances.width(), 2 * memory.capacity() + 1);
  }
}

TEST(MultiHead, LookingAtARememberedSourceEqualsTheDirectCall) {
  const NoGrad no_grad;
  const Packing queries = Packing::of({3, 0, 5}), keys = Packing::of({7, 2, 1});
  for (const Positions positions : kAllPositions) {
    for (const size_t kv_heads : {4, 1}) {
      MultiHeadConfig config = small_heads();
      config.causal = false;
      config.source_width = 5;
      config.value_width = 6;
      config.positions = positions;
      config.kv_heads = kv_heads;
      config.qk_norm = true;
      const MultiHeadAttention layer = make_heads(config);
      const Tensor x = random_tensor({8, 8}, 1), source = random_tensor({10, 5}, 2);
      const KeyValueCache memory = layer.remember(source, keys);
      const Tensor direct = layer(x, queries, source, keys);
      EXPECT_EQ(direct.shape(), (Shape{8, 8}));
      for (int time = 0; time < 2; ++time) {
        expect_values(layer.look(x, queries, memory), direct.to_vector(), 1e-5f);
      }
      // Without positions a decoder may look row by row.
      if (positions != Positions::kNone) continue;
      const Tensor last = pick_rows(x, {2, 7});
      expect_values(layer.look(last, Packing::of({1, 0, 1}), memory),
                    pick_rows(direct, {2, 7}).to_vector(), 1e-5f);
    }
  }
}

TEST(MultiHead, PackedEqualsOneAtATime) {
  const Packing packing = Packing::of({4, 0, 9, 1});
  for (const Positions positions : kAllPositions) {
    MultiHeadConfig config = small_heads();
    config.positions = positions;
    config.kv_heads = 2;
    const MultiHeadAttention layer = make_heads(config);
    const Tensor x = random_tensor({packing.rows(), 8}, 4);
    const Tensor y = layer(x, packing);
    for (size_t s = 0; s < packing.count(); ++s) {
      const Tensor one = x.slice_rows(packing.begin(s), packing.length(s));
      expect_values(layer(one, Packing::even(1, one.rows())),
                    y.slice_rows(packing.begin(s), packing.length(s)).to_vector(), 1e-5f);
    }
  }
}

TEST(MultiHead, GradientsReachAllParameters) {
  const Packing packing = Packing::of({3, 4});
  size_t most = 0;
  for (const Positions positions : kAllPositions) {
    SCOPED_TRACE(name_of(positions));
    MultiHeadConfig config = small_heads();
    config.positions = positions;
    config.kv_heads = 2;
    config.value_width = 3;
    config.qk_norm = config.sinks = true;
    config.softcap = 3.0f;
    MultiHeadAttention layer = make_heads(config);
    Tensor x = random_tensor({7, 8}, 4);
    expect_gradients(layer, x, [&] { return layer(x, packing); });
    most = std::max(most, parameters(layer).size());
    if (HasFailure()) return;
  }
  EXPECT_EQ(most, 4u * 2 + 2 + 1 + 2);  // projections, norms, sinks, and Shaw's two tables
}

TEST(MultiHead, GradientsReachTheWeightsOfEveryScore) {
  const Packing packing = Packing::of({3, 4});
  const std::pair<Score, size_t> known[] = {{Score::kGeneral, 8 + 1},
                                            {Score::kAdditive, 8 + 1},
                                            {Score::kConcat, 8 + 2},
                                            {Score::kLocation, 6 + 1}};  // no projection of keys
  for (const auto& [score, count] : known) {
    SCOPED_TRACE(name_of(score));
    MultiHeadConfig config = small_heads();
    config.score = score;
    config.longest_keys = 5;
    config.softcap = 3.0f;  // without it a softmax does not feel the bias of keys
    MultiHeadAttention layer = make_heads(config);
    Tensor x = random_tensor({7, 8}, 4);
    expect_gradients(layer, x, [&] { return layer(x, packing); });
    EXPECT_EQ(parameters(layer).size(), count);
    if (HasFailure()) return;
  }
}

// What each switch is for, in numbers.
TEST(MultiHead, SwitchesDoWhatTheySay) {
  const Packing packing = Packing::of({6});
  const Tensor x = random_tensor({6, 8}, 4);
  const auto output = [&](const MultiHeadConfig& config, float stretch) {
    MultiHeadAttention layer = make_heads(config);
    for (float& w : layer.query.weight.value.span()) w *= stretch;
    for (float& w : layer.query.bias.span()) w *= stretch;
    return layer(x, packing).to_vector();
  };
  const auto apart = [](const std::vector<float>& a, const std::vector<float>& b) {
    float most = 0.0f;
    for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
    return most;
  };
  MultiHeadConfig config = small_heads();
  EXPECT_GT(apart(output(config, 1.0f), output(config, 3.0f)), 1e-2f);
  config.qk_norm = true;  // the length of a query does not matter
  EXPECT_LT(apart(output(config, 1.0f), output(config, 3.0f)), 1e-4f);
  config.qk_norm = false;
  config.softcap = 1e-4f;  // scores are bounded: as good as equal
  EXPECT_LT(apart(output(config, 1.0f), output(config, 3.0f)), 1e-3f);
  config.softcap = 0.0f;
  config.sinks = true;  // a sink that takes everything leaves the output's bias
  MultiHeadAttention layer = make_heads(config);
  std::ranges::fill(layer.sinks.span(), 50.0f);
  const Tensor y = layer(x, packing);
  for (size_t r = 0; r < 6; ++r) {
    expect_values(y.slice_rows(r, 1), layer.output.bias.to_vector(), 1e-6f);
  }
}

// The mask of a call comes on top of the config's.
TEST(MultiHead, MasksAreAdded) {
  MultiHeadConfig config = small_heads();
  config.window = 4;
  const MultiHeadAttention windowed = make_heads(config);
  config.window = 2;
  const Tensor x = random_tensor({7, 8}, 4);
  const Packing packing = Packing::of({7});
  expect_values(windowed(x, packing, {.left = 2}), make_heads(config)(x, packing).to_vector(),
                0.0f);
  expect_values(make_heads(config)(x, packing, {.left = 4}),
                make_heads(config)(x, packing).to_vector(), 0.0f);
}

TEST(MultiHead, ErrorsNameTheValuesAndTheRemedy) {
  Rng rng(1);
  const auto build = [&](auto change) {
    MultiHeadConfig config = small_heads();
    change(config);
    MultiHeadAttention layer(config, rng);
  };
  expect_error<ConfigError>([&] { build([](MultiHeadConfig& c) { c.width = 0; }); },
                            "width 0 and heads 4 must be at least 1");
  expect_error<ConfigError>(
      [&] {
        build([](MultiHeadConfig& c) {
          c.positions = Positions::kShaw;
          c.score = Score::kCosine;
        });
      },
      "but the score is cosine; use dot, scaled_dot, general, or other positions");
  expect_error<ConfigError>([&] { build([](MultiHeadConfig& c) { c.kv_heads = 3; }); },
                            "4 heads cannot share 3 key heads evenly; kv_heads divides heads");
  expect_error<ConfigError>(
      [&] {
        build([](MultiHeadConfig& c) {
          c.heads = 3;
          c.head_width = 0;
        });
      },
      "3 heads do not divide width 8; choose another number, or give head_width");
  expect_error<ConfigError>(
      [&] {
        build([](MultiHeadConfig& c) {
          c.score = Score::kConcat;
          c.kv_heads = 2;
        });
      },
      "score concat needs a key head for each of 4 heads, but there are 2; leave kv_heads out");
  expect_error<ConfigError>([&] { build([](MultiHeadConfig& c) { c.score = Score::kLocation; }); },
                            "reads no keys, but longest_keys is 0 and qk_norm false");
  expect_error<ConfigError>(
      [&] {
        build([](MultiHeadConfig& c) {
          c.score = Score::kAdditive;
          c.positions = Positions::kRotary;
        });
      },
      "use dot, scaled_dot, cosine, distance, or other positions");
  expect_error<ConfigError>(
      [&] {
        build([](MultiHeadConfig& c) {
          c.positions = Positions::kRotary;
          c.rotary.scaling.method = RotaryScaling::kYarn;
        });
      },
      "set original_context");
  expect_error<ConfigError>([&] { build([](MultiHeadConfig& c) { c.window = -1; }); },
                            "a window of -1 keys");
  expect_error<ConfigError>(
      [&] {
        build([](MultiHeadConfig& c) {
          c.positions = Positions::kRotary;
          c.head_width = 5;
        });
      },
      "rotary positions turn pairs of columns, but 5 of 5 columns of a head cannot be paired");
  expect_names<Positions>({"none", "alibi", "t5", "shaw", "rotary"});
  const MultiHeadAttention layer = make_heads(small_heads());
  expect_error<ShapeError>([&] { layer(Tensor::zeros({3, 8}), Packing::of({2})); }, "2");
  KeyValueCache cache = layer.cache(2);
  expect_error<ShapeError>(
      [&] {
        layer.step(Tensor::zeros({3, 8}), Packing::of({1, 1, 1}), cache);
      },
      "rows of 3 sequences, but the cache holds 2");
}

}  // namespace
}  // namespace attend
