// Lesson 7. What the layers of a decoder may look at: the encoder's last layer, layer i at layer i,
// or each at a learned mixture of all. The same task, the same updates, side by side.
#include <fmt/format.h>

#include <algorithm>

#include "attend/models/transformer.h"
#include "attend/ops/cross_entropy.h"
#include "attend/tensor/tape.h"
#include "attend/train/optimizer.h"

using namespace attend;

constexpr int32_t kFirst = 3, kLetters = 12;  // after the special tokens
constexpr size_t kVocabulary = kFirst + kLetters, kTexts = 32;
constexpr uint64_t kSteps = 300;
const SpecialTokens kSpecial;

// Letters, to be written backwards, each replaced by the next in the alphabet.
struct Pairs {
  Batch inputs;
  TeacherRows rows;

  Pairs(uint64_t number, size_t count) {
    const RandomStream random(14, number);
    TokenLines sources, targets;
    for (size_t i = 0; i < count; ++i) {
      std::vector<int32_t> source(3 + random.below(100 * i, 6)), target;
      for (size_t j = 0; j < source.size(); ++j) {
        source[j] = kFirst + static_cast<int32_t>(random.below(100 * i + j + 1, kLetters));
        target.insert(target.begin(), kFirst + (source[j] - kFirst + 1) % kLetters);
      }
      sources.add(framed(source, {.end = true}, kSpecial));
      targets.add(target);
    }
    inputs = Batch("source", sources.tokens());
    rows = teacher_rows(targets.tokens(), kSpecial);
  }
};

int main() {
  fmt::print("decoder looks at   parameters   letters right   shares, layer by layer\n");
  for (const CrossSource cross : {CrossSource::kLast, CrossSource::kSame, CrossSource::kMix}) {
    TransformerConfig config;
    config.source_vocabulary = config.target_vocabulary = kVocabulary;
    config.width = 32, config.heads = 4, config.feed_forward = 64;
    config.encoder_layers = config.decoder_layers = 2;
    config.dropout = 0.0f;
    config.cross = cross;
    Rng rng(1);
    Transformer model(config, rng);
    Optimizer optimizer(parameters(model), {.rate = 5e-3});
    for (uint64_t step = 0; step < kSteps; ++step) {
      const Pairs pairs(1 + step, kTexts);
      backward(cross_entropy(model.logits(pairs.inputs, pairs.rows.inputs), pairs.rows.labels));
      optimizer.step(1.0 - static_cast<double>(step) / kSteps);
    }
    const NoGrad no_grad;
    const Pairs pairs(0, 200);
    const Tensor logits = model.logits(pairs.inputs, pairs.rows.inputs);
    size_t right = 0;
    for (size_t row = 0; row < logits.rows(); ++row) {
      const auto all = logits.slice_rows(row, 1).span();
      right += std::ranges::max_element(all) - all.begin() == pairs.rows.labels.indices()[row];
    }
    fmt::print("{:<18} {:10} {:13.1f} % ", name_of(cross), parameter_count(model),
               100.0 * static_cast<double>(right) / static_cast<double>(logits.rows()));
    for (const AttentionLayer& layer : model.signature().layers_between("target", "source")) {
      if (cross == CrossSource::kMix) fmt::print("  {:.2f}", fmt::join(layer.shares, " "));
    }
    fmt::print("\n");
  }
}

// Prints, numbers within 5 %:
// decoder looks at   parameters   letters right   shares, layer by layer
// last                    43840          98.8 %
// same                    43840          98.7 %
// mix                     43846          98.4 %   0.35 0.29 0.35  0.30 0.40 0.30
