// A convolution is multi-head attention with relative positions, one head for each offset of its
// kernel (Cordonnier et al., 2020).
#include <gtest/gtest.h>

#include "attend/attention/attention.h"
#include "attend/ops/conv.h"
#include "attend/ops/linear.h"
#include "tests/attention/values.h"

namespace attend {
namespace {

struct Grid {
  size_t height, width;
  size_t size() const { return height * width; }
};

constexpr Grid kImage{5, 7};
constexpr size_t kKernel = 3, kHeads = kKernel * kKernel, kIn = 4, kOut = 6, kBatch = 2;

// Where key (y, x) is from the place that head h looks at for query (i, j).
struct Away {
  int vertical, horizontal;
  int squared() const { return vertical * vertical + horizontal * horizontal; }
};
Away away(size_t head, size_t query, size_t key, Grid keys, int border) {
  const auto at = [](size_t place, size_t width) {
    return Away{static_cast<int>(place / width), static_cast<int>(place % width)};
  };
  const Away q = at(query, kImage.width), k = at(key, keys.width), offset = at(head, kKernel);
  const int centre = static_cast<int>(kKernel / 2);
  return {k.vertical - border - (q.vertical + offset.vertical - centre),
          k.horizontal - border - (q.horizontal + offset.horizontal - centre)};
}

// The output projection of the heads: column (h, in) is weight[out, in, h].
Tensor projection(const Tensor& weight) {
  Tensor y = Tensor::empty({kOut, kHeads * kIn});
  for (size_t o = 0; o < kOut; ++o) {
    for (size_t c = 0; c < kIn; ++c) {
      for (size_t h = 0; h < kHeads; ++h) {
        y.data()[(o * kHeads + h) * kIn + c] = weight.data()[(o * kIn + c) * kHeads + h];
      }
    }
  }
  return y;
}

struct Convolution {
  Tensor image = random_tensor({kBatch, kImage.height, kImage.width, kIn}, 1);
  Tensor weight = random_tensor({kOut, kIn, kKernel, kKernel}, 2), bias = random_tensor({kOut}, 3);

  std::vector<float> expected() const {
    return conv2d(image, weight, bias, {.padding = kKernel / 2}).to_vector();
  }
  // All heads look at the pixels themselves; queries and keys say nothing.
  Tensor attended(const Tensor& pixels, AttentionOptions options) const {
    options.heads = kHeads;
    options.kv_heads = 1;
    options.queries = Packing::even(kBatch, kImage.size());
    options.keys = Packing::even(kBatch, pixels.rows() / kBatch);
    const Tensor q = Tensor::zeros({kBatch * kImage.size(), kHeads});
    const Tensor k = Tensor::zeros({pixels.rows(), 1});
    const Attended heads = attention(q, k, pixels, options);
    EXPECT_EQ(heads.path, AttentionPath::kFused);
    return linear(heads.output, projection(weight), bias);
  }
};

// Each head may look at one pixel; where that is outside the image, at none, which is padding.
TEST(Convolution, IsAttentionThatMayLookAtOnePixel) {
  const Convolution conv;
  std::vector<uint8_t> allowed;
  for (size_t h = 0; h < kHeads; ++h) {
    for (size_t q = 0; q < kImage.size(); ++q) {
      for (size_t k = 0; k < kImage.size(); ++k) {
        allowed.push_back(away(h, q, k, kImage, 0).squared() == 0);
      }
    }
  }
  AttentionOptions options;
  options.mask.pairs = PairMask({kHeads, kImage.size(), kImage.size()}, allowed);
  const Tensor pixels = conv.image.reshape({kBatch * kImage.size(), kIn});
  expect_values(conv.attended(pixels, options), conv.expected(), 1e-5f);
}

// The paper's: a score that falls with the squared distance from the offset, steep enough that what
// is left of the other pixels is below what a float can hold.
TEST(Convolution, IsAttentionWithSteepRelativePositions) {
  const Convolution conv;
  const Grid padded{kImage.height + 2, kImage.width + 2};
  const Tensor pixels = Tensor::zeros({kBatch * padded.size(), kIn});
  for (size_t i = 0; i < conv.image.size(); ++i) {
    const size_t c = i % kIn, place = i / kIn, b = place / kImage.size();
    const size_t row = place % kImage.size() / kImage.width + 1, column = place % kImage.width + 1;
    pixels.data()[((b * padded.height + row) * padded.width + column) * kIn + c] =
        conv.image.data()[i];
  }
  AttentionOptions options;
  options.bias = Tensor::empty({kHeads, kImage.size(), padded.size()});
  size_t at = 0;
  for (size_t h = 0; h < kHeads; ++h) {
    for (size_t q = 0; q < kImage.size(); ++q) {
      for (size_t k = 0; k < padded.size(); ++k) {
        options.bias.data()[at++] = -46.0f * static_cast<float>(away(h, q, k, padded, 1).squared());
      }
    }
  }
  expect_values(conv.attended(pixels, options), conv.expected(), 1e-5f);
}

}  // namespace
}  // namespace attend
