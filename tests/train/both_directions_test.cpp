// Runs of a bidirectional language model: what validation says of it, and what starts from it.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "attend/decode/loaded_model.h"
#include "attend/models/elmo.h"
#include "attend/models/label.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

class BothDirectionsRun : public testing::Test {
 protected:
  // "a" and one of four words: of three tokens, counting the end or the start, one is uncertain.
  void SetUp() override {
    std::ofstream text(path("text")), labels(path("labels"));
    const RandomStream random(5, 0);
    for (uint64_t i = 0; i < 400; ++i) {
      const std::string four[] = {"b", "c", "d", "e"};
      const uint64_t which = random.below(i, 4);
      text << "a " << four[which] << "\n";
      labels << (which < 2 ? "yes" : "no") << "\n";
    }
  }
  fs::path path(const std::string& name) const { return directory_.path() / name; }

  RunConfig base_run(const std::string& out = "base") const {
    RunConfig c;
    c.out = path(out);
    c.data.text = c.data.valid_text = {path("text")};
    c.data.documents = DocumentKind::kLine;
    c.vocabulary.tokenizer.kind = TokenizerKind::kWord;
    c.model = ModelConfig("elmo");
    auto& elmo = c.model.settings.as<ElmoConfig>();
    elmo.width = 12, elmo.dropout = 0;
    c.batch.tokens = 400;
    c.optimizer.rate = 0.02;
    c.schedule.warmup = 2;
    c.training.steps = 60;
    c.validation.every = 60;
    return c;
  }
  TemporaryDirectory directory_;
};

TEST_F(BothDirectionsRun, ValidationTellsThePerplexityOfEachDirection) {
  struct Heard : TrainingObserver {
    TrainingReport report;
    ValidationScore score;
    void on_report(const TrainingReport& r) override { report = r; }
    void on_validation(const TrainingReport& /*r*/, const ValidationScore& s, bool) override {
      score = s;
    }
  } heard;
  RunConfig config = base_run();
  config.training.steps = config.validation.every = 300;
  run_training(config, heard, false);
  ASSERT_EQ(heard.score.parts.size(), 2u);
  const auto [forward, backward] = std::pair(heard.score.parts[0], heard.score.parts[1]);
  EXPECT_EQ(forward.name, "forward");
  EXPECT_EQ(backward.name, "backward");
  EXPECT_NEAR(forward.perplexity, std::cbrt(4.0), 0.03);
  EXPECT_NEAR(backward.perplexity, std::cbrt(4.0), 0.03);
  EXPECT_NEAR(heard.score.perplexity, std::sqrt(forward.perplexity * backward.perplexity), 1e-6);
  ASSERT_EQ(heard.report.parts.size(), 2u);
  EXPECT_NEAR(heard.report.parts[0].sum, std::log(4.0) / 3, 0.1);
  nlohmann::json last;
  std::ifstream log(ModelDirectory{config.out}.log());
  for (std::string line; std::getline(log, line);) {
    if (line.find("valid_loss") != line.npos) last = nlohmann::json::parse(line);
  }
  EXPECT_NEAR(last["perplexities"]["forward"].get<double>(), forward.perplexity, 1e-9);
  EXPECT_NEAR(last["perplexities"]["backward"].get<double>(), backward.perplexity, 1e-9);
}

TEST_F(BothDirectionsRun, ATaskTakesItsWeightsAndLearnsTheMixture) {
  const RunConfig base = base_run();
  run(base);
  RunConfig c = base;
  c.out = path("tuned");
  c.data.label = c.data.valid_label = path("labels");
  c.data.documents = RunConfig().data.documents;
  c.init_from = base.out;
  c.validation.metric = Metric::kAccuracy;
  c = fitted(c);
  EXPECT_EQ(c.model.kind.name, "label");
  Messages messages;
  run_training(c, messages, false);
  EXPECT_TRUE(messages.has("start: took ")) << messages.text;
  EXPECT_TRUE(messages.has("new 2: output 2")) << messages.text;
  const TextModel tuned = TextModel::load(c.out);
  const auto* const encoder = dynamic_cast<ElmoEncoder*>(tuned.model->shared_encoder());
  ASSERT_NE(encoder, nullptr);
  const std::vector<float> shares = encoder->shares().to_vector();
  EXPECT_NEAR(shares[0] + shares[1] + shares[2], 1.0f, 1e-6);
  EXPECT_NE(shares[0], shares[1]) << "the mixture stays as it was";
  EXPECT_NE(encoder->gamma.item(), 1.0f);
  EXPECT_EQ(load(c.out).classify("a b").text, "yes");
  EXPECT_EQ(load(c.out).classify("a e").text, "no");
}

TEST_F(BothDirectionsRun, NeedsAModelThatPredictsInBothDirections) {
  RunConfig c = base_run();
  c.model = ModelConfig("bert");
  c.training.objective = std::string_view("both_directions");
  expect_error<ConfigError>([&] { run(c); },
                            "both_directions needs a model that predicts in both directions");
}

}  // namespace
}  // namespace attend
