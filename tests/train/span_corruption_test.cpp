#include "attend/train/span_corruption.h"

#include <gtest/gtest.h>

#include <numeric>

#include "attend/base/parallel.h"
#include "attend/tensor/tape.h"
#include "attend/train/choices.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

using Ids = std::vector<int32_t>;
constexpr int32_t kFirstSentinel = 1000;

SpecialTokens with_sentinels(int32_t count) {
  SpecialTokens special;
  special.first_sentinel = kFirstSentinel, special.sentinels = count;
  return special;
}

Ids text_of(size_t tokens) {
  Ids ids(tokens);
  std::iota(ids.begin(), ids.end(), 3);
  return ids;
}

// The text again: each sentinel of the source is replaced by what follows it in the target.
Ids rebuilt(const CorruptedText& text) {
  Ids ids;
  for (const int32_t id : text.source) {
    if (id < kFirstSentinel) {
      ids.push_back(id);
      continue;
    }
    auto from = std::ranges::find(text.target, id);
    EXPECT_NE(from, text.target.end());
    while (++from != text.target.end() && *from < kFirstSentinel) ids.push_back(*from);
  }
  return ids;
}

Ids sentinels_of(const Ids& ids) {
  Ids found;
  std::ranges::copy_if(ids, std::back_inserter(found),
                       [](int32_t id) { return id >= kFirstSentinel; });
  return found;
}

TEST(CorruptedText, SourceAndTargetHaveTheWholeText) {
  for (const double share : {0.15, 0.5, 0.01}) {
    for (const double length : {1.0, 3.0, 10.0}) {
      const SpansConfig config{share, length};
      for (size_t tokens = 1; tokens <= 70; ++tokens) {
        const Ids ids = text_of(tokens);
        for (uint64_t draw = 0; draw < 20; ++draw) {
          const CorruptedText text =
              corrupted_text(ids, with_sentinels(100), config, RandomStream(1, draw));
          ASSERT_EQ(rebuilt(text), ids) << tokens << " " << draw;
          Ids sentinels(spans_of(tokens, config));
          std::iota(sentinels.begin(), sentinels.end(), kFirstSentinel);
          EXPECT_EQ(sentinels_of(text.source), sentinels) << "each once, in order";
          EXPECT_EQ(sentinels_of(text.target), sentinels);
          EXPECT_EQ(text.target.size(), sentinels.size() + tokens_in_spans(tokens, config));
          for (size_t i = 1; i < text.source.size(); ++i) {
            EXPECT_FALSE(text.source[i] >= kFirstSentinel && text.source[i - 1] >= kFirstSentinel)
                << "spans that touch";
          }
          for (size_t i = 1; i < text.target.size(); ++i) {
            EXPECT_FALSE(text.target[i] >= kFirstSentinel && text.target[i - 1] >= kFirstSentinel)
                << "a span of nothing";
          }
        }
      }
    }
  }
  EXPECT_TRUE(corrupted_text({}, with_sentinels(1), {}, {1, 1}).source.empty());
}

TEST(CorruptedText, SpansHaveTheShareAndTheMeanLengthAndComeEverywhere) {
  const SpansConfig config;
  constexpr size_t kTokens = 400;
  EXPECT_EQ(tokens_in_spans(kTokens, config), 60u);
  EXPECT_EQ(spans_of(kTokens, config), 20u);
  const Ids ids = text_of(kTokens);
  std::vector<int> taken(kTokens), lengths(kTokens);
  constexpr int kDraws = 4000;
  for (uint64_t draw = 0; draw < kDraws; ++draw) {
    const auto text = corrupted_text(ids, with_sentinels(20), config, RandomStream(3, draw));
    int length = 0;
    for (const int32_t id : text.target) {
      if (id < kFirstSentinel) {
        ++taken[static_cast<size_t>(id - 3)], ++length;
      } else if (length > 0) {
        ++lengths[static_cast<size_t>(std::exchange(length, 0))];
      }
    }
  }
  // Seven deviations of a binomial of 4000 draws with a chance of 0.15 are 158; at the ends of the
  // text, where a span has neighbours on one side only, the chance is a little lower.
  for (size_t i = 10; i < kTokens - 10; ++i) EXPECT_NEAR(taken[i], 600, 158) << i;
  EXPECT_GT(taken.front(), 50);
  EXPECT_GT(taken.back(), 50);
  for (const int length : {1, 2, 3, 4, 5}) EXPECT_GT(lengths[static_cast<size_t>(length)], 1000);
  EXPECT_GT(lengths[1], lengths[4]) << "as random cuts give them";
}

TEST(CorruptedText, TooFewSentinelsAreAnError) {
  expect_error<ConfigError>(
      [] {
        corrupted_text(text_of(400), with_sentinels(19), {}, {1, 1});
      },
      "20 spans of a text of 400 tokens, but the tokenizer has 19 sentinels");
}

class SpanRuns : public DirectoryTest {
 protected:
  // Letters that follow one another in the alphabet, from any of them on.
  RunConfig spans(const std::string& name = "base", const std::string& kind = "transformer") const {
    RunConfig c = small_run(directory_, kind);
    c.out = directory_ / name;
    c.data = {};
    for (const char* file : {"text", "valid"}) {
      std::ofstream out(directory_ / file);
      for (int i = 0; i < 150; ++i) {
        std::string line;
        for (int j = 0; j < 12 + i % 9; ++j) line += static_cast<char>('a' + (i * 7 + j) % 26);
        out << line << "\n";
      }
    }
    c.data.text = directory_ / "text", c.data.valid_text = directory_ / "valid";
    c.data.documents = DocumentKind::kLine;
    c.data.context = 32;
    c.validation.metric = Metric::kLoss;
    return c;
  }
  double loss_of(const Objective& objective, const TextModel& model, const Batch& batch,
                 uint64_t epoch, bool training = true) const {
    const NoGrad no_grad;
    return objective
        .loss(*model.model, batch,
              {.tokenizers = model.tokenizers, .seed = 1, .epoch = epoch, .training = training})
        .sum.item();
  }
};

TEST_F(SpanRuns, HaveTheSameBitsForAnyThreadsAndAfterAStop) {
  for (const char* kind : {"transformer", "rnn"}) {
    const auto name = [&](const char* what) { return std::string(kind) + what; };
    for (const int threads : {1, 3}) {
      const ThreadCountScope scope(threads);
      run(spans(name(threads == 1 ? "1" : "3"), kind));
    }
    const auto whole = outcome(directory_ / name("1"));
    EXPECT_EQ(outcome(directory_ / name("3")), whole);
    const RunConfig stopped = spans(name("stopped"), kind);
    std::atomic<bool> stop{false};
    StopAt observer(9, stop);
    EXPECT_EQ(run_training(stopped, observer, stop).step, 9);
    run(stopped);
    EXPECT_EQ(outcome(stopped.out), whole);
  }
}

TEST_F(SpanRuns, SpansAreOfTheEpochAndTheTextAndNotOfTheBatch) {
  RunConfig config = spans();
  config.training.steps = 1;
  Messages messages;
  run_training(config, messages, false);
  EXPECT_TRUE(messages.has("task: span_corruption")) << messages.text;
  const TextModel model = TextModel::load(config.out);
  const SpecialTokens special = model.tokenizer("source").special();
  EXPECT_EQ(static_cast<size_t>(special.sentinels), spans_of(32, config.spans));
  const Signature signature = model.model->signature();
  config.model = model.config;
  const auto objective = make_objective(config, task_of(config, signature), signature);
  const auto one = framed(one_sequence(model.tokenizer("source").encode("abcdefghijklmnop")),
                          signature.column("source").framing, special);
  const auto other = framed(one_sequence(model.tokenizer("source").encode("qrstuvw")),
                            signature.column("source").framing, special);
  TokenLines both;
  both.add(one.sequence(0)), both.add(other.sequence(0));
  const double first = loss_of(*objective, model, Batch("source", one), 3);
  EXPECT_EQ(loss_of(*objective, model, Batch("source", one), 3), first);
  EXPECT_NEAR(loss_of(*objective, model, Batch("source", both.tokens()), 3),
              first + loss_of(*objective, model, Batch("source", other), 3), 1e-3);
  int different = 0;
  for (uint64_t epoch = 4; epoch < 14; ++epoch) {
    different += loss_of(*objective, model, Batch("source", one), epoch) != first ? 1 : 0;
    EXPECT_EQ(loss_of(*objective, model, Batch("source", one), epoch, false),
              loss_of(*objective, model, Batch("source", one), 0, false))
        << "validation is always the same";
  }
  EXPECT_GT(different, 5);
}

// What is missing follows from the letters before it.
TEST_F(SpanRuns, LearnAndAreFineTuned) {
  RunConfig config = spans();
  transformer(config).width = 32, transformer(config).feed_forward = 64;
  config.batch.tokens = 600;
  config.training.steps = 300, config.validation.every = 100;
  config.training.average = 0;
  config.optimizer.rate = 0.005;
  const RunResult result = run(config);
  EXPECT_LT(result.best_score, 1.0) << "nats a token; all letters alike would be 3.3";

  RunConfig tuned = small_run(directory_);
  tuned.model = config.model;
  tuned.init_from = config.out;
  tuned.out = directory_ / "tuned";
  tuned.training.steps = 2;
  Messages messages;
  run_training(tuned, messages, false);
  EXPECT_TRUE(messages.has("task: translate")) << messages.text;
  EXPECT_TRUE(messages.has("as in init_from")) << messages.text;
  EXPECT_FALSE(messages.has("start: new")) << messages.text;
}

TEST_F(SpanRuns, ATokenizerWithoutSentinelsIsRefusedWithTheRemedy) {
  const RunConfig config = spans();
  fs::create_directories(config.out);
  const std::vector<std::string> lines = {"abcdefghijklmnopqrstuvwxyz"};
  const auto save = [&](size_t sentinels) {
    const auto made = train_tokenizer(
        {.kind = TokenizerKind::kCharacter, .vocabulary = 0, .sentinels = sentinels}, lines);
    for (const char* column : {"source", "target"}) {
      made->save(config.out / fmt::format("tokenizer.{}.model", column));
    }
  };
  save(0);
  expect_error<ConfigError>(
      [&] { run(config); },
      "the tokenizer has 0 sentinels, but a text of 32 tokens has 2 spans; train it with "
      "vocabulary.sentinels 2 or more");
  save(2);
  EXPECT_NO_THROW(run(config));
}

TEST_F(SpanRuns, WhatDoesNotFitIsRefused) {
  const auto refused = [&](const auto& change, const char* text) {
    RunConfig config = spans();
    change(config);
    expect_error<ConfigError>([&] { config.check(); }, text);
  };
  refused([](RunConfig& c) { c.spans.share = 0.6; }, "spans.share is 0.6");
  refused([](RunConfig& c) { c.spans.length = 0.5; }, "spans.length is 0.5");
  refused([](RunConfig& c) { c.vocabulary.tokenizer.kind = TokenizerKind::kWordpiece; },
          "wordpiece loses white space");
  refused([](RunConfig& c) { c.training.objective = std::string_view("teacher_forcing"); },
          "training.objective teacher_forcing does not fit plain text and this model");
  RunConfig pairs = small_run(directory_);
  pairs.training.objective = std::string_view("span_corruption");
  expect_error<ConfigError>([&] { pairs.check(); }, "trains on plain text; give --text FILE");
}

TEST_F(SpanRuns, TheObjectiveAloneChoosesAModel) {
  RunConfig config;
  config.out = directory_ / "model";
  config.data.text = spans().data.text;
  config.training.objective = std::string_view("span_corruption");
  GivenSettings given;
  given.add("training.objective");
  const RunConfig chosen = choose_settings(config, given).config;
  EXPECT_EQ(task_of(chosen, signature_of(chosen.model)).name, "span_corruption");
  EXPECT_EQ(chosen.data.documents, DocumentKind::kLine);
  EXPECT_NO_THROW(chosen.check());
}

}  // namespace
}  // namespace attend
