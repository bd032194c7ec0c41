#include "attend/decode/alignment.h"

#include <cmath>

#include "attend/models/rnn.h"
#include "attend/models/transformer.h"
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

TEST(Alignment, HasARowForEachTargetTokenAndItsEnd) {
  Rng rng(1);
  const Transformer transformer(small_transformer(), rng);
  RnnConfig config;
  config.source_vocabulary = kSourceTokens;
  config.target_vocabulary = kTargetTokens;
  config.hidden = 8, config.embedding = 6;
  const RnnSeq2Seq rnn(config, rng);
  const Tokens sources = some_tokens({3, 1, 5}, kSourceTokens, 1);
  const Tokens targets = some_tokens({2, 4, 0}, kTargetTokens, 2);
  for (const Seq2Seq* model :
       {static_cast<const Seq2Seq*>(&transformer), static_cast<const Seq2Seq*>(&rnn)}) {
    expect_rows_sum_to_one(alignments(*model, sources, targets, {.leave_out_ends = false}), sources,
                           targets, 0);
    expect_rows_sum_to_one(alignments(*model, sources, targets), sources, targets, 1);
  }
}

TEST(Alignment, TheMeanOfAllIsTheMeanOfEach) {
  Rng rng(2);
  const Transformer model(small_transformer(), rng);
  const Tokens sources = some_tokens({4}, kSourceTokens, 1);
  const Tokens targets = some_tokens({3}, kTargetTokens, 2);
  const Tensor mean = alignments(model, sources, targets, {.leave_out_ends = false})[0];
  std::vector<float> sum(mean.size(), 0.0f);
  for (const AttentionLayer& layer : layers_of(model.attention_layers(), AttentionPart::kCross)) {
    for (size_t head = 0; head < layer.heads; ++head) {
      const Tensor one = alignments(model, sources, targets, {layer.name, head, false})[0];
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
  const Tokens sources = some_tokens({4}, kSourceTokens, 1);
  const Tokens targets = some_tokens({3}, kTargetTokens, 2);
  expect_error<ConfigError>([&] { alignments(model, sources, targets, {.layer = "decoder.2"}); },
                            "no layer 'decoder.2' looks at the source; there are: decoder.0.cross");
  expect_error<ConfigError>([&] { alignments(model, sources, targets, {.head = 9}); },
                            fmt::format("there is no head 9; the model has {}, from 0",
                                        model.attention_layers().front().heads));
  RnnConfig config = RnnConfig::preset("vanilla");
  config.source_vocabulary = kSourceTokens;
  config.target_vocabulary = kTargetTokens;
  config.hidden = 8, config.embedding = 6;
  const RnnSeq2Seq vanilla(config, rng);
  expect_error<ConfigError>([&] { alignments(vanilla, sources, targets); }, "no attention");
}

}  // namespace
}  // namespace attend
