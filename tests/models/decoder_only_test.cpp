#include "attend/models/decoder_only.h"

#include "attend/io/config.h"
#include "attend/models/gpt.h"
#include "tests/errors.h"
#include "tests/models/generators.h"

namespace attend {
namespace {

GptConfig small_inner_gpt() {
  GptConfig c;
  c.width = 16, c.layers = 2, c.heads = 4;
  c.max_length = 32;
  c.init = 0.2f;
  c.dropout = 0.0f;
  return c;
}

DecoderOnlyConfig around(const GptConfig& gpt) {
  DecoderOnlyConfig c;
  c.target_vocabulary = kTargetTokens;
  c.language_model.settings = AnyConfig(gpt);
  return c;
}

// A small one of any kind, without dropout.
DecoderOnlyConfig around_kind(const std::string& kind) {
  DecoderOnlyConfig c;
  c.target_vocabulary = kTargetTokens;
  c.language_model = LanguageModelConfig(kind);
  for (const Field& field : fields_of(c.language_model.settings).fields) {
    const std::string& name = field.path;
    if (name.ends_with("dropout")) field.set(std::vector<std::string>{"0"});
    if (name == "layers" || name == "heads") field.set(std::vector<std::string>{"2"});
    if (name == "width" || name == "hidden" || name == "embedding" || name == "skip_width") {
      field.set(std::vector<std::string>{"16"});
    }
  }
  return c;
}

DecoderOnly decoder_only_model(const DecoderOnlyConfig& config) {
  Rng rng(7);
  return {config, rng};
}

TEST(DecoderOnly, StepsBatchesAndCompanyAgreeAroundEveryLanguageModel) {
  ASSERT_GE(language_model_names().size(), 4u);
  for (const std::string& kind : language_model_names()) {
    SCOPED_TRACE(kind);
    expect_consistent(decoder_only_model(around_kind(kind)));
  }
}

TEST(DecoderOnly, StepsBatchesAndCompanyAgreeWithABidirectionalPrefix) {
  for (const auto positions :
       {PositionScheme::kLearned, PositionScheme::kRotary, PositionScheme::kAlibi,
        PositionScheme::kT5, PositionScheme::kShaw}) {
    SCOPED_TRACE(name_of(positions));
    GptConfig gpt = small_inner_gpt();
    gpt.positions = positions;
    gpt.bidirectional_prefix = true;
    expect_consistent(decoder_only_model(around(gpt)));
  }
}

TEST(DecoderOnly, LearnsWithEveryLanguageModel) {
  for (const std::string& kind : language_model_names()) {
    SCOPED_TRACE(kind);
    DecoderOnly model = decoder_only_model(around_kind(kind));
    expect_learns(model);
  }
  GptConfig gpt = small_inner_gpt();
  gpt.bidirectional_prefix = true;
  DecoderOnly model = decoder_only_model(around(gpt));
  expect_learns(model);
}

// What it gives is what its language model gives of the whole sequence, after the source.
TEST(DecoderOnly, IsItsLanguageModelOnOneSequence) {
  const DecoderOnly model = decoder_only_model(around(small_inner_gpt()));
  const NoGrad no_grad;
  const std::vector<int32_t> source = {1, 5, 6}, target = {1, 8, 9, 4};
  const std::vector<int32_t> all = {1, 5, 6, 1, 8, 9, 4};
  const Tensor whole = model.language_model().generator()->logits(Batch(1), one_sequence(all));
  expect_same(model.logits({"source", one_sequence(source)}, one_sequence(target)),
              whole.slice_rows(3, 4));
}

// A causal source is read without knowing what comes later; a bidirectional one is not, but even
// then the target is.
TEST(DecoderOnly, ABidirectionalPrefixSeesAllOfItselfAndNothingAfterIt) {
  for (const bool both : {false, true}) {
    GptConfig gpt = small_inner_gpt();
    gpt.layers = 1;
    gpt.bidirectional_prefix = both;
    const DecoderOnly model = decoder_only_model(around(gpt));
    const NoGrad no_grad;
    Recorder recorder;
    model.logits({"source", one_sequence(std::vector<int32_t>{1, 5, 6})},
                 one_sequence(std::vector<int32_t>{1, 8}));
    ASSERT_EQ(recorder.heads.size(), 4u);
    const Tensor weights = recorder.heads.front().weights;
    ASSERT_EQ(weights.shape(), Shape({5, 5}));
    for (size_t q = 0; q < 5; ++q) {
      for (size_t k = 0; k < 5; ++k) {
        const bool sees = k <= q || (both && k < 3);
        EXPECT_EQ(weights.span()[5 * q + k] > 0, sees) << q << " at " << k << " " << both;
      }
    }
  }
}

TEST(DecoderOnly, EncodesASourceAsItReadsIt) {
  for (const bool both : {false, true}) {
    GptConfig gpt = small_inner_gpt();
    gpt.bidirectional_prefix = both;
    const DecoderOnly model = decoder_only_model(around(gpt));
    const NoGrad no_grad;
    const auto first_row = [&](std::vector<int32_t> source) {
      const Batch inputs("source", one_sequence(source));
      return model.encoder()->encode(inputs).values.slice_rows(0, 1).to_vector();
    };
    EXPECT_EQ(first_row({1, 5, 6}) != first_row({1, 5, 7}), both);
  }
}

TEST(DecoderOnly, ASourceMayBeEmpty) {
  const DecoderOnly model = decoder_only_model(around(small_inner_gpt()));
  const NoGrad no_grad;
  const Batch inputs("source", some_tokens({0, 2}, kSourceTokens, 1));
  const Tokens written = some_tokens({3, 2}, kTargetTokens, 2);
  expect_near(step_by_step(model, inputs, written), model.logits(inputs, written));
}

TEST(DecoderOnly, SourceAndTargetShareThePositions) {
  GptConfig gpt = small_inner_gpt();
  gpt.max_length = 8;
  const DecoderOnly model = decoder_only_model(around(gpt));
  const Signature signature = model.signature();
  ASSERT_TRUE(signature.joined);
  EXPECT_EQ(signature.joined->positions, 8u);
  // <s> source <s> target: one token of each at least.
  EXPECT_EQ(signature.column("source").longest(), 5u);
  EXPECT_EQ(signature.column("target").longest(), 5u);
  const Batch inputs("source", some_tokens({6}, kSourceTokens, 1));
  expect_error<DataError>(
      [&] { model.logits(inputs, some_tokens({3}, kTargetTokens, 2)); },
      "source and target have 9 tokens together, but the model has positions for 8");
}

TEST(DecoderOnly, HasTheParametersOfItsLanguageModelUnderTheirNames) {
  DecoderOnly model = decoder_only_model(around(small_inner_gpt()));
  EXPECT_EQ(parameters(model).front().name, "embedding.weight");
}

TEST(DecoderOnly, RefusesAPrefixThatAWindowWouldHide) {
  GptConfig gpt = small_inner_gpt();
  gpt.window = 4, gpt.bidirectional_prefix = true;
  expect_error<ConfigError>([&] { decoder_only_model(around(gpt)); }, "a window of 4 hides");
}

TEST(DecoderOnly, GoesAroundLanguageModelsOnly) {
  const auto wrapped = decoder_only_kind().around("gpt", AnyConfig(small_inner_gpt()));
  ASSERT_NE(wrapped, nullptr);
  const auto& config = wrapped->as<DecoderOnlyConfig>();
  EXPECT_EQ(config.language_model.kind.name, "gpt");
  EXPECT_EQ(config.language_model.settings.as<GptConfig>(), small_inner_gpt());
  EXPECT_EQ(decoder_only_kind().around("transformer", model_kind("transformer").defaults()),
            nullptr);
}

}  // namespace
}  // namespace attend
