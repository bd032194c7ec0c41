#include "attend/models/block.h"

#include "attend/base/names.h"
#include "attend/ops/dropout.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/norm.h"

namespace attend {
namespace {

constexpr Named<NormPlace> kNormPlaces[] = {{NormPlace::kPre, "pre"}, {NormPlace::kPost, "post"}};
constexpr Named<NormKind> kNorms[] = {{NormKind::kLayer, "layer"}, {NormKind::kRms, "rms"}};

struct FeedForwardEntry {
  FeedForwardKind value;
  std::string_view name;
  Activation activation;
};
constexpr FeedForwardEntry kFeedForwards[] = {
    {FeedForwardKind::kRelu, "relu", Activation::kRelu},
    {FeedForwardKind::kGelu, "gelu", Activation::kGelu},
    {FeedForwardKind::kGeluTanh, "gelu_tanh", Activation::kGeluTanh},
    {FeedForwardKind::kSwiglu, "swiglu", Activation::kSilu},
};

Activation activation_of(FeedForwardKind kind) {
  for (const FeedForwardEntry& entry : kFeedForwards) {
    if (entry.value == kind) return entry.activation;
  }
  return Activation::kIdentity;
}

MultiHeadAttention self_attention(const BlockConfig& config, bool causal, const std::string& name,
                                  Rng& rng) {
  MultiHeadConfig c = config.attention;
  c.width = config.width;
  c.causal = causal;
  c.strictly_causal = causal && c.strictly_causal;
  c.bias = config.bias;
  MultiHeadAttention layer(c, rng);
  layer.name = name + ".self";
  return layer;
}

// Distances between the items of two sequences mean nothing.
MultiHeadAttention cross_attention(const BlockConfig& config, const std::string& name, Rng& rng) {
  MultiHeadConfig c = config.attention;
  c.width = config.width;
  c.bias = config.bias;
  c.positions = Positions::kNone;
  c.window = std::nullopt;
  c.strictly_causal = false;
  MultiHeadAttention layer(c, rng);
  layer.name = name + ".cross";
  return layer;
}

}  // namespace

std::string_view name_of(NormPlace place) { return name_from_value(kNormPlaces, place); }
std::string_view name_of(NormKind kind) { return name_from_value(kNorms, kind); }
std::string_view name_of(FeedForwardKind kind) { return name_from_value(kFeedForwards, kind); }

void check_self_attention(std::string_view model, const MultiHeadConfig& config) {
  const Weighting weighting = config.weighting;
  const auto fits = [](const WeightingTraits& t) { return t.differentiable && !t.ordered_keys; };
  if (!fits(traits_of(weighting))) {
    throw ConfigError("{}: weighting {} has no gradient, or goes from key to key; use one of: {}",
                      model, name_of(weighting), weightings_where(fits));
  }
  if (config.sinks && !traits_of(weighting).sinks) {
    throw ConfigError("{}: the weighting {} has no sinks; those that have: {}", model,
                      name_of(weighting),
                      weightings_where([](const WeightingTraits& t) { return t.sinks; }));
  }
  if (config.softcap < 0.0f) {
    throw ConfigError("{}: a softcap of {}; 0 is none", model, config.softcap);
  }
}

Norm::Norm(const BlockConfig& config)
    : kind(config.norm),
      weight(constant_parameter({config.width}, 1.0f)),
      epsilon(config.norm_epsilon) {
  if (kind == NormKind::kLayer && config.bias) bias = constant_parameter({config.width}, 0.0f);
}

Tensor Norm::operator()(const Tensor& x) const {
  return kind == NormKind::kLayer ? layer_norm(x, weight, bias, epsilon)
                                  : rms_norm(x, weight, epsilon);
}

void Norm::visit(Visitor& v) {
  v("weight", weight);
  v("bias", bias);
}

FeedForward::FeedForward(const BlockConfig& config, Rng& rng)
    : kind(config.activation),
      dropout(config.activation_dropout),
      in(config.width, config.feed_forward, rng, {.bias = config.bias}),
      out(config.feed_forward, config.width, rng, {.bias = config.bias}) {
  if (kind == FeedForwardKind::kSwiglu) {
    gate = Linear(config.width, config.feed_forward, rng, {.bias = config.bias});
  }
}

Tensor FeedForward::operator()(const Tensor& x) const {
  const Activation f = activation_of(kind);
  if (kind == FeedForwardKind::kSwiglu) {
    return out(attend::dropout(multiply(gate(x, f), in(x)), dropout));
  }
  return out(attend::dropout(in(x, f), dropout));
}

void FeedForward::visit(Visitor& v) {
  v("in", in);
  v("gate", gate);
  v("out", out);
}

SelfBlock::SelfBlock(const BlockConfig& config, bool causal, const std::string& name, Rng& rng)
    : self_norm(config),
      feed_forward_norm(config),
      self(self_attention(config, causal, name, rng)),
      feed_forward(config, rng) {}

Tensor SelfBlock::operator()(const Tensor& x, const Packing& packing, const Mask& mask) const {
  const Tensor y = self_norm(x, [&](const Tensor& rows) { return self(rows, packing, mask); });
  return feed_forward_norm(y, feed_forward);
}

Tensor SelfBlock::step(const Tensor& x, const Packing& packing, KeyValueCache& cache,
                       const Mask& mask) const {
  const Tensor y =
      self_norm(x, [&](const Tensor& rows) { return self.step(rows, packing, cache, mask); });
  return feed_forward_norm(y, feed_forward);
}

void SelfBlock::visit(Visitor& v) {
  v("self_norm", self_norm);
  v("self", self);
  v("feed_forward_norm", feed_forward_norm);
  v("feed_forward", feed_forward);
}

CrossBlock::CrossBlock(const BlockConfig& config, const std::string& name, Rng& rng)
    : self_norm(config),
      cross_norm(config),
      feed_forward_norm(config),
      self(self_attention(config, true, name, rng)),
      cross(cross_attention(config, name, rng)),
      feed_forward(config, rng) {}

Tensor CrossBlock::operator()(const Tensor& x, const Packing& packing, const Tensor& source,
                              const Packing& keys) const {
  Tensor y = self_norm(x, [&](const Tensor& rows) { return self(rows, packing); });
  y = cross_norm(y, [&](const Tensor& rows) { return cross(rows, packing, source, keys); });
  return feed_forward_norm(y, feed_forward);
}

Tensor CrossBlock::step(const Tensor& x, const Rows& rows, Memory& memory) const {
  Tensor y = self_norm(x, [&](const Tensor& r) { return self.step(r, rows.packing, memory.self); });
  y = cross_norm(y, [&](const Tensor& r) {
    return cross.look(r, rows.by_record, memory.source, rows.earlier);
  });
  return feed_forward_norm(y, feed_forward);
}

void CrossBlock::visit(Visitor& v) {
  v("self_norm", self_norm);
  v("self", self);
  v("cross_norm", cross_norm);
  v("cross", cross);
  v("feed_forward_norm", feed_forward_norm);
  v("feed_forward", feed_forward);
}

}  // namespace attend
