// Lesson 1: two ways to hand a vector to a decoder, which here copies strings. The encoder's last
// state h can be where the decoder starts, s0 = h (Sutskever et al., 2014), or a context c = h that
// enters each of its steps, or both (Cho et al., 2014).
#include <fmt/format.h>

#include "attend/nn/embedding.h"
#include "attend/nn/recurrent.h"
#include "attend/ops/sequences.h"
#include "attend/ops/shape.h"
#include "letters.h"

using namespace attend;

constexpr size_t kEmbedding = 16, kHidden = 48;

struct EncoderDecoder {
  bool starts_from_h, reads_h;
  Embedding source_letters, target_letters;
  Recurrent encoder, decoder;
  Linear output;

  EncoderDecoder(const Task& task, bool s0, bool c, Rng& rng)
      : starts_from_h(s0),
        reads_h(c),
        source_letters(task.vocabulary(), kEmbedding, rng),
        target_letters(task.vocabulary(), kEmbedding, rng),
        encoder({.cell = Cell::kGru, .input = kEmbedding, .hidden = kHidden}, rng),
        decoder({.cell = Cell::kGru, .input = kEmbedding + (c ? kHidden : 0), .hidden = kHidden},
                rng),
        output(kHidden, task.vocabulary(), rng) {}

  // What may follow each letter of `written`: [rows, vocabulary].
  Tensor logits(const Batch& inputs, const Tokens& written) const {
    const Tokens source = inputs.tokens("source");
    const Tensor h = encoder(source_letters(source.ids), source.packing).states.front().h;
    Tensor x = target_letters(written.ids);
    if (reads_h) x = concat({x, spread_rows(h, written.packing)}, -1);
    const Tensor s0 = starts_from_h ? h : Tensor::zeros({source.count(), kHidden});
    return output(decoder(x, written.packing, {{.h = s0}}).output);
  }

  void visit(Visitor& v) {
    v("source_letters", source_letters);
    v("target_letters", target_letters);
    v("encoder", encoder);
    v("decoder", decoder);
    v("output", output);
  }
};

// Percent of the letters that are right, each after the right ones before it.
double letters_right(const EncoderDecoder& model, const Task& task, size_t length) {
  const NoGrad no_grad;
  const Pairs pairs(task, 0, 200, length, length);
  const TeacherRows rows = teacher_rows(pairs.targets, kSpecial);
  const Tensor logits = model.logits(pairs.inputs(), rows.inputs);
  size_t right = 0;
  for (size_t row = 0; row < logits.rows(); ++row) {
    const auto all = logits.slice_rows(row, 1).span();
    right += std::ranges::max_element(all) - all.begin() == rows.labels.indices()[row] ? 1 : 0;
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(logits.rows());
}

int main() {
  const Task task{.alphabet = 8, .answer = copied};
  struct Variant {
    const char* name;
    bool s0, c;
  };
  fmt::print("letters right, in percent, of strings of   2    4    6\n");
  for (const auto& [name, s0, c] :
       {Variant{"s0 = h, c = h", true, true}, Variant{"s0 = 0, c = h", false, true},
        Variant{"s0 = h, no c", true, false}, Variant{"s0 = 0, no c", false, false}}) {
    Rng rng(1);
    EncoderDecoder model(task, s0, c, rng);
    train(model, task, {.steps = 600, .longest = 6, .rate = 1e-2});
    fmt::print("{:40}", name);
    for (const size_t length : {2, 4, 6}) {
      fmt::print(" {:4.0f}", letters_right(model, task, length));
    }
    fmt::print("\n");
  }
}

// Prints, numbers within 5 %:
// letters right, in percent, of strings of   2    4    6
// s0 = h, c = h                             100  100   97
// s0 = 0, c = h                             100  100   97
// s0 = h, no c                              100  100   96
// s0 = 0, no c                               42   25   18
