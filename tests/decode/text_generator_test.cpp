#include "attend/decode/text_generator.h"

#include <gtest/gtest.h>

#include <map>

#include "attend/base/utf8.h"
#include "attend/io/config.h"
#include "tests/decode/text_model.h"
#include "tests/errors.h"

namespace attend {
namespace {

const ToyGenerator& toy_of(const TextGenerator& generator) {
  return dynamic_cast<const ToyLanguageModel&>(*generator.model().model).toy();
}

const std::vector<std::string> kPrompts = {"abc", "", "e", "aabbccdd", "d"};

GenerationConfig short_texts() {
  GenerationConfig config;
  config.max_tokens = 20;
  return config;
}

void expect_same_texts(const Generation& a, const Generation& b) {
  EXPECT_EQ(a.prompt, b.prompt);
  ASSERT_EQ(a.texts.size(), b.texts.size());
  for (size_t i = 0; i < a.texts.size(); ++i) {
    EXPECT_EQ(a.texts[i].text, b.texts[i].text);
    EXPECT_EQ(a.texts[i].tokens, b.texts[i].tokens);
    EXPECT_EQ(a.texts[i].log_probabilities, b.texts[i].log_probabilities);
    EXPECT_EQ(a.texts[i].score, b.texts[i].score);
    EXPECT_EQ(a.texts[i].finish, b.texts[i].finish);
    EXPECT_EQ(a.texts[i].sample, b.texts[i].sample);
  }
}

std::vector<GenerationConfig> all_ways() {
  std::vector<GenerationConfig> configs(5, short_texts());
  configs[1].samples = 3;
  configs[2].samples = 2;
  configs[2].best_of = 4;
  configs[3].beam = 3;
  configs[3].samples = 2;
  configs[4].search.temperature = 0.0f;
  for (GenerationConfig& config : configs) config.stop = {"ab", "cde"};
  return configs;
}

TEST(TextGenerator, TextsDoNotDependOnTheBatch) {
  for (GenerationConfig config : all_ways()) {
    const auto together = TextGenerator(toy_language_model(), config)(kPrompts);
    config.batch_tokens = 60;  // some wait for others
    const auto few = TextGenerator(toy_language_model(), config)(kPrompts);
    for (size_t i = 0; i < kPrompts.size(); ++i) {
      const auto alone = TextGenerator(toy_language_model(), config)(std::span(&kPrompts[i], 1),
                                                                     {.first_line = i});
      expect_same_texts(together[i], alone.front());
      expect_same_texts(few[i], alone.front());
    }
  }
}

TEST(TextGenerator, IdsAndTextsAgree) {
  GenerationConfig config = short_texts();
  config.samples = 3;
  const TextGenerator generator(toy_language_model(), config);
  const auto all = generator(kPrompts);
  for (size_t i = 0; i < kPrompts.size(); ++i) {
    EXPECT_EQ(all[i].prompt, generator.tokenizer().encode(kPrompts[i]));
    for (const GeneratedText& text : all[i].texts) {
      EXPECT_EQ(text.text, generator.tokenizer().decode(text.tokens));
      const bool ended = text.finish == FinishReason::kEnded;
      EXPECT_EQ(text.log_probabilities.size(), text.tokens.size() + (ended ? 1 : 0));
      EXPECT_EQ(text.tokens.size() < 20u, ended);
      double total = 0;
      for (const float l : text.log_probabilities) total += double{l};
      EXPECT_NEAR(text.log_probability, total, 1e-6);
      EXPECT_NEAR(text.score, total / static_cast<double>(text.log_probabilities.size()), 1e-6);
    }
  }
}

TEST(TextGenerator, SamplesShareTheirPrompt) {
  GenerationConfig config = short_texts();
  config.samples = 4;
  config.min_tokens = config.max_tokens = 3;
  const TextGenerator generator(toy_language_model(), config);
  generator(std::vector<std::string>{"abcde"});
  EXPECT_EQ(toy_of(generator).steps, (std::vector<size_t>{6, 4, 4}));  // the start is read as well
  // One sample more changes none of the others.
  config.samples = 5;
  const auto five = TextGenerator(toy_language_model(), config)(std::vector<std::string>{"abcde"});
  config.samples = 1;
  const auto one = TextGenerator(toy_language_model(), config)(std::vector<std::string>{"abcde"});
  EXPECT_EQ(five.front().texts.front().tokens, one.front().texts.front().tokens);
}

// A prompt's place in the input chooses its random numbers, and how many samples there are does
// not.
TEST(TextGenerator, SamplesFollowThePlaceOfTheirPrompt) {
  GenerationConfig config = short_texts();
  config.min_tokens = config.max_tokens = 12;
  const auto one = TextGenerator(toy_language_model(), config)(kPrompts);
  config.samples = 3;
  const auto three = TextGenerator(toy_language_model(), config)(kPrompts);
  for (size_t i = 0; i < kPrompts.size(); ++i) {
    EXPECT_EQ(three[i].texts.front().tokens, one[i].texts.front().tokens) << i;
  }
  const auto twice = TextGenerator(toy_language_model(), config)(std::vector<std::string>(2, "ab"));
  for (const GeneratedText& first : twice[0].texts) {
    for (const GeneratedText& second : twice[1].texts) EXPECT_NE(first.tokens, second.tokens);
  }
}

// A beam may find fewer texts than were asked for.
TEST(TextGenerator, SaysWhenAPromptHasAllItsTexts) {
  std::vector<GenerationConfig> ways = all_ways();
  for (GenerationConfig& config : ways) config.max_tokens = 1;
  ways[3].beam = ways[3].samples = 40;
  ways[3].stop.clear();
  for (const GenerationConfig& config : ways) {
    std::map<size_t, size_t> texts, closed;
    const auto all = TextGenerator(toy_language_model(), config)(
        kPrompts, {.on_text =
                       [&](const TextPiece& piece) {
                         EXPECT_FALSE(closed.contains(piece.prompt));
                         texts[piece.prompt] += piece.finished != nullptr ? 1 : 0;
                       },
                   .on_closed =
                       [&](size_t prompt, const Generation& of) {
                         EXPECT_FALSE(closed.contains(prompt));
                         closed[prompt] = of.texts.size();
                       }});
    EXPECT_EQ(closed.size(), kPrompts.size());
    EXPECT_EQ(closed, texts);
    EXPECT_EQ(closed[0] < config.samples, config.beam == 40);
  }
}

TEST(TextGenerator, NumbersTheTextsOfABeamByTheirRank) {
  GenerationConfig config = short_texts();
  config.beam = 4;
  config.samples = 3;
  for (const Generation& generation : TextGenerator(toy_language_model(), config)(kPrompts)) {
    ASSERT_EQ(generation.texts.size(), 3u);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(generation.texts[i].sample, i);
  }
}

TEST(TextGenerator, BestOfGivesTheLikeliestByMeanLogProbability) {
  GenerationConfig config = short_texts();
  config.samples = 6;
  auto all = TextGenerator(toy_language_model(), config)(kPrompts);
  config.samples = 2;
  config.best_of = 6;
  const auto best = TextGenerator(toy_language_model(), config)(kPrompts);
  for (size_t i = 0; i < kPrompts.size(); ++i) {
    std::ranges::stable_sort(all[i].texts, std::greater(), &GeneratedText::score);
    all[i].texts.resize(2);
    expect_same_texts(best[i], all[i]);
  }
}

// Pieces are whole characters, add up to the texts, and say when they are finished.
TEST(TextGenerator, PiecesAddUpToTheTexts) {
  const auto bytes = train_tokenizer({.kind = TokenizerKind::kByte}, std::vector<std::string>{});
  for (GenerationConfig config : all_ways()) {
    config.stop.push_back("\x41");
    for (const TextModel& model : {toy_language_model(), toy_language_model(bytes)}) {
      const TextGenerator generator(model, config);
      std::map<std::pair<size_t, size_t>, std::string> texts;
      std::map<std::pair<size_t, size_t>, GeneratedText> finished;
      size_t pieces = 0;
      const auto all = generator(kPrompts, {.on_text = [&](const TextPiece& piece) {
                                   EXPECT_TRUE(valid_utf8(piece.text));
                                   const auto key = std::pair(piece.prompt, piece.place);
                                   EXPECT_FALSE(finished.contains(key));
                                   texts[key] += piece.text;
                                   ++pieces;
                                   if (piece.finished != nullptr) finished[key] = *piece.finished;
                                 }});
      size_t count = 0;
      for (size_t i = 0; i < all.size(); ++i) {
        for (size_t j = 0; j < all[i].texts.size(); ++j, ++count) {
          EXPECT_EQ((texts[{i, j}]), all[i].texts[j].text);
          EXPECT_EQ((finished[{i, j}].tokens), all[i].texts[j].tokens);
        }
      }
      EXPECT_EQ(texts.size(), count);
      EXPECT_EQ(finished.size(), count);
      EXPECT_EQ(pieces > count, generator.streams());
    }
  }
}

// Of a text without stops, all up to the first place where a stop is whole.
TEST(TextGenerator, StopsAtTextAcrossTokens) {
  GenerationConfig config = short_texts();
  config.min_tokens = config.max_tokens = 60;
  config.samples = 8;
  const auto plain = TextGenerator(toy_language_model(), config)(kPrompts);
  config.stop = {"cab", "dd"};
  const auto stopped = TextGenerator(toy_language_model(), config)(kPrompts);
  size_t stops = 0;
  for (size_t i = 0; i < kPrompts.size(); ++i) {
    for (size_t j = 0; j < 8; ++j) {
      const std::string& whole = plain[i].texts[j].text;
      const GeneratedText& text = stopped[i].texts[j];
      const size_t cab = whole.find("cab"), dd = whole.find("dd");
      const size_t end = std::min(cab, dd);
      EXPECT_EQ(text.text, whole.substr(0, end));
      EXPECT_EQ(text.finish, end == whole.npos ? FinishReason::kLength : FinishReason::kStopped);
      if (end == whole.npos) continue;
      ++stops;
      EXPECT_EQ(text.tokens.size(), end + (cab < dd ? 3 : 2));  // ids are those of all that came
    }
  }
  EXPECT_GT(stops, 10u);
}

TEST(TextGenerator, RollsWhereTheModelHasNoMorePositions) {
  GenerationConfig config = short_texts();
  config.min_tokens = config.max_tokens = 20;
  const TextGenerator generator(toy_language_model(8), config);
  EXPECT_EQ(generator.window(), 8u);
  const auto all = generator(std::vector<std::string>{"ab", "aabbccddee"});
  EXPECT_EQ(all[0].texts[0].tokens.size(), 20u);
  EXPECT_EQ(all[0].texts[0].rolled, 3u);  // after 6 tokens, and then after every 5
  EXPECT_EQ(all[0].unread, 0u);
  EXPECT_EQ(all[1].unread, 2u);
  config.context = 6;
  EXPECT_EQ(TextGenerator(toy_language_model(8), config).window(), 6u);
  EXPECT_EQ(TextGenerator(toy_language_model(), config).window(), 6u);
  config.context = 100;
  EXPECT_EQ(TextGenerator(toy_language_model(8), config).window(), 8u);
  config.context = {};
  EXPECT_EQ(TextGenerator(toy_language_model(), config).window(), std::nullopt);
}

TEST(TextGenerator, IsInterruptedBetweenTokens) {
  GenerationConfig config = short_texts();
  config.min_tokens = config.max_tokens = 20;
  config.samples = 2;
  config.batch_tokens = 1;  // one prompt at a time
  const TextGenerator generator(toy_language_model(), config);
  const auto whole = generator(kPrompts);
  std::atomic<bool> stop = false;
  size_t pieces = 0;
  std::map<std::pair<size_t, size_t>, std::string> heard;
  const auto cut = generator(kPrompts, {.on_text =
                                            [&](const TextPiece& piece) {
                                              heard[{piece.prompt, piece.place}] += piece.text;
                                              stop = ++pieces == 50;  // in the second prompt
                                            },
                                        .stop = &stop});
  expect_same_texts(cut[0], whole[0]);
  ASSERT_EQ(cut[1].texts.size(), 2u);
  for (size_t j = 0; j < 2; ++j) {
    const GeneratedText& text = cut[1].texts[j];
    EXPECT_EQ(text.finish, FinishReason::kInterrupted);
    EXPECT_LT(text.tokens.size(), 20u);
    EXPECT_TRUE(whole[1].texts[j].text.starts_with(text.text));
    EXPECT_EQ((heard[{1, j}]), text.text);
  }
  EXPECT_TRUE(cut[2].texts.empty());
  stop = true;
  EXPECT_TRUE(generator(kPrompts, {.stop = &stop}).front().texts.empty());
}

TEST(TextGenerator, ReadsAPromptLineByLineAsTrainingDoes) {
  const std::vector<std::string> lines = {"ab\n", "cde"};
  const auto tokenizer = train_tokenizer({.kind = TokenizerKind::kCharacter}, lines);
  const TextGenerator generator(toy_language_model(tokenizer), short_texts());
  EXPECT_EQ(generator.encode("ab\n\ncd"), tokenizer->encode("ab\n\ncd"));
  EXPECT_EQ(generator.encode(""), std::vector<int32_t>());
}

TEST(TextGenerator, RefusesOtherModelsAndSettingsThatCannotBe) {
  expect_error<ConfigError>(
      [] { TextGenerator(small_text_model(TokenizerKind::kCharacter, {"abc"}), {}); },
      "use translate");
  const auto expect_refusal = [](GenerationConfig config, const char* why) {
    expect_error<ConfigError>([&] { config.check(); }, why);
  };
  GenerationConfig greedy, cold;
  greedy.search.temperature = 0, greedy.samples = 2;
  expect_refusal(greedy,
                 "generate: 2 texts, but greedy decoding (temperature 0) has one; use a "
                 "beam of 2, or a temperature above 0");
  cold.search.temperature = -1;
  expect_refusal(cold, "generate: temperature -1; it must be finite and at least 0");
  const auto refused = [](const std::function<void(GenerationConfig&)>& change) {
    GenerationConfig config;
    change(config);
    EXPECT_THROW(config.check(), ConfigError);
  };
  refused([](GenerationConfig& c) { c.best_of = 2, c.samples = 3; });
  refused([](GenerationConfig& c) { c.best_of = 2, c.beam = 3; });
  refused([](GenerationConfig& c) { c.beam = 2, c.samples = 3; });
  refused([](GenerationConfig& c) { c.search.temperature = -1, c.beam = 2; });
  refused([](GenerationConfig& c) { c.search.min_p = 1.5f; });
  refused([](GenerationConfig& c) { c.search.typical_p = 0; });
  refused([](GenerationConfig& c) { c.stop = {"a", ""}; });
  refused([](GenerationConfig& c) { c.min_tokens = 300; });
  refused([](GenerationConfig& c) { c.max_tokens = 0; });
}

}  // namespace
}  // namespace attend
