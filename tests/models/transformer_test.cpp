#include "attend/models/transformer.h"

#include <functional>

#include "attend/models/model_config.h"
#include "tests/errors.h"
#include "tests/models/seq2seq.h"

namespace attend {
namespace {

struct TransformerVariant {
  const char* name;
  std::function<void(TransformerConfig&)> change;
};

const TransformerVariant kTransformerVariants[] = {
    {"default", [](TransformerConfig&) {}},
    {"post", [](TransformerConfig& c) { c.norm = NormPlace::kPost; }},
    {"gelu", [](TransformerConfig& c) { c.activation = FeedForwardKind::kGelu; }},
    {"swiglu", [](TransformerConfig& c) { c.activation = FeedForwardKind::kSwiglu; }},
    {"learned", [](TransformerConfig& c) { c.positions = PositionScheme::kLearned; }},
    {"none", [](TransformerConfig& c) { c.positions = PositionScheme::kNone; }},
    {"alibi", [](TransformerConfig& c) { c.positions = PositionScheme::kAlibi; }},
    {"t5", [](TransformerConfig& c) { c.positions = PositionScheme::kT5; }},
    {"shaw", [](TransformerConfig& c) { c.positions = PositionScheme::kShaw; }},
    {"rotary", [](TransformerConfig& c) { c.positions = PositionScheme::kRotary; }},
    {"multi_query", [](TransformerConfig& c) { c.kv_heads = 1; }},
    {"wide_heads", [](TransformerConfig& c) { c.head_width = 12; }},
    {"cosine", [](TransformerConfig& c) { c.score = Score::kCosine; }},
    {"distance", [](TransformerConfig& c) { c.score = Score::kDistance; }},
    {"additive", [](TransformerConfig& c) { c.score = Score::kAdditive, c.kv_heads = 1; }},
    {"sigmoid", [](TransformerConfig& c) { c.weighting = Weighting::kSigmoid; }},
    {"sparsemax", [](TransformerConfig& c) { c.weighting = Weighting::kSparsemax; }},
    {"entmax", [](TransformerConfig& c) { c.weighting = Weighting::kEntmax15; }},
    {"qk_norm",
     [](TransformerConfig& c) { c.qk_norm = true, c.positions = PositionScheme::kRotary; }},
    {"general", [](TransformerConfig& c) { c.score = Score::kGeneral; }},
    {"concat", [](TransformerConfig& c) { c.score = Score::kConcat; }},
    {"location", [](TransformerConfig& c) { c.score = Score::kLocation; }},
    {"strictly_causal", [](TransformerConfig& c) { c.strictly_causal = true; }},
    {"sinks", [](TransformerConfig& c) { c.sinks = true; }},
    {"softcap", [](TransformerConfig& c) { c.softcap = 2.0f; }},
    {"window", [](TransformerConfig& c) { c.window = 2; }},
    {"untied", [](TransformerConfig& c) { c.tying = Tying::kNone; }},
    {"concatenated", [](TransformerConfig& c) { c.tying = Tying::kNone, c.position_width = 6; }},
    {"same", [](TransformerConfig& c) { c.cross = CrossSource::kSame; }},
    {"mix", [](TransformerConfig& c) { c.cross = CrossSource::kMix, c.norm = NormPlace::kPost; }},
    {"one_vocabulary",
     [](TransformerConfig& c) {
       c.tying = Tying::kAll;
       c.source_vocabulary = kTargetTokens;
     }},
};

class TransformerVariants : public testing::TestWithParam<TransformerVariant> {};

TEST_P(TransformerVariants, StepByStepIsAllAtOnce) {
  TransformerConfig config = small_transformer();
  GetParam().change(config);
  Rng rng(7);
  expect_consistent(Transformer(config, rng));
}

TEST_P(TransformerVariants, PackedGivesTheSameBits) {
  TransformerConfig config = small_transformer();
  GetParam().change(config);
  Rng rng(7);
  Transformer model(config, rng);
  const NoGrad no_grad;
  const Batch inputs("source", some_tokens({3, 1, 6}, config.source_vocabulary, 1));
  const Tokens written = some_tokens({2, 5, 1}, config.target_vocabulary, 2);
  const auto logits = model.logits(inputs, written).to_vector();
  const auto steps = step_by_step(model, inputs, written).to_vector();
  model.pack();
  EXPECT_EQ(model.logits(inputs, written).to_vector(), logits);
  EXPECT_EQ(step_by_step(model, inputs, written).to_vector(), steps);
}

TEST_P(TransformerVariants, EveryParameterLearns) {
  TransformerConfig config = small_transformer();
  config.activation = FeedForwardKind::kGelu;  // ReLU's kinks have no slope
  GetParam().change(config);
  Rng rng(8);
  Transformer model(config, rng);
  expect_learns(model);
}

INSTANTIATE_TEST_SUITE_P(All, TransformerVariants, testing::ValuesIn(kTransformerVariants),
                         [](const auto& variant) { return std::string(variant.param.name); });

TEST(Transformer, RefusesWhatCannotWork) {
  Rng rng(1);
  TransformerConfig c = small_transformer();
  c.tying = Tying::kAll;
  expect_error<ConfigError>([&] { Transformer(c, rng); },
                            "11 and 13 tokens; use a joint tokenizer");
  c = small_transformer();
  c.cross = CrossSource::kSame;
  c.encoder_layers = 3;
  expect_error<ConfigError>([&] { Transformer(c, rng); }, "encoder layers (3)");
  expect_error<ConfigError>([&] { ModelConfig::of_preset("huge"); }, "tiny, small, base");
  c = small_transformer();
  c.position_width = 4;
  expect_error<ConfigError>([&] { Transformer(c, rng); }, "set tying to none");
  c = small_transformer();
  c.weighting = Weighting::kHardArgmax;
  expect_error<ConfigError>([&] { Transformer(c, rng); }, "hard_argmax has no gradient");
  c.weighting = Weighting::kSigmoid;
  c.sinks = true;
  expect_error<ConfigError>([&] { Transformer(c, rng); }, "the weighting sigmoid has no sinks");
  c = small_transformer();
  c.score = Score::kLocation, c.qk_norm = true;
  expect_error<ConfigError>([&] { Transformer(c, rng); }, "score location scores positions");
}

TEST(Hypotheses, StayInTheOrderOfTheirRecords) {
  Hypotheses h;
  h.admit(3);
  h.reorder(std::vector<size_t>{0, 0, 2});
  EXPECT_EQ(h.by_record(Packing::of({1, 2, 1})), Packing::of({3, 0, 1}));
  EXPECT_EQ(h.record_of(2), 2u);
  EXPECT_FALSE(h.retire());
  expect_error<DataError>([&] { h.reorder(std::vector<size_t>{2, 0}); }, "order of their records");
  expect_error<DataError>([&] { h.reorder(std::vector<size_t>{3}); }, "hypothesis 3 of 3");
  h.reorder(std::vector<size_t>{2});
  EXPECT_EQ(h.retire(), (std::vector<size_t>{2}));
  EXPECT_EQ(h.records(), 1u);
  EXPECT_EQ(h.record_of(0), 0u);
  h.advance(Packing::of({4}));
  h.admit(1);
  EXPECT_EQ(h.record_lengths(), (std::vector<int32_t>{4, 0}));
  expect_error<DataError>(
      [&] {
        h.rewind(std::vector<int32_t>{5, 0});
      },
      "has read 4 tokens, not 5");
}

// A decoder layer says which of the encoder's it looks at.
TEST(Transformer, SaysWhichStagesItsLayersLookAt) {
  Rng rng(1);
  TransformerConfig c = small_transformer();
  EXPECT_TRUE(Transformer(c, rng).signature().layer("decoder.1.cross").shares.empty());
  c.cross = CrossSource::kSame;
  EXPECT_EQ(Transformer(c, rng).signature().layer("decoder.1.cross").shares,
            (std::vector<float>{0, 0, 1}));
  c.cross = CrossSource::kMix;
  const auto shares = Transformer(c, rng).signature().layer("decoder.0.cross").shares;
  EXPECT_EQ(shares, (std::vector<float>(3, 1.0f / 3)));
}

}  // namespace
}  // namespace attend
