// Lesson 6. A convolution is attention with a head for each place of its kernel, each of which
// looks at one fixed offset; the output projection of the heads is the kernel (Cordonnier et al.,
// 2020). And a convolution that must not look ahead is padded on one side.
#include <fmt/format.h>

#include <cmath>

#include "attend/attention/attention.h"
#include "attend/nn/conv1d.h"
#include "attend/nn/conv2d.h"
#include "attend/tensor/tape.h"

using namespace attend;

constexpr int kHeight = 6, kWidth = 7, kPixels = kHeight * kWidth;
constexpr size_t kIn = 3, kOut = 5, kKernel = 3, kHeads = kKernel * kKernel;

Tensor random(const Shape& shape, uint64_t stream) {
  Tensor x = Tensor::empty(shape);
  fill_normal(x.span(), RandomStream(4, stream), 0.0f, 1.0f);
  return x;
}

float difference(const Tensor& a, const Tensor& b) {
  float most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a.data()[i] - b.data()[i]));
  return most;
}

// The squared distance between a key and the pixel that a head looks at from a query.
int squared_distance(int head, int query, int key) {
  const int y = key / kWidth - query / kWidth - (head / 3 - 1);
  const int x = key % kWidth - query % kWidth - (head % 3 - 1);
  return x * x + y * y;
}

// Queries and keys say nothing: where a head looks is a matter of position alone. The values are
// the pixels themselves, one set for all heads.
Tensor nine_heads(const Tensor& pixels, const Conv2d& conv, AttentionOptions options) {
  options.heads = kHeads, options.kv_heads = 1;
  const Tensor heads =
      attention(Tensor::zeros({kPixels, kHeads}), Tensor::zeros({kPixels, 1}), pixels, options)
          .output;                                      // [pixels, 9 x in]
  Tensor kernel = Tensor::empty({kOut, kHeads * kIn});  // conv.weight is [out, in, 9]
  for (size_t o = 0; o < kOut; ++o) {
    for (size_t c = 0; c < kIn; ++c) {
      for (size_t h = 0; h < kHeads; ++h) {
        kernel.data()[(o * kHeads + h) * kIn + c] = conv.weight.data()[(o * kIn + c) * kHeads + h];
      }
    }
  }
  return linear(heads, kernel, conv.bias);
}

int main() {
  const NoGrad no_grad;
  Rng rng(1);
  const Conv2d conv({.in = kIn, .out = kOut, .kernel = kKernel, .padding = 1}, rng);
  const Tensor image = random({1, kHeight, kWidth, kIn}, 0);
  const Tensor convolved = conv(image).reshape({kPixels, kOut});
  const Tensor pixels = image.reshape({kPixels, kIn});

  std::vector<uint8_t> allowed;
  for (int head = 0; head < int{kHeads}; ++head) {
    for (int query = 0; query < kPixels; ++query) {
      for (int key = 0; key < kPixels; ++key) {
        allowed.push_back(squared_distance(head, query, key) == 0 ? 1 : 0);
      }
    }
  }
  AttentionOptions one_pixel;
  one_pixel.mask.pairs = PairMask({kHeads, kPixels, kPixels}, allowed);
  const Tensor masked = nine_heads(pixels, conv, one_pixel);
  fmt::print("nine heads that may see one pixel each = Conv2d: {}\n",
             difference(masked, convolved) < 1e-5f);

  fmt::print("nine heads whose scores fall with the squared distance, away from the border\n");
  for (const float steepness : {0.5f, 2.0f, 8.0f, 32.0f}) {
    AttentionOptions by_distance;
    by_distance.bias = Tensor::empty({kHeads, kPixels, kPixels});
    size_t at = 0;
    for (int head = 0; head < int{kHeads}; ++head) {
      for (int query = 0; query < kPixels; ++query) {
        for (int key = 0; key < kPixels; ++key) {
          by_distance.bias.data()[at++] =
              -steepness * static_cast<float>(squared_distance(head, query, key));
        }
      }
    }
    const Tensor soft = nine_heads(pixels, conv, by_distance);
    float most = 0;
    for (int y = 1; y < kHeight - 1; ++y) {
      const auto row = static_cast<size_t>(y * kWidth + 1);
      most = std::max(most, difference(soft.slice_rows(row, kWidth - 2),
                                       convolved.slice_rows(row, kWidth - 2)));
    }
    fmt::print("  steepness {:4}: off by {:.4f} at most\n", steepness, most);
  }

  fmt::print("a kernel of 3 over 8 rows; row 4 of the input changes, and with it of the output\n");
  const Packing packing = Packing::even(1, 8);
  const Tensor x = random({8, kIn}, 1);
  Tensor other = Tensor::of(x.to_vector(), x.shape());
  for (float& value : other.slice_rows(4, 1).span()) value += 1.0f;
  for (const auto& [name, padding] : {std::pair("two rows of zeros before", ConvPadding::kCausal),
                                      std::pair("one before and one after", ConvPadding::kSame)}) {
    const Conv1d filter({.in = kIn, .out = kOut, .kernel = kKernel, .padding = padding}, rng);
    const Tensor before = filter(x, packing).rows, after = filter(other, packing).rows;
    fmt::print("  {}:", name);
    for (size_t row = 0; row < 8; ++row) {
      if (difference(before.slice_rows(row, 1), after.slice_rows(row, 1)) > 0)
        fmt::print(" {}", row);
    }
    fmt::print("\n");
  }
}

// Prints, numbers within 5 %:
// nine heads that may see one pixel each = Conv2d: true
// nine heads whose scores fall with the squared distance, away from the border
//   steepness  0.5: off by 1.2187 at most
//   steepness    2: off by 0.6226 at most
//   steepness    8: off by 0.0023 at most
//   steepness   32: off by 0.0000 at most
// a kernel of 3 over 8 rows; row 4 of the input changes, and with it of the output
//   two rows of zeros before: 4 5 6
//   one before and one after: 3 4 5
