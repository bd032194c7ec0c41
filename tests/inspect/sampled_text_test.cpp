// A text that is sampled step by step.
#include "attend/inspect/sampled_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "attend/inspect/attention_maps.h"
#include "attend/models/gpt.h"
#include "attend/tensor/tape.h"
#include "tests/errors.h"
#include "tests/inspect/traces.h"

namespace attend {
namespace {

struct Sampled {
  std::vector<int32_t> tokens;
  std::vector<BeamNode> nodes;
  double total;
  bool ended;
};

Sampled run(const TextModel& model, const SampledTextOptions& options) {
  const Trace trace = given_trace(model, "");
  SampledText text(model, trace, options);
  while (text.step()) {
  }
  return {text.tokens(), text.tree()->nodes(), text.total(),
          text.path().size() > text.tokens().size()};
}

TEST(SampledText, TheSameSeedGivesTheSameText) {
  const TextModel model = small_language_model();
  std::set<std::vector<int32_t>> texts;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const Sampled one = run(model, {.most = 20, .seed = seed});
    EXPECT_EQ(run(model, {.most = 20, .seed = seed}).tokens, one.tokens);
    texts.insert(one.tokens);
  }
  EXPECT_GT(texts.size(), 4u);
}

TEST(SampledText, LittleHeatIsGreedy) {
  const TextModel model = small_language_model();
  const Sampled cold = run(model, {.most = 12, .temperature = 1e-4f});
  const auto greedy = written_trace(model, "", {.beam = 1, .max_length = 12}).output();
  EXPECT_EQ(cold.tokens, greedy);
}

// Each node has the probability that the model gives it after what stands before.
TEST(SampledText, NodesHaveTheModelsProbabilities) {
  const TextModel model = small_language_model();
  const auto beginning = model.tokenizer("text").encode("abc");
  const Sampled one = run(model, {.beginning = beginning, .most = 9, .candidates = 4});
  ASSERT_GE(one.tokens.size(), 3u);
  EXPECT_TRUE(std::equal(beginning.begin(), beginning.end(), one.tokens.begin()));
  const Trace trace = with_output(model, given_trace(model, ""), one.tokens);
  const Tensor logits = logits_of(model, trace);
  double total = 0;
  size_t place = 0;
  for (const BeamNode& node : one.nodes) {
    if (!node.kept) continue;
    const float* row = logits.data() + place * logits.stride();
    double sum = 0;
    for (size_t i = 0; i < logits.width(); ++i) sum += std::exp(double{row[i]});
    EXPECT_NEAR(node.log_probability, row[node.token] - std::log(sum), 1e-4);
    total += double{node.log_probability};
    ++place;
  }
  EXPECT_EQ(place, one.tokens.size() + (one.ended ? 1 : 0));
  EXPECT_NEAR(one.total, total, 1e-6);
}

TEST(SampledText, KeepsToItsLengthAndThePositionsOfTheModel) {
  const TextModel model = small_language_model();
  EXPECT_TRUE(run(model, {.most = 0}).tokens.empty());
  for (uint64_t seed = 1; seed < 6; ++seed) {
    EXPECT_LE(run(model, {.most = 3, .seed = seed}).tokens.size(), 3u);
  }
  ModelConfig config("gpt");
  auto& gpt = config.settings.as<GptConfig>();
  gpt.width = 16, gpt.layers = 1, gpt.heads = 2, gpt.max_length = 6;
  EXPECT_LE(run(small_model(config), {.most = 50}).tokens.size(), 5u);
}

TEST(SampledText, KnowsWhatWouldFollow) {
  const TextModel model = small_language_model();
  const Trace trace = given_trace(model, "");
  size_t cut = 0;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const Sampled longer = run(model, {.most = 5, .seed = seed});
    SampledText text(model, trace, {.most = 4, .seed = seed});
    while (text.step()) {
    }
    const std::optional<int32_t> next = text.next();
    const bool ended = text.path().size() > text.tokens().size();
    ASSERT_EQ(next.has_value(), !ended);
    if (ended) continue;
    ++cut;
    EXPECT_EQ(*next,
              longer.tokens.size() > 4 ? longer.tokens[4] : model.tokenizer("text").special().end);
  }
  EXPECT_GT(cut, 0u);
}

TEST(SampledText, RefusesATemperatureThatIsNone) {
  const TextModel model = small_language_model();
  for (const float wrong : {0.0f, -1.0f, INFINITY, NAN}) {
    expect_error<ConfigError>([&] { run(model, {.temperature = wrong}); }, "finite number above 0");
  }
}

}  // namespace
}  // namespace attend
