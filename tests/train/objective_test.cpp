#include "attend/train/objective.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/data/windows.h"
#include "attend/models/label.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/train/trainer.h"
#include "tests/errors.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

using Ids = std::vector<int32_t>;

std::shared_ptr<const Tokenizer> letters(TokenizerKind kind = TokenizerKind::kCharacter) {
  return train_tokenizer({.kind = kind, .vocabulary = 0}, std::vector<std::string>{"abcde"});
}

// A model, untrained, and its tokenizers.
struct Made {
  Tokenizers tokenizers;
  std::unique_ptr<Model> model;
  Signature signature;

  explicit Made(ModelConfig config, Tokenizers columns) : tokenizers(std::move(columns)) {
    config.set_vocabularies(vocabularies_of(tokenizers, signature_of(config)));
    Rng rng(1);
    model = make_model(config, rng);
    signature = model->signature();
  }
  LossContext context(bool training) const {
    return {.tokenizers = tokenizers, .training = training};
  }
};

Made made_transformer() {
  ModelConfig config("transformer");
  auto& settings = config.settings.as<TransformerConfig>();
  settings.width = 8, settings.heads = 2, settings.feed_forward = 16;
  settings.encoder_layers = settings.decoder_layers = 1;
  const auto joint = letters();
  return Made(config, {{"source", joint}, {"target", joint}});
}

Tokens tokens_of(const std::vector<Ids>& lines) {
  TokenLines all;
  for (const Ids& line : lines) all.add(line);
  return all.tokens();
}

Batch pairs() {
  Batch batch(2);
  batch.add("source", tokens_of({{3, 4}, {5}})).add("target", tokens_of({{4}, {3, 5, 6}}));
  return batch;
}

TEST(Objective, ColumnsThatAreReadGetTheirFrame) {
  const Made made = made_transformer();
  Batch records = pairs();
  records.lines = {7, 9};
  const Batch batch = training_batch(records, made.signature, made.tokenizers);
  EXPECT_EQ(batch.tokens("source").packing, Packing::of({3, 2}));
  EXPECT_EQ(batch.tokens("source").sequence(1).back(), made.tokenizers.at("source")->special().end);
  EXPECT_EQ(batch.tokens("target").packing, Packing::of({1, 3}));
  EXPECT_EQ(batch.lines, records.lines);
  EXPECT_EQ(training_rows(batch, made.signature), 3u + 2u + 2u + 4u);
}

TEST(Objective, TeacherForcingIsCrossEntropyOfWhatIsWritten) {
  const Made made = made_transformer();
  const Batch batch = training_batch(pairs(), made.signature, made.tokenizers);
  const TeacherRows rows = teacher_rows(batch.tokens("target"), {});
  const Tensor logits = made.model->generator()->logits(batch, rows.inputs);
  RunConfig config;
  config.training.label_smoothing = 0.2f;
  const TeacherForcing objective(config, made.signature);
  for (const bool training : {true, false}) {
    const Loss loss = objective.loss(*made.model, batch, made.context(training));
    const Tensor expected =
        cross_entropy(logits, rows.labels,
                      {.label_smoothing = training ? 0.2f : 0.0f, .reduction = Reduction::kSum});
    EXPECT_EQ(loss.sum.item(), expected.item());
    EXPECT_EQ(loss.count, 6);
    EXPECT_TRUE(loss.parts.empty());
  }
}

// What a window repeats is read, but not counted.
TEST(Objective, ContextOfWindowsIsNotCounted) {
  const Made made = made_transformer();
  const SpecialTokens special = made.tokenizers.at("target")->special();
  const auto loss = [&](const std::vector<Ids>& windows, const Ids& contexts) {
    Batch records(windows.size());
    records.add("source", tokens_of(std::vector<Ids>(windows.size(), Ids{3})));
    records.add("target", tokens_of(windows));
    records.add("target.context", Tokens(contexts, Packing::even(contexts.size(), 1)));
    const Batch batch = training_batch(records, made.signature, made.tokenizers);
    return TeacherForcing({}, made.signature).loss(*made.model, batch, made.context(false));
  };
  const Ids whole = {special.start, 4, 5, 6, special.end};
  const Loss all = loss({whole}, {1}), last = loss({whole}, {3});
  EXPECT_EQ(all.count, 4);
  EXPECT_EQ(last.count, 2);
  EXPECT_LT(last.sum.item(), all.sum.item());
  Batch bare(1);
  bare.add("source", tokens_of({{3}})).add("target", tokens_of({{4, 5, 6}}));
  const Batch batch = training_batch(bare, made.signature, made.tokenizers);
  const Loss framed =
      TeacherForcing({}, made.signature).loss(*made.model, batch, made.context(false));
  EXPECT_EQ(framed.sum.item(), all.sum.item()) << "a whole document";
  EXPECT_EQ(training_rows(batch, made.signature), 2u + 4u);
}

TEST(Objective, AuxiliaryLossesHaveTheirWeights) {
  ModelConfig config("rnn");
  auto& settings = config.settings.as<RnnConfig>();
  settings.hidden = settings.embedding = 8;
  settings.coverage = true;
  const auto joint = letters();
  const Made made(config, {{"source", joint}, {"target", joint}});
  const Batch batch = training_batch(pairs(), made.signature, made.tokenizers);
  const auto loss = [&](double weight, bool training) {
    RunConfig run_config;
    run_config.training.coverage_loss = weight;
    return TeacherForcing(run_config, made.signature)
        .loss(*made.model, batch, made.context(training));
  };
  const Loss plain = loss(0, true), once = loss(1, true), twice = loss(2, true);
  ASSERT_EQ(once.parts.size(), 2u);
  EXPECT_EQ(once.parts[0].name, "cross_entropy");
  EXPECT_EQ(once.parts[0].tensor.item(), plain.sum.item());
  EXPECT_EQ(once.parts[1].name, "coverage");
  EXPECT_GT(once.parts[1].tensor.item(), 0.0f);
  EXPECT_FLOAT_EQ(twice.parts[1].tensor.item(), 2 * once.parts[1].tensor.item());
  EXPECT_FLOAT_EQ(once.sum.item(), plain.sum.item() + once.parts[1].tensor.item());
  EXPECT_EQ(loss(1, false).sum.item(), loss(0, false).sum.item()) << "not what it is judged by";
}

TEST(Objective, LabelsThatAreNotKnownAreIgnored) {
  ModelConfig config("label");
  auto& encoder = config.settings.as<LabelConfig>().encoder.settings.as<TransformerConfig>();
  encoder.width = 8, encoder.heads = 2, encoder.encoder_layers = 1, encoder.feed_forward = 16;
  const auto labels = train_tokenizer({.kind = TokenizerKind::kLine, .vocabulary = 0},
                                      std::vector<std::string>{"very good", "bad", "bad"});
  const Made made(config, {{"text", letters()}, {"label", labels}});
  const int32_t bad = labels->encode("bad").front(), none = labels->encode("other").front();
  const auto loss = [&](const Ids& given) {
    Batch records(given.size());
    records.add("text", tokens_of(std::vector<Ids>(given.size(), Ids{3, 4})));
    records.add("label", Tokens(given, Packing::even(given.size(), 1)));
    const Batch batch = training_batch(records, made.signature, made.tokenizers);
    return LabelCrossEntropy({}, made.signature).loss(*made.model, batch, made.context(false));
  };
  const Loss one = loss({bad}), with_unknown = loss({bad, none, bad});
  EXPECT_EQ(one.count, 1);
  EXPECT_EQ(with_unknown.count, 2);
  EXPECT_FLOAT_EQ(with_unknown.sum.item(), 2 * one.sum.item());
  EXPECT_EQ(loss({none}).count, 0);
  EXPECT_EQ(loss({none}).sum.item(), 0.0f);
  EXPECT_THROW(TeacherForcing({}, made.signature), ConfigError);
}

TEST(Objective, AreFoundByName) {
  EXPECT_EQ(objective_choices().front(), "auto");
  for (const ObjectiveKind& kind : objectives()) {
    EXPECT_EQ(&objective_kind(kind.name), &kind);
    EXPECT_FALSE(kind.summary.empty());
  }
  expect_error<ConfigError>([] { objective_kind("x"); },
                            "unknown objective 'x'; there are: auto, ");
}

// One with a parameter and a state of its own: both are trained, kept and resumed.
class Biased : public Objective {
 public:
  explicit Biased(const Signature& signature) : inner_({}, signature) {}
  Loss loss(const Model& model, const Batch& batch, const LossContext& context) const override {
    Loss loss = inner_.loss(model, batch, context);
    if (context.training) *calls_.data() += 1;
    return loss;
  }
  void visit(Visitor& v) override {
    v("bias", bias_);
    v.buffer("calls", calls_);
  }
  float calls() const { return calls_.item(); }

 private:
  TeacherForcing inner_;
  Tensor bias_ = Tensor::zeros({2}).require_grad();
  Tensor calls_ = Tensor::zeros({1});
};

TEST(Objective, OwnParametersAndStateAreInCheckpoints) {
  const TemporaryDirectory directory;
  RunConfig config = small_run(directory.path());
  config.training.steps = 3;
  run(config);
  const Corpus corpus(config.out / "train.corpus");
  TextModel model = TextModel::load(config.out);
  Biased objective(model.model->signature());
  TrainingObserver nobody;
  config.training.shards = 2;
  Trainer trainer({model, objective, corpus, nullptr, config, nobody, [](Trainer&, bool) {}});
  trainer.run(false);
  EXPECT_EQ(objective.calls(), 6.0f) << "once for each shard";
  std::vector<std::string> names;
  for (const NamedTensor& t : trainer.tensors()) {
    if (t.name.find("objective.") != std::string::npos) names.push_back(t.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"optimizer.first.objective.bias",
                                             "optimizer.second.objective.bias", "objective.bias",
                                             "objective.calls"}));
}

}  // namespace
}  // namespace attend
