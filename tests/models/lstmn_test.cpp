#include "attend/models/lstmn.h"

#include <functional>

#include "attend/models/model_config.h"
#include "tests/errors.h"
#include "tests/models/language_model.h"

namespace attend {
namespace {

using LstmnChange = std::function<void(LstmnModelConfig&)>;

LstmnLanguageModel lstmn_model(const LstmnChange& change, uint64_t seed) {
  LstmnModelConfig config;
  config.text_vocabulary = kTargetTokens;
  config.embedding = config.hidden = 12;
  change(config);
  Rng rng(seed);
  return {config, rng};
}

struct LstmnVariant {
  const char* name;
  LstmnChange change;
};

const LstmnVariant kLstmnVariants[] = {
    {"one_layer", [](LstmnModelConfig&) {}},
    {"two_layers", [](LstmnModelConfig& c) { c.layers = 2; }},
    {"narrow_attention", [](LstmnModelConfig& c) { c.attention_width = 5, c.layers = 2; }},
    {"projected", [](LstmnModelConfig& c) { c.embedding = 8; }},
    {"untied", [](LstmnModelConfig& c) { c.tied = false; }},
};

class LstmnVariants : public testing::TestWithParam<LstmnVariant> {};

TEST_P(LstmnVariants, StepByStepIsAllAtOnce) {
  expect_consistent(lstmn_model(GetParam().change, 7));
}

TEST_P(LstmnVariants, EveryParameterLearns) {
  LstmnLanguageModel model = lstmn_model(GetParam().change, 8);
  expect_learns(model);
}

TEST_P(LstmnVariants, TakesEmptySequences) {
  expect_takes_empty_sequences(lstmn_model(GetParam().change, 3));
}

TEST_P(LstmnVariants, TrainsTheSameOnAnyNumberOfThreads) {
  expect_trains_alike_on_any_threads([&] {
    return lstmn_model(
        [&](LstmnModelConfig& c) {
          c.embedding = c.hidden = 48;
          GetParam().change(c);
        },
        2);
  });
}

TEST_P(LstmnVariants, RowsOfTheLastLayerAreItsEncoding) {
  expect_encodes_forwards(lstmn_model(GetParam().change, 3));
  expect_encodes_last_layer(lstmn_model(GetParam().change, 3));
}

INSTANTIATE_TEST_SUITE_P(All, LstmnVariants, testing::ValuesIn(kLstmnVariants),
                         [](const auto& variant) { return std::string(variant.param.name); });

// Memory grows several times, and is handed from parent to child.
TEST(LstmnModel, StepsAsFarAsItLikes) {
  const NoGrad no_grad;
  const LstmnLanguageModel model = lstmn_model([](LstmnModelConfig& c) { c.layers = 2; }, 3);
  const Tokens written = some_tokens({70, 17, 33}, kTargetTokens, 2);
  expect_near(step_by_step(model, Batch(3), written), model.logits(Batch(3), written));
}

TEST(LstmnModel, ShowsWhereEachLayerLooks) {
  const NoGrad no_grad;
  const LstmnLanguageModel model = lstmn_model([](LstmnModelConfig& c) { c.layers = 2; }, 9);
  const std::vector<AttentionLayer> layers = model.signature().layers;
  ASSERT_EQ(layers.size(), 2u);
  EXPECT_EQ(layers[1].name, "layers.1.memory");
  EXPECT_TRUE(layers[1].looks_at_itself());
  Recorder recorder;
  const auto state = model.start(Batch(2));
  model.step(*state, some_tokens({1, 3}, kTargetTokens, 1), StepRows::kLast);
  recorder.heads.clear();
  model.step(*state, std::vector<int32_t>{2, 3});
  ASSERT_EQ(recorder.heads.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const RecordedHead& seen = recorder.heads[i];
    EXPECT_EQ(seen.layer, layers[i / 2].name);
    EXPECT_EQ(seen.sequence, i % 2);
    EXPECT_EQ(seen.first_query, i % 2 == 0 ? 1u : 3u);
    ASSERT_EQ(seen.weights.shape(), Shape({1, seen.first_query}));
    float sum = 0.0f;
    for (const float weight : seen.weights.to_vector()) sum += weight;
    EXPECT_NEAR(sum, 1.0f, 1e-5f);
  }
}

TEST(LstmnModel, PackingChangesNoBit) {
  LstmnLanguageModel model = lstmn_model([](LstmnModelConfig& c) { c.layers = 2; }, 3);
  const Tokens written = some_tokens({2, 1, 4}, kTargetTokens, 1);
  const auto run = [&] {
    const NoGrad no_grad;
    return model.step(*model.start(Batch(3)), written, StepRows::kAll).to_vector();
  };
  const std::vector<float> before = run();
  model.pack();
  EXPECT_EQ(run(), before);
}

TEST(LstmnModel, RefusesWhatCannotWork) {
  const auto refused = [](const LstmnChange& change, const std::string& why) {
    expect_error<ConfigError>([&] { lstmn_model(change, 1); }, why);
  };
  refused([](LstmnModelConfig& c) { c.text_vocabulary = 0; },
          "lstmn: a vocabulary of 0 tokens; it must be known");
  refused([](LstmnModelConfig& c) { c.hidden = 0; }, "lstmn: hidden is 0");
  refused([](LstmnModelConfig& c) { c.layers = 0; }, "layers is 0");
  refused([](LstmnModelConfig& c) { c.attention_width = 100'000; }, "attention_width is 100000");
  refused([](LstmnModelConfig& c) { c.output_dropout = 1.0f; }, "a dropout of 1");
}

TEST(LstmnModel, IsAModelByName) {
  ModelConfig config = ModelConfig::of_preset("lstmn-small");
  EXPECT_EQ(config.kind.name, "lstmn");
  config.set_vocabularies({{"text", kTargetTokens}});
  Rng rng(1);
  const auto model = make_model(config, rng);
  EXPECT_NE(dynamic_cast<const LstmnLanguageModel*>(model.get()), nullptr);
}

}  // namespace
}  // namespace attend
