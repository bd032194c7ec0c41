// How many queries? In self-attention each input makes one, no more and no fewer; what is free is
// how wide they are. Queries that are learned, and not made from the input, may be any number (Lee
// et al., 2019).
#include <fmt/format.h>

#include "attend/attention/multi_head.h"
#include "attend/attention/pooling.h"

using namespace attend;

int main() {
  Rng rng(1);
  const Packing seven = Packing::even(1, 7), three = Packing::even(1, 3);
  const Tensor x = parameter({7, 16}, Init::kNormal, rng),
               y = parameter({3, 16}, Init::kNormal, rng);

  fmt::print("7 inputs of width 16\n");
  for (const size_t width : {4, 16, 64}) {
    const MultiHeadAttention self({.width = 16, .heads = 1, .head_width = width}, rng);
    fmt::print("  self-attention, queries {} wide: queries {}, output {}\n", width,
               self.query(x).shape(), self(x, seven).shape());
  }
  const MultiHeadAttention cross({.width = 16, .heads = 1}, rng);
  fmt::print("  3 others look at them: queries {}, output {}\n", cross.query(y).shape(),
             cross(y, three, x, seven).shape());
  for (const size_t queries : {1, 3, 20}) {
    const AttentionPooling pooling({.queries = queries, .attention = {.width = 16, .heads = 1}},
                                   rng);
    fmt::print("  {:2} learned queries: output {}\n", queries, pooling(x, seven).shape());
  }
  const InducedAttention induced({.points = 2, .attention = {.width = 16, .heads = 1}}, rng);
  fmt::print("  through 2 induced points and back: output {}\n", induced(x, seven).shape());
}

// Prints:
// 7 inputs of width 16
//   self-attention, queries 4 wide: queries [7, 4], output [7, 16]
//   self-attention, queries 16 wide: queries [7, 16], output [7, 16]
//   self-attention, queries 64 wide: queries [7, 64], output [7, 16]
//   3 others look at them: queries [3, 16], output [3, 16]
//    1 learned queries: output [1, 16]
//    3 learned queries: output [3, 16]
//   20 learned queries: output [20, 16]
//   through 2 induced points and back: output [7, 16]
