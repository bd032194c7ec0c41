// What a row may see: all of the text (an encoder), what came before (a language model), or all of
// a prefix and what came before (a model that reads a source first). One word is changed; rows that
// change with it have seen it.
#include <fmt/format.h>

#include <array>

#include "attend/attention/multi_head.h"
#include "attend/tensor/tape.h"

using namespace attend;

const std::array<std::string, 6> kText = {"ein", "Haus", "|", "a", "small", "house"};
constexpr size_t kWidth = 16;

int main() {
  Rng rng(1);
  const MultiHeadAttention layer({.width = kWidth, .heads = 2}, rng);
  const Packing packing = Packing::even(1, kText.size());
  Tensor text = Tensor::empty({kText.size(), kWidth});
  fill_normal(text.span(), RandomStream(1, 1), 0.0f, 1.0f);
  const NoGrad no_grad;
  const std::pair<const char*, Mask> masks[] = {
      {"all of it", {}},
      {"causal", {.causal = true}},
      {"causal, strictly", {.strictly_causal = true}},
      {"causal after a prefix of 3", {.causal = true, .prefix = {3}}}};
  for (const auto& [name, mask] : masks) {
    fmt::print("{}\n", name);
    const Tensor before = layer(text, packing, text, packing, mask);
    for (const size_t changed : {size_t{1}, size_t{4}}) {
      Tensor other = Tensor::of(text.to_vector(), text.shape());
      for (float& x : other.slice_rows(changed, 1).span()) x += 1.0f;
      const Tensor after = layer(text, packing, other, packing, mask);  // keys and values of it
      fmt::print("  {:<6} is seen from:", kText[changed]);
      for (size_t row = 0; row < kText.size(); ++row) {
        const bool same =
            before.slice_rows(row, 1).to_vector() == after.slice_rows(row, 1).to_vector();
        if (!same) fmt::print(" {}", kText[row]);
      }
      fmt::print("\n");
    }
  }
}

// Prints:
// all of it
//   Haus   is seen from: ein Haus | a small house
//   small  is seen from: ein Haus | a small house
// causal
//   Haus   is seen from: Haus | a small house
//   small  is seen from: small house
// causal, strictly
//   Haus   is seen from: | a small house
//   small  is seen from: house
// causal after a prefix of 3
//   Haus   is seen from: ein Haus | a small house
//   small  is seen from: small house
