#include "attend/models/rnn.h"

#include <algorithm>
#include <functional>

#include "attend/attention/recorder.h"
#include "attend/base/parallel.h"
#include "attend/models/model_config.h"
#include "attend/tensor/training.h"
#include "tests/errors.h"
#include "tests/models/interventions.h"
#include "tests/models/seq2seq.h"

namespace attend {
namespace {

RnnConfig small_rnn(std::string_view preset = "bahdanau") {
  RnnConfig c = ModelConfig::of_preset(preset).settings.as<RnnConfig>();
  c.source_vocabulary = kSourceTokens;
  c.target_vocabulary = kTargetTokens;
  c.embedding = 10, c.hidden = 12;
  return c;
}

struct RnnVariant {
  const char* name;
  std::string preset;
  std::function<void(RnnConfig&)> change;
};

void luong_at_once(RnnConfig& c) { c.input_feeding = false; }

const RnnVariant kRnnVariants[] = {
    {"bahdanau", "bahdanau", [](RnnConfig&) {}},
    {"luong", "luong", [](RnnConfig&) {}},
    {"vanilla", "vanilla", [](RnnConfig&) {}},
    {"lstm", "bahdanau", [](RnnConfig& c) { c.cell = Cell::kLstm; }},
    {"rnn", "bahdanau", [](RnnConfig& c) { c.cell = Cell::kRnnTanh; }},
    {"one_direction", "bahdanau", [](RnnConfig& c) { c.bidirectional = false; }},
    {"layers", "bahdanau", [](RnnConfig& c) { c.encoder_layers = 2, c.decoder_layers = 3; }},
    {"states", "bahdanau",
     [](RnnConfig& c) {
       c.bridge = RnnBridge::kStates, c.cell = Cell::kLstm;
       c.encoder_layers = c.decoder_layers = 2;
     }},
    {"tanh_output", "bahdanau", [](RnnConfig& c) { c.deep_output = DeepOutput::kTanh; }},
    {"zero_state", "vanilla", [](RnnConfig& c) { c.bridge = RnnBridge::kZero; }},
    {"zero_lstm", "bahdanau",
     [](RnnConfig& c) { c.bridge = RnnBridge::kZero, c.cell = Cell::kLstm, c.decoder_layers = 2; }},
    {"tied", "bahdanau", [](RnnConfig& c) { c.tied = true; }},
    {"dot", "bahdanau", [](RnnConfig& c) { c.attention = Score::kDot, c.bidirectional = false; }},
    {"general", "bahdanau", [](RnnConfig& c) { c.attention = Score::kGeneral; }},
    {"concat", "bahdanau", [](RnnConfig& c) { c.attention = Score::kConcat; }},
    {"cosine", "bahdanau",
     [](RnnConfig& c) { c.attention = Score::kCosine, c.bidirectional = false; }},
    {"scaled_dot", "luong", [](RnnConfig& c) { c.attention = Score::kScaledDot; }},
    {"distance", "luong", [](RnnConfig& c) { c.attention = Score::kDistance; }},
    {"location", "bahdanau",
     [](RnnConfig& c) { c.attention = Score::kLocation, c.longest_source = 9; }},
    {"local_p_additive", "bahdanau",
     [](RnnConfig& c) { c.reach = RnnReach::kLocalP, c.window = 9; }},
    {"narrow_attention", "bahdanau", [](RnnConfig& c) { c.attention_width = 7; }},
    {"local_m", "bahdanau", [](RnnConfig& c) { c.reach = RnnReach::kLocalM, c.window = 1; }},
    {"local_p", "bahdanau",
     [](RnnConfig& c) {
       c.reach = RnnReach::kLocalP, c.window = 2, c.attention = Score::kGeneral;
     }},
    {"coverage", "bahdanau", [](RnnConfig& c) { c.coverage = true; }},
    {"vanilla_both", "vanilla", [](RnnConfig& c) { c.bidirectional = true, c.cell = Cell::kLstm; }},
    {"luong_at_once", "luong", luong_at_once},
    {"luong_dot", "luong", [](RnnConfig& c) { luong_at_once(c), c.attention = Score::kDot; }},
    {"luong_additive", "luong",
     [](RnnConfig& c) {
       luong_at_once(c), c.attention = Score::kAdditive, c.bidirectional = true;
     }},
    {"luong_concat", "luong", [](RnnConfig& c) { c.attention = Score::kConcat; }},
    {"luong_local_m", "luong",
     [](RnnConfig& c) { luong_at_once(c), c.reach = RnnReach::kLocalM, c.window = 2; }},
    {"luong_local_p", "luong",
     [](RnnConfig& c) { luong_at_once(c), c.reach = RnnReach::kLocalP, c.window = 2; }},
    {"luong_feeding_local_p", "luong",
     [](RnnConfig& c) { c.reach = RnnReach::kLocalP, c.window = 9; }},
    {"luong_coverage", "luong",
     [](RnnConfig& c) { luong_at_once(c), c.coverage = true, c.attention = Score::kAdditive; }},
    {"luong_tied", "luong", [](RnnConfig& c) { c.tied = true, c.output_width = c.embedding; }},
};

RnnSeq2Seq rnn_model(const RnnVariant& variant, uint64_t seed) {
  RnnConfig config = small_rnn(variant.preset);
  variant.change(config);
  Rng rng(seed);
  return {config, rng};
}

class RnnVariants : public testing::TestWithParam<RnnVariant> {};

TEST_P(RnnVariants, StepByStepIsAllAtOnce) { expect_consistent(rnn_model(GetParam(), 7)); }

TEST_P(RnnVariants, EveryParameterLearns) {
  RnnSeq2Seq model = rnn_model(GetParam(), 8);
  expect_learns(model);
}

TEST_P(RnnVariants, EveryLayerHeedsInterventions) {
  expect_heeds_interventions(rnn_model(GetParam(), 7));
}

INSTANTIATE_TEST_SUITE_P(All, RnnVariants, testing::ValuesIn(kRnnVariants),
                         [](const auto& variant) { return std::string(variant.param.name); });

TEST(Rnn, RefusesWhatCannotWork) {
  const auto refused = [](const std::function<void(RnnConfig&)>& change, const std::string& why) {
    RnnConfig c = small_rnn();
    change(c);
    expect_error<ConfigError>([&] { c.check(); }, why);
  };
  refused([](RnnConfig& c) { c.target_vocabulary = 0; }, "11 and 0 tokens");
  refused([](RnnConfig& c) { c.hidden = 0; }, "hidden is 0");
  refused([](RnnConfig& c) { c.attention = Score::kDot; },
          "width 12 with the encoder's of width 24");
  refused([](RnnConfig& c) { c.input_feeding = true; }, "part of form 'luong'");
  refused([](RnnConfig& c) { c.attention = std::nullopt, c.form = RnnForm::kLuong; },
          "attention 'none'");
  refused([](RnnConfig& c) { c.coverage = true, c.attention = Score::kGeneral; },
          "not 'general' and 'global'");
  refused([](RnnConfig& c) { c.reach = RnnReach::kLocalP, c.attention = Score::kLocation; },
          "does not read keys");
  refused([](RnnConfig& c) { c.bridge = RnnBridge::kStates, c.decoder_layers = 2; },
          "encoder layers (1) as decoder layers (2)");
  refused([](RnnConfig& c) { c.tied = true, c.output_width = 5; }, "set output_width to 10");
  refused([](RnnConfig& c) { c.recurrent_dropout = 1.0f; }, "a dropout of 1");
}

// The weights of a walk come as one matrix for each sequence of the batch, as they were given.
TEST(Rnn, ShowsWhereItLooks) {
  const NoGrad no_grad;
  const Batch inputs = some_sources({3, 1, 7, 4}, 1);
  const Tokens written = some_tokens({2, 5, 1, 4}, kTargetTokens, 2);
  for (const char* name : {"bahdanau", "luong_at_once", "coverage", "local_m", "local_p"}) {
    const RnnVariant& variant =
        *std::ranges::find(kRnnVariants, std::string_view(name), &RnnVariant::name);
    const RnnSeq2Seq model = rnn_model(variant, 9);
    const Tensor unseen = model.logits(inputs, written);
    Recorder recorder;
    expect_near(model.logits(inputs, written), unseen, 0.0f);
    ASSERT_EQ(recorder.heads.size(), 4u) << name;
    for (size_t s = 0; s < 4; ++s) {
      const RecordedHead& head = recorder.heads[s];
      EXPECT_EQ(head.layer, "decoder.attention");
      EXPECT_EQ(head.sequence, s);
      EXPECT_EQ(head.call, 0u);
      EXPECT_EQ(head.first_query, 0u);
      EXPECT_EQ(head.weights.shape(),
                Shape({written.packing.length(s), inputs["source"].packing.length(s)}));
    }
    // Alone a sequence looks at the same places.
    const std::vector<size_t> second = {1};
    recorder.request.query_count = 3;
    model.logits(inputs.pick(second), pick_sequences(written, second));
    EXPECT_EQ(recorder.heads.back().call, 1u);
    expect_near(recorder.heads.back().weights, recorder.heads[1].weights.slice_rows(0, 3));
  }
}

TEST(Rnn, ShowsTheSequencesThatWereAskedFor) {
  const NoGrad no_grad;
  const RnnSeq2Seq model = rnn_model(kRnnVariants[0], 9);
  Recorder recorder;
  recorder.request.sequences = {2};
  model.logits(some_sources({3, 2, 5}, 1), some_tokens({1, 3, 2}, kTargetTokens, 2));
  ASSERT_EQ(recorder.heads.size(), 1u);
  EXPECT_EQ(recorder.heads[0].sequence, 2u);
  EXPECT_EQ(recorder.heads[0].weights.shape(), Shape({2, 5}));
}

TEST(Rnn, HasACoverageLossOnlyWithCoverage) {
  const Batch inputs = some_sources({3, 1, 6}, 3);
  const Tokens written = some_tokens({4, 2, 5}, kTargetTokens, 4);
  EXPECT_TRUE(rnn_model(kRnnVariants[0], 3).force(inputs, written).auxiliary.empty());
  RnnConfig config = small_rnn();
  config.coverage = true;
  Rng rng(5);
  RnnSeq2Seq model(config, rng);
  const auto coverage_of = [&](const Batch& from, const Tokens& to) {
    const Forced forced = model.force(from, to);
    EXPECT_EQ(forced.auxiliary.at(0).name, "coverage");
    return forced.auxiliary.at(0).tensor;
  };
  const Tensor coverage = coverage_of(inputs, written);
  // All looks at a source of one key are at the same place: 0 at first, then 1. In the whole,
  // min(a, c) adds up to at most 1 a row, and to 0 at first.
  EXPECT_GT(coverage.item(), 1.0f / 11);
  EXPECT_LT(coverage.item(), 8.0f / 11);
  const Batch one("source", one_sequence(std::vector<int32_t>{3}));
  const Tokens four(std::vector<int32_t>{1, 2, 3, 4}, Packing::of({4}));
  EXPECT_NEAR(coverage_of(one, four).item(), 0.75f, 1e-6f);
  backward(coverage);
  for (const NamedTensor& p : parameters(model)) {
    const bool after = p.name.find("decoder.deep") == 0 || p.name.find("decoder.output") == 0;
    EXPECT_EQ(p.tensor.grad().defined(), !after) << p.name;
  }
}

// Outside training there is no dropout; inside, the same place in the random numbers gives the same
// masks, and one mask holds for all steps.
TEST(Rnn, DropsInTrainingOnly) {
  const Batch inputs = some_sources({3, 1, 6}, 3);
  const Tokens written = some_tokens({4, 2, 5}, kTargetTokens, 4);
  for (const char* name : {"bahdanau", "luong", "luong_at_once", "vanilla"}) {
    RnnVariant variant =
        *std::ranges::find(kRnnVariants, std::string_view(name), &RnnVariant::name);
    for (const bool recurrent : {false, true}) {
      RnnConfig config = small_rnn(variant.preset);
      variant.change(config);
      config.embedding_dropout = config.layer_dropout = config.output_dropout = 0.0f;
      const Tensor plain = [&] {
        Rng rng(4);
        return RnnSeq2Seq(config, rng).logits(inputs, written);
      }();
      (recurrent ? config.recurrent_dropout : config.output_dropout) = 0.5f;
      Rng rng(4);
      RnnSeq2Seq model(config, rng);
      expect_near(model.logits(inputs, written), plain, 0.0f);
      const auto trained = [&](uint64_t at) {
        const TrainingScope scope(Rng(1, at));
        const Tensor logits = model.logits(inputs, written);
        backward(cross_entropy(logits, written.ids));
        return logits.to_vector();
      };
      const std::vector<float> once = trained(0);
      EXPECT_EQ(once, trained(0)) << name;
      EXPECT_NE(once, trained(9)) << name;
      EXPECT_NE(once, plain.to_vector()) << name;
    }
  }
}

TEST(Rnn, SameBitsForAnyNumberOfThreads) {
  const Batch inputs = some_sources({30, 11, 26, 40, 3}, 3);
  const Tokens written = some_tokens({24, 12, 35, 4, 4}, kTargetTokens, 4);
  for (const RnnVariant& variant : {kRnnVariants[0], kRnnVariants[1]}) {
    RnnConfig config = small_rnn(variant.preset);
    config.hidden = 96, config.embedding = 64, config.recurrent_dropout = 0.2f;
    std::vector<std::vector<float>> first;
    for (const int threads : {1, 2, 3}) {
      const ThreadCountScope scope(threads);
      const TrainingScope training(Rng(1));
      Rng rng(2);
      RnnSeq2Seq model(config, rng);
      backward(cross_entropy(model.logits(inputs, written), written.ids));
      std::vector<std::vector<float>> grads;
      for (const NamedTensor& p : parameters(model)) grads.push_back(p.tensor.grad().to_vector());
      if (first.empty()) first = grads;
      EXPECT_EQ(first, grads) << threads;
    }
  }
}

}  // namespace
}  // namespace attend
