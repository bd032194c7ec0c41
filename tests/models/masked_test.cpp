// Models that predict masked tokens, around any encoder that reads both ways.
#include "attend/models/masked.h"

#include "attend/models/bert.h"
#include "attend/models/rnn.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/models/generators.h"

namespace attend {
namespace {

std::unique_ptr<Model> masked_around(const EncoderConfig& encoder) {
  ModelConfig config("masked");
  auto& c = config.settings.as<MaskedConfig>();
  c.text_vocabulary = kSourceTokens;
  c.encoder = encoder;
  Rng rng(3);
  return make_model(config, rng);
}

Tensor predicted_at(const Model& model, const Batch& inputs, std::vector<int32_t> rows) {
  return model.masked_predictor()->predict(inputs, Tensor::ids(rows, {rows.size()})).tokens;
}

TEST(Masked, AnyEncoderThatReadsBothWaysPredicts) {
  for (const char* kind : {"transformer", "rnn", "conv", "bert"}) {
    SCOPED_TRACE(kind);
    const auto model = masked_around(EncoderConfig(kind));
    const Batch inputs("text", some_tokens({4, 2}, kSourceTokens, 1));
    const Tensor logits = predicted_at(*model, inputs, {5, 0, 2});
    ASSERT_EQ(logits.shape(), Shape({3, kSourceTokens}));
    const std::vector<int32_t> labels = {1, 2, 3};
    backward(cross_entropy(logits, Tensor::ids(labels, {3})));
    for (const NamedTensor& p : parameters(*model)) {
      SCOPED_TRACE(p.name);
      if (p.name.find("output") != std::string::npos) continue;
      EXPECT_TRUE(p.tensor.grad().defined());
    }
    // The row of one text sees nothing of the other, whatever stands beside it.
    const NoGrad no_grad;
    const auto second = inputs.tokens("text").sequence(1);
    EXPECT_EQ(predicted_at(*model, Batch("text", one_sequence(second)), {1}).to_vector(),
              predicted_at(*model, inputs, {5}).to_vector());
  }
}

TEST(Masked, AnEncoderThatReadsForwardsIsRefused) {
  EncoderConfig forwards("rnn");
  forwards.settings.as<RnnConfig>().bidirectional = false;
  for (const EncoderConfig& encoder :
       {EncoderConfig("gpt"), EncoderConfig("lstm"), EncoderConfig("causal_conv"), forwards}) {
    expect_error<ConfigError>([&] { masked_around(encoder); }, "the encoder reads forwards");
  }
}

TEST(Masked, SegmentsTellTwoTextsApart) {
  const auto model = [](size_t segments) {
    ModelConfig config("bert");
    auto& c = config.settings.as<BertConfig>();
    c.text_vocabulary = kSourceTokens, c.width = 16, c.layers = 1, c.heads = 2;
    c.segments = segments, c.init = 0.5f, c.head.pair = true;
    Rng rng(3);
    return make_model(config, rng);
  };
  const NoGrad no_grad;
  const std::vector<int32_t> ids = {1, 5, 2, 6, 2};
  const std::span<const int32_t> all(ids);
  Batch two("text", one_sequence(all.first(3)));
  two.add("pair", one_sequence(all.subspan(3)));
  const Batch one("text", one_sequence(all));
  for (const size_t segments : {0, 1, 2}) {
    SCOPED_TRACE(segments);
    const auto made = model(segments);
    const bool same =
        predicted_at(*made, two, {4}).to_vector() == predicted_at(*made, one, {4}).to_vector();
    EXPECT_EQ(same, segments < 2);
  }
}

}  // namespace
}  // namespace attend
