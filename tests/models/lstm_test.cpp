#include "attend/models/lstm.h"

#include <functional>

#include "attend/models/model_config.h"
#include "tests/errors.h"
#include "tests/models/language_model.h"

namespace attend {
namespace {

using LstmChange = std::function<void(LstmConfig&)>;

LstmLanguageModel lstm_model(const LstmChange& change, uint64_t seed) {
  LstmConfig config;
  config.text_vocabulary = kTargetTokens;
  config.embedding = config.hidden = 12;
  change(config);
  Rng rng(seed);
  return {config, rng};
}

struct LstmVariant {
  const char* name;
  LstmChange change;
};

const LstmVariant kLstmVariants[] = {
    {"lstm", [](LstmConfig&) {}},
    {"gru", [](LstmConfig& c) { c.cell = Cell::kGru; }},
    {"rnn_tanh", [](LstmConfig& c) { c.cell = Cell::kRnnTanh; }},
    {"one_layer", [](LstmConfig& c) { c.layers = 1; }},
    {"deep", [](LstmConfig& c) { c.layers = 4; }},
    {"projected", [](LstmConfig& c) { c.embedding = 8; }},
    {"untied", [](LstmConfig& c) { c.tied = false; }},
    {"untied_narrow", [](LstmConfig& c) { c.tied = false, c.embedding = 8; }},
    {"variational", [](LstmConfig& c) { c.variational = true, c.recurrent_dropout = 0.3f; }},
};

class LstmVariants : public testing::TestWithParam<LstmVariant> {};

TEST_P(LstmVariants, StepByStepIsAllAtOnce) { expect_consistent(lstm_model(GetParam().change, 7)); }

TEST_P(LstmVariants, EveryParameterLearns) {
  LstmLanguageModel model = lstm_model(GetParam().change, 8);
  expect_learns(model);
}

TEST_P(LstmVariants, TakesEmptySequences) {
  expect_takes_empty_sequences(lstm_model(GetParam().change, 3));
}

TEST_P(LstmVariants, TrainsTheSameOnAnyNumberOfThreads) {
  expect_trains_alike_on_any_threads([&] {
    return lstm_model(
        [&](LstmConfig& c) {
          c.embedding = c.hidden = 48;
          GetParam().change(c);
        },
        2);
  });
}

TEST_P(LstmVariants, RowsOfTheLastLayerAreItsEncoding) {
  expect_encodes_forwards(lstm_model(GetParam().change, 3));
  expect_encodes_last_layer(lstm_model(GetParam().change, 3));
}

// Packed or not, with one token a hypothesis or several.
TEST_P(LstmVariants, PackingChangesNoBit) {
  LstmLanguageModel model = lstm_model(GetParam().change, 3);
  const auto run = [&] {
    const NoGrad no_grad;
    const auto state = model.start(Batch(3));
    std::vector<float> all =
        model.step(*state, some_tokens({2, 1, 4}, kTargetTokens, 1), StepRows::kAll).to_vector();
    for (const int32_t token : {3, 5, 1}) {
      const std::vector<float> next = model.step(*state, std::vector{token, 2, token}).to_vector();
      all.insert(all.end(), next.begin(), next.end());
    }
    return all;
  };
  const std::vector<float> before = run();
  model.pack();
  EXPECT_EQ(run(), before);
}

INSTANTIATE_TEST_SUITE_P(All, LstmVariants, testing::ValuesIn(kLstmVariants),
                         [](const auto& variant) { return std::string(variant.param.name); });

// Of a sequence's first row the same is dropped either way; of the others, variational dropout
// drops what it dropped of the first.
TEST(Lstm, VariationalDropoutKeepsItsMaskForAWholeSequence) {
  const NoGrad no_grad;
  const auto logits = [](bool variational, const Tokens& written) {
    const LstmLanguageModel model =
        lstm_model([&](LstmConfig& c) { c.variational = variational; }, 3);
    const TrainingScope training(Rng(4));
    return model.logits(Batch(written.count()), written).to_vector();
  };
  const Tokens single = some_tokens({1, 1, 1, 1}, kTargetTokens, 1);
  EXPECT_EQ(logits(true, single), logits(false, single));
  const Tokens longer = some_tokens({4, 4}, kTargetTokens, 1);
  EXPECT_NE(logits(true, longer), logits(false, longer));

  // An output layer that copies one column of the embedding shows its mask.
  LstmConfig config;
  config.text_vocabulary = kTargetTokens;
  config.embedding_dropout = config.layer_dropout = 0.0f;
  config.output_dropout = 0.5f;
  config.variational = true;
  config.layers = 1;
  config.tied = false;
  Rng rng(1);
  LstmLanguageModel model(config, rng);
  for (const NamedTensor& p : parameters(model)) {
    for (float& x : p.tensor.span()) x = p.name == "output.weight" ? 0.0f : 0.1f;
    if (p.name != "output.weight") continue;
    for (size_t token = 0; token < kTargetTokens; ++token) {
      p.tensor.span()[token * config.hidden + token] = 1.0f;
    }
  }
  const TrainingScope training(Rng(4));
  const Tensor shown = model.logits(Batch(2), some_tokens({6, 6}, kTargetTokens, 1));
  const auto dropped = [&](size_t row) {
    std::vector<bool> zeros;
    for (const float x : shown.slice_rows(row, 1).to_vector()) zeros.push_back(x == 0.1f);
    return zeros;
  };
  for (size_t row = 1; row < 6; ++row) EXPECT_EQ(dropped(row), dropped(0));
  for (size_t row = 7; row < 12; ++row) EXPECT_EQ(dropped(row), dropped(6));
  EXPECT_NE(dropped(0), dropped(6));
}

TEST(Lstm, RecurrentDropoutIsInsideTheRecurrence) {
  const NoGrad no_grad;
  const auto rows = [](float chance, size_t length) {
    const LstmLanguageModel model = lstm_model(
        [&](LstmConfig& c) {
          c.embedding_dropout = c.layer_dropout = c.output_dropout = 0.0f;
          c.recurrent_dropout = chance;
        },
        3);
    const TrainingScope training(Rng(4));
    const Tokens text = some_tokens({static_cast<int32_t>(length)}, kTargetTokens, 1);
    return model.logits(Batch(1), text).slice_rows(length - 1, 1).to_vector();
  };
  EXPECT_EQ(rows(0.5f, 1), rows(0.0f, 1));  // there is no state before the first row
  EXPECT_NE(rows(0.5f, 3), rows(0.0f, 3));
}

TEST(Lstm, RefusesWhatCannotWork) {
  const auto refused = [](const LstmChange& change, const std::string& why) {
    expect_error<ConfigError>([&] { lstm_model(change, 1); }, why);
  };
  refused([](LstmConfig& c) { c.text_vocabulary = 0; },
          "lstm: a vocabulary of 0 tokens; it must be known");
  refused([](LstmConfig& c) { c.hidden = 0; }, "lstm: hidden is 0");
  refused([](LstmConfig& c) { c.embedding = 100'000; }, "embedding is 100000");
  refused([](LstmConfig& c) { c.layers = 0; }, "layers is 0");
  refused([](LstmConfig& c) { c.layer_dropout = 1.0f; }, "a dropout of 1 is not within [0, 1)");
  refused([](LstmConfig& c) { c.recurrent_dropout = -0.1f; }, "a dropout of -0.1");
}

TEST(Lstm, IsAModelByName) {
  ModelConfig config = ModelConfig::of_preset("lstm-small");
  EXPECT_EQ(config.kind.name, "lstm");
  config.set_vocabularies({{"text", kTargetTokens}});
  Rng rng(1);
  const auto model = make_model(config, rng);
  EXPECT_NE(dynamic_cast<const LstmLanguageModel*>(model.get()), nullptr);
  EXPECT_EQ(model->generator()->vocabulary(), kTargetTokens);
}

}  // namespace
}  // namespace attend
