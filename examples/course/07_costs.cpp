// Lesson 7. What layers cost, counted in multiplications and measured: attention against its own
// projections, and against a depthwise separable convolution whose kernel is as long as the text.
#include <fmt/format.h>

#include <chrono>
#include <functional>

#include "attend/attention/attention.h"
#include "attend/nn/conv1d.h"
#include "attend/nn/linear.h"
#include "attend/tensor/tape.h"

using namespace attend;

constexpr size_t kWidth = 64;

Tensor random(size_t rows, uint64_t stream) {
  Tensor x = Tensor::empty({rows, kWidth});
  fill_normal(x.span(), RandomStream(11, stream), 0.0f, 1.0f);
  return x;
}

// The fastest of some calls, in milliseconds.
double milliseconds(const std::function<void()>& f) {
  using Clock = std::chrono::steady_clock;
  double best = 1e9, all = 0;
  for (int call = 0; call < 3 || (all < 40 && call < 50); ++call) {
    const auto start = Clock::now();
    f();
    const std::chrono::duration<double, std::milli> taken = Clock::now() - start;
    best = std::min(best, taken.count());
    all += taken.count();
  }
  return best;
}

int main() {
  const NoGrad no_grad;
  Rng rng(1);
  const Linear in(kWidth, 3 * kWidth, rng), out(kWidth, kWidth, rng),
      pointwise(kWidth, kWidth, rng);

  fmt::print("self-attention {} wide, 1 head: millions of multiplications\n", kWidth);
  fmt::print("rows n   4 projections 4nd^2   scores and sum 2n^2d     measured ms\n");
  for (const size_t n : {16, 32, 64, 128, 256, 512, 1024}) {
    const Tensor x = random(n, 0), q = random(n, 1), k = random(n, 2), v = random(n, 3);
    const double projections = milliseconds([&] { in(x), out(x); });
    const double exchange = milliseconds([&] { attention(q, k, v); });
    fmt::print("{:6} {:18.2f} {:22.2f}        ~{:.3f}   ~{:.3f}\n", n,
               4e-6 * static_cast<double>(n * kWidth * kWidth),
               2e-6 * static_cast<double>(n * n * kWidth), projections, exchange);
  }
  fmt::print("on paper they are equal at n = 2d = {}\n\n", 2 * kWidth);

  fmt::print("a separable convolution of kernel n, attention with one linear layer for each row\n");
  fmt::print("rows n   n^2d + nd^2   2n^2d + nd^2     measured ms\n");
  for (const size_t n : {15, 31, 63, 127, 255, 511}) {
    const Packing packing = Packing::even(1, n);
    const Tensor x = random(n, 0);
    const SeparableConv1d conv(
        {.in = kWidth, .out = kWidth, .kernel = n, .padding = ConvPadding::kSame}, rng);
    const double convolved = milliseconds([&] { conv(x, packing); });
    const double attended = milliseconds([&] { pointwise(attention(x, x, x).output); });
    const auto rows = static_cast<double>(n), width = static_cast<double>(kWidth);
    fmt::print("{:6} {:13.2f} {:14.2f}        ~{:.3f}   ~{:.3f}\n", n,
               1e-6 * (rows * rows * width + rows * width * width),
               1e-6 * (2 * rows * rows * width + rows * width * width), convolved, attended);
  }
}

// Prints, numbers within 1 %:
// self-attention 64 wide, 1 head: millions of multiplications
// rows n   4 projections 4nd^2   scores and sum 2n^2d     measured ms
//     16               0.26                   0.03        ~0.007   ~0.004
//     32               0.52                   0.13        ~0.011   ~0.006
//     64               1.05                   0.52        ~0.021   ~0.015
//    128               2.10                   2.10        ~0.040   ~0.051
//    256               4.19                   8.39        ~0.079   ~0.186
//    512               8.39                  33.55        ~0.156   ~0.723
//   1024              16.78                 134.22        ~0.313   ~3.280
// on paper they are equal at n = 2d = 128
//
// a separable convolution of kernel n, attention with one linear layer for each row
// rows n   n^2d + nd^2   2n^2d + nd^2     measured ms
//     15          0.08           0.09        ~0.008   ~0.005
//     31          0.19           0.25        ~0.014   ~0.009
//     63          0.51           0.77        ~0.035   ~0.021
//    127          1.55           2.58        ~0.123   ~0.063
//    255          5.21           9.37        ~0.546   ~0.208
//    511         18.80          35.52        ~2.115   ~0.771
