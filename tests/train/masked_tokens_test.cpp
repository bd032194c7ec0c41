// What masked language models are trained on: hidden tokens, and whether two texts belong together.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "attend/models/bert.h"
#include "attend/models/text_pair.h"
#include "attend/tensor/tape.h"
#include "attend/train/objective.h"
#include "tests/errors.h"

namespace attend {
namespace {

// Remembers what it was asked, and answers nothing in particular.
class AskedModel : public Model, public MaskedPredictor {
 public:
  explicit AskedModel(bool pair, size_t vocabulary) : pair_(pair), vocabulary_(vocabulary) {}
  struct Asked {
    std::vector<std::vector<int32_t>> texts, pairs;  // as they are read
    std::vector<int32_t> rows;
  };
  mutable std::vector<Asked> asked;

  void visit(Visitor& /*v*/) override {}
  Signature signature() const override { return text_signature(pair_, true, {}); }
  const MaskedPredictor* masked_predictor() const override { return this; }
  size_t vocabulary() const override { return vocabulary_; }
  Predicted predict(const Batch& inputs, const Tensor& rows) const override {
    Asked& found = asked.emplace_back();
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto text = inputs.tokens("text").sequence(i);
      found.texts.emplace_back(text.begin(), text.end());
      if (!pair_) continue;
      const auto pair = inputs.tokens("pair").sequence(i);
      found.pairs.emplace_back(pair.begin(), pair.end());
    }
    found.rows.assign(rows.index_span().begin(), rows.index_span().end());
    Predicted predicted{Tensor::zeros({rows.size(), vocabulary_})};
    if (pair_) predicted.relation = Tensor::zeros({inputs.size(), 2});
    return predicted;
  }

 private:
  bool pair_;
  size_t vocabulary_;
};

struct MaskedCase {
  Tokenizers tokenizers;
  AskedModel model;
  RunConfig config;

  explicit MaskedCase(bool pair) : MaskedCase(pair, tokens()) {}
  MaskedCase(bool pair, const std::shared_ptr<const Tokenizer>& tokenizer)
      : tokenizers{{"text", tokenizer}}, model(pair, tokenizer->size()) {
    if (pair) tokenizers["pair"] = tokenizer;
  }
  static std::shared_ptr<const Tokenizer> tokens() {
    return train_tokenizer({.kind = TokenizerKind::kByte, .mask = true},
                           std::vector<std::string>{"a"});
  }

  Batch batch(const std::vector<std::string>& texts, const std::vector<std::string>& pairs = {}) {
    Batch made(texts.size());
    const auto column = [&](const std::vector<std::string>& lines) {
      TokenLines ids;
      for (const std::string& line : lines) ids.add(tokenizers.at("text")->encode(line));
      return ids.tokens();
    };
    made.add("text", column(texts));
    if (!pairs.empty()) made.add("pair", column(pairs));
    return training_batch(made, model.signature(), tokenizers);
  }
  Loss loss(const Batch& batch, uint64_t epoch, bool training = true, uint64_t stream = 1) const {
    const auto objective = make_masked_tokens(config, model.signature());
    return objective->loss(model, batch,
                           {.tokenizers = tokenizers,
                            .seed = 5,
                            .epoch = epoch,
                            .random = RandomStream(9, stream),
                            .training = training});
  }
  // What is read of a text that stands in a batch.
  std::vector<int32_t> read(const std::vector<std::string>& texts, size_t which, uint64_t epoch,
                            bool training = true) {
    loss(batch(texts), epoch, training);
    return model.asked.back().texts[which];
  }
};

TEST(MaskedTokens, ATextHidesTheSamePlacesInEveryBatchOfAnEpoch) {
  MaskedCase c(false);
  const std::string text = "a text of thirty letters or so, and more of them";
  const auto alone = c.read({text}, 0, 3);
  EXPECT_EQ(c.read({"another", text, "third"}, 1, 3), alone);
  EXPECT_NE(c.read({text}, 0, 4), alone);
  EXPECT_NE(c.read({text}, 0, 0), c.read({text}, 0, 0, false));
  EXPECT_EQ(c.read({text}, 0, 0, false), c.read({text, "other"}, 0, 7, false));
}

TEST(MaskedTokens, OnlyHiddenTokensAreAskedFor) {
  MaskedCase c(false);
  const Batch batch = c.batch({"some letters", "others of them, which are more"});
  const Loss loss = c.loss(batch, 0);
  const auto& asked = c.model.asked.back();
  EXPECT_EQ(loss.count, static_cast<double>(asked.rows.size()));
  EXPECT_NEAR(loss.sum.item(), loss.count * std::log(static_cast<double>(c.model.vocabulary())),
              1e-3);
  const Tokens text = batch.tokens("text");
  for (size_t row = 0, i = 0; i < 2; ++i) {
    const auto was = text.sequence(i);
    for (size_t place = 0; place < was.size(); ++place, ++row) {
      const bool hidden = std::ranges::count(asked.rows, static_cast<int32_t>(row)) > 0;
      if (!hidden) {
        EXPECT_EQ(asked.texts[i][place], was[place]);
      }
    }
  }
  EXPECT_TRUE(loss.parts.empty());
}

// The relation that the labels of the loss say, told from the texts.
TEST(MaskedTokens, HalfOfThePairsAreAltered) {
  for (const TextRelation relation : {TextRelation::kNextSentence, TextRelation::kSentenceOrder}) {
    SCOPED_TRACE(name_of(relation));
    MaskedCase c(true);
    c.config.masking.relation = relation;
    c.config.masking.masked = c.config.masking.random = 0;  // to see the texts
    std::vector<std::string> texts, pairs;
    for (int i = 0; i < 20; ++i) {
      texts.push_back(std::string(1, static_cast<char>('a' + i)));
      pairs.push_back(std::string(1, static_cast<char>('A' + i)));
    }
    const Batch batch = c.batch(texts, pairs);
    const auto of = [&](char letter) {
      return c.tokenizers.at("text")->encode(std::string(1, letter)).front();
    };
    double altered = 0;
    std::set<int> partners;
    constexpr int kBatches = 100;
    for (int b = 0; b < kBatches; ++b) {
      c.loss(batch, 0, true, static_cast<uint64_t>(b));
      const auto& asked = c.model.asked.back();
      for (int i = 0; i < 20; ++i) {
        const auto& text = asked.texts[static_cast<size_t>(i)];
        const auto& pair = asked.pairs[static_cast<size_t>(i)];
        ASSERT_EQ(text.size(), 3u);
        ASSERT_EQ(pair.size(), 2u);
        EXPECT_EQ(text.front(), kStart);
        EXPECT_EQ(text.back(), kEnd);
        EXPECT_EQ(pair.back(), kEnd);
        const int32_t lower = of(static_cast<char>('a' + i)),
                      upper = of(static_cast<char>('A' + i));
        if (relation == TextRelation::kSentenceOrder) {
          const bool swapped = text[1] == upper;
          EXPECT_EQ(std::pair(text[1], pair[0]),
                    swapped ? std::pair(upper, lower) : std::pair(lower, upper));
          altered += swapped ? 1 : 0;
        } else {
          EXPECT_EQ(text[1], lower);
          altered += pair[0] != upper ? 1 : 0;
          if (i == 0) partners.insert(pair[0]);
        }
      }
    }
    constexpr double kPairs = 20 * kBatches;
    EXPECT_NEAR(altered / kPairs, 0.5, 5 * 0.5 / std::sqrt(kPairs));
    if (relation == TextRelation::kNextSentence) {
      EXPECT_GT(partners.size(), 15u);
    }
  }
}

TEST(MaskedTokens, APairAloneBelongsTogether) {
  MaskedCase c(true);
  c.config.masking.masked = c.config.masking.random = 0;
  const Batch batch = c.batch({"a"}, {"b"});
  for (uint64_t stream = 0; stream < 20; ++stream) {
    const Loss loss = c.loss(batch, 0, true, stream);
    EXPECT_EQ(c.model.asked.back().pairs.front(), (std::vector<int32_t>{'b' + 4, kEnd}));
    ASSERT_EQ(loss.parts.size(), 2u);
    EXPECT_NEAR(loss.parts[1].tensor.item(), loss.count * std::log(2.0), 1e-4);
  }
}

TEST(MaskedTokens, NeedAModelThatReadsAloneOrInPairs) {
  RunConfig config;
  Signature writes = text_signature(false, true, {});
  writes.columns.push_back({.name = "label", .kind = ColumnKind::kLabel, .written = true});
  expect_error<ConfigError>([&] { make_masked_tokens(config, writes); },
                            "masked_tokens needs a model that predicts masked tokens");
}

}  // namespace
}  // namespace attend
