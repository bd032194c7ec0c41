// Lesson 6. Heads cut the projections of one, they do not multiply them; and they never meet before
// the output projection.
#include <fmt/format.h>

#include "attend/attention/multi_head.h"
#include "attend/tensor/tape.h"

using namespace attend;

constexpr size_t kWidth = 64, kRows = 6;

// Adds 1 to the query weights of one head.
void change_head(MultiHeadAttention& layer, size_t head) {
  const size_t width = kWidth / layer.config.heads;
  for (float& w : layer.query.weight.value.slice_rows(head * width, width).span()) w += 1.0f;
}

int main() {
  Rng rng(1);
  fmt::print("heads   width of a head   parameters   if each head had the full width\n");
  for (const size_t heads : {1, 2, 4, 8}) {
    MultiHeadAttention cut({.width = kWidth, .heads = heads}, rng);
    MultiHeadAttention full({.width = kWidth, .heads = heads, .head_width = kWidth}, rng);
    fmt::print("{:5} {:17} {:12} {:19}\n", heads, kWidth / heads, parameter_count(cut),
               parameter_count(full));
  }

  const NoGrad no_grad;
  const Packing packing = Packing::even(1, kRows);
  Tensor x = Tensor::empty({kRows, kWidth});
  fill_normal(x.span(), RandomStream(2, 0), 0.0f, 1.0f);
  MultiHeadAttention layer({.width = kWidth, .heads = 4}, rng);
  const auto heads = [&] {  // what the output projection gets: four heads side by side
    return attention(layer.query(x), layer.key(x), layer.value(x), {.heads = 4}).output;
  };
  const Tensor heads_before = heads(), output_before = layer(x, packing);
  change_head(layer, 2);
  const Tensor heads_after = heads(), output_after = layer(x, packing);

  const auto changed = [](const Tensor& a, const Tensor& b, size_t first, size_t count) {
    size_t columns = 0;
    for (size_t column = first; column < first + count; ++column) {
      bool differs = false;
      for (size_t row = 0; row < kRows; ++row) {
        differs = differs || a.data()[row * kWidth + column] != b.data()[row * kWidth + column];
      }
      columns += differs ? 1 : 0;
    }
    return columns;
  };
  fmt::print("\nthe query weights of head 2 change; columns that change with them\n");
  for (size_t head = 0; head < 4; ++head) {
    fmt::print("  head {} before the output projection: {:2} of 16\n", head,
               changed(heads_before, heads_after, 16 * head, 16));
  }
  fmt::print("  after it: {} of {}\n", changed(output_before, output_after, 0, kWidth), kWidth);
}

// Prints:
// heads   width of a head   parameters   if each head had the full width
//     1                64        16640               16640
//     2                32        16640               33216
//     4                16        16640               66368
//     8                 8        16640              132672
//
// the query weights of head 2 change; columns that change with them
//   head 0 before the output projection:  0 of 16
//   head 1 before the output projection:  0 of 16
//   head 2 before the output projection: 16 of 16
//   head 3 before the output projection:  0 of 16
//   after it: 64 of 64
