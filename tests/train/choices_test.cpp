#include "attend/train/choices.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "attend/base/rng.h"
#include "tests/errors.h"

namespace attend {
namespace {

using Lines = std::vector<std::string>;

const Task& task_named(std::string_view name) {
  for (const auto& task : tasks()) {
    if (task->name == name) return *task;
  }
  throw std::logic_error("no such task");
}

// The settings that are chosen for some text of a task.
Choices chosen(const Task& task, const std::vector<Lines>& columns, uint64_t times = 1,
               const GivenSettings& given = {}, RunConfig config = {}) {
  std::vector<std::string> names;
  for (const TaskColumn& column : task.columns) names.emplace_back(column.name);
  TextProfiler profiler(names);
  for (size_t i = 0; i < columns.front().size(); ++i) {
    std::vector<std::string_view> texts;
    for (const Lines& column : columns) texts.push_back(column[i]);
    profiler.add(texts);
  }
  TextProfile profile = profiler.profile();
  profile.records *= times;  // of which those were the first
  return choose_settings(config, given, task, profile);
}

Choices chosen_pairs(const Lines& source, const Lines& target, uint64_t times = 1) {
  return chosen(task_named("translate"), {source, target}, times);
}

// Words that recur as those of a language do: a few often, most of them rarely.
Lines sentences(size_t count, size_t words, uint64_t seed, std::string_view letters) {
  Lines lines;
  const RandomStream random(seed, 0);
  uint64_t place = 0;
  for (size_t i = 0; i < count; ++i) {
    std::string line;
    for (size_t w = 0; w < words; ++w) {
      const auto u = static_cast<double>(random.uniform(place++));
      auto rank = static_cast<size_t>(u * u * u * 5000);
      if (w > 0) line += ' ';
      for (size_t n = 0; n < 3 + rank % 5; ++n, rank = rank / letters.size() + 7 * n) {
        line += letters[rank % letters.size()];
      }
      line += std::to_string(static_cast<size_t>(u * u * u * 5000));
    }
    lines.push_back(line);
  }
  return lines;
}

constexpr std::string_view kLatin = "abcdefghijklmnopqrstuvwxyz";

Lines numbered(size_t count) {
  Lines lines;
  for (size_t i = 0; i < count; ++i) lines.push_back(std::to_string(10000 + 37 * i));
  return lines;
}

Lines number_words(size_t count) {
  const Lines words = {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
  Lines lines;
  for (size_t i = 0; i < count; ++i) {
    lines.push_back(fmt::format("{} thousand {} hundred and {}", words[i % 9], words[i / 9 % 9],
                                words[i / 81 % 9]));
  }
  return lines;
}

// A case: what is chosen of tokens, size, batches and validation.
struct Expected {
  TokenizerKind kind;
  std::optional<TokenizerKind> target_kind;
  size_t least_vocabulary, most_vocabulary;  // of subwords
  size_t width, layers;
  size_t batch;
  double held_out;
  Metric metric;
};

void expect(const Choices& choices, const Expected& expected) {
  const RunConfig& config = choices.config;
  EXPECT_EQ(config.vocabulary.tokenizer.kind, expected.kind);
  EXPECT_EQ(config.vocabulary.target_kind, expected.target_kind);
  if (expected.most_vocabulary > 0) {
    EXPECT_GE(config.vocabulary.tokenizer.vocabulary, expected.least_vocabulary);
    EXPECT_LE(config.vocabulary.tokenizer.vocabulary, expected.most_vocabulary);
  }
  ASSERT_TRUE(choices.size);
  EXPECT_EQ(choices.size->width, expected.width);
  EXPECT_EQ(choices.size->layers, expected.layers);
  EXPECT_EQ(config.batch.tokens, expected.batch);
  EXPECT_NEAR(config.data.held_out, expected.held_out, 1e-9);
  EXPECT_EQ(config.validation.metric, expected.metric);
  EXPECT_EQ(choices.lines.size(), 3u) << fmt::format("{}", fmt::join(choices.lines, "\n"));
}

using enum TokenizerKind;

TEST(Choices, NumberWords) {
  expect(chosen_pairs(number_words(2000), numbered(2000)),
         {kWord, kCharacter, 0, 0, 128, 2, 1024, 0.05, Metric::kAccuracy});
}

TEST(Choices, AHundredPairs) {
  const Choices choices =
      chosen_pairs(sentences(100, 10, 1, kLatin), sentences(100, 10, 2, kLatin));
  expect(choices, {kCharacter, {}, 0, 0, 128, 2, 512, 0.1, Metric::kLoss});
  EXPECT_GT(choices.config.validation.patience, 0u);
}

TEST(Choices, AFewPairsAreAllTrainedOn) {
  const Choices choices = chosen_pairs(numbered(12), numbered(12));
  EXPECT_EQ(choices.config.data.held_out, 0.0);
  EXPECT_NE(choices.lines.back().find("without validation"), std::string::npos);
}

TEST(Choices, ThirtyThousandSentences) {
  const Choices choices =
      chosen_pairs(sentences(3000, 12, 1, kLatin), sentences(3000, 12, 2, kLatin), 10);
  expect(choices, {kBpe, {}, 3000, 16000, 128, 4, 4096, 0.0333, Metric::kBleu});
  EXPECT_TRUE(choices.config.vocabulary.joint);
}

TEST(Choices, AMillionPairs) {
  const Choices choices =
      chosen_pairs(sentences(2000, 25, 1, kLatin), sentences(2000, 25, 2, kLatin), 500);
  expect(choices, {kBpe, {}, 3000, 32000, 256, 6, 8192, 0.001, Metric::kBleu});
  EXPECT_LT(choices.config.training.steps * 8192, int64_t{1} << 30);
}

TEST(Choices, OneLanguageTwiceSharesItsVocabulary) {
  const Lines text = sentences(3000, 12, 1, kLatin);
  const Choices choices = chosen_pairs(text, text, 5);
  EXPECT_TRUE(choices.config.vocabulary.joint);
  EXPECT_TRUE(choices.size->one_vocabulary);
}

TEST(Choices, OtherScriptsHaveVocabulariesOfTheirOwn) {
  const Lines latin = sentences(3000, 12, 1, kLatin);
  Lines greek;
  for (std::string line : latin) {
    std::string other;
    for (const char c : line) other += c == ' ' ? " " : std::string("\xCE") + char(0x91 + c % 16);
    greek.push_back(other);
  }
  const Choices choices = chosen_pairs(latin, greek, 5);
  EXPECT_FALSE(choices.config.vocabulary.joint);
  EXPECT_FALSE(choices.size->one_vocabulary);
}

TEST(Choices, VeryLongLinesAreReadAndFitABatch) {
  const Choices choices =
      chosen_pairs(sentences(300, 300, 1, kLatin), sentences(300, 300, 2, kLatin), 10);
  EXPECT_EQ(choices.config.data.longest, 1024u);
  EXPECT_GE(choices.config.batch.tokens, 2048u);
}

TEST(Choices, PhonesAreWordsAndLettersCharacters) {
  const Lines phones = {"AH B", "K AE T", "D AO G", "B ER D", "F IH SH", "HH AW S"};
  Lines words, sounds;
  for (size_t i = 0; i < 3000; ++i) {
    words.push_back(fmt::format("word{}", i));
    sounds.push_back(phones[i % 6] + " " + phones[i / 6 % 6] + " " + phones[i / 36 % 6]);
  }
  const Choices choices = chosen_pairs(words, sounds);
  EXPECT_EQ(choices.config.vocabulary.tokenizer.kind, kCharacter);
  EXPECT_EQ(choices.config.vocabulary.target_kind, kWord);
}

TEST(Choices, TargetsThatAreLabelsStayWhole) {
  Lines labels;
  for (size_t i = 0; i < 3000; ++i) labels.emplace_back(i % 3 == 0 ? "very good" : "bad");
  const Choices choices = chosen_pairs(sentences(3000, 12, 1, kLatin), labels, 5);
  EXPECT_EQ(choices.config.vocabulary.tokenizer.kind, kBpe);
  EXPECT_EQ(choices.config.vocabulary.target_kind, kLine);
}

TEST(Choices, TextsWithLabels) {
  Lines labels;
  for (size_t i = 0; i < 3000; ++i) labels.emplace_back(i % 2 == 0 ? "good" : "bad");
  const Choices choices =
      chosen(task_named("classify"), {sentences(3000, 12, 1, kLatin), labels}, 10);
  expect(choices, {kBpe, {}, 3000, 8000, 128, 4, 4096, 0.0333, Metric::kAccuracy});
  EXPECT_LT(choices.config.training.steps, 3000);
}

TEST(Choices, ABookIsReadByCharacters) {
  const Choices choices = chosen(task_named("language_model"), {sentences(3000, 12, 1, kLatin)}, 3);
  expect(choices, {kCharacter, {}, 0, 0, 128, 4, 4096, 0.05, Metric::kLoss});
  EXPECT_EQ(choices.config.data.documents, DocumentKind::kFile);
}

TEST(Choices, ALibraryIsReadBySubwords) {
  const Choices choices =
      chosen(task_named("language_model"), {sentences(3000, 12, 1, kLatin)}, 200);
  expect(choices, {kBpe, {}, 3000, 16000, 256, 4, 4096, 0.05, Metric::kLoss});
}

TEST(Choices, AListOfNamesIsManyDocuments) {
  Lines names;
  for (size_t i = 0; i < 500; ++i) names.push_back(fmt::format("name{}", i));
  const Choices choices = chosen(task_named("language_model"), {names});
  EXPECT_EQ(choices.config.data.documents, DocumentKind::kLine);
}

TEST(Choices, LeaveWhatWasGiven) {
  RunConfig config;
  config.model = ModelConfig::of_preset("bahdanau");
  config.vocabulary.tokenizer.kind = kByte;
  config.batch.tokens = 777;
  config.training.steps = 33;
  GivenSettings given;
  for (const char* path : {"model.preset", "vocabulary.kind", "batch.tokens", "training.steps",
                           "data.held_out", "validation.metric"}) {
    given.add(path);
  }
  const Choices choices =
      chosen(task_named("translate"), {number_words(2000), numbered(2000)}, 1, given, config);
  EXPECT_FALSE(choices.size);
  EXPECT_EQ(choices.config.model.preset, "bahdanau");
  EXPECT_EQ(choices.config.vocabulary.tokenizer.kind, kByte);
  EXPECT_EQ(choices.config.batch.tokens, 777u);
  EXPECT_EQ(choices.config.training.steps, 33);
  EXPECT_EQ(choices.config.data.held_out, 0.0);
  EXPECT_EQ(choices.config.optimizer.rate, RunConfig().optimizer.rate);
  EXPECT_EQ(choices.lines.size(), 1u);
}

TEST(Choices, ModelsOfOneSequenceHaveOneVocabulary) {
  RunConfig config;
  config.model = ModelConfig::of_preset("decoder-only");
  GivenSettings given;
  given.add("model.preset");
  const Choices choices =
      chosen(task_named("translate"), {number_words(2000), numbered(2000)}, 1, given, config);
  EXPECT_TRUE(choices.config.vocabulary.one());
  EXPECT_EQ(choices.config.vocabulary.tokenizer.kind, kCharacter);
}

TEST(Choices, AreAskedForText) {
  RunConfig config;
  config.out = "model";
  expect_error<ConfigError>([&] { choose_settings(config, GivenSettings()); },
                            "train: there is no text to train on; give --source FILE");
}

TEST(Choices, KnowASectionByAnyOfItsSettings) {
  GivenSettings given;
  given.add("model.gpt.width");
  EXPECT_TRUE(given.any_of("model"));
  EXPECT_FALSE(given.any_of("mode"));
  EXPECT_FALSE(given.has("model"));
}

TEST(Choices, SizesHaveASmallest) {
  ModelSize size{.width = 256, .layers = 6, .dropout = 0.3f};
  std::vector<size_t> seen;
  for (std::optional<ModelSize> next = size; next; next = smaller(*next)) {
    seen.push_back(next->width * next->layers);
    EXPECT_EQ(next->dropout, 0.3f);
  }
  EXPECT_EQ(seen, (std::vector<size_t>{1536, 1024, 512, 256}));
}

}  // namespace
}  // namespace attend
