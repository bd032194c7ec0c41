#include "attend/models/conv.h"

#include <functional>

#include "attend/attention/recorder.h"
#include "attend/base/parallel.h"
#include "attend/models/model_config.h"
#include "attend/tensor/training.h"
#include "tests/errors.h"
#include "tests/models/seq2seq.h"

namespace attend {
namespace {

ConvConfig small_conv() {
  ConvConfig c;
  c.source_vocabulary = kSourceTokens;
  c.target_vocabulary = kTargetTokens;
  c.width = 10, c.hidden = 12;
  c.encoder_layers = c.decoder_layers = 2;
  return c;
}

struct ConvVariant {
  const char* name;
  std::function<void(ConvConfig&)> change;
};

const ConvVariant kConvVariants[] = {
    {"dilated", [](ConvConfig&) {}},
    {"undilated", [](ConvConfig& c) { c.dilation_cycle = 1; }},
    {"deep", [](ConvConfig& c) { c.encoder_layers = 1, c.decoder_layers = 4; }},
    {"kernel_1", [](ConvConfig& c) { c.kernel = 1; }},
    {"kernel_2", [](ConvConfig& c) { c.kernel = 2; }},
    {"kernel_5", [](ConvConfig& c) { c.kernel = 5; }},
    {"no_encoder_layers", [](ConvConfig& c) { c.encoder_layers = 0; }},
    {"no_positions", [](ConvConfig& c) { c.positions = PositionScheme::kNone; }},
    {"learned", [](ConvConfig& c) { c.positions = PositionScheme::kLearned, c.max_length = 90; }},
    {"untied", [](ConvConfig& c) { c.tying = Tying::kNone; }},
    {"one_vocabulary",
     [](ConvConfig& c) { c.tying = Tying::kAll, c.source_vocabulary = kTargetTokens; }},
};

ConvSeq2Seq conv_model(const std::function<void(ConvConfig&)>& change, uint64_t seed) {
  ConvConfig config = small_conv();
  change(config);
  Rng rng(seed);
  return {config, rng};
}

class ConvVariants : public testing::TestWithParam<ConvVariant> {};

TEST_P(ConvVariants, StepByStepIsAllAtOnce) { expect_consistent(conv_model(GetParam().change, 7)); }

TEST_P(ConvVariants, EveryParameterLearns) {
  ConvSeq2Seq model = conv_model(GetParam().change, 8);
  expect_learns(model);
}

INSTANTIATE_TEST_SUITE_P(All, ConvVariants, testing::ValuesIn(kConvVariants),
                         [](const auto& variant) { return std::string(variant.param.name); });

// Windows turn several times, and turned ones are handed from parent to child.
TEST(Conv, StepsPastItsWindows) {
  const NoGrad no_grad;
  const ConvSeq2Seq model = conv_model([](ConvConfig& c) { c.decoder_layers = 3; }, 3);
  const Batch inputs = some_sources({5, 8, 2}, 1);
  const Tokens written = some_tokens({40, 17, 33}, kTargetTokens, 2);
  expect_near(step_by_step(model, inputs, written), model.logits(inputs, written));
}

TEST(Conv, TakesEmptySourcesAndTargets) {
  const NoGrad no_grad;
  const ConvSeq2Seq model = conv_model([](ConvConfig&) {}, 3);
  const Batch inputs = some_sources({0, 4, 2}, 1);
  const Tokens written = some_tokens({3, 0, 2}, kTargetTokens, 2);
  const Tensor logits = model.logits(inputs, written);
  for (const float x : logits.span()) ASSERT_TRUE(std::isfinite(x));
  expect_near(step_by_step(model, inputs, written), logits);
}

// Changing the first token moves the logits as far as the decoder reaches, and not one row more.
TEST(Conv, SeesAsFarAsItReaches) {
  const NoGrad no_grad;
  const Batch inputs = some_sources({5}, 1);
  const auto farthest = [&](size_t layers, size_t kernel, size_t cycle) {
    const ConvSeq2Seq model = conv_model(
        [&](ConvConfig& c) {
          c.decoder_layers = layers, c.kernel = kernel, c.dilation_cycle = cycle;
        },
        5);
    std::vector<int32_t> ids(40, 3);
    const Packing packing = Packing::of({40});
    const Tensor before = model.logits(inputs, {ids, packing});
    ids[0] = 4;
    const Tensor after = model.logits(inputs, {ids, packing});
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

TEST(Conv, DoesNotSeeWhatIsYetToCome) {
  const NoGrad no_grad;
  const ConvSeq2Seq model = conv_model([](ConvConfig&) {}, 5);
  const Batch inputs = some_sources({5}, 1);
  const Packing packing = Packing::of({6});
  const Tensor before = model.logits(inputs, {std::vector<int32_t>{1, 2, 3, 4, 5, 6}, packing});
  const Tensor after = model.logits(inputs, {std::vector<int32_t>{1, 2, 3, 4, 5, 9}, packing});
  expect_near(after.slice_rows(0, 5), before.slice_rows(0, 5), 0.0f);
  EXPECT_NE(after.slice_rows(5, 1).to_vector(), before.slice_rows(5, 1).to_vector());
}

TEST(Conv, ShowsWhereEachLayerLooks) {
  const NoGrad no_grad;
  const ConvSeq2Seq model = conv_model([](ConvConfig&) {}, 9);
  const Batch inputs = some_sources({3, 7}, 1);
  const Tokens written = some_tokens({2, 2}, kTargetTokens, 2);
  const std::vector<AttentionLayer> layers = model.signature().layers;
  ASSERT_EQ(layers.size(), 2u);
  Recorder recorder;
  model.logits(inputs, written);
  const std::vector<RecordedHead> whole = std::exchange(recorder.heads, {});
  ASSERT_EQ(whole.size(), 4u);
  step_by_step(model, inputs, written);
  ASSERT_EQ(recorder.heads.size(), 8u);
  for (size_t i = 0; i < recorder.heads.size(); ++i) {
    const RecordedHead& step = recorder.heads[i];
    const RecordedHead& all = whole[i % 4];
    EXPECT_EQ(step.layer, layers[i % 4 / 2].name);
    EXPECT_EQ(step.layer, all.layer);
    EXPECT_EQ(step.sequence, all.sequence);
    EXPECT_EQ(step.first_query, i / 4);
    expect_near(step.weights, all.weights.slice_rows(i / 4, 1));
  }
}

// Outside training there is no dropout; inside, the same place in the random numbers gives the same
// bits, for any number of threads.
TEST(Conv, TrainsTheSameOnAnyNumberOfThreads) {
  const Batch inputs = some_sources({30, 11, 26, 40, 3}, 3);
  const Tokens written = some_tokens({24, 12, 35, 4, 4}, kTargetTokens, 4);
  const auto wide = [](ConvConfig& c) { c.width = 64, c.hidden = 96, c.dropout = 0.3f; };
  std::vector<std::vector<float>> first;
  for (const int threads : {1, 2, 3}) {
    const ThreadCountScope scope(threads);
    ConvSeq2Seq model = conv_model(wide, 2);
    const std::vector<float> still = model.logits(inputs, written).to_vector();
    EXPECT_EQ(still, model.logits(inputs, written).to_vector());
    const TrainingScope training(Rng(1));
    const Tensor logits = model.logits(inputs, written);
    EXPECT_NE(still, logits.to_vector());
    backward(cross_entropy(logits, written.ids));
    std::vector<std::vector<float>> grads;
    for (const NamedTensor& p : parameters(model)) grads.push_back(p.tensor.grad().to_vector());
    if (first.empty()) first = grads;
    EXPECT_EQ(first, grads) << threads;
  }
}

TEST(Conv, RefusesWhatCannotWork) {
  const auto refused = [](const std::function<void(ConvConfig&)>& change, const std::string& why) {
    expect_error<ConfigError>([&] { conv_model(change, 1); }, why);
  };
  refused([](ConvConfig& c) { c.target_vocabulary = 0; }, "11 and 0 tokens");
  refused([](ConvConfig& c) { c.hidden = 0; }, "hidden is 0");
  refused([](ConvConfig& c) { c.kernel = 0; }, "kernel is 0");
  refused([](ConvConfig& c) { c.decoder_layers = 0; }, "decoder_layers is 0");
  refused([](ConvConfig& c) { c.dilation_cycle = 0; }, "dilation_cycle is 0");
  refused([](ConvConfig& c) { c.dilation_cycle = 17; },
          "dilation_cycle is 17, not a whole number from 1 to 16");
  refused([](ConvConfig& c) { c.positions = PositionScheme::kRotary; }, "positions 'rotary'");
  refused([](ConvConfig& c) { c.tying = Tying::kAll; }, "11 and 13 tokens; use a joint tokenizer");
  refused([](ConvConfig& c) { c.dropout = 1.0f; }, "a dropout of 1");
}

TEST(Conv, IsAModelByName) {
  ModelConfig config = ModelConfig::of_preset("conv");
  EXPECT_EQ(config.kind.name, "conv");
  config.set_vocabularies({{"source", kSourceTokens}, {"target", kTargetTokens}});
  Rng rng(1);
  const auto model = make_model(config, rng);
  EXPECT_NE(dynamic_cast<const ConvSeq2Seq*>(model.get()), nullptr);
  EXPECT_EQ(model->generator()->vocabulary(), kTargetTokens);
}

}  // namespace
}  // namespace attend
