// Self-attention between pixels.
#include "attend/attention/feature_map.h"

#include <gtest/gtest.h>

#include "attend/attention/recorder.h"
#include "attend/ops/conv.h"
#include "attend/ops/pool.h"
#include "tests/attention/modules.h"

namespace attend {
namespace {

FeatureMapAttention make_feature_map(const FeatureMapConfig& config) {
  Rng rng(1);
  FeatureMapAttention layer(config, rng);
  randomize(layer);
  return layer;
}

TEST(FeatureMap, StartsAsTheIdentity) {
  Rng rng(1);
  const FeatureMapAttention layer({.channels = 16}, rng);
  EXPECT_EQ(layer.query.weight.value.shape(), (Shape{2, 16}));
  EXPECT_EQ(layer.value.weight.value.shape(), (Shape{8, 16}));
  const Tensor x = random_tensor({2, 3, 4, 16}, 1);
  EXPECT_EQ(layer(x).to_vector(), x.to_vector());
}

// The paper's formula, with its 1x1 convolutions.
TEST(FeatureMap, IsAttentionOfConvolvedPixels) {
  const FeatureMapAttention layer =
      make_feature_map({.channels = 6, .key_channels = 2, .value_channels = 4, .pool = 2});
  const Tensor x = random_tensor({1, 4, 6, 6}, 1);
  const auto convolved = [&](const Linear& by, const Tensor& map) {
    return conv2d(
        map, by.weight.value.reshape({by.weight.value.extent(0), by.weight.value.extent(1), 1, 1}),
        by.bias);
  };
  const Tensor q = convolved(layer.query, x).reshape({24, 2});
  const Tensor k = max_pool2d(convolved(layer.key, x), {.kernel = 2}).reshape({6, 2});
  const Tensor v = max_pool2d(convolved(layer.value, x), {.kernel = 2}).reshape({6, 4});
  const Tensor y = attention(q, k, v, {.score = Score::kDot}).output;
  std::vector<float> expected = convolved(layer.output, y.reshape({1, 4, 6, 4})).to_vector();
  for (size_t i = 0; i < expected.size(); ++i) {
    expected[i] = x.data()[i] + layer.gate.item() * expected[i];
  }
  expect_values(layer(x), expected, 1e-5f);
}

TEST(FeatureMap, ImagesDoNotSeeEachOther) {
  const FeatureMapAttention layer = make_feature_map({.channels = 6, .key_channels = 2, .pool = 2});
  const Tensor x = random_tensor({3, 4, 5, 6}, 1);
  const Tensor y = layer(x);
  for (size_t b = 0; b < 3; ++b) {
    expect_values(layer(x.slice_rows(b, 1)), y.slice_rows(b, 1).to_vector(), 1e-5f);
  }
}

TEST(FeatureMap, GradientsReachAllParameters) {
  for (const size_t pool : {1, 2}) {
    FeatureMapAttention layer = make_feature_map(
        {.channels = 4, .key_channels = 2, .value_channels = 2, .heads = 2, .pool = pool});
    layer.key.bias = {};  // a softmax does not see it
    Tensor x = random_tensor({2, 4, 4, 4}, 1);
    expect_gradients(layer, x, [&] { return layer(x); });
  }
}

TEST(FeatureMap, CanBeSeen) {
  FeatureMapAttention layer = make_feature_map({.channels = 6, .pool = 2});
  layer.name = "pixels";
  Recorder recorder;
  layer(random_tensor({2, 4, 4, 6}, 1));
  ASSERT_EQ(recorder.heads.size(), 2u);
  EXPECT_EQ(recorder.heads[1].weights.shape(), (Shape{16, 4}));
}

TEST(FeatureMap, ErrorsNameTheValuesAndTheRemedy) {
  expect_error<ConfigError>([] { make_feature_map({}); }, "channels 0, heads 1 and pool 1");
  expect_error<ConfigError>([] { make_feature_map({.channels = 16, .heads = 3}); },
                            "3 heads do not divide 3 key channels and 8 value channels; give");
  expect_error<ShapeError>(
      [] {
        make_feature_map({.channels = 6})(Tensor::zeros({2, 2, 5}));
      },
      "[2, 2, 5] is not [batch, height, width, 6]");
}

}  // namespace
}  // namespace attend
