// Records that are searched together, each in its own way: settings, prefixes, and when they end.
#include <gtest/gtest.h>

#include <atomic>

#include "attend/models/rnn.h"
#include "tests/decode/search_cases.h"
#include "tests/decode/toy.h"
#include "tests/models/seq2seq.h"

namespace attend {
namespace {

constexpr size_t kRecordVocabulary = 6;

TEST(SearchRecords, ABatchGivesWhatItsRecordsGiveAlone) {
  const ToyGenerator model(9, 7);
  const Batch sources = three_records();
  for (const bool sample : {false, true}) {
    SearchConfig config;
    config.beam = 3;
    config.n_best = 3;
    config.max_length = 9;
    config.sample = sample;
    const auto together = search(model, sources, config, {.lines = {10, 11, 12}});
    for (size_t s = 0; s < 3; ++s) {
      const auto alone = search(model, record_number(sources, s), config, {.lines = {10 + s}});
      expect_same(together[s], alone[0]);
    }
  }
}

// Settings that have nothing in common.
std::vector<SearchConfig> four_configs() {
  return {{.beam = 6, .n_best = 4, .length_penalty = 0.5f, .max_length = 7},
          {.n_best = 3, .sample = true, .temperature = 0.7f, .seed = 9, .max_length = 12},
          {.beam = 1, .min_length = 5, .max_length = 9, .allow_unknown = true},
          {.n_best = 2, .sample = true, .top_k = 3, .top_p = 0.8f, .seed = 4}};
}

void expect_records_alone(const Generator& model, const Batch& inputs) {
  const std::vector<SearchConfig> configs = four_configs();
  const SearchRuntime runtime{.prefixes = {{}, {4, 5}, {}, {6}},
                              .lines = {7, 3, 5, 4},
                              .banned = {{3, 3}},
                              .banned_by_record = {{}, {{5}}, {{4}, {6, 7}}, {}},
                              .positions = 30};
  const auto together = search(model, inputs, configs, runtime);
  ASSERT_EQ(together.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    SearchRuntime own = runtime;
    own.prefixes = {runtime.prefixes[i]};
    own.lines = {runtime.lines[i]};
    own.banned_by_record = {runtime.banned_by_record[i]};
    expect_same(together[i], search(model, record_number(inputs, i), configs[i], own)[0]);
    EXPECT_EQ(together[i].size(), configs[i].n_best);
  }
}

TEST(SearchRecords, OneConfigARecordIsASearchForEach) {
  const Tokens toy_sources = some_tokens({2, 1, 2, 5}, 9, 3);
  expect_records_alone(ToyGenerator(9, 7), Batch("source", toy_sources));
  Rng rng(5);
  const Batch inputs("source", some_tokens({3, 6, 2, 4}, kSourceTokens, 1));
  expect_records_alone(Transformer(small_transformer(), rng), inputs);
  RnnConfig config;
  config.source_vocabulary = kSourceTokens;
  config.target_vocabulary = kTargetTokens;
  config.hidden = 8, config.embedding = 6;
  expect_records_alone(RnnSeq2Seq(config, rng), inputs);
}

TEST(SearchRecords, RecordsThatAreDoneChangeNothingForTheOthers) {
  Rng rng(6);
  const Transformer model(small_transformer(), rng);
  const Batch inputs("source", some_tokens({3, 7, 2, 4, 5}, kSourceTokens, 1));
  for (const bool sample : {false, true}) {
    // All but the fourth are retired, one after the other.
    std::vector<SearchConfig> configs(5, {.beam = 3, .n_best = 3, .sample = sample});
    for (size_t i = 0; i < 5; ++i) configs[i].max_length = configs[i].min_length = 1 + 2 * i;
    configs[3].max_length = configs[3].min_length = 20;
    const auto together = search(model, inputs, configs, {});
    for (size_t i = 0; i < 5; ++i) {
      const auto alone = search(model, record_number(inputs, i), configs[i], {.lines = {i}});
      expect_same(together[i], alone[0]);
      EXPECT_EQ(together[i][0].tokens.size(), configs[i].max_length);
    }
  }
}

TEST(SearchRecords, StopEndsIt) {
  struct StoppedInside : ToyGenerator {
    using ToyGenerator::ToyGenerator;
    Tensor step(State& state, const Tokens& tokens, StepRows rows) const override {
      if (steps.size() == 2) stop = true;
      return ToyGenerator::step(state, tokens, rows);
    }
    mutable std::atomic<bool> stop = false;
  };
  for (const bool sample : {false, true}) {
    const StoppedInside model(kRecordVocabulary, 3);
    const SearchConfig config{.sample = sample, .min_length = 50, .max_length = 50};
    const SearchRuntime runtime{.stop = &model.stop};
    EXPECT_THROW(search(model, three_records(), config, runtime), Stopped);
    EXPECT_EQ(model.steps.size(), 3u);
    EXPECT_THROW(search(model, three_records(), config, runtime), Stopped);
    EXPECT_EQ(model.steps.size(), 3u);  // not even started
  }
}

TEST(SearchRecords, StartsWithThePrefix) {
  const ToyGenerator model(kRecordVocabulary, 9);
  SearchConfig config;
  config.beam = 4;
  config.max_length = 8;
  const Prefixes prefixes = {{4, 4, 4}, {}, {kSpecial.unknown}};
  const auto found = search(model, three_records(), config, {.prefixes = prefixes});
  const auto free = search(model, three_records(), config);
  ASSERT_GE(found[0][0].tokens.size(), 3u);
  EXPECT_EQ(std::vector<int32_t>(found[0][0].tokens.begin(), found[0][0].tokens.begin() + 3),
            prefixes[0]);
  EXPECT_EQ(found[1][0].tokens, free[1][0].tokens);
  EXPECT_EQ(found[2][0].tokens.front(), kSpecial.unknown);
}

// With ends in it, longer than a hypothesis may be, and just as long.
TEST(SearchRecords, APrefixIsReadAtOnceAsTokenByToken) {
  const Prefixes prefixes = {{4, 4, 4}, {3, kSpecial.end, 5}, {3, 4, 5, 3, 4, 5, 3, 4, 5}};
  const Prefixes others = {{kSpecial.end}, {3, 4, 5, 3, 4, 5}, {3, 4, 5, 3, 4}};
  for (const bool sample : {false, true}) {
    const SearchConfig config{.beam = 3, .n_best = 3, .sample = sample, .max_length = 6};
    for (const Prefixes& some : {prefixes, others}) {
      const ToyGenerator model(kRecordVocabulary, 9);
      Bystander bystander;
      const auto at_once = search(model, three_records(), config, {.prefixes = some});
      const size_t first = model.steps.front(), steps = model.steps.size();
      model.steps.clear();
      const auto by_token =
          search(model, three_records(), config, {.observer = &bystander, .prefixes = some});
      EXPECT_GT(first, 3u);
      EXPECT_EQ(model.steps.front(), 3u);
      EXPECT_LT(steps, model.steps.size());
      for (size_t s = 0; s < 3; ++s) expect_same(at_once[s], by_token[s]);
      if (!sample) {
        EXPECT_GE(bystander.steps, steps);
      }
    }
  }
}

TEST(SearchRecords, ATransformerReadsAPrefixAtOnceAsTokenByToken) {
  Rng rng(7);
  const Transformer model(small_transformer(), rng);
  const Batch inputs("source", some_tokens({3, 7}, kSourceTokens, 1));
  Bystander bystander;
  SearchRuntime runtime{.prefixes = {{5, 6, 7, 8}, {9}}};
  for (const bool sample : {false, true}) {
    const SearchConfig config{.beam = 3, .n_best = 3, .sample = sample, .max_length = 9};
    runtime.observer = nullptr;
    const auto at_once = search(model, inputs, config, runtime);
    runtime.observer = &bystander;
    const auto by_token = search(model, inputs, config, runtime);
    for (size_t s = 0; s < 2; ++s) {
      ASSERT_EQ(at_once[s].size(), by_token[s].size());
      for (size_t i = 0; i < at_once[s].size(); ++i) {
        EXPECT_EQ(at_once[s][i].tokens, by_token[s][i].tokens);
        EXPECT_NEAR(at_once[s][i].score, by_token[s][i].score, 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace attend
