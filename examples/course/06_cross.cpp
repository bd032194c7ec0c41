// Lesson 6. In cross-attention the queries come from one sequence, keys and values from another.
// There is a row of output for each query, and it is a mixture of the values of the keys.
#include <fmt/format.h>

#include <array>

#include "attend/attention/multi_head.h"
#include "attend/attention/recorder.h"
#include "attend/tensor/tape.h"

using namespace attend;

const std::array<const char*, 4> kSource = {"das", "kleine", "Haus", "</s>"};
const std::array<const char*, 3> kTarget = {"<s>", "the", "small"};
constexpr size_t kDecoder = 16, kEncoder = 24;  // the two sides may have widths of their own

Tensor random(size_t rows, size_t width, uint64_t stream) {
  Tensor x = Tensor::empty({rows, width});
  fill_normal(x.span(), RandomStream(5, stream), 0.0f, 2.0f);
  return x;
}

int main() {
  const NoGrad no_grad;
  Rng rng(1);
  const Tensor encoder = random(kSource.size(), kEncoder, 0);
  const Tensor decoder = random(kTarget.size(), kDecoder, 1);
  const Packing source = Packing::even(1, kSource.size()),
                target = Packing::even(1, kTarget.size());
  const MultiHeadAttention cross({.width = kDecoder, .source_width = kEncoder, .heads = 1}, rng);

  Recorder recorder;
  const Tensor y = cross(decoder, target, encoder, source);
  const Tensor weights = recorder.heads.front().weights;
  fmt::print("decoder {}, encoder {}: weights {}, output {}\n\n         ", decoder.shape(),
             encoder.shape(), weights.shape(), y.shape());
  for (const char* word : kSource) fmt::print("{:>8}", word);
  fmt::print("\n");
  for (size_t q = 0; q < kTarget.size(); ++q) {
    fmt::print("  {:<7}", kTarget[q]);
    for (const float weight : weights.slice_rows(q, 1).span()) fmt::print("{:8.2f}", weight);
    fmt::print("\n");
  }

  // A step of a decoder has one query; keys and values of the source are projected once for all.
  const KeyValueCache memory = cross.remember(encoder, source);
  bool same = true;
  for (size_t t = 0; t < kTarget.size(); ++t) {
    const Tensor step = cross.look(decoder.slice_rows(t, 1), Packing::even(1, 1), memory);
    for (size_t i = 0; i < kDecoder; ++i) {
      same = same && std::abs(step.data()[i] - y.data()[t * kDecoder + i]) < 1e-5f;
    }
  }
  fmt::print("\nstep by step, from keys and values that were projected once: {}\n",
             same ? "the same" : "another result");
}

// Prints, numbers within 5 %:
// decoder [3, 16], encoder [4, 24]: weights [3, 4], output [3, 16]
//
//               das  kleine    Haus    </s>
//   <s>        0.00    0.00    0.98    0.01
//   the        0.00    0.35    0.00    0.64
//   small      0.00    0.00    0.98    0.02
//
// step by step, from keys and values that were projected once: the same
