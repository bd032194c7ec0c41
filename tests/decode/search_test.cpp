#include "attend/decode/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "attend/decode/score.h"
#include "tests/decode/search_cases.h"
#include "tests/decode/toy.h"
#include "tests/errors.h"
#include "tests/models/seq2seq.h"

namespace attend {
namespace {

constexpr size_t kVocabulary = 6;

// Every hypothesis there is, best first; one that reaches the longest length is cut.
std::vector<Hypothesis> enumerate(const Generator& model, const Batch& source,
                                  const SearchConfig& config) {
  std::vector<Hypothesis> all;
  const std::function<void(const Hypothesis&)> grow = [&](const Hypothesis& h) {
    const auto state = model.start(source);
    Tensor logits = model.step(*state, std::vector{kSpecial.start});
    for (const int32_t token : h.tokens) logits = model.step(*state, std::vector{token});
    std::vector<double> row(logits.span().begin(), logits.span().end());
    double sum = 0;
    for (const double x : row) sum += std::exp(x);
    row[kSpecial.start] = row[kSpecial.unknown] = -HUGE_VAL;
    if (h.tokens.size() < config.min_length) row[kSpecial.end] = -HUGE_VAL;
    for (size_t v = 0; v < row.size(); ++v) {
      if (row[v] == -HUGE_VAL) continue;
      Hypothesis next = h;
      next.log_probability += row[v] - std::log(sum);
      next.ended = static_cast<int32_t>(v) == kSpecial.end;
      if (!next.ended) next.tokens.push_back(static_cast<int32_t>(v));
      const size_t length = next.tokens.size() + (next.ended ? 1 : 0);
      next.score = next.log_probability / std::pow(length, config.length_penalty);
      if (next.ended || next.tokens.size() == config.max_length) {
        all.push_back(next);
      } else {
        grow(next);
      }
    }
  };
  grow({});
  std::ranges::sort(all, std::greater(), &Hypothesis::score);
  return all;
}

TEST(Search, AWideBeamFindsWhatEnumerationFinds) {
  const ToyGenerator model(kVocabulary, 5);
  const Batch sources = three_records();
  for (const float penalty : {0.0f, 1.0f, 0.6f}) {
    for (const size_t shortest : {0, 2}) {
      SearchConfig config;
      config.beam = 400;
      config.n_best = 7;
      config.max_length = 4;
      config.min_length = shortest;
      config.length_penalty = penalty;
      const auto found = search(model, sources, config);
      for (size_t s = 0; s < 3; ++s) {
        const auto all = enumerate(model, record_number(sources, s), config);
        ASSERT_EQ(found[s].size(), 7u);
        for (size_t i = 0; i < 7; ++i) {
          EXPECT_EQ(found[s][i].tokens, all[i].tokens) << s << " " << i;
          EXPECT_NEAR(found[s][i].score, all[i].score, 1e-5);
          EXPECT_EQ(found[s][i].ended, all[i].ended);
        }
      }
    }
  }
}

TEST(Search, GreedyTakesTheLikeliestAtEachStep) {
  const ToyGenerator model(kVocabulary, 6);
  const Batch sources = three_records();
  SearchConfig config;
  config.beam = 1;
  config.max_length = 8;
  for (const SpecialTokens special :
       {kSpecial, SpecialTokens{.unknown = 5, .start = 3, .end = 0},
        SpecialTokens{.unknown = -1, .start = 3, .end = 3}, SpecialTokens{.mask = 3}}) {
    const auto found = search(model, sources, config, {.special = special});
    for (size_t s = 0; s < 3; ++s) {
      const auto state = model.start(record_number(sources, s));
      std::vector<int32_t> tokens = {special.start};
      while (tokens.size() <= 8) {
        std::vector<float> row = model.step(*state, std::vector{tokens.back()}).to_vector();
        for (const int32_t never : {special.start, special.unknown, special.mask}) {
          if (never >= 0 && never != special.end) row[static_cast<size_t>(never)] = -HUGE_VALF;
        }
        const auto best = static_cast<int32_t>(std::ranges::max_element(row) - row.begin());
        if (best == special.end) break;
        tokens.push_back(best);
      }
      tokens.erase(tokens.begin());
      EXPECT_EQ(found[s][0].tokens, tokens);
      EXPECT_EQ(found[s][0].log_probabilities.size(), tokens.size() + (found[s][0].ended ? 1 : 0));
    }
  }
}

// Tokens that must not be written keep their share of the probability.
TEST(Search, LogProbabilitiesAreTheModelsOwn) {
  const ToyGenerator model(kVocabulary, 7);
  const Batch record = record_number(three_records(), 0);
  SearchConfig beam{.beam = 3, .n_best = 3, .min_length = 3, .max_length = 6}, sample = beam,
                                                                               narrow = beam;
  sample.sample = true;
  narrow.repetition_penalty = 1.3f;
  for (const SearchConfig& config : {beam, sample, narrow}) {
    for (const Prefixes& prefixes : {Prefixes{}, Prefixes{{4, 3}}}) {
      const SearchRuntime runtime{.prefixes = prefixes, .banned = {{5}, {5}, {3, 3}}};
      const auto found = search(model, record, config, runtime);
      for (const Hypothesis& h : found.front()) {
        const Scored own = score(model, record, one_sequence(h.tokens), kSpecial).front();
        ASSERT_LE(h.log_probabilities.size(), own.log_probabilities.size());
        double total = 0;
        for (size_t t = 0; t < h.log_probabilities.size(); ++t) {
          EXPECT_NEAR(h.log_probabilities[t], own.log_probabilities[t], 1e-5) << t;
          total += double{own.log_probabilities[t]};
        }
        EXPECT_NEAR(h.log_probability, total, 1e-5);
      }
    }
  }
  // Where everything is forbidden, it ends, as probable as the model finds that.
  const SearchRuntime nothing_left{.banned = {{3}, {4}, {5}}};
  const Hypothesis none = search(model, record, beam, nothing_left).front().front();
  EXPECT_TRUE(none.tokens.empty() && none.ended);
  EXPECT_NEAR(none.log_probability,
              score(model, record, one_sequence(none.tokens), kSpecial)[0].total, 1e-5);
}

TEST(Search, RowsAreLiveHypothesesOnly) {
  const ToyGenerator model(kVocabulary, 8);
  SearchConfig config;
  config.beam = 1;
  config.max_length = 30;
  const auto found = search(model, three_records(), config);
  size_t written = 0;
  for (const auto& hypotheses : found) written += hypotheses[0].log_probabilities.size();
  size_t rows = 0;
  for (const size_t step : model.steps) rows += step;
  EXPECT_EQ(rows, written);
}

TEST(Search, HypothesesStayInTheRowOfTheirParent) {
  const ToyGenerator model(kVocabulary, 4);
  SearchConfig config;
  config.beam = 4;
  config.min_length = config.max_length = 8;
  search(model, three_records(), config);
  size_t full = 0;
  for (const std::vector<size_t>& parents : model.reorders) {
    if (parents.size() < 12 || ++full == 1) continue;  // the first to have four each
    for (const size_t parent : parents) EXPECT_EQ(parents[parent], parent);
  }
  EXPECT_GT(full, 3u);
}

TEST(Search, LengthsFollowWhatIsRead) {
  const ToyGenerator model(kVocabulary, 9);
  const SearchConfig endless{.beam = 1, .min_length = 1000};
  const Batch sources("source", some_tokens({4, 1}, kVocabulary, 1));
  const auto found = search(model, sources, endless);
  EXPECT_EQ(found[0][0].tokens.size(), 32u);
  EXPECT_EQ(found[1][0].tokens.size(), 23u);
  EXPECT_EQ(search(model, Batch(1), endless)[0][0].tokens.size(), 256u);
  EXPECT_EQ(search(model, Batch(1), endless, {.positions = 9})[0][0].tokens.size(), 8u);
}

TEST(Search, NeverWritesWhatIsBanned) {
  const ToyGenerator model(kVocabulary, 10);
  SearchConfig config;
  config.beam = 5;
  config.n_best = 5;
  config.max_length = 7;
  const auto contains = [](const Hypothesis& h, const std::vector<int32_t>& part) {
    return !std::ranges::search(h.tokens, part).empty();
  };
  const auto free = search(model, three_records(), config);
  const std::vector<int32_t> pair(free[0][0].tokens.begin(), free[0][0].tokens.begin() + 2);
  for (const auto& hypotheses : search(model, three_records(), config, {.banned = {pair, {5}}})) {
    for (const Hypothesis& h : hypotheses) {
      EXPECT_FALSE(contains(h, pair));
      EXPECT_FALSE(contains(h, {5}));
    }
  }
  const SearchRuntime only_first{.banned_by_record = {{pair, {5}}, {}, {}}};
  const auto found = search(model, three_records(), config, only_first);
  for (const Hypothesis& h : found[0]) EXPECT_FALSE(contains(h, pair) || contains(h, {5}));
  for (size_t s = 1; s < 3; ++s) expect_same(found[s], free[s]);
}

TEST(Search, NothingOfNothing) {
  const ToyGenerator model(kVocabulary, 14);
  const SearchConfig config;
  const std::vector<int32_t> none;
  EXPECT_TRUE(search(model, {"source", Tokens(none, Packing::of({}))}, config).empty());
  EXPECT_TRUE(search(model, Batch(), config).empty());
  const auto found = search(model, {"source", Tokens(none, Packing::of({0}))}, config);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].size(), 1u);
}

TEST(Search, ErrorsNameTheValues) {
  const ToyGenerator model(kVocabulary, 15);
  const auto run = [&](const std::function<void(SearchConfig&)>& change) {
    SearchConfig config;
    change(config);
    search(model, three_records(), config);
  };
  const auto run_with = [&](const SearchRuntime& runtime) {
    search(model, three_records(), SearchConfig(), runtime);
  };
  expect_error<ConfigError>([&] { run([](SearchConfig& c) { c.beam = 0; }); }, "search: beam is 0");
  expect_error<ConfigError>([&] { run([](SearchConfig& c) { c.n_best = 9; }); },
                            "9 best of a beam of 5; widen the beam");
  expect_error<ConfigError>([&] { run_with({.banned = {{6}}}); },
                            "banned token 6 of a vocabulary of 6");
  expect_error<ConfigError>(
      [&] {
        run_with({.banned_by_record = {{}, {{-1}}, {}}});
      },
      "banned token -1 of a vocabulary of 6");
  expect_error<ConfigError>([&] { run_with({.banned = {{}}}); },
                            "an empty sequence cannot be banned");
  expect_error<ConfigError>(
      [&] {
        run_with({.prefixes = {{}, {7}, {}}});
      },
      "prefix token 7 of a vocabulary of 6");
  expect_error<ConfigError>([&] { run([](SearchConfig& c) { c.top_p = 0; }); },
                            "search: top_p 0; it must be");
  expect_error<ConfigError>([&] { run([](SearchConfig& c) { c.min_p = 2; }); },
                            "search: min_p 2; it must be");
  expect_error<ConfigError>([&] { run([](SearchConfig& c) { c.typical_p = 0; }); },
                            "search: typical_p 0; it must be");
  expect_error<ConfigError>([&] { run([](SearchConfig& c) { c.temperature = 0; }); },
                            "search: temperature 0; it must be");
  expect_error<ConfigError>([&] { run([](SearchConfig& c) { c.repetition_penalty = 0; }); },
                            "search: repetition_penalty 0; it must be");
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const std::string text = fmt::format("{}", bad);
    expect_error<ConfigError>([&] { run([&](SearchConfig& c) { c.temperature = bad; }); },
                              "temperature " + text);
    expect_error<ConfigError>([&] { run([&](SearchConfig& c) { c.length_penalty = bad; }); },
                              "length_penalty of " + text);
    expect_error<ConfigError>([&] { run([&](SearchConfig& c) { c.coverage_penalty = bad; }); },
                              "coverage_penalty of " + text);
  }
  expect_error<DataError>([&] { run_with({.prefixes = {{1}}}); }, "1 prefixes for 3 records");
  expect_error<DataError>([&] { run_with({.lines = {1, 2}}); }, "2 line numbers for 3 records");
  expect_error<DataError>([&] { run_with({.banned_by_record = {{}}}); },
                          "1 lists of banned sequences for 3 records");
  const std::vector<SearchConfig> two(2);
  expect_error<DataError>([&] { search(model, three_records(), two, {}); },
                          "2 configs for 3 records");
}

TEST(Search, NumbersThatAreNoneAreAnError) {
  struct Broken : ToyGenerator {
    using ToyGenerator::ToyGenerator;
    Tensor step(State& state, const Tokens& tokens, StepRows rows) const override {
      Tensor logits = ToyGenerator::step(state, tokens, rows);
      for (size_t i = 0; i < logits.size(); i += every) logits.span()[i] = std::nanf("");
      return logits;
    }
    size_t every = 1;
  };
  Broken model(kVocabulary, 3);
  for (const size_t every : {1u, 2u}) {
    model.every = every;
    for (const bool sample : {false, true}) {
      for (const Prefixes& prefixes : {Prefixes{}, Prefixes{{3, 4}, {5}, {}}}) {
        expect_error<DataError>(
            [&] {
              search(model, three_records(), SearchConfig{.sample = sample},
                     {.prefixes = prefixes});
            },
            "the model gives no numbers; its weights are not finite");
      }
    }
  }
}

}  // namespace
}  // namespace attend
