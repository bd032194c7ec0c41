// Taggers: tags one by one, and tags of a text together.
#include "attend/models/tagger.h"

#include <gtest/gtest.h>

#include <cmath>

#include "attend/models/text_model.h"
#include "attend/tensor/training.h"
#include "attend/train/optimizer.h"
#include "tests/errors.h"
#include "tests/models/generators.h"
#include "tests/models/small_settings.h"
#include "tests/special_values.h"

namespace attend {
namespace {

const std::vector<std::string> kSpanTags = {"O", "B-A", "I-A", "B-B", "I-B"};

TaggerConfig small_tagger(const std::string& encoder, TagOutput output) {
  TaggerConfig c;
  c.encoder = EncoderConfig(encoder);
  make_small(c.encoder.settings);
  c.text_vocabulary = kSourceTokens;
  c.tags_vocabulary = kSpanTags.size();
  c.output = output;
  return c;
}

std::shared_ptr<const Tokenizer> tags_tokenizer(const std::vector<std::string>& tags) {
  std::string line;
  for (const std::string& tag : tags) line += tag + " ";
  return train_tokenizer({.kind = TokenizerKind::kWord, .vocabulary = 0}, std::span(&line, 1));
}

// The text of each tag by its number.
std::vector<std::string> texts_of_tags(const Tokenizer& tags) {
  std::vector<std::string> texts;
  for (int32_t id = tags.first_piece(); static_cast<size_t>(id) < tags.size(); ++id) {
    texts.push_back(tags.decode(std::span(&id, 1)));
  }
  return texts;
}

// With weights so large that tags depend on one another, and the tags of a text.
std::unique_ptr<TaggerModel> tagger_model(const TaggerConfig& config,
                                          const std::vector<std::string>& tags = kSpanTags) {
  Rng rng(7);
  auto model = std::make_unique<TaggerModel>(config, rng);
  for (const NamedTensor& p : parameters(*model)) {
    if (!p.name.starts_with("crf.")) continue;
    fill_uniform(p.tensor.span(), rng.stream(), -2, 2);
  }
  model->read_words("tags", *tags_tokenizer(tags));
  return model;
}

Tensor tag_ids(const std::vector<int32_t>& tags) { return Tensor::ids(tags, {tags.size()}); }

Batch tagged_texts(const TaggerModel& model, const std::vector<int32_t>& lengths) {
  return some_inputs(model, lengths, 1);
}

class TaggerEncoders : public testing::TestWithParam<std::tuple<std::string, TagOutput>> {
 protected:
  static TaggerConfig config() {
    return small_tagger(std::get<0>(GetParam()), std::get<1>(GetParam()));
  }
};

TEST_P(TaggerEncoders, GivesATextTheSameTagsInAnyBatch) {
  for (const auto scheme : {std::optional<TagScheme>(), std::optional(TagScheme::kIob2)}) {
    TaggerConfig c = config();
    c.scheme = scheme;
    const auto model = tagger_model(c);
    const Batch texts = tagged_texts(*model, {3, 1, 7, 0, 4});
    const DecodedTags all = model->decode_tags(texts);
    ASSERT_EQ(all.best.size(), 15u);
    for (size_t i = 0; i < texts.size(); ++i) {
      const DecodedTags alone = model->decode_tags(texts.pick(std::vector<size_t>{i}));
      const size_t begin = all.packing.begin(i), words = all.packing.length(i);
      const auto first = all.best.begin() + static_cast<ptrdiff_t>(begin);
      EXPECT_EQ(alone.best, std::vector<int32_t>(first, first + static_cast<ptrdiff_t>(words)));
      expect_same(alone.probabilities, all.probabilities.slice_rows(begin, words));
    }
  }
}

TEST_P(TaggerEncoders, EveryParameterLearns) {
  const auto model = tagger_model(config());
  const Batch texts = tagged_texts(*model, {3, 1, 4});
  const Tensor gold = Tensor::ids({0, 1, 2, 3, 4, kIgnoredTarget, 1, 3});
  expect_slopes(*model, [&] { return model->tag_loss(texts, gold, {}); });
}

std::string tagger_name(const testing::TestParamInfo<std::tuple<std::string, TagOutput>>& param) {
  return std::get<0>(param.param) + "_" + std::string(name_of(std::get<1>(param.param)));
}

INSTANTIATE_TEST_SUITE_P(All, TaggerEncoders,
                         testing::Combine(testing::ValuesIn(encoder_kind_names()),
                                          testing::Values(TagOutput::kSoftmax, TagOutput::kCrf)),
                         tagger_name);

// The best tags, the marginals and the loss, of all tag sequences one by one.
TEST(Tagger, DecodesAsEnumerationDoes) {
  constexpr size_t kTags = 5, kWords = 4;
  for (const auto scheme : {TagScheme::kAny, TagScheme::kIob2}) {
    for (const TagOutput output : {TagOutput::kSoftmax, TagOutput::kCrf}) {
      TaggerConfig c = small_tagger("rnn", output);
      c.scheme = scheme;
      const auto model = tagger_model(c);
      const std::vector<std::string> tags = texts_of_tags(*tags_tokenizer(kSpanTags));
      const Batch text = tagged_texts(*model, {kWords});
      const NoGrad no_grad;
      const std::vector<float> scores = model->tag_scores(text).values.to_vector();
      std::map<std::string, std::vector<float>> weights = {
          {"crf.transitions", std::vector<float>(kTags * kTags)},
          {"crf.start", std::vector<float>(kTags)},
          {"crf.end", std::vector<float>(kTags)}};
      for (const NamedTensor& p : parameters(*model)) {
        if (weights.contains(p.name)) weights[p.name] = p.tensor.to_vector();
      }
      double all = 0, free = 0, best = -kInf, gold_score = 0;
      std::vector<int32_t> best_path;
      const std::vector<int32_t> gold = {1, 2, 0, 3};
      std::vector<double> expected(kWords * kTags);
      for (size_t n = 0; n < 625; ++n) {
        std::vector<int32_t> path;
        for (size_t rest = n, t = 0; t < kWords; ++t, rest /= kTags) {
          path.push_back(static_cast<int32_t>(rest % kTags));
        }
        double score = double{weights["crf.start"][static_cast<size_t>(path.front())]} +
                       double{weights["crf.end"][static_cast<size_t>(path.back())]};
        std::vector<std::string_view> texts;
        for (size_t t = 0; t < kWords; ++t) {
          const auto tag = static_cast<size_t>(path[t]);
          texts.push_back(tags[tag]);
          score += double{scores[t * kTags + tag]};
          if (t > 0) {
            score +=
                double{weights["crf.transitions"][static_cast<size_t>(path[t - 1]) * kTags + tag]};
          }
        }
        free += std::exp(score);
        if (path == gold) gold_score = score;
        bool allowed = true;
        const std::vector<SpanTag> parts = span_tags(texts);
        for (size_t t = 0; t <= kWords; ++t) {
          allowed = allowed && may_follow(scheme, t == 0 ? nullptr : &parts[t - 1],
                                          t == kWords ? nullptr : &parts[t]);
        }
        if (!allowed) continue;
        all += std::exp(score);
        for (size_t t = 0; t < kWords; ++t) {
          expected[t * kTags + static_cast<size_t>(path[t])] += std::exp(score);
        }
        if (score > best) best = score, best_path = path;
      }
      const DecodedTags found = model->decode_tags(text);
      EXPECT_EQ(found.best, best_path);
      const std::vector<float> probabilities = found.probabilities.to_vector();
      for (size_t i = 0; i < probabilities.size(); ++i) {
        EXPECT_NEAR(probabilities[i], expected[i] / all, 1e-5);
      }
      // Training knows of no scheme.
      EXPECT_NEAR(model->tag_loss(text, tag_ids(gold), {}).item(), std::log(free) - gold_score,
                  1e-4);
    }
  }
}

TEST(Tagger, GivesNoStepThatTheSchemeForbids) {
  for (const TagOutput output : {TagOutput::kSoftmax, TagOutput::kCrf}) {
    TaggerConfig c = small_tagger("rnn", output);
    const std::vector<int32_t> lengths(40, 9);
    const auto mistakes = [&](std::optional<TagScheme> scheme) {
      c.scheme = scheme;
      const auto model = tagger_model(c);
      const std::vector<std::string> tags = texts_of_tags(*tags_tokenizer(kSpanTags));
      const DecodedTags found = model->decode_tags(tagged_texts(*model, lengths));
      size_t count = 0;
      for (size_t i = 0; i < lengths.size(); ++i) {
        SpanTag before;
        for (size_t word = found.packing.begin(i); word < found.packing.end(i); ++word) {
          const SpanTag tag = *span_tag(tags[static_cast<size_t>(found.best[word])]);
          count += may_follow(TagScheme::kIob2, &before, &tag) ? 0 : 1;
          before = tag;
        }
      }
      return count;
    };
    EXPECT_GT(mistakes({}), 0u);
    EXPECT_EQ(mistakes(TagScheme::kIob2), 0u);
  }
}

// A span of IOBES has at least two words where there is no S: one word has no tags then.
TEST(Tagger, ATextForWhichTheSchemeHasNoTagsIsTaggedWithoutIt) {
  TaggerConfig c = small_tagger("rnn", TagOutput::kCrf);
  c.tags_vocabulary = 2;
  const auto free = tagger_model(c, {"B-A", "E-A"});
  c.scheme = TagScheme::kIobes;
  const auto model = tagger_model(c, {"B-A", "E-A"});
  const Batch texts = tagged_texts(*model, {1, 4, 3});
  const DecodedTags found = model->decode_tags(texts), others = free->decode_tags(texts);
  const std::vector<int32_t> pairs(found.best.begin() + 1, found.best.begin() + 5);
  const int32_t begin = texts_of_tags(*tags_tokenizer({"B-A", "E-A"}))[0] == "B-A" ? 0 : 1;
  EXPECT_EQ(pairs, (std::vector<int32_t>{begin, 1 - begin, begin, 1 - begin}));
  EXPECT_EQ(found.best[0], others.best[0]);
  expect_same(found.probabilities.slice_rows(0, 1), others.probabilities.slice_rows(0, 1));
  expect_same(found.probabilities.slice_rows(5, 3), others.probabilities.slice_rows(5, 3));
}

TEST(Tagger, RefusesWhatItCannotFollow) {
  TaggerConfig c = small_tagger("rnn", TagOutput::kCrf);
  c.scheme = TagScheme::kIob2;
  expect_error<ConfigError>(
      [&] {
        tagger_model(c, {"noun", "verb", "O", "B-A", "I-A"});
      },
      "model.tagger.scheme is iob2, but 'noun' is not a tag of spans");
  c.scheme = {};
  const auto model = tagger_model(c);
  const Batch texts = tagged_texts(*model, {2});
  const Tensor gold = Tensor::ids({0, 1});
  expect_error<ConfigError>(
      [&] { model->tag_loss(texts, gold, {.class_weights = Tensor::full({5}, 1.0f)}); },
      "training.class_weights is for tags that are learned one by one");
  expect_error<ConfigError>([&] { model->tag_loss(texts, gold, {.label_smoothing = 0.1f}); },
                            "set model.tagger.output to softmax");
}

TEST(Tagger, TakesTextsOfAnyLengthAndTagsThatAreNotKnown) {
  for (const TagOutput output : {TagOutput::kSoftmax, TagOutput::kCrf}) {
    const auto model = tagger_model(small_tagger("conv", output));
    EXPECT_TRUE(model->decode_tags(tagged_texts(*model, {0})).best.empty());
    EXPECT_TRUE(model->decode_tags(tagged_texts(*model, {})).best.empty());
    const Batch texts = tagged_texts(*model, {0, 1, 10'000});
    const DecodedTags found = model->decode_tags(texts);
    ASSERT_EQ(found.best.size(), 10'001u);
    for (size_t word = 0; word < 10'001; word += 500) {
      double sum = 0;
      for (const float p : found.probabilities.slice_rows(word, 1).to_vector()) sum += double{p};
      EXPECT_NEAR(sum, 1, 1e-4) << word;
    }
    std::vector<int32_t> gold(10'001, 2);
    gold[0] = gold[70] = kIgnoredTarget;
    const Tensor loss = model->tag_loss(texts, tag_ids(gold), {});
    EXPECT_TRUE(std::isfinite(loss.item()));
    EXPECT_GT(loss.item(), 0);
    EXPECT_EQ(model->tag_loss(tagged_texts(*model, {1}), Tensor::ids({kIgnoredTarget}), {}).item(),
              0);
  }
}

// The first word tells its tag, which goes round from there: what an encoder that sees only its
// neighbours cannot know, but a chain of tags can.
TEST(Tagger, ACrfLearnsWhatFollowsFromTheTagBefore) {
  constexpr size_t kTags = 3, kWords = 8;
  const auto texts = [&](uint64_t seed) {
    const RandomStream random(seed, 0);
    std::vector<int32_t> words, tags;
    for (size_t text = 0; text < 16; ++text) {
      auto tag = static_cast<int32_t>(random.below(text, kTags));
      for (size_t w = 0; w < kWords; ++w, tag = (tag + 1) % static_cast<int32_t>(kTags)) {
        words.push_back(w == 0 ? 1 + tag : 0);
        tags.push_back(tag);
      }
    }
    Batch batch("text", Tokens(words, Packing::even(16, kWords)));
    batch.add("text.words", every_token(std::vector<int32_t>(16, kWords)));
    return std::pair(batch, tags);
  };
  const auto right_after_training = [&](TagOutput output) {
    TaggerConfig c = small_tagger("conv", output);
    set_flag(c.encoder.settings, "positions", "none");
    set_flag(c.encoder.settings, "encoder_layers", "1");
    c.tags_vocabulary = kTags, c.dropout = 0;
    Rng rng(3);
    TaggerModel model(c, rng);
    OptimizerConfig adam;
    adam.rate = 0.03;
    Optimizer optimizer(parameters(model), adam);
    for (uint64_t step = 0; step < 80; ++step) {
      const auto [words, tags] = texts(step + 100);
      const TrainingScope training(Rng(1, step << 32));
      backward(scale(model.tag_loss(words, tag_ids(tags), {}), 1.0f / (16 * kWords)));
      optimizer.step();
    }
    const auto [words, tags] = texts(1);
    const DecodedTags found = model.decode_tags(words);
    size_t right = 0;
    for (size_t i = 0; i < tags.size(); ++i) right += found.best[i] == tags[i] ? 1 : 0;
    return static_cast<double>(right) / static_cast<double>(tags.size());
  };
  EXPECT_LT(right_after_training(TagOutput::kSoftmax), 0.7);
  EXPECT_EQ(right_after_training(TagOutput::kCrf), 1.0);
}

}  // namespace
}  // namespace attend
