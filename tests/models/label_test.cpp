#include "attend/models/label.h"

#include <algorithm>
#include <cmath>

#include "attend/attention/recorder.h"
#include "attend/base/files.h"
#include "attend/base/parallel.h"
#include "attend/io/config.h"
#include "attend/models/conv.h"
#include "attend/models/rnn.h"
#include "attend/models/text_model.h"
#include "attend/tensor/training.h"
#include "attend/train/optimizer.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/models/seq2seq.h"
#include "tests/models/small_settings.h"

namespace attend {
namespace {

constexpr size_t kLabels = 5;

LabelConfig small_label(const std::string& encoder, LabelPooling pooling) {
  LabelConfig c;
  set_flag(c, "encoder.kind", encoder);
  fields_of(c);  // the settings follow the kind
  c.pooling = pooling;
  c.text_vocabulary = kSourceTokens, c.label_vocabulary = kLabels;
  if (encoder == "transformer") {
    auto& t = c.encoder.settings.as<TransformerConfig>();
    t = small_transformer();
    t.activation = FeedForwardKind::kGelu;  // ReLU's kinks have no slope
  } else if (encoder == "rnn") {
    auto& r = c.encoder.settings.as<RnnConfig>();
    r.embedding = 8, r.hidden = 6;
  } else if (encoder == "conv") {
    auto& k = c.encoder.settings.as<ConvConfig>();
    k.width = 10, k.hidden = 12, k.encoder_layers = 2;
    k.kernel = 7;  // so that the first row sees all of a short sequence
  } else {
    make_small(c.encoder.settings);
    for (const Field& field : fields_of(c.encoder.settings).fields) {
      if (field.path == "activation") field.set(std::vector<std::string>{"gelu"});
      if (field.path == "kernel") field.set(std::vector<std::string>{"4"});  // to see all
    }
  }
  return c;
}

LabelModel label_model(const LabelConfig& config, uint64_t seed = 7) {
  Rng rng(seed);
  return {config, rng};
}

Batch texts_of(const std::vector<int32_t>& lengths, uint64_t seed) {
  return {"text", some_tokens(lengths, kSourceTokens, seed)};
}

Tensor label_ids(const std::vector<int32_t>& labels) {
  return Tensor::ids(labels, {labels.size()});
}

class LabelVariants : public testing::TestWithParam<std::tuple<const char*, LabelPooling>> {
 protected:
  LabelConfig config() const {
    return small_label(std::get<0>(GetParam()), std::get<1>(GetParam()));
  }
};

TEST_P(LabelVariants, ABatchIsItsTextsOneByOne) {
  const NoGrad no_grad;
  const LabelModel model = label_model(config());
  const Batch texts = texts_of({3, 1, 7, 4}, 1);
  const Tensor all = model.label_logits(texts);
  ASSERT_EQ(all.shape(), Shape({4, kLabels}));
  for (size_t s = 0; s < 4; ++s) {
    const Tensor alone = model.label_logits(texts.pick(std::vector<size_t>{s}));
    expect_same(alone, all.slice_rows(s, 1));
  }
}

TEST_P(LabelVariants, EveryParameterLearns) {
  LabelModel model = label_model(config());
  const Batch texts = texts_of({3, 1, 6}, 3);
  expect_slopes(model, [&] {
    return cross_entropy(model.label_logits(texts), label_ids({2, 4, 0}));
  });
}

TEST_P(LabelVariants, TakesEmptyTexts) {
  const NoGrad no_grad;
  const Tensor logits = label_model(config()).label_logits(
      {"text", framed(some_tokens({0, 4, 2}, kSourceTokens, 1), {.start = true, .end = true}, {})});
  for (const float x : logits.span()) ASSERT_TRUE(std::isfinite(x));
}

TEST_P(LabelVariants, TrainsTheSameOnAnyNumberOfThreads) {
  const Batch texts = texts_of({30, 11, 26, 40, 3}, 3);
  std::vector<std::vector<float>> first;
  for (const int threads : {1, 2, 3}) {
    const ThreadCountScope scope(threads);
    LabelModel model = label_model(config());
    const TrainingScope training(Rng(1));
    backward(cross_entropy(model.label_logits(texts), label_ids({2, 4, 0, 0, 1})));
    std::vector<std::vector<float>> grads;
    for (const NamedTensor& p : parameters(model)) grads.push_back(p.tensor.grad().to_vector());
    if (first.empty()) first = grads;
    EXPECT_EQ(first, grads) << threads;
  }
}

// Whether a text has a 7 in it, of which only that token tells.
TEST_P(LabelVariants, LearnsWhatATextHolds) {
  LabelModel model = label_model(config());
  const auto draw = [](uint64_t seed) {
    const Tokens texts = some_tokens({5, 4, 6, 3, 5, 4, 6, 3}, kSourceTokens, seed);
    std::vector<int32_t> labels;
    for (size_t s = 0; s < 8; ++s) {
      const size_t length = texts.packing.length(s);
      int32_t* ids = texts.ids.indices() + texts.packing.begin(s);
      std::replace(ids, ids + length, 7, 8);
      if (s % 2 == 0) ids[(seed + s) % length] = 7;
      labels.push_back(s % 2 == 0 ? 0 : 1);
    }
    return std::pair(Batch("text", texts), labels);
  };
  OptimizerConfig adam;
  adam.rate = 1e-2;
  Optimizer optimizer(parameters(model), adam);
  for (uint64_t step = 0; step < 200; ++step) {
    const auto [texts, labels] = draw(step + 100);
    const TrainingScope training(Rng(1, step << 32));
    backward(
        cross_entropy(model.label_logits(texts), label_ids(labels), {.label_smoothing = 0.1f}));
    optimizer.step();
  }
  const NoGrad no_grad;
  const auto [texts, labels] = draw(1);
  const Tensor logits = model.label_logits(texts);
  for (size_t s = 0; s < labels.size(); ++s) {
    const auto row = logits.slice_rows(s, 1).span();
    EXPECT_EQ(std::ranges::max_element(row) - row.begin(), labels[s]) << s;
  }
}

std::string title(const testing::TestParamInfo<std::tuple<const char*, LabelPooling>>& variant) {
  return std::string(std::get<0>(variant.param)) + "_" +
         std::string(name_of(std::get<1>(variant.param)));
}

INSTANTIATE_TEST_SUITE_P(All, LabelVariants,
                         testing::Combine(testing::Values("transformer", "rnn", "conv"),
                                          testing::Values(LabelPooling::kMean, LabelPooling::kFirst,
                                                          LabelPooling::kLast,
                                                          LabelPooling::kAttention)),
                         title);
INSTANTIATE_TEST_SUITE_P(Forwards, LabelVariants,
                         testing::Combine(testing::Values("gpt", "lstm", "lstmn", "causal_conv"),
                                          testing::Values(LabelPooling::kMean, LabelPooling::kLast,
                                                          LabelPooling::kAttention)),
                         title);

TEST(Label, ShowsWhereAttentionPoolingLooks) {
  const NoGrad no_grad;
  LabelConfig config = small_label("transformer", LabelPooling::kAttention);
  config.heads = 2;
  const LabelModel model = label_model(config);
  const Signature signature = model.signature();
  ASSERT_EQ(signature.layers_between("label", "text").size(), 1u);
  EXPECT_EQ(signature.layers.back().name, "pooling");
  EXPECT_EQ(signature.layers_between("text", "text").size(), 2u);
  EXPECT_TRUE(label_model(small_label("rnn", LabelPooling::kMean)).signature().layers.empty());
  Recorder recorder;
  model.label_logits(texts_of({3, 7}, 1));
  size_t seen = 0;
  for (const RecordedHead& head : recorder.heads) {
    if (head.layer != "pooling") continue;
    ++seen;
    ASSERT_EQ(head.weights.shape(), Shape({1, head.sequence == 0 ? 3u : 7u}));
    float sum = 0;
    for (const float w : head.weights.span()) sum += w;
    EXPECT_NEAR(sum, 1.0f, 1e-6f);
  }
  EXPECT_EQ(seen, 4u);
}

TEST(Label, WantsAStartBeforeWhereTheFirstRowCounts) {
  EXPECT_EQ(
      label_model(small_label("rnn", LabelPooling::kFirst)).signature().column("text").framing,
      (Framing{.start = true, .end = true}));
  EXPECT_EQ(label_model(small_label("rnn", LabelPooling::kMean)).signature().column("text").framing,
            (Framing{.end = true}));
}

TEST(Label, WritesNoSequences) {
  LabelModel model = label_model(small_label("rnn", LabelPooling::kMean));
  EXPECT_EQ(model.generator(), nullptr);
  EXPECT_EQ(model.classifier(), &model);
}

TextModel labelled(const std::string& encoder) {
  const std::vector<std::string> texts = {"a fine film", "a dull film"};
  const std::vector<std::string> labels = {"very good", "bad"};
  TextModel made;
  made.config = ModelConfig("label");
  made.tokenizers["text"] = train_tokenizer({.kind = TokenizerKind::kWord}, texts);
  made.tokenizers["label"] = train_tokenizer({.kind = TokenizerKind::kLine}, labels);
  auto& config = made.config.settings.as<LabelConfig>();
  config = small_label(encoder, LabelPooling::kAttention);
  config.text_vocabulary = made.tokenizer("text").size();
  config.label_vocabulary = 2;
  Rng rng(3);
  made.model = make_model(made.config, rng);
  return made;
}

TEST(Label, LivesInAModelDirectory) {
  for (const std::string& encoder : encoder_kind_names()) {
    const TemporaryDirectory directory;
    const TextModel made = labelled(encoder);
    const ModelDirectory files{directory.path()};
    made.save_description(files);
    made.save_weights(files.weights());
    const TextModel loaded = TextModel::load(files.root);
    EXPECT_TRUE(same_config(loaded.config, made.config));
    EXPECT_EQ(loaded.label(0), made.label(0));
    const std::vector<std::vector<int32_t>> ids = {made.tokenizer("text").encode("a fine film")};
    expect_same(loaded.classifier().label_logits(loaded.inputs(ids)),
                made.classifier().label_logits(made.inputs(ids)));
    expect_error<ConfigError>([&] { loaded.generator(); }, "use classify");
  }
}

// Earlier versions wrote labels as sequences of one token, with outputs for special ids as well.
TEST(Label, ADirectoryOfAnEarlierVersionIsLoaded) {
  const TemporaryDirectory directory;
  const ModelDirectory files{directory.path()};
  const TextModel made = labelled("rnn");
  auto old = made;
  auto& config = old.config.settings.as<LabelConfig>();
  config.unused_outputs = 3;
  Rng rng(4);
  old.model = make_model(old.config, rng);
  old.save_weights(files.weights());
  old.tokenizer("text").save(files.tokenizer("source"));
  old.tokenizer("label").save(files.tokenizer("target"));
  replace_file(files.config(), R"({"preset": "label", "kind": "label",
    "transformer": {"width": 256},
    "rnn": {"source_vocabulary": )" +
                                   std::to_string(config.text_vocabulary) +
                                   R"(, "target_vocabulary": 5, "embedding": 8, "hidden": 6},
    "conv": {"width": 256},
    "label": {"target_vocabulary": 5, "encoder": "rnn", "pooling": "attention", "heads": 1}})");
  const TextModel loaded = TextModel::load(files.root);
  EXPECT_EQ(loaded.classifier().labels(), 2u);
  EXPECT_EQ(loaded.label(0), old.label(0));
  const std::vector<std::vector<int32_t>> ids = {made.tokenizer("text").encode("a dull film")};
  expect_same(loaded.classifier().label_logits(loaded.inputs(ids)),
              old.classifier().label_logits(old.inputs(ids)));
}

TEST(Label, RefusesWhatCannotWork) {
  LabelConfig config = small_label("rnn", LabelPooling::kFirst);
  config.encoder.settings.as<RnnConfig>().bidirectional = false;
  expect_error<ConfigError>([&] { label_model(config); }, "let it read both ways");
  expect_error<ConfigError>([&] { label_model(small_label("gpt", LabelPooling::kFirst)); },
                            "or use 'mean'");
  config = small_label("conv", LabelPooling::kMean);
  config.label_vocabulary = 0;
  expect_error<ConfigError>([&] { label_model(config); }, "0 labels");
  config.label_vocabulary = 5, config.dropout = 1.0f;
  expect_error<ConfigError>([&] { label_model(config); }, "a dropout of 1");
  config.dropout = 0.0f, config.encoder.settings.as<ConvConfig>().kernel = 0;
  expect_error<ConfigError>([&] { label_model(config); }, "kernel is 0");
}

}  // namespace
}  // namespace attend
