#include "attend/models/label.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/attention/recorder.h"
#include "attend/base/parallel.h"
#include "attend/base/special_tokens.h"
#include "attend/decode/alignment.h"
#include "attend/decode/ensemble.h"
#include "attend/decode/score.h"
#include "attend/decode/search.h"
#include "attend/models/text_model.h"
#include "attend/tensor/training.h"
#include "attend/train/optimizer.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/models/seq2seq.h"

namespace attend {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

ModelConfig small(EncoderKind encoder, LabelPooling pooling) {
  ModelConfig c = ModelConfig::of_preset("label");
  c.label.encoder = encoder;
  c.label.pooling = pooling;
  c.transformer = small_transformer();
  c.transformer.activation = FeedForwardKind::kGelu;  // ReLU's kinks have no slope
  c.rnn.embedding = 8, c.rnn.hidden = 6;
  c.conv.width = 10, c.conv.hidden = 12, c.conv.encoder_layers = 2;
  c.conv.kernel = 7;  // so that the first row sees all of a short sequence
  c.set_vocabularies(kSourceTokens, kTargetTokens);
  return c;
}

std::unique_ptr<Seq2Seq> model_of(const ModelConfig& config, uint64_t seed = 7) {
  Rng rng(seed);
  return make_model(config, rng);
}

// What training reads and should write of labels given as ids.
DecoderRows taught(const std::vector<int32_t>& labels) {
  return decoder_rows({labels, Packing::even(labels.size(), 1)});
}

// Steps of Adam on what `draw` gives for each of them.
template <typename Draw>
void train(Seq2Seq& model, uint64_t steps, const Draw& draw) {
  OptimizerConfig adam;
  adam.rate = 1e-2;
  Optimizer optimizer(parameters(model), adam);
  for (uint64_t step = 0; step < steps; ++step) {
    const auto [sources, targets] = draw(step);
    const DecoderRows rows = decoder_rows(targets);
    const TrainingScope training(Rng(1, step << 32));
    const Tensor logits = model.logits(sources, rows.inputs);
    backward(cross_entropy(logits, rows.labels, {.label_smoothing = 0.1f}));
    optimizer.step();
  }
}

class LabelVariants : public testing::TestWithParam<std::tuple<EncoderKind, LabelPooling>> {
 protected:
  ModelConfig config() const { return small(std::get<0>(GetParam()), std::get<1>(GetParam())); }
};

TEST_P(LabelVariants, StepByStepIsAllAtOnce) { expect_consistent(*model_of(config())); }

TEST_P(LabelVariants, EveryParameterLearns) {
  const auto model = model_of(config());
  const DecoderRows rows = taught({5, 12, 3});
  expect_learns(*model, rows.inputs, rows.labels);
}

// Writes one token that is no special one, then surely ends, which costs nothing and teaches
// nothing.
TEST_P(LabelVariants, WritesALabelAndEnds) {
  const auto model = model_of(config());
  const Tokens sources = some_tokens({3, 1, 6}, kSourceTokens, 3);
  const DecoderRows rows = taught({5, 12, 3});
  const Tensor logits = model->logits(sources, rows.inputs);
  for (size_t s = 0; s < 3; ++s) {
    const auto first = logits.slice_rows(2 * s, 1).span(),
               last = logits.slice_rows(2 * s + 1, 1).span();
    for (int32_t id = 0; id < static_cast<int32_t>(kTargetTokens); ++id) {
      const bool possible = id != kStart && id != kEnd;
      EXPECT_EQ(std::isfinite(first[static_cast<size_t>(id)]), possible) << id;
      EXPECT_EQ(last[static_cast<size_t>(id)], id == kEnd ? 0.0f : kNever) << id;
    }
  }
  for (const float smoothing : {0.0f, 0.1f}) {
    const auto loss = [&](const Tensor& labels) {
      const Tensor sum =
          cross_entropy(model->logits(sources, rows.inputs), labels,
                        {.label_smoothing = smoothing, .reduction = Reduction::kSum});
      clear_grads(*model);
      backward(sum);
      std::vector<std::vector<float>> result = {{sum.item()}};
      for (const NamedTensor& p : parameters(*model)) result.push_back(p.tensor.grad().to_vector());
      return result;
    };
    const int32_t none = kIgnoredTarget;
    EXPECT_EQ(loss(rows.labels), loss(Tensor::ids({5, none, 12, none, 3, none})));
  }
}

TEST_P(LabelVariants, TakesEmptySourcesAndTargets) {
  const NoGrad no_grad;
  const auto model = model_of(config());
  const Tokens sources = some_tokens({0, 4, 2}, kSourceTokens, 1);
  const Tokens inputs = some_tokens({1, 0, 2}, kTargetTokens, 2);
  const Tensor logits = model->logits(sources, inputs);
  for (const float x : logits.span()) ASSERT_FALSE(std::isnan(x));
  expect_near(step_by_step(*model, sources, inputs), logits);
}

// Search, scores and ensembles know nothing of labels.
TEST_P(LabelVariants, IsSearchedAndScored) {
  const auto config_of_it = config();
  const std::shared_ptr<const Seq2Seq> model = model_of(config_of_it),
                                       other = model_of(config_of_it, 8);
  const Tokens sources = some_tokens({3, 1, 6}, kSourceTokens, 3);
  const size_t labels = kTargetTokens - kSpecialTokens;
  const auto found = search(*model, sources, {.beam = 20, .n_best = 20});
  for (size_t s = 0; s < found.size(); ++s) {
    ASSERT_EQ(found[s].size(), labels);  // all of them, each once, without the unknown one
    double sum = 0;
    for (const Hypothesis& h : found[s]) {
      ASSERT_EQ(h.tokens.size(), 1u);
      EXPECT_TRUE(h.ended);
      EXPECT_EQ(h.log_probabilities.back(), 0.0f);
      const Tokens target(h.tokens, Packing::of({1}));
      const auto scored = score(*model, sources_of(sources, std::vector<size_t>{s}), target);
      sum += std::exp(scored.front().total);
    }
    EXPECT_GT(sum, 0.5);
    EXPECT_LT(sum, 1.0);
    EXPECT_EQ(search(*model, sources, {.beam = 1})[s].front().tokens, found[s].front().tokens);
  }
  const Ensemble both({model, other});
  for (const auto& hypotheses : search(both, sources, {.beam = 4, .n_best = 4})) {
    ASSERT_EQ(hypotheses.size(), 4u);
    for (const Hypothesis& h : hypotheses) EXPECT_EQ(h.tokens.size(), 1u);
  }
}

TEST_P(LabelVariants, TrainsTheSameOnAnyNumberOfThreads) {
  const Tokens sources = some_tokens({30, 11, 26, 40, 3}, kSourceTokens, 3);
  const DecoderRows rows = taught({5, 12, 3, 3, 4});
  ModelConfig wide = config();
  wide.transformer.width = 64, wide.rnn.hidden = 48, wide.conv.hidden = 96;
  std::vector<std::vector<float>> first;
  for (const int threads : {1, 2, 3}) {
    const ThreadCountScope scope(threads);
    const auto model = model_of(wide);
    const TrainingScope training(Rng(1));
    backward(cross_entropy(model->logits(sources, rows.inputs), rows.labels));
    std::vector<std::vector<float>> grads;
    for (const NamedTensor& p : parameters(*model)) grads.push_back(p.tensor.grad().to_vector());
    if (first.empty()) first = grads;
    EXPECT_EQ(first, grads) << threads;
  }
}

// Whether a sequence has a 7 in it, of which only that token tells.
TEST_P(LabelVariants, LearnsWhatASequenceHolds) {
  const auto model = model_of(config());
  const auto draw = [](uint64_t seed) {
    const Tokens sources = some_tokens({5, 4, 6, 3, 5, 4, 6, 3}, kSourceTokens, seed);
    std::vector<int32_t> labels;
    for (size_t s = 0; s < 8; ++s) {
      const size_t length = sources.packing.length(s);
      int32_t* ids = sources.ids.indices() + sources.packing.begin(s);
      std::replace(ids, ids + length, 7, 8);
      if (s % 2 == 0) ids[(seed + s) % length] = 7;
      labels.push_back(s % 2 == 0 ? 3 : 4);
    }
    return std::pair(sources, Tokens(labels, Packing::even(8, 1)));
  };
  train(*model, 200, [&](uint64_t step) { return draw(step + 100); });
  const auto [sources, labels] = draw(1);
  const auto found = search(*model, sources, {.beam = 1});
  for (size_t s = 0; s < found.size(); ++s) {
    EXPECT_EQ(found[s].front().tokens, std::vector<int32_t>{labels.ids.indices()[s]}) << s;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LabelVariants,
                         testing::Combine(testing::Values(EncoderKind::kTransformer,
                                                          EncoderKind::kRnn, EncoderKind::kConv),
                                          testing::Values(LabelPooling::kMean, LabelPooling::kFirst,
                                                          LabelPooling::kAttention)),
                         [](const auto& variant) {
                           return std::string(name_of(std::get<0>(variant.param))) + "_" +
                                  std::string(name_of(std::get<1>(variant.param)));
                         });

TEST(Label, ShowsWhereAttentionPoolingLooks) {
  const NoGrad no_grad;
  ModelConfig config = small(EncoderKind::kTransformer, LabelPooling::kAttention);
  config.label.heads = 2;
  const auto model = model_of(config);
  ASSERT_EQ(layers_of(model->attention_layers(), AttentionPart::kCross).size(), 1u);
  EXPECT_EQ(model->attention_layers().back().name, "pooling");
  EXPECT_TRUE(model_of(small(EncoderKind::kRnn, LabelPooling::kMean))->attention_layers().empty());
  const Tokens sources = some_tokens({3, 7}, kSourceTokens, 1);
  const Tokens labels(std::vector<int32_t>{4, 5}, Packing::even(2, 1));
  const std::vector<Tensor> weights =
      alignments(*model, sources, labels, {.leave_out_ends = false});
  for (size_t s = 0; s < 2; ++s) {
    ASSERT_EQ(weights[s].shape(), Shape({2, sources.packing.length(s)}));
    float sum = 0;
    for (const float w : weights[s].slice_rows(0, 1).span()) sum += w;
    EXPECT_NEAR(sum, 1.0f, 1e-6f);
    EXPECT_EQ(strongest_links(weights[s]).back().target, 0u);
  }

  struct Looks : Recorder {
    std::optional<RecordRequest> wants(const std::string& layer) override {
      return layer == "pooling" ? std::optional(request) : std::nullopt;
    }
  };
  Looks recorder;
  const DecoderRows rows = decoder_rows(labels);
  model->logits(sources, rows.inputs);
  const std::vector<RecordedHead> whole = std::exchange(recorder.heads, {});
  step_by_step(*model, sources, rows.inputs);
  ASSERT_EQ(whole.size(), 4u);
  ASSERT_EQ(recorder.heads.size(), 8u);
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(recorder.heads[i].first_query, i / 4);
    expect_near(recorder.heads[i].weights, whole[i % 4].weights.slice_rows(i / 4, 1));
  }
}

TEST(Label, ReadsAStartBeforeWhereTheFirstRowCounts) {
  const NoGrad no_grad;
  const auto model = model_of(small(EncoderKind::kRnn, LabelPooling::kFirst));
  const Tokens nothing(std::vector<int32_t>{}, Packing::of({0}));
  const Tokens one(std::vector<int32_t>{5}, Packing::of({1}));
  const Tokens start(std::vector<int32_t>{kStart}, Packing::of({1}));
  const auto row = [&](const Tokens& source) { return model->logits(source, start).to_vector(); };
  const std::vector<float> before = row(nothing);
  EXPECT_NE(before, row(one));  // the backward half has read it
  const NamedTensor table = parameters(*model).front();
  ASSERT_EQ(table.name, "encoder.embedding.weight");
  table.tensor.slice_rows(kStart, 1).span()[0] += 1.0f;
  EXPECT_NE(before, row(nothing));
}

TEST(Label, LivesInAModelDirectory) {
  const TemporaryDirectory directory;
  const std::vector<std::string> texts = {"a fine film", "a dull film"};
  const std::vector<std::string> labels = {"very good", "bad"};
  for (const EncoderKind encoder :
       {EncoderKind::kTransformer, EncoderKind::kRnn, EncoderKind::kConv}) {
    TextModel made;
    made.config = small(encoder, LabelPooling::kAttention);
    made.source = train_tokenizer({.kind = TokenizerKind::kWord}, texts);
    made.target = train_tokenizer({.kind = TokenizerKind::kLine}, labels);
    made.config.set_vocabularies(made.source->size(), made.target->size());
    made.model = model_of(made.config);
    const ModelDirectory files{directory.path()};
    made.save_description(files);
    made.save_weights(files.weights());
    const TextModel loaded = TextModel::load(files.root);
    EXPECT_EQ(loaded.config.label, made.config.label);
    EXPECT_EQ(loaded.target->encode("very good"), made.target->encode("very good"));
    const Tokens sources(made.source->encode(texts[0]), Packing::of({3}));
    const Tokens start(std::vector<int32_t>{kStart}, Packing::of({1}));
    EXPECT_EQ(loaded.model->logits(sources, start).to_vector(),
              made.model->logits(sources, start).to_vector());
  }
}

TEST(Label, RefusesWhatCannotWork) {
  ModelConfig config = small(EncoderKind::kRnn, LabelPooling::kFirst);
  config.rnn.bidirectional = false;
  expect_error<ConfigError>([&] { model_of(config); }, "set rnn.bidirectional");
  config = small(EncoderKind::kConv, LabelPooling::kMean);
  config.label.target_vocabulary = 3;
  expect_error<ConfigError>([&] { model_of(config); }, "3 tokens, 3 of them special");
  config.label.target_vocabulary = 5, config.label.dropout = 1.0f;
  expect_error<ConfigError>([&] { model_of(config); }, "a dropout of 1");
  config.label.dropout = 0.0f, config.conv.kernel = 0;
  expect_error<ConfigError>([&] { model_of(config); }, "kernel is 0");

  const auto model = model_of(small(EncoderKind::kTransformer, LabelPooling::kMean));
  const Tokens sources = some_tokens({3, 1}, kSourceTokens, 3);
  expect_error<ShapeError>([&] { model->logits(sources, some_tokens({2}, kTargetTokens, 1)); },
                           "2 sources but 1 targets");
  const Tokens two(std::vector<int32_t>{4, 5, 6}, Packing::of({2, 1}));
  EXPECT_EQ(score(*model, sources, two).front().total, double{kNever});
  const TrainingScope training(Rng(1));
  expect_error<DataError>([&] { model->logits(sources, decoder_rows(two).inputs); },
                          "a target of 2 tokens, where a label is one");
}

// From a label to a sequence takes no model of its own.
class LabelToSequence : public testing::TestWithParam<const char*> {};

TEST_P(LabelToSequence, IsLearnt) {
  ModelConfig config = small(EncoderKind::kTransformer, LabelPooling::kMean);
  const ModelConfig preset = ModelConfig::of_preset(GetParam());
  config.kind = preset.kind;
  if (preset.kind == ModelKind::kRnn) {
    config.rnn = preset.rnn;
    config.rnn.embedding = 16, config.rnn.hidden = 24;
    config.rnn.embedding_dropout = config.rnn.layer_dropout = config.rnn.output_dropout = 0.0f;
  }
  config.transformer.dropout = config.conv.dropout = 0.0f;
  config.set_vocabularies(kSourceTokens, kTargetTokens);
  const auto model = model_of(config);
  const std::vector<std::vector<int32_t>> lines = {{5, 6, 7, 5}, {8}, {7, 6, 5, 9, 10}, {6, 6}};
  TokenLines sources, targets;
  for (int32_t i = 0; i < 4; ++i) {
    sources.add(std::vector<int32_t>{3 + i, kEnd});
    targets.add(lines[static_cast<size_t>(i)]);
  }
  train(*model, 300, [&](uint64_t) { return std::pair(sources.tokens(), targets.tokens()); });
  const auto found = search(*model, sources.tokens(), {.beam = 2});
  for (size_t s = 0; s < lines.size(); ++s) EXPECT_EQ(found[s].front().tokens, lines[s]) << s;
}

INSTANTIATE_TEST_SUITE_P(All, LabelToSequence,
                         testing::Values("tiny", "bahdanau", "luong", "vanilla", "conv"),
                         [](const auto& preset) { return std::string(preset.param); });

}  // namespace
}  // namespace attend
