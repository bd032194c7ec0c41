#include "attend/models/gpt.h"

#include "attend/nn/row_tap.h"
#include "tests/errors.h"
#include "tests/models/interventions.h"

namespace attend {
namespace {

GptConfig small_gpt() {
  GptConfig c;
  c.text_vocabulary = kTargetTokens;
  c.width = 16, c.layers = 2, c.heads = 4;
  c.max_length = 32;
  c.init = 0.2f;
  c.dropout = 0.0f;
  return c;
}

GptConfig llama() {
  GptConfig c = small_gpt();
  c.norm = NormKind::kRms;
  c.activation = FeedForwardKind::kSwiglu;
  c.positions = PositionScheme::kRotary;
  c.kv_heads = 2;
  c.bias = false;
  return c;
}

Gpt gpt_model(const GptConfig& config) {
  Rng rng(7);
  return {config, rng};
}

TEST(Gpt, StepsBatchesAndCompanyAgree) {
  expect_consistent(gpt_model(small_gpt()));
  expect_consistent(gpt_model(llama()));
}

TEST(Gpt, AllPositionsAgree) {
  for (const auto positions :
       {PositionScheme::kNone, PositionScheme::kSinusoidal, PositionScheme::kAlibi,
        PositionScheme::kT5, PositionScheme::kShaw}) {
    SCOPED_TRACE(name_of(positions));
    GptConfig c = small_gpt();
    c.positions = positions;
    expect_consistent(gpt_model(c));
  }
}

TEST(Gpt, ScaledRotaryFrequenciesAgree) {
  for (const auto scaling : {RotaryScaling::kLinear, RotaryScaling::kNtk, RotaryScaling::kYarn,
                             RotaryScaling::kLlama3}) {
    SCOPED_TRACE(name_of(scaling));
    GptConfig c = llama();
    c.rotary_scaling = scaling;
    c.rotary_factor = 4, c.rotary_context = 16;
    expect_consistent(gpt_model(c));
  }
}

// Interpolated by 4, a position turns as far as one of a quarter of it without.
TEST(Gpt, LinearScalingReadsPositionsAsNearer) {
  GptConfig c = llama();
  c.rotary_scaling = RotaryScaling::kLinear, c.rotary_factor = 4;
  const MultiHeadConfig scaled = c.block().attention, plain = llama().block().attention;
  const Tensor x = Tensor::full({1, 8}, 1.0f);
  const int32_t far[] = {20}, near[] = {5};
  expect_near(rotate(x, far, 2, scaled.rotary), rotate(x, near, 2, plain.rotary), 1e-5f);
}

TEST(Gpt, PointsOfAttentionAgree) {
  GptConfig c = small_gpt();
  c.norm_place = NormPlace::kPost;
  c.tied = false;
  c.strictly_causal = true;
  expect_consistent(gpt_model(c));
  c = llama();
  c.qk_norm = true, c.sinks = true, c.softcap = 5.0f;
  c.rotary_layout = RotaryLayout::kInterleaved;
  expect_consistent(gpt_model(c));
  c = small_gpt();
  c.score = Score::kAdditive;
  c.weighting = Weighting::kSigmoid;
  expect_consistent(gpt_model(c));
  c = llama();
  c.score = Score::kLocation, c.positions = PositionScheme::kNone, c.max_length = 40;
  expect_consistent(gpt_model(c));
  EXPECT_EQ(gpt_model(c).signature().column("text").positions, 40u);
}

TEST(Gpt, Learns) {
  Gpt one = gpt_model(small_gpt());
  expect_learns(one);
  Gpt two = gpt_model(llama());
  expect_learns(two);
}

// A window of n tokens sees nothing of what came before them.
TEST(Gpt, AWindowHidesWhatLiesBeforeIt) {
  GptConfig c = llama();
  c.layers = 1;
  c.window = 2;
  const Gpt model = gpt_model(c);
  expect_consistent(model);
  expect_heeds_interventions(model);  // also where a cache has let go of the first keys
  const NoGrad no_grad;
  const std::vector<int32_t> a = {1, 2, 3, 4, 5}, b = {6, 7, 3, 4, 5};
  const Tensor first = model.logits(Batch(1), one_sequence(a));
  const Tensor second = model.logits(Batch(1), one_sequence(b));
  expect_near(first.slice_rows(4, 1), second.slice_rows(4, 1), 1e-6f);
  EXPECT_NE(first.slice_rows(3, 1).to_vector(), second.slice_rows(3, 1).to_vector());
}

TEST(Gpt, PackedWeightsGiveTheSameBits) {
  Gpt model = gpt_model(llama());
  const NoGrad no_grad;
  const Tokens text = some_tokens({5, 3}, kTargetTokens, 1);
  const Tensor before = model.logits(Batch(2), text);
  model.pack();
  expect_same(model.logits(Batch(2), text), before);
}

// As in GPT-2: what is added to the residual stream starts smaller.
template <typename Module>
void expect_first_weights(Module& model) {
  const auto deviation = [&](const std::string& name) {
    for (const NamedTensor& p : parameters(model)) {
      if (p.name != name) continue;
      double sum = 0;
      for (const float x : p.tensor.span()) sum += double{x} * x;
      return std::sqrt(sum / static_cast<double>(p.tensor.size()));
    }
    throw std::runtime_error(name);
  };
  EXPECT_NEAR(deviation("layers.1.self.query.weight"), 0.02, 0.001);
  EXPECT_NEAR(deviation("layers.1.self.output.weight"), 0.01, 0.0005);
  EXPECT_NEAR(deviation("layers.0.feed_forward.out.weight"), 0.01, 0.0005);
  EXPECT_NEAR(deviation("embedding.weight"), 0.02, 0.002);
}

TEST(Gpt, FirstWeightsAreAsWideAsTheyShouldBe) {
  GptConfig c = small_gpt();
  c.width = 64, c.init = 0.02f;
  Gpt model = gpt_model(c);
  expect_first_weights(model);
  Rng rng(7);
  const auto encoder = GptEncoder::make(AnyConfig(c), rng);  // a part of a larger model
  expect_first_weights(*encoder);
}

TEST(Gpt, WithoutBiasesItHasNone) {
  GptConfig c = small_gpt();
  c.bias = false;
  Gpt model = gpt_model(c);
  for (const NamedTensor& p : parameters(model)) EXPECT_FALSE(p.name.ends_with("bias")) << p.name;
}

// The lens at the last layer is the model's own output.
TEST(Gpt, RowsOfEveryLayerHaveLogits) {
  struct Rows : RowTap {
    std::vector<std::string> stages;
    std::vector<Tensor> rows;
    void see(const std::string& stage, const Tensor& x) override {
      stages.push_back(stage);
      rows.push_back(x);
    }
  };
  const Gpt model = gpt_model(small_gpt());
  const NoGrad no_grad;
  const Tokens text = some_tokens({4}, kTargetTokens, 1);
  Rows seen;
  const Tensor logits = model.logits(Batch(1), text);
  EXPECT_EQ(seen.stages, (std::vector<std::string>{"embedding", "layers.0", "layers.1"}));
  expect_same(*model.logits_of_rows(seen.rows.back()), logits);
  EXPECT_NE(model.logits_of_rows(seen.rows.front())->to_vector(), logits.to_vector());
}

TEST(Gpt, RefusesWhatCannotBe) {
  const auto refuse = [](const char* message, auto change) {
    GptConfig c = small_gpt();
    change(c);
    expect_error<ConfigError>([&] { gpt_model(c); }, message);
  };
  refuse("vocabulary has 0 tokens", [](GptConfig& c) { c.text_vocabulary = 0; });
  refuse("5 heads do not divide width 16", [](GptConfig& c) { c.heads = 5; });
  refuse("norm_epsilon is 0", [](GptConfig& c) { c.norm_epsilon = 0; });
  refuse("init is -1", [](GptConfig& c) { c.init = -1; });
  refuse("no gradient", [](GptConfig& c) { c.weighting = Weighting::kHardArgmax; });
}

TEST(Gpt, RefusesScalingsThatCannotBe) {
  const auto refuse = [](const char* message, auto change) {
    GptConfig c = llama();
    c.rotary_scaling = RotaryScaling::kYarn;
    c.rotary_factor = 4, c.rotary_context = 16;
    change(c);
    expect_error<ConfigError>([&] { gpt_model(c); }, message);
  };
  refuse("rotary_scaling yarn, but positions alibi; set positions to rotary",
         [](GptConfig& c) { c.positions = PositionScheme::kAlibi; });
  refuse("yarn needs rotary_context", [](GptConfig& c) { c.rotary_context = 0; });
  refuse("rotary_factor is 0.5", [](GptConfig& c) { c.rotary_factor = 0.5f; });
  refuse("use ntk", [](GptConfig& c) { c.rotary_scaling = RotaryScaling::kDynamicNtk; });
}

}  // namespace
}  // namespace attend
