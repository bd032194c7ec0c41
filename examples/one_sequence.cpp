// "Without an encoder and a decoder, the output cannot be longer than the input": it can. A
// language model that reads `<s> source <s> target` writes until it ends, or until its positions
// do, which source and target share. An encoder-decoder has positions for each.
#include <fmt/format.h>

#include "attend/decode/search.h"
#include "attend/models/decoder_only.h"
#include "attend/models/gpt.h"
#include "attend/models/transformer.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

// A source is some blanks and a number, and its target as many times x.
constexpr int32_t kBlank = 3, kX = 4, kZero = 4, kMost = 12;
constexpr size_t kVocabulary = kZero + kMost + 1, kPositions = 16;
const SpecialTokens kSpecial;

std::vector<int32_t> source(const Model& model, size_t blanks, int32_t number) {
  std::vector<int32_t> ids(blanks, kBlank);
  ids.push_back(kZero + number);
  return framed(ids, model.signature().column("source").framing, kSpecial);
}

void train(Model& model) {
  const std::optional<size_t> most = model.signature().longest_together();
  TokenLines sources, targets;
  for (size_t blanks = 0; blanks <= 8; ++blanks) {
    for (int32_t number = 1; number <= kMost; ++number) {
      const auto written = static_cast<size_t>(number);
      if (blanks + 1 + written > most.value_or(SIZE_MAX)) continue;
      sources.add(source(model, blanks, number));
      targets.add(std::vector<int32_t>(written, kX));
    }
  }
  const Batch inputs("source", sources.tokens());
  const TeacherRows rows = teacher_rows(targets.tokens(), kSpecial);
  Optimizer optimizer(parameters(model), {.rate = 3e-3});
  for (int step = 0; step < 300; ++step) {
    backward(cross_entropy(model.generator()->logits(inputs, rows.inputs), rows.labels));
    optimizer.step();
  }
}

void write(const Model& model, size_t blanks, int32_t number) {
  const Signature signature = model.signature();
  SearchRuntime runtime{.special = kSpecial, .positions = signature.column("target").positions};
  if (signature.joined) runtime.joint_positions = signature.joined->positions;
  const Batch inputs("source", one_sequence(source(model, blanks, number)));
  const Hypothesis best =
      search(*model.generator(), inputs, SearchConfig{.beam = 1}, runtime).front().front();
  fmt::print("  {} in, asked for {:2}: {:2} out{}\n", blanks + 1, number, best.tokens.size(),
             best.ended ? "" : ", cut");
}

int main() {
  Rng rng(1);
  GptConfig gpt;
  gpt.width = 32, gpt.layers = 2, gpt.heads = 2, gpt.dropout = 0.0f;
  gpt.max_length = kPositions;
  DecoderOnlyConfig config;
  config.target_vocabulary = kVocabulary;
  config.language_model.settings = AnyConfig(gpt);
  DecoderOnly one(config, rng);
  TransformerConfig two_config;
  two_config.source_vocabulary = two_config.target_vocabulary = kVocabulary;
  two_config.width = 32, two_config.heads = 2, two_config.feed_forward = 64;
  two_config.encoder_layers = two_config.decoder_layers = 1;
  two_config.dropout = 0.0f;
  two_config.positions = PositionScheme::kLearned;
  two_config.max_length = kPositions;
  Transformer two(two_config, rng);
  train(one);
  train(two);
  for (const auto& [name, model] : {std::pair<const char*, const Model*>("decoder only", &one),
                                    {"encoder and decoder", &two}}) {
    fmt::print("{}, {} positions\n", name, kPositions);
    write(*model, 0, 3);
    write(*model, 0, 12);
    write(*model, 8, 4);
    write(*model, 8, 12);
  }
}

// Prints:
// decoder only, 16 positions
//   1 in, asked for  3:  3 out
//   1 in, asked for 12: 12 out
//   9 in, asked for  4:  4 out
//   9 in, asked for 12:  5 out, cut
// encoder and decoder, 16 positions
//   1 in, asked for  3:  3 out
//   1 in, asked for 12: 12 out
//   9 in, asked for  4:  4 out
//   9 in, asked for 12: 12 out
