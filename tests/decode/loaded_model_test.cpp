// A trained model behind one handle: the same results as the parts beneath it.
#include "attend/decode/loaded_model.h"

#include <gtest/gtest.h>

#include <thread>

#include "attend/decode/labels.h"
#include "attend/decode/score.h"
#include "attend/models/gpt.h"
#include "attend/models/label.h"
#include "attend/models/regression.h"
#include "attend/models/tagger.h"
#include "tests/decode/text_model.h"
#include "tests/errors.h"
#include "tests/files.h"

namespace attend {
namespace {

TextModel translating() { return small_text_model(TokenizerKind::kCharacter, {"abcde f"}); }

TextModel writing(PositionScheme positions = PositionScheme::kSinusoidal) {
  const std::vector<std::string> lines = {"abcde f"};
  TextModel made;
  made.config = ModelConfig("gpt");
  auto& config = made.config.settings.as<GptConfig>();
  config.width = 16, config.heads = 2, config.layers = 2;
  config.positions = positions;
  config.max_length = 64;
  made.tokenizers["text"] = train_tokenizer({.kind = TokenizerKind::kCharacter}, lines);
  made.config.set_vocabularies({{"text", made.tokenizer("text").size()}});
  Rng rng(1);
  made.model = make_model(made.config, rng);
  return made;
}

TextModel labelling() {
  const std::vector<std::string> texts = {"a fine film", "a dull film"};
  const std::vector<std::string> labels = {"very good", "bad"};
  TextModel made;
  made.config = ModelConfig("label");
  made.tokenizers["text"] = train_tokenizer({.kind = TokenizerKind::kWord}, texts);
  made.tokenizers["label"] = train_tokenizer({.kind = TokenizerKind::kLine}, labels);
  made.config.set_vocabularies({{"text", made.tokenizer("text").size()}, {"label", 2}});
  Rng rng(3);
  made.model = make_model(made.config, rng);
  return made;
}

TextModel tagging(TagOutput output) {
  const std::vector<std::string> texts = {"Anna lives in Rome"}, tags = {"B-PER O B-LOC"};
  TextModel made;
  made.config = ModelConfig("tagger");
  auto& config = made.config.settings.as<TaggerConfig>();
  config.output = output, config.scheme = TagScheme::kIob2;
  made.tokenizers["text"] = train_tokenizer({.kind = TokenizerKind::kWord}, texts);
  made.tokenizers["tags"] = train_tokenizer({.kind = TokenizerKind::kWord, .vocabulary = 0}, tags);
  made.config.set_vocabularies({{"text", made.tokenizer("text").size()}, {"tags", 3}});
  Rng rng(3);
  made.model = make_model(made.config, rng);
  made.read_words();
  return made;
}

TextModel measuring(bool pair) {
  const std::vector<std::string> texts = {"a fine film", "a dull film"};
  TextModel made;
  made.config = ModelConfig("regression");
  auto& config = made.config.settings.as<RegressionConfig>();
  config.pair = pair, config.mean = 7, config.deviation = 3;
  made.tokenizers["text"] = train_tokenizer({.kind = TokenizerKind::kWord}, texts);
  if (pair) made.tokenizers["pair"] = made.tokenizers["text"];
  made.config.set_vocabularies({{"text", made.tokenizer("text").size()}});
  Rng rng(3);
  made.model = make_model(made.config, rng);
  return made;
}

class LoadedModels : public DirectoryTest {
 protected:
  LoadedModel stored(const TextModel& model, const LoadOptions& options = {}) const {
    const ModelDirectory files{directory_};
    model.save_description(files);
    model.save_weights(files.weights());
    return load(directory_, options);
  }
};

TEST_F(LoadedModels, TranslatesAsATranslatorDoes) {
  const LoadedModel model = stored(translating());
  const std::vector<std::string> texts = {"abc", "", "de f"};
  const Translator plain({translating()}, {});
  const auto expected = plain(texts);
  const std::vector<std::string> found = model.translate(texts);
  ASSERT_EQ(found.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(found[i], expected[i].texts.front());
    EXPECT_EQ(model.translate(texts[i]), found[i]);
  }
  EXPECT_EQ(found[1], "");
  EXPECT_EQ(model.translate({"abc", "", "de f"}), found);
  EXPECT_EQ(model.translate({"abc"}), std::vector{found[0]});
}

TEST_F(LoadedModels, TakesOptions) {
  const LoadedModel model = stored(translating());
  const TranslatorConfig options{.search = {.beam = 1, .min_length = 9, .max_length = 9}};
  EXPECT_EQ(
      model.translator(options).model().tokenizer("target").encode(model.translate("abc", options)),
      model.translator(options)(std::vector<std::string>{"abc"})[0].hypotheses[0].tokens);
  EXPECT_EQ(model.translate("abc", {.search = {.max_length = 1}}).size(), 1u);
  expect_error<ConfigError>([&] { model.translate("abc", {.search = {.beam = 0}}); }, "beam");
}

TEST_F(LoadedModels, GeneratesAsATextGeneratorDoes) {
  const LoadedModel model = stored(writing());
  const std::vector<std::string> prompts = {"ab"};
  const GenerationConfig options{.search = {.temperature = 0.5f, .seed = 7}, .max_tokens = 12};
  const TextGenerator plain(writing(), options);
  EXPECT_EQ(model.generate("ab", options), plain(prompts)[0].texts[0].text);
  EXPECT_EQ(model.generate("ab"), model.generate("ab"));
  EXPECT_NE(model.generate("ab"), "");
  EXPECT_EQ(model.text_generator({.samples = 3})(prompts)[0].texts.size(), 3u);
}

// Learned positions that training never reached mean nothing.
TEST_F(LoadedModels, GeneratesWithinTheContextOfTraining) {
  write(directory_ / "attend.yaml", "data:\n  context: 24\n");
  const LoadedModel learned = stored(writing(PositionScheme::kLearned));
  EXPECT_EQ(learned.text_generator().window(), 24u);
  EXPECT_EQ(learned.text_generator({.context = 40}).window(), 40u);
  EXPECT_EQ(trained_context({directory_}, learned.text_model()), 24u);
  EXPECT_EQ(stored(writing()).text_generator().window(), std::nullopt);
  write(directory_ / "attend.yaml", "data:\n  context: null\n");
  EXPECT_EQ(trained_context({directory_}, stored(writing()).text_model()), 256u);
  EXPECT_EQ(stored(writing(PositionScheme::kLearned)).text_generator().window(), 64u);
  std::filesystem::remove(directory_ / "attend.yaml");
  EXPECT_EQ(trained_context({directory_}, learned.text_model()), std::nullopt);
}

TEST_F(LoadedModels, Classifies) {
  const LoadedModel model = stored(labelling());
  const std::vector<std::string> texts = {"a fine film", "dull"};
  const auto expected = label_log_probabilities(labelling(), texts, 100);
  const std::vector<Label> found = model.classify(texts);
  ASSERT_EQ(found.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const RankedLabel best = best_labels(expected[i], 1)[0];
    EXPECT_EQ(found[i].text, labelling().label(best.number));
    EXPECT_NEAR(found[i].probability, std::exp(best.log_probability), 1e-6);
  }
  const std::vector<Label> all = model.labels("dull");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].text, model.classify("dull").text);
  EXPECT_GE(all[0].probability, all[1].probability);
  EXPECT_NEAR(all[0].probability + all[1].probability, 1, 1e-9);
  EXPECT_EQ(model.classify({"dull", "fine"}).size(), 2u);
}

TEST_F(LoadedModels, Tags) {
  for (const TagOutput output : {TagOutput::kSoftmax, TagOutput::kCrf}) {
    const LoadedModel model = stored(tagging(output));
    const std::vector<std::string> texts = {"Anna lives  in\tRome", "", "Rome"};
    const auto expected = best_tags(tagging(output), texts, 100);
    const auto found = model.tag(texts);
    ASSERT_EQ(found.size(), 3u);
    ASSERT_EQ(found[0].size(), 4u);
    EXPECT_EQ(found[0][1].word, "lives");
    EXPECT_EQ(found[0][3].word, "Rome");
    EXPECT_TRUE(found[1].empty());
    for (size_t i = 0; i < 3; ++i) {
      for (size_t w = 0; w < found[i].size(); ++w) {
        EXPECT_EQ(found[i][w].tag, tag_text(tagging(output), expected[i][w].best.number));
        EXPECT_NEAR(found[i][w].probability, expected[i][w].best.probability, 1e-6);
      }
    }
    EXPECT_EQ(model.tag("Rome")[0].tag, found[2][0].tag);
    EXPECT_EQ(model.tag({"Rome", "Anna"}).size(), 2u);
    const std::vector<WordTag> ranked = best_tags(tagging(output), texts, 100, 9)[0];
    ASSERT_EQ(ranked[0].ranked.size(), 3u);
    EXPECT_GE(ranked[0].ranked[0].probability, ranked[0].ranked[1].probability);
  }
}

TEST_F(LoadedModels, GivesNumbers) {
  const std::vector<std::string> texts = {"a fine film", "dull", "a fine film"};
  {
    const LoadedModel model = stored(measuring(false));
    const std::vector<double> found = model.numbers(texts);
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0], found[2]);
    EXPECT_NEAR(found[1], predicted_numbers(measuring(false), {.texts = texts}, 100)[1], 1e-5);
    EXPECT_EQ(model.number("dull"), found[1]);
    expect_error<ConfigError>([&] { model.number("a", "b"); }, "reads one text each time");
  }
  const LoadedModel pairs = stored(measuring(true));
  EXPECT_NE(pairs.number("a fine film", "dull"), pairs.number("dull", "a fine film"));
  expect_error<ConfigError>([&] { pairs.number("dull"); }, "reads two texts each time");
}

TEST_F(LoadedModels, Scores) {
  const std::string source = "abc", target = "de";
  EXPECT_NEAR(
      stored(translating()).score("abc", "de"),
      score_text(translating(), std::span(&source, 1), std::span(&target, 1))[0].scored.total,
      1e-4);
  EXPECT_NEAR(stored(writing()).score("de"),
              score_text(writing(), {}, std::span(&target, 1))[0].scored.total, 1e-4);
}

TEST_F(LoadedModels, NamesWhatTheModelIsFor) {
  const LoadedModel translates = stored(translating()), writes = stored(writing()),
                    labels = stored(labelling());
  const auto refuses = [](const auto& call, const std::string& advice) {
    const std::string message = message_of<ConfigError>(call);
    EXPECT_TRUE(message.ends_with(advice)) << message;
    EXPECT_EQ(message.find("--"), message.npos) << message;
  };
  refuses([&] { labels.translate("a"); }, "it is a label model; use classify");
  refuses([&] { labels.generate("a"); }, "it is a label model; use classify");
  refuses([&] { labels.score("a"); }, "it is a label model; use classify");
  refuses([&] { writes.translate("a"); }, "it is a language model; use generate");
  refuses([&] { writes.classify("a"); }, "it is a gpt model; use generate");
  refuses([&] { writes.score("a", "b"); }, "reads no source; score the text alone");
  refuses([&] { translates.generate("a"); }, "reads a source before it writes; use translate");
  refuses([&] { translates.classify("a"); }, "it is a transformer model; use translate");
  refuses([&] { translates.score("a"); }, "give it beside the text");
  const LoadedModel tags = stored(tagging(TagOutput::kCrf)), measures = stored(measuring(false));
  refuses([&] { tags.classify("a"); }, "it is a tagger model; use tag");
  refuses([&] { tags.number("a"); }, "it is a tagger model; use tag");
  refuses([&] { measures.tag("a"); }, "it is a regression model; use number");
  refuses([&] { labels.tag("a"); }, "it is a label model; use classify");
  refuses([&] { writes.tag("a"); }, "it is a gpt model; use generate");
  refuses([&] { translates.number("a"); }, "it is a transformer model; use translate");
}

TEST_F(LoadedModels, RefusesTextsThatAreTooLong) {
  const LoadedModel model = stored(writing(PositionScheme::kLearned));
  expect_error<DataError>([&] { model.score(std::string(100, 'a')); },
                          "score: the text: the line has 100 tokens, but the model has learned "
                          "positions for 63");
}

TEST_F(LoadedModels, IsPackedUnlessToldOtherwise) {
  const LoadedModel packed = stored(translating()), plain = stored(translating(), {.pack = false});
  const auto trainable = [](const LoadedModel& model) {
    return parameter_count(*model.text_model().model);
  };
  EXPECT_EQ(trainable(plain), parameter_count(*translating().model));
  EXPECT_LT(trainable(packed), trainable(plain));
}

TEST_F(LoadedModels, CopiesShareTheModel) {
  std::optional<LoadedModel> first = stored(translating());
  const LoadedModel copy = *first;
  EXPECT_EQ(&copy.text_model(), &first->text_model());
  const std::string text = first->translate("abc");
  first.reset();
  EXPECT_EQ(copy.translate("abc"), text);
}

TEST_F(LoadedModels, ThreadsMayUseItAtOnce) {
  const LoadedModel model = stored(translating());
  const std::string expected = stored(translating()).translate("abc de");
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  for (std::string& to : found) threads.emplace_back([&] { to = model.translate("abc de"); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : found) EXPECT_EQ(text, expected);
}

TEST_F(LoadedModels, ADirectoryWithoutAModelIsNamed) {
  expect_error<IoError>([&] { load(directory_); }, directory_.string() + ": not a model directory");
}

}  // namespace
}  // namespace attend
