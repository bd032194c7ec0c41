#include "attend/models/causal_conv.h"

#include <functional>

#include "attend/models/model_config.h"
#include "tests/errors.h"
#include "tests/models/language_model.h"

namespace attend {
namespace {

using CausalConvChange = std::function<void(CausalConvConfig&)>;

CausalConvLanguageModel causal_conv_model(const CausalConvChange& change, uint64_t seed) {
  CausalConvConfig config;
  config.text_vocabulary = kTargetTokens;
  config.width = 12, config.layers = 3, config.skip_width = 10;
  config.activation = HeadActivation::kGelu;  // ReLU's kinks have no slope
  change(config);
  Rng rng(seed);
  return {config, rng};
}

struct CausalConvVariant {
  const char* name;
  CausalConvChange change;
};

const CausalConvVariant kCausalConvVariants[] = {
    {"dilated", [](CausalConvConfig&) {}},
    {"undilated", [](CausalConvConfig& c) { c.dilation_cycle = 1; }},
    {"one_layer", [](CausalConvConfig& c) { c.layers = 1; }},
    {"deep", [](CausalConvConfig& c) { c.layers = 7, c.dilation_cycle = 3; }},
    {"kernel_1", [](CausalConvConfig& c) { c.kernel = 1; }},
    {"kernel_3", [](CausalConvConfig& c) { c.kernel = 3; }},
    {"kernel_5", [](CausalConvConfig& c) { c.kernel = 5, c.layers = 2; }},
    {"sinusoidal", [](CausalConvConfig& c) { c.positions = PositionScheme::kSinusoidal; }},
    {"learned",
     [](CausalConvConfig& c) { c.positions = PositionScheme::kLearned, c.max_length = 90; }},
    {"untied", [](CausalConvConfig& c) { c.tied = false; }},
    {"silu", [](CausalConvConfig& c) { c.activation = HeadActivation::kSilu; }},
    {"tanh", [](CausalConvConfig& c) { c.activation = HeadActivation::kTanh; }},
};

class CausalConvVariants : public testing::TestWithParam<CausalConvVariant> {};

TEST_P(CausalConvVariants, StepByStepIsAllAtOnce) {
  expect_consistent(causal_conv_model(GetParam().change, 7));
}

TEST_P(CausalConvVariants, EveryParameterLearns) {
  CausalConvLanguageModel model = causal_conv_model(GetParam().change, 8);
  expect_learns(model);
}

TEST_P(CausalConvVariants, TakesEmptySequences) {
  expect_takes_empty_sequences(causal_conv_model(GetParam().change, 3));
}

TEST_P(CausalConvVariants, RowsBeforeTheOutputAreItsEncoding) {
  expect_encodes_forwards(causal_conv_model(GetParam().change, 3));
}

TEST_P(CausalConvVariants, PackingChangesNoBit) {
  CausalConvLanguageModel model = causal_conv_model(GetParam().change, 3);
  const Tokens written = some_tokens({2, 1, 14}, kTargetTokens, 1);
  const auto run = [&] {
    const NoGrad no_grad;
    return model.step(*model.start(Batch(3)), written, StepRows::kAll).to_vector();
  };
  const std::vector<float> before = run();
  model.pack();
  EXPECT_EQ(run(), before);
}

INSTANTIATE_TEST_SUITE_P(All, CausalConvVariants, testing::ValuesIn(kCausalConvVariants),
                         [](const auto& variant) { return std::string(variant.param.name); });

TEST(CausalConv, TrainsTheSameOnAnyNumberOfThreads) {
  expect_trains_alike_on_any_threads([] {
    return causal_conv_model([](CausalConvConfig& c) { c.width = 96, c.dropout = 0.3f; }, 2);
  });
}

// Windows turn several times, and turned ones are handed from parent to child.
TEST(CausalConv, StepsPastItsWindows) {
  const NoGrad no_grad;
  const CausalConvLanguageModel model =
      causal_conv_model([](CausalConvConfig& c) { c.kernel = 3; }, 3);
  const Tokens written = some_tokens({40, 17, 33}, kTargetTokens, 2);
  expect_near(step_by_step(model, Batch(3), written), model.logits(Batch(3), written));
}

// Only what the next row sees is read again, at the positions where it was.
TEST(CausalConv, RewindsFromFarBeyondItsReach) {
  const NoGrad no_grad;
  for (const PositionScheme scheme : {PositionScheme::kNone, PositionScheme::kLearned}) {
    const CausalConvLanguageModel model =
        causal_conv_model([&](CausalConvConfig& c) { c.positions = scheme, c.max_length = 90; }, 3);
    const Tokens written = some_tokens({60, 21}, kTargetTokens, 2);
    const auto state = model.start(Batch(2));
    model.step(*state, written, StepRows::kLast);
    state->rewind(std::vector<int32_t>{31, 4});
    const Tensor next = model.step(*state, std::vector<int32_t>{2, 3});
    for (const size_t s : {0, 1}) {
      const auto kept = written.sequence(s).first(s == 0 ? 31 : 4);
      std::vector<int32_t> read(kept.begin(), kept.end());
      read.push_back(s == 0 ? 2 : 3);
      EXPECT_EQ(next.slice_rows(s, 1).to_vector(), last_alone(model, Batch(1), read));
    }
  }
}

// Changing the first token moves the logits as far as the model reaches, and not one row more.
TEST(CausalConv, SeesAsFarAsItReaches) {
  const NoGrad no_grad;
  const auto farthest = [](size_t layers, size_t kernel, size_t cycle) {
    const CausalConvLanguageModel model = causal_conv_model(
        [&](CausalConvConfig& c) {
          c.layers = layers, c.kernel = kernel, c.dilation_cycle = cycle;
        },
        5);
    std::vector<int32_t> ids(40, 3);
    const Packing packing = Packing::of({40});
    const Tensor before = model.logits(Batch(1), {ids, packing});
    ids[0] = 4;
    const Tensor after = model.logits(Batch(1), {ids, packing});
    size_t last = 0;
    for (size_t t = 0; t < ids.size(); ++t) {
      if (before.slice_rows(t, 1).to_vector() != after.slice_rows(t, 1).to_vector()) last = t;
    }
    EXPECT_EQ(model.config().reach(), last);
    return last;
  };
  EXPECT_EQ(farthest(3, 1, 5), 0u);
  EXPECT_EQ(farthest(3, 3, 1), 6u);
  EXPECT_EQ(farthest(3, 3, 5), 14u);
  EXPECT_EQ(farthest(5, 2, 3), 1u + 2 + 4 + 1 + 2);
}

TEST(CausalConv, RefusesWhatCannotWork) {
  const auto refused = [](const CausalConvChange& change, const std::string& why) {
    expect_error<ConfigError>([&] { causal_conv_model(change, 1); }, why);
  };
  refused([](CausalConvConfig& c) { c.text_vocabulary = 0; },
          "causal_conv: a vocabulary of 0 tokens; it must be known");
  refused([](CausalConvConfig& c) { c.width = 0; }, "causal_conv: width is 0");
  refused([](CausalConvConfig& c) { c.kernel = 0; }, "kernel is 0");
  refused([](CausalConvConfig& c) { c.layers = 0; }, "layers is 0");
  refused([](CausalConvConfig& c) { c.skip_width = 0; }, "skip_width is 0");
  refused([](CausalConvConfig& c) { c.dilation_cycle = 17; },
          "dilation_cycle is 17, not a whole number from 1 to 16");
  refused([](CausalConvConfig& c) { c.positions = PositionScheme::kRotary; },
          "positions 'rotary' belong to attention, of which there is none");
  refused([](CausalConvConfig& c) { c.dropout = 1.0f; }, "a dropout of 1");
}

TEST(CausalConv, IsAModelByName) {
  ModelConfig config = ModelConfig::of_preset("conv-lm");
  EXPECT_EQ(config.kind.name, "causal_conv");
  config.set_vocabularies({{"text", kTargetTokens}});
  Rng rng(1);
  const auto model = make_model(config, rng);
  EXPECT_NE(dynamic_cast<const CausalConvLanguageModel*>(model.get()), nullptr);
  EXPECT_FALSE(model->signature().column("text").positions);
}

}  // namespace
}  // namespace attend
