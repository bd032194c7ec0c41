#include "attend/attention/feature_map.h"

#include "attend/base/error.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/pool.h"
#include "attend/ops/shape.h"

namespace attend {
namespace {

FeatureMapConfig resolved(FeatureMapConfig c) {
  if (c.channels == 0 || c.heads == 0 || c.pool == 0) {
    throw ConfigError(
        "feature-map attention: channels {}, heads {} and pool {} must all be at least 1",
        c.channels, c.heads, c.pool);
  }
  if (c.key_channels == 0) c.key_channels = std::max(c.heads, c.channels / 8);
  if (c.value_channels == 0) c.value_channels = std::max(c.heads, c.channels / 2);
  if (c.key_channels % c.heads != 0 || c.value_channels % c.heads != 0) {
    throw ConfigError(
        "feature-map attention: {} heads do not divide {} key channels and {} value channels; "
        "give key_channels and value_channels that they divide",
        c.heads, c.key_channels, c.value_channels);
  }
  return c;
}

// A factor [1] times all of x.
Tensor times(const Tensor& x, const Tensor& factor) {
  const Tensor ones = Tensor::full({1, x.width()}, 1.0f);
  return multiply(x, reshape(matmul(reshape(factor, {1, 1}), ones), {x.width()}));
}

}  // namespace

FeatureMapAttention::FeatureMapAttention(const FeatureMapConfig& c, Rng& rng)
    : config(resolved(c)),
      query(config.channels, config.key_channels, rng),
      key(config.channels, config.key_channels, rng),
      value(config.channels, config.value_channels, rng),
      output(config.value_channels, config.channels, rng),
      gate(parameter({1}, Init::kZeros, rng)) {}

Tensor FeatureMapAttention::operator()(const Tensor& x) const {
  if (x.rank() != 4 || x.width() != config.channels) {
    throw ShapeError("feature-map attention: {} is not [batch, height, width, {}]", x.shape(),
                     config.channels);
  }
  const size_t batch = x.extent(0);
  const auto pooled = [&](const Tensor& map) {
    return config.pool == 1 ? map : max_pool2d(map, {.kernel = config.pool});
  };
  const auto pixels = [](const Tensor& map) { return reshape(map, {map.rows(), map.width()}); };
  const Tensor q = pixels(query(x)), k = pixels(pooled(key(x))), v = pixels(pooled(value(x)));

  AttentionOptions options{.heads = config.heads};
  options.queries = Packing::even(batch, x.extent(1) * x.extent(2));
  options.keys = Packing::even(batch, batch == 0 ? 0 : k.rows() / batch);
  options.score = Score::kDot;
  options.name = name;
  const Tensor y = output(attention(q, k, v, options).output);
  return add(x, reshape(times(y, gate), x.shape()));
}

void FeatureMapAttention::visit(Visitor& v) {
  v("query", query);
  v("key", key);
  v("value", value);
  v("output", output);
  v("gate", gate);
}

}  // namespace attend
