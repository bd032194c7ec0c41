#include "attend/decode/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "attend/base/special_tokens.h"
#include "attend/decode/ensemble.h"
#include "attend/decode/lots.h"
#include "tests/decode/toy.h"
#include "tests/errors.h"

namespace attend {
namespace {

constexpr size_t kVocabulary = 6;

Tokens three_sources() { return {std::vector<int32_t>{3, 4, 5, 3, 4}, Packing::of({2, 1, 2})}; }

Tokens source_number(const Tokens& all, size_t s) {
  const auto ids = all.ids.index_span().subspan(all.packing.begin(s), all.packing.length(s));
  return {ids, Packing({static_cast<int32_t>(ids.size())})};
}

// Every hypothesis there is, best first; one that reaches the longest length is cut.
std::vector<Hypothesis> enumerate(const Generator& model, const Tokens& source,
                                  const SearchConfig& config) {
  std::vector<Hypothesis> all;
  const std::function<void(const Hypothesis&)> grow = [&](const Hypothesis& h) {
    const auto state = model.start(source);
    Tensor logits = model.step(*state, std::vector<int32_t>{kStart});
    for (const int32_t token : h.tokens) logits = model.step(*state, std::vector<int32_t>{token});
    std::vector<double> row(logits.span().begin(), logits.span().end());
    row[kStart] = row[kUnknown] = -HUGE_VAL;
    if (h.tokens.size() < config.min_length) row[kEnd] = -HUGE_VAL;
    double sum = 0;
    for (const double x : row) sum += std::exp(x);
    for (size_t v = 0; v < row.size(); ++v) {
      if (row[v] == -HUGE_VAL) continue;
      Hypothesis next = h;
      next.log_probability += row[v] - std::log(sum);
      next.ended = v == kEnd;
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
  const Tokens sources = three_sources();
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
        const auto all = enumerate(model, source_number(sources, s), config);
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
  const Tokens sources = three_sources();
  SearchConfig config;
  config.beam = 1;
  config.max_length = 8;
  const auto found = search(model, sources, config);
  for (size_t s = 0; s < 3; ++s) {
    const Tokens source = source_number(sources, s);
    const auto state = model.start(source);
    std::vector<int32_t> tokens = {kStart};
    while (tokens.size() <= 8) {
      const Tensor logits = model.step(*state, std::vector<int32_t>{tokens.back()});
      const auto row = logits.span().subspan(2);  // neither unknown nor start
      const auto best = static_cast<int32_t>(std::ranges::max_element(row) - row.begin()) + 2;
      if (best == kEnd) break;
      tokens.push_back(best);
    }
    tokens.erase(tokens.begin());
    EXPECT_EQ(found[s][0].tokens, tokens);
    EXPECT_EQ(found[s][0].log_probabilities.size(), tokens.size() + (found[s][0].ended ? 1 : 0));
  }
}

TEST(Search, ABatchGivesWhatItsSourcesGiveAlone) {
  const ToyGenerator model(9, 7);
  const Tokens sources = three_sources();
  for (const bool sample : {false, true}) {
    SearchConfig config;
    config.beam = 3;
    config.n_best = 3;
    config.max_length = 9;
    config.sample = sample;
    const std::vector<size_t> lines = {10, 11, 12};
    const auto together = search(model, sources, config, {}, lines);
    for (size_t s = 0; s < 3; ++s) {
      const std::vector<size_t> line = {lines[s]};
      const auto alone = search(model, source_number(sources, s), config, {}, line);
      ASSERT_EQ(together[s].size(), alone[0].size());
      for (size_t i = 0; i < alone[0].size(); ++i) {
        EXPECT_EQ(together[s][i].tokens, alone[0][i].tokens);
      }
    }
  }
}

TEST(Search, RowsAreLiveHypothesesOnly) {
  const ToyGenerator model(kVocabulary, 8);
  SearchConfig config;
  config.beam = 1;
  config.max_length = 30;
  const auto found = search(model, three_sources(), config);
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
  search(model, three_sources(), config);
  size_t full = 0;
  for (const std::vector<size_t>& parents : model.reorders) {
    if (parents.size() < 12 || ++full == 1) continue;  // the first to have four each
    for (const size_t parent : parents) EXPECT_EQ(parents[parent], parent);
  }
  EXPECT_GT(full, 3u);
}

TEST(Search, StartsWithThePrefix) {
  const ToyGenerator model(kVocabulary, 9);
  SearchConfig config;
  config.beam = 4;
  config.max_length = 8;
  const Prefixes prefixes = {{4, 4, 4}, {}, {kUnknown}};
  const auto found = search(model, three_sources(), config, prefixes);
  const auto free = search(model, three_sources(), config);
  ASSERT_GE(found[0][0].tokens.size(), 3u);
  EXPECT_EQ(std::vector<int32_t>(found[0][0].tokens.begin(), found[0][0].tokens.begin() + 3),
            prefixes[0]);
  EXPECT_EQ(found[1][0].tokens, free[1][0].tokens);
  EXPECT_EQ(found[2][0].tokens.front(), kUnknown);
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
  const auto free = search(model, three_sources(), config);
  const std::vector<int32_t> pair(free[0][0].tokens.begin(), free[0][0].tokens.begin() + 2);
  config.banned = {pair, {5}};
  for (const auto& hypotheses : search(model, three_sources(), config)) {
    for (const Hypothesis& h : hypotheses) {
      EXPECT_FALSE(contains(h, pair));
      EXPECT_FALSE(contains(h, {5}));
    }
  }
}

TEST(Search, LotsFallAsProbabilitiesSay) {
  const std::vector<float> logits = {0.0f, 1.0f, 2.0f, -1.0f};
  SearchConfig config;
  const auto frequencies = [&] {
    std::map<size_t, double> counts;
    const int lots = 20000;
    for (int i = 0; i < lots; ++i) counts[draw(logits, config, (i + 0.5) / lots)] += 1.0 / lots;
    return counts;
  };
  const auto expect = [&](const std::vector<double>& powers) {
    double sum = 0;
    for (const double p : powers) sum += p;
    auto counts = frequencies();
    for (size_t i = 0; i < powers.size(); ++i) EXPECT_NEAR(counts[i], powers[i] / sum, 1e-3) << i;
  };
  const double e = std::exp(1.0);
  expect({1, e, e * e, 1 / e});
  config.temperature = 0.5f;
  expect({1, e * e, e * e * e * e, 1 / (e * e)});
  config.temperature = 1.0f;
  config.top_k = 2;
  expect({0, e, e * e, 0});
  config.top_k = 0;
  config.top_p = 0.9f;  // the first two have 0.87 of it
  expect({1, e, e * e, 0});
}

TEST(Search, AnEnsembleOfOneModelTwiceIsThatModel) {
  const auto model = std::make_shared<ToyGenerator>(kVocabulary, 11);
  SearchConfig config;
  config.beam = 3;
  config.max_length = 8;
  const auto alone = search(*model, three_sources(), config);
  const Ensemble twice({model, model});
  const auto both = search(twice, three_sources(), config);
  for (size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(both[s][0].tokens, alone[s][0].tokens);
    EXPECT_NEAR(both[s][0].score, alone[s][0].score, 1e-5);
  }
}

TEST(Search, AnEnsembleIsTheMeanOfProbabilities) {
  const auto a = std::make_shared<ToyGenerator>(kVocabulary, 12);
  const auto b = std::make_shared<ToyGenerator>(kVocabulary, 13);
  const Ensemble both({a, b});
  const std::vector<int32_t> start = {kStart, kStart, kStart};
  const auto row_of = [&](const Generator& g) {
    const auto state = g.start(three_sources());
    return g.step(*state, start).to_vector();
  };
  const std::vector<float> x = row_of(*a), y = row_of(*b), z = row_of(both);
  double sum_x = 0, sum_y = 0;
  for (size_t i = 0; i < kVocabulary; ++i) sum_x += std::exp(x[i]), sum_y += std::exp(y[i]);
  for (size_t i = 0; i < kVocabulary; ++i) {
    EXPECT_NEAR(z[i], std::log((std::exp(x[i]) / sum_x + std::exp(y[i]) / sum_y) / 2), 1e-5);
  }
}

TEST(Search, NothingOfNothing) {
  const ToyGenerator model(kVocabulary, 14);
  EXPECT_TRUE(search(model, {std::vector<int32_t>{}, Packing::of({})}, {}).empty());
  const auto found = search(model, {std::vector<int32_t>{}, Packing::of({0})}, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].size(), 1u);
}

TEST(Search, ErrorsNameTheValues) {
  const ToyGenerator model(kVocabulary, 15);
  const auto run = [&](const std::function<void(SearchConfig&)>& change) {
    SearchConfig config;
    change(config);
    search(model, three_sources(), config);
  };
  expect_error<ConfigError>([&] { run([](SearchConfig& c) { c.beam = 0; }); }, "search: beam is 0");
  expect_error<ConfigError>([&] { run([](SearchConfig& c) { c.n_best = 9; }); },
                            "9 best of a beam of 5; widen the beam");
  expect_error<ConfigError>([&] { run([](SearchConfig& c) { c.banned = {{6}}; }); },
                            "banned token 6 of a vocabulary of 6");
  expect_error<ConfigError>([&] { run([](SearchConfig& c) { c.top_p = 0; }); }, "top_p 0");
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
  expect_error<DataError>([&] { search(model, three_sources(), {}, {{1}}); },
                          "1 prefixes for 3 sources");
  expect_error<ConfigError>([] { Ensemble({}); }, "no model");
  expect_error<ConfigError>(
      [&] {
        Ensemble({std::make_shared<ToyGenerator>(4, 1), std::make_shared<ToyGenerator>(5, 1)});
      },
      "4 and 5 tokens");
}

}  // namespace
}  // namespace attend
