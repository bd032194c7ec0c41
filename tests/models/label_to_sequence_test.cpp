// From a label to a sequence takes no model of its own.
#include "attend/decode/search.h"
#include "attend/models/conv.h"
#include "attend/models/model_config.h"
#include "attend/models/rnn.h"
#include "attend/tensor/training.h"
#include "attend/train/optimizer.h"
#include "tests/models/seq2seq.h"

namespace attend {
namespace {

class LabelToSequence : public testing::TestWithParam<const char*> {};

// Small, and without dropout.
ModelConfig small_preset(const char* preset) {
  ModelConfig config = ModelConfig::of_preset(preset);
  if (config.kind.name == "transformer") {
    auto& c = config.settings.as<TransformerConfig>();
    c = small_transformer();
    c.activation = FeedForwardKind::kGelu;
    c.dropout = 0.0f;
  } else if (config.kind.name == "rnn") {
    auto& c = config.settings.as<RnnConfig>();
    c.embedding = 16, c.hidden = 24;
    c.embedding_dropout = c.layer_dropout = c.output_dropout = 0.0f;
  } else {
    auto& c = config.settings.as<ConvConfig>();
    c.width = 10, c.hidden = 12, c.encoder_layers = 2;
    c.kernel = 7;
    c.dropout = 0.0f;
  }
  config.set_vocabularies({{"source", kSourceTokens}, {"target", kTargetTokens}});
  return config;
}

TEST_P(LabelToSequence, IsLearnt) {
  Rng rng(7);
  const auto model = make_model(small_preset(GetParam()), rng);
  const SpecialTokens special;
  const std::vector<std::vector<int32_t>> lines = {{5, 6, 7, 5}, {8}, {7, 6, 5, 9, 10}, {6, 6}};
  TokenLines sources, targets;
  for (int32_t i = 0; i < 4; ++i) {
    sources.add(std::vector<int32_t>{3 + i, special.end});
    targets.add(lines[static_cast<size_t>(i)]);
  }
  const Batch inputs("source", sources.tokens());
  const TeacherRows rows = teacher_rows(targets.tokens(), special);
  OptimizerConfig adam;
  adam.rate = 1e-2;
  Optimizer optimizer(parameters(*model), adam);
  for (uint64_t step = 0; step < 300; ++step) {
    const TrainingScope training(Rng(1, step << 32));
    const Tensor logits = model->generator()->logits(inputs, rows.inputs);
    backward(cross_entropy(logits, rows.labels, {.label_smoothing = 0.1f}));
    optimizer.step();
  }
  const SearchConfig config{.beam = 2};
  const auto found = search(*model->generator(), inputs, {&config, 1}, {.special = special});
  for (size_t s = 0; s < lines.size(); ++s) EXPECT_EQ(found[s].front().tokens, lines[s]) << s;
}

INSTANTIATE_TEST_SUITE_P(All, LabelToSequence,
                         testing::Values("tiny", "bahdanau", "luong", "vanilla", "conv"),
                         [](const auto& preset) { return std::string(preset.param); });

}  // namespace
}  // namespace attend
