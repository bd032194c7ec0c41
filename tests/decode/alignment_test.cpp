#include "attend/decode/alignment.h"

#include <cmath>

#include "attend/models/rnn.h"
#include "attend/models/transformer.h"
#include "tests/decode/text_model.h"
#include "tests/errors.h"
#include "tests/models/seq2seq.h"

namespace attend {
namespace {

void expect_rows_sum_to_one(const std::vector<Tensor>& all, const Tokens& sources,
                            const Tokens& targets, size_t without) {
  ASSERT_EQ(all.size(), sources.packing.count());
  for (size_t s = 0; s < all.size(); ++s) {
    EXPECT_EQ(all[s].rows(), targets.packing.length(s) + 1);
    EXPECT_EQ(all[s].width(), sources.packing.length(s) - without);
    for (size_t t = 0; t < all[s].rows() && all[s].width() > 0; ++t) {
      float sum = 0;
      for (const float weight : all[s].slice_rows(t, 1).span()) sum += weight;
      EXPECT_NEAR(sum, 1.0f, 1e-5f);
    }
  }
}

constexpr SpecialTokens kAlignedSpecial;

RnnConfig small_rnn(RnnConfig config) {
  config.source_vocabulary = kSourceTokens;
  config.target_vocabulary = kTargetTokens;
  config.hidden = 8, config.embedding = 6;
  return config;
}

TEST(Alignment, HasARowForEachTargetTokenAndItsEnd) {
  Rng rng(1);
  const Transformer transformer(small_transformer(), rng);
  const RnnSeq2Seq rnn(small_rnn({}), rng);
  const Tokens sources = some_tokens({3, 1, 5}, kSourceTokens, 1);
  const Tokens targets = some_tokens({2, 4, 0}, kTargetTokens, 2);
  const Batch inputs("source", sources);
  for (const Model* model :
       {static_cast<const Model*>(&transformer), static_cast<const Model*>(&rnn)}) {
    expect_rows_sum_to_one(
        alignments(*model, inputs, targets, kAlignedSpecial, {.leave_out_ends = false}), sources,
        targets, 0);
    expect_rows_sum_to_one(alignments(*model, inputs, targets, kAlignedSpecial), sources, targets,
                           1);
  }
}

TEST(Alignment, TheMeanOfAllIsTheMeanOfEach) {
  Rng rng(2);
  const Transformer model(small_transformer(), rng);
  const Batch inputs("source", some_tokens({4}, kSourceTokens, 1));
  const Tokens targets = some_tokens({3}, kTargetTokens, 2);
  const Tensor mean =
      alignments(model, inputs, targets, kAlignedSpecial, {.leave_out_ends = false})[0];
  std::vector<float> sum(mean.size(), 0.0f);
  for (const AttentionLayer& layer : alignment_layers(model.signature())) {
    for (size_t head = 0; head < layer.heads; ++head) {
      const Tensor one =
          alignments(model, inputs, targets, kAlignedSpecial, {layer.name, head, false})[0];
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += one.span()[i] / 4;
    }
  }
  for (size_t i = 0; i < sum.size(); ++i) EXPECT_NEAR(mean.span()[i], sum[i], 1e-6f);
}

TEST(Alignment, LinksAreTheLargestWeights) {
  const Tensor weights = Tensor::of({0.1f, 0.7f, 0.2f, 0.5f, 0.2f, 0.3f, 1, 0, 0}, {3, 3});
  EXPECT_EQ(format_links(strongest_links(weights)), "1-0 0-1");
  EXPECT_TRUE(strongest_links(Tensor::zeros({1, 3})).empty());
}

TEST(Alignment, ErrorsSayWhatThereIs) {
  Rng rng(3);
  const Transformer model(small_transformer(), rng);
  const Batch inputs("source", some_tokens({4}, kSourceTokens, 1));
  const Tokens targets = some_tokens({3}, kTargetTokens, 2);
  expect_error<ConfigError>(
      [&] { alignments(model, inputs, targets, kAlignedSpecial, {.layer = "decoder.2"}); },
      "no layer 'decoder.2' looks at the source; there are: decoder.0.cross");
  expect_error<ConfigError>(
      [&] { alignments(model, inputs, targets, kAlignedSpecial, {.head = 9}); },
      fmt::format("there is no head 9; the model has {}, from 0",
                  model.signature().layers.front().heads));
  const RnnSeq2Seq vanilla(small_rnn(RnnConfig::vanilla_preset()), rng);
  expect_error<ConfigError>([&] { alignments(vanilla, inputs, targets, kAlignedSpecial); },
                            "the model has no attention to its source");
  EXPECT_TRUE(alignment_layers(vanilla.signature()).empty());
  const ToyLanguageModel toy(kTargetTokens);
  expect_error<ConfigError>([&] { alignments(toy, Batch(1), targets, kAlignedSpecial); },
                            "this one does not do both");
  expect_error<DataError>(
      [&] {
        alignments(model, inputs, some_tokens({1, 1}, 5, 1), kAlignedSpecial);
      },
      "1 records but 2 sequences");
}

TEST(Alignment, SeveralSequencesOfARecord) {
  Rng rng(4);
  const Transformer model(small_transformer(), rng);
  const Batch inputs("source", some_tokens({4, 2, 3}, kSourceTokens, 1));
  const SequencesOfRecords written = {{{3, 4}, {5}}, {}, {{6, 7, 8}}};
  const auto all = alignments(model, inputs, written, kAlignedSpecial);
  ASSERT_EQ(all.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(all[i].size(), written[i].size());
    for (size_t j = 0; j < all[i].size(); ++j) {
      const std::vector<size_t> alone = {i};
      const Tensor expected =
          alignments(model, inputs.pick(alone), one_sequence(written[i][j]), kAlignedSpecial)[0];
      expect_near(all[i][j], expected);
    }
  }
}

}  // namespace
}  // namespace attend
