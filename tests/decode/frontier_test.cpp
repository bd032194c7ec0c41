// Records that join and leave a search while it goes on, as a server would have them.
#include "attend/decode/frontier.h"

#include <gtest/gtest.h>

#include "attend/decode/beam.h"
#include "attend/decode/chooser.h"
#include "tests/decode/search_cases.h"
#include "tests/decode/toy.h"
#include "tests/models/seq2seq.h"

namespace attend {
namespace {

using Results = std::map<size_t, std::vector<Hypothesis>>;

void step(Frontier& frontier, Results& finished) {
  for (Frontier::Finished& done : frontier.advance(Chooser()(frontier))) {
    finished[done.record].push_back(done.hypothesis);
  }
  for (const LiveRange range : frontier.by_record()) {
    const size_t record = frontier.live()[range.begin].record;
    if (frontier.request(record).config.sample) continue;
    if (is_decided(frontier, range, finished[record])) return frontier.retire(record);
  }
}

// Each record as if it were alone, whenever it joins.
void expect_joins_at_any_step(const Generator& model, const Batch& inputs) {
  const SearchRuntime runtime;
  const std::vector<SearchRequest> requests = {
      {.config = {.beam = 3, .n_best = 3, .min_length = 6, .max_length = 9}},
      {.config = {.n_best = 2, .sample = true, .seed = 3, .max_length = 7}, .line = 4},
      {.config = {.beam = 2, .n_best = 2, .max_length = 8}, .prefix = {5, 4}},
      {.config = {.beam = 1, .min_length = 3, .max_length = 9}, .banned = {{4}}}};
  for (const size_t apart : {1u, 2u, 15u}) {  // the last one joins when all others are gone
    Frontier frontier(model, runtime);
    Results finished;
    for (size_t i = 0; i < requests.size(); ++i) {
      frontier.admit(record_number(inputs, i), {requests[i]});
      for (size_t n = 0; n < apart && !frontier.empty(); ++n) step(frontier, finished);
    }
    while (!frontier.empty()) step(frontier, finished);
    for (size_t i = 0; i < requests.size(); ++i) {
      std::vector<Hypothesis>& found = finished[i];
      std::ranges::stable_sort(found, std::greater(), &Hypothesis::score);
      found.resize(std::min(found.size(), requests[i].config.n_best));
      const SearchRuntime own{.prefixes = {requests[i].prefix},
                              .lines = {requests[i].line},
                              .banned_by_record = {requests[i].banned}};
      expect_same(found, search(model, record_number(inputs, i), requests[i].config, own)[0]);
    }
  }
}

TEST(Frontier, RecordsJoinAtAnyStep) {
  expect_joins_at_any_step(ToyGenerator(9, 5), Batch("source", some_tokens({3, 1, 4, 2}, 9, 1)));
  Rng rng(2);
  const Transformer model(small_transformer(), rng);
  expect_joins_at_any_step(model, Batch("source", some_tokens({3, 1, 4, 2}, kSourceTokens, 1)));
}

TEST(Frontier, WhatIsRetiredLeavesTheState) {
  const ToyGenerator model(9, 5);
  const SearchRuntime runtime;
  Frontier frontier(model, runtime);
  Results finished;
  frontier.admit(three_records(), std::vector<SearchRequest>(3, {.config = {.min_length = 9}}));
  step(frontier, finished);
  frontier.retire(1);
  for (const Live& live : frontier.live()) EXPECT_NE(live.record, 1u);
  step(frontier, finished);
  EXPECT_EQ(model.steps, (std::vector<size_t>{3, 10}));  // five hypotheses of two records
}

}  // namespace
}  // namespace attend
