// Runs of models that answer: labels, tags, numbers, hidden tokens, of a text or of two.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "attend/base/files.h"
#include "attend/base/parallel.h"
#include "attend/models/bert.h"
#include "attend/models/label.h"
#include "attend/models/regression.h"
#include "attend/models/tagger.h"
#include "attend/tensor/tape.h"
#include "attend/train/choices.h"
#include "tests/errors.h"
#include "tests/files.h"
#include "tests/train/small_run.h"

namespace attend {
namespace {

// Texts of words, with answers of every kind beside them in one file.
void write_answers(const fs::path& file, size_t count, uint64_t seed) {
  std::ofstream out(file);
  const RandomStream random(seed, 1);
  out << "text\tpair\tlabel\ttags\tnumber\n";
  for (size_t i = 0; i < count; ++i) {
    std::string text, tags;
    double number = 1000;
    const size_t words = 1 + random.below(10 * i, 4);
    for (size_t w = 1; w <= words; ++w) {
      const auto letter = static_cast<char>('a' + random.below(10 * i + w, 4));
      text += (w > 1 ? " " : "") + std::string(w, letter);
      tags += (w > 1 ? " " : "") + std::string(letter < 'c' ? "low" : "high");
      number += 100 * (letter - 'a');
    }
    const bool same = random.bernoulli(10 * i + 8, 0.5);
    out << text << "\t" << (same ? text : "d d d") << "\t" << (same ? "same" : "other") << "\t"
        << tags << "\t" << number << "\n";
  }
}

class AnswerRuns : public DirectoryTest {
 protected:
  static EncoderConfig small_encoder() {
    EncoderConfig encoder("bert");
    auto& c = encoder.settings.as<BertConfig>();
    c.width = 16, c.layers = 1, c.heads = 2, c.max_length = 64;
    return encoder;
  }
  RunConfig base(const std::string& kind, const std::string& name = "model") const {
    write_answers(directory_ / "train.tsv", 120, 1);
    write_answers(directory_ / "valid.tsv", 20, 2);
    RunConfig c;
    c.out = directory_ / name;
    c.model = ModelConfig(kind);
    c.vocabulary.tokenizer.kind = TokenizerKind::kCharacter;
    c.data.text = {column("train", "text")}, c.data.valid_text = {column("valid", "text")};
    c.batch.tokens = 200;
    c.schedule.warmup = 2;
    c.training.steps = 6, c.training.report_every = 1, c.training.save_every = 2;
    c.validation.every = 3;
    return c;
  }
  fs::path column(const char* file, const char* name) const {
    return (directory_ / file).string() + ".tsv:" + name;
  }
  RunConfig masked(bool pair, const std::string& name = "model") const {
    RunConfig c = base("bert", name);
    c.data.documents = DocumentKind::kLine;
    c.model.settings = small_encoder().settings;
    c.model.settings.as<BertConfig>().head.pair = pair;
    if (pair) {
      std::ofstream text(directory_ / "sentences");
      for (int i = 0; i < 200; ++i)
        text << (i % 7 == 0 ? "\n" : std::string(1 + i % 5, 'a' + i % 6) + "\n");
      text.close();
      c.data.text = {directory_ / "sentences"}, c.data.valid_text = {directory_ / "sentences"};
      c.data.documents = DocumentKind::kBlank;
    }
    return c;
  }
  RunConfig regression(const std::string& name = "model") const {
    RunConfig c = base("regression", name);
    c.model.settings.as<RegressionConfig>().encoder = small_encoder();
    c.data.number = column("train", "number"), c.data.valid_number = column("valid", "number");
    return c;
  }
  RunConfig labels(bool pair, const std::string& name = "model") const {
    RunConfig c = base("label", name);
    c.model.settings.as<LabelConfig>().encoder = small_encoder();
    c.model.settings.as<LabelConfig>().pair = pair;
    c.data.label = column("train", "label"), c.data.valid_label = column("valid", "label");
    if (pair) {
      c.data.pair = column("train", "pair"), c.data.valid_pair = column("valid", "pair");
    }
    return c;
  }
  RunConfig tags(const std::string& name = "model") const {
    RunConfig c = base("tagger", name);
    c.model.settings.as<TaggerConfig>().encoder = small_encoder();
    c.data.tags = column("train", "tags"), c.data.valid_tags = column("valid", "tags");
    return c;
  }
  RunConfig chain(const std::string& name = "model") const {
    RunConfig c = tags(name);
    c.model.settings.as<TaggerConfig>().output = TagOutput::kCrf;
    return c;
  }
  // Tags of spans for the words of a file, with another tag for its first word where that is given.
  fs::path span_tags_of(const char* file, const std::string& first = "") const {
    const fs::path made = directory_ / (file + std::string(".spans") + first);
    std::ofstream out(made);
    LineReader lines(column(file, "tags"));
    for (bool begun = false; lines.next(); begun = true) {
      std::string tags, before;
      std::istringstream words{std::string(lines.line())};
      for (std::string tag; words >> tag; before = tag) {
        tags += (before.empty() ? "" : " ") + std::string(tag == "low"       ? "O"
                                                          : before == "high" ? "I-X"
                                                                             : "B-X");
      }
      if (!begun && !first.empty()) tags.replace(0, std::min(tags.find(' '), tags.size()), first);
      out << tags << "\n";
    }
    return made;
  }
};

TEST_F(AnswerRuns, HaveTheSameBitsForAnyThreadsAndAfterAStop) {
  const std::function<RunConfig(const std::string&)> kinds[] = {
      [&](const std::string& name) { return masked(false, name); },
      [&](const std::string& name) { return masked(true, name); },
      [&](const std::string& name) { return regression(name); },
      [&](const std::string& name) { return labels(true, name); },
      [&](const std::string& name) { return tags(name); },
      [&](const std::string& name) { return chain(name); }};
  for (size_t kind = 0; kind < std::size(kinds); ++kind) {
    SCOPED_TRACE(kind);
    const auto name = [&](int threads) { return fmt::format("run {} {}", kind, threads); };
    for (const int threads : {1, 2, 4}) {
      const ThreadCountScope scope(threads);
      run(kinds[kind](name(threads)));
    }
    const auto whole = outcome(directory_ / name(1));
    EXPECT_EQ(outcome(directory_ / name(2)), whole);
    EXPECT_EQ(outcome(directory_ / name(4)), whole);

    const RunConfig stopped = kinds[kind](name(0));
    std::atomic<bool> stop{false};
    StopAt observer(3, stop);
    EXPECT_EQ(run_training(stopped, observer, stop).step, 3);
    run(stopped);
    EXPECT_EQ(outcome(directory_ / name(0)), whole);
  }
}

TEST_F(AnswerRuns, NumbersAreStandardisedOnce) {
  RunConfig config = regression();
  run(config);
  std::vector<double> numbers;
  LineReader lines(config.data.number.front());
  while (lines.next()) numbers.push_back(std::stod(std::string(lines.line())));
  double mean = 0, squares = 0;
  for (const double x : numbers) mean += x / static_cast<double>(numbers.size());
  for (const double x : numbers) squares += (x - mean) * (x - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(numbers.size()));
  const auto fitted = [&] {
    const TextModel model = TextModel::load(config.out);
    return std::pair(model.regressor().mean(), model.regressor().deviation());
  };
  EXPECT_NEAR(fitted().first, mean, 1e-9);
  EXPECT_NEAR(fitted().second, deviation, 1e-9);
  const auto before = fitted();

  config.training.steps = 8;
  config.model = ModelConfig("regression");  // as a person who resumes gives it: not fitted
  config.model.settings.as<RegressionConfig>().encoder = small_encoder();
  EXPECT_EQ(run(config).step, 8);
  EXPECT_EQ(fitted(), before);
}

TEST_F(AnswerRuns, EqualNumbersHaveADeviationOfOne) {
  RunConfig config = regression();
  std::ofstream(directory_ / "same") << [] {
    std::string lines;
    for (int i = 0; i < 120; ++i) lines += "0.1\n";
    return lines;
  }();
  config.data.number = directory_ / "same";
  run(config);
  const TextModel model = TextModel::load(config.out);
  EXPECT_EQ(model.regressor().mean(), double{0.1f});
  EXPECT_EQ(model.regressor().deviation(), 1.0);
}

// A text has the same number whatever its pair, and its own whatever stands beside it.
TEST_F(AnswerRuns, UnbalancedPairsAreRead) {
  run(labels(true));
  const TextModel model = TextModel::load(directory_ / "model");
  const NoGrad no_grad;
  const auto logits = [&](const std::vector<std::pair<std::string, std::string>>& records) {
    Batch batch(records.size());
    TokenLines texts, pairs;
    for (const auto& [text, pair] : records) {
      texts.add(model.tokenizer("text").encode(text));
      pairs.add(model.tokenizer("pair").encode(pair));
    }
    batch.add("text", texts.tokens()).add("pair", pairs.tokens());
    const std::vector<int32_t> any(records.size(), model.tokenizer("label").first_piece());
    batch.add("label", Tokens(any, Packing::even(any.size(), 1)));
    return model.classifier()
        .label_logits(training_batch(batch, model.model->signature(), model.tokenizers))
        .to_vector();
  };
  const std::string more(50, 'a');
  const auto three = logits({{more, ""}, {"", more}, {"a", "b"}});
  const auto last = logits({{"a", "b"}});
  EXPECT_EQ(three[4], last[0]);
  EXPECT_EQ(three[5], last[1]);
  EXPECT_NE(three[0], three[2]);  // the order of the texts counts
}

TEST_F(AnswerRuns, AClassThatOccursOnceIsALabel) {
  RunConfig config = labels(false);
  std::ofstream(directory_ / "labels") << "rare\n"
                                       << [] {
                                            std::string lines;
                                            for (int i = 1; i < 120; ++i) lines += "usual\n";
                                            return lines;
                                          }();
  std::ofstream(directory_ / "valid.labels") << "never seen\n"
                                             << [] {
                                                  std::string lines;
                                                  for (int i = 1; i < 20; ++i) lines += "usual\n";
                                                  return lines;
                                                }();
  config.data.label = directory_ / "labels", config.data.valid_label = directory_ / "valid.labels";
  config.validation.metric = Metric::kAccuracy;
  config.training.steps = 30;
  const RunResult result = run(config);
  EXPECT_EQ(TextModel::load(config.out).classifier().labels(), 2u);
  // A label that was never seen is wrong whatever the model says: 19 of 20 are the usual one.
  EXPECT_EQ(result.best_score, 95.0);
}

TEST_F(AnswerRuns, LongTextsAreLeftOutAndCounted) {
  RunConfig config = labels(false);
  std::ofstream text(directory_ / "long"), label(directory_ / "labels");
  for (int i = 0; i < 60; ++i) text << "abc\n", label << (i % 2 == 0 ? "x\n" : "y\n");
  text << std::string(10'000, 'a') << "\n", label << "x\n";
  text.close(), label.close();
  config.data.text = {directory_ / "long"}, config.data.label = directory_ / "labels";
  config.data.valid_text.clear(), config.data.valid_label.clear();
  config.data.held_out = 0, config.validation.metric = Metric::kLoss;
  Messages messages;
  const std::atomic<bool> never{false};
  run_training(config, messages, never);
  EXPECT_TRUE(messages.has("left out: 0 empty, 1 too long")) << messages.text;
}

// What the tags of the training text follow is stored with the model, and kept in a run that is
// resumed.
TEST_F(AnswerRuns, TagsHaveAScheme) {
  RunConfig config = chain();
  config.data.tags = span_tags_of("train"), config.data.valid_tags = span_tags_of("valid");
  config.validation.metric = Metric::kAccuracy;
  const auto scheme = [&] {
    return TextModel::load(config.out).config.settings.as<TaggerConfig>().scheme;
  };
  Messages messages;
  run_training(config, messages, false);
  EXPECT_TRUE(messages.has("tags: all follow iob2")) << messages.text;
  EXPECT_EQ(scheme(), TagScheme::kIob2);
  config.training.steps = 8;
  EXPECT_EQ(run(config).step, 8);
  EXPECT_EQ(scheme(), TagScheme::kIob2);
  config.training.steps = 10;
  config.model.settings.as<TaggerConfig>().scheme = TagScheme::kAny;
  expect_error<ConfigError>([&] { run(config); },
                            "trained with model.tagger.scheme = iob2, not any");

  const auto scheme_of_run = [&](const char* name, const TextFiles& tags,
                                 std::optional<TagScheme> given = {}) {
    RunConfig other = chain(name);
    other.data.tags = tags;
    other.data.valid_text.clear(), other.data.valid_tags.clear();
    other.data.held_out = 0, other.validation.metric = Metric::kLoss;
    other.model.settings.as<TaggerConfig>().scheme = given;
    run(other);
    return TextModel::load(other.out).config.settings.as<TaggerConfig>().scheme;
  };
  EXPECT_EQ(scheme_of_run("words", config.data.tags, TagScheme::kAny), TagScheme::kAny);
  std::string spans = file_contents(config.data.tags.front());
  std::ranges::replace(spans, 'B', 'I');  // no span follows another
  std::ofstream(directory_ / "iob1.spans") << spans;
  EXPECT_EQ(scheme_of_run("iob1", directory_ / "iob1.spans"), TagScheme::kIob1);
  EXPECT_EQ(scheme_of_run("both", span_tags_of("train", "I-X")), TagScheme::kAny)
      << "one span begins with I, the others with B";
  EXPECT_EQ(scheme_of_run("iobes", span_tags_of("train", "S-X")), TagScheme::kAny)
      << "the other spans have no end";
  EXPECT_EQ(scheme_of_run("mistake", span_tags_of("train", "I-X"), TagScheme::kIob2),
            TagScheme::kIob2)
      << "mistakes in the text can be learned from";
}

TEST_F(AnswerRuns, TagsThatTrainingDidNotHaveAreWrong) {
  RunConfig config = chain();
  config.data.tags = span_tags_of("train"), config.data.valid_tags = span_tags_of("valid", "B-NEW");
  for (const Metric metric : {Metric::kLoss, Metric::kAccuracy}) {
    config.out = directory_ / std::string(name_of(metric));
    config.validation.metric = metric;
    const RunResult result = run(config);
    EXPECT_TRUE(std::isfinite(result.best_score));
    if (metric == Metric::kAccuracy) {
      EXPECT_LT(result.best_score, 100);
    }
  }
}

TEST_F(AnswerRuns, ACrfRefusesWhatIsForSingleTagsBeforeAnythingIsWritten) {
  RunConfig config = chain();
  config.training.class_weights = {"auto"};
  expect_error<ConfigError>([&] { run(config); }, "set model.tagger.output to softmax");
  EXPECT_FALSE(fs::exists(config.out / "config.json"));
  config.training.class_weights = {};
  config.training.label_smoothing = 0.1f;
  expect_error<ConfigError>([&] { run(config); }, "training.label_smoothing is for tags");
}

// A conditional random field around the encoder of a model that gives each tag by itself.
TEST_F(AnswerRuns, ACrfStartsFromAnotherModel) {
  RunConfig first = tags("first");
  first.data.tags = span_tags_of("train"), first.data.valid_tags = span_tags_of("valid");
  run(first);
  RunConfig asked;
  asked.out = directory_ / "second";
  asked.data = first.data;
  asked.init_from = first.out;
  asked.model = ModelConfig("tagger");
  asked.model.settings.as<TaggerConfig>().output = TagOutput::kCrf;
  asked.training.steps = 4;
  asked.batch.tokens = 200;
  GivenSettings given;
  for (const char* path : {"model.kind", "model.tagger.output", "training.steps", "batch.tokens"}) {
    given.add(path);
  }
  const RunConfig second = choose_settings(asked, given).config;
  Messages messages;
  run_training(second, messages, false);
  EXPECT_TRUE(messages.has("start: new 3: crf 3")) << messages.text;
  const auto config = TextModel::load(second.out).config.settings.as<TaggerConfig>();
  EXPECT_EQ(config.output, TagOutput::kCrf);
  EXPECT_EQ(config.encoder.kind.name, "bert");
  EXPECT_EQ(config.encoder.settings.as<BertConfig>().width, 16u);

  // The scheme is that of the new text, not that of the base's.
  RunConfig third = asked;
  third.out = directory_ / "third";
  third.init_from = second.out;
  third.model = ModelConfig();
  third.data.tags = column("train", "tags"), third.data.valid_tags = column("valid", "tags");
  run(choose_settings(third, {}).config);
  EXPECT_EQ(TextModel::load(third.out).config.settings.as<TaggerConfig>().scheme, TagScheme::kAny);
}

TEST_F(AnswerRuns, TagsNeedATextForEachWord) {
  RunConfig config = tags();
  config.data.tags = column("train", "label");
  expect_error<DataError>([&] { run(config); }, "give one for each word");
}

}  // namespace
}  // namespace attend
