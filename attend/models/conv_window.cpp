#include "attend/models/conv_window.h"

#include <algorithm>

#include "attend/ops/linear.h"
#include "attend/ops/matrix.h"
#include "attend/ops/shape.h"

namespace attend {

kernels::PackedMatrix packed_taps(const Conv1d& conv) {
  const size_t in = conv.config.in, out = conv.config.out, kernel = conv.config.kernel;
  const Tensor arranged = permute(conv.weight.detach(), {0, 2, 1}).reshape({out, kernel * in});
  return {kernel * in, out, matrix(arranged, true)};
}

ConvWindow::ConvWindow(const Conv1d& conv, kernels::PackedMatrix taps)
    : kernel_(conv.config.kernel),
      dilation_(conv.config.dilation),
      width_(conv.config.in),
      reach_((conv.config.kernel - 1) * conv.config.dilation),
      taps_(std::move(taps)),
      bias_(conv.bias.defined() ? conv.bias.detach() : Tensor()),
      rows_(Tensor::zeros({0, conv.config.in})) {}

Tensor ConvWindow::advance(const Tensor& x, const Packing& packing) {
  const Tensor seen = Tensor::empty({x.rows(), kernel_ * width_});
  for (size_t i = 0; i < packing.count(); ++i) {
    float* const ring = rows_.data() + i * reach_ * width_;
    size_t& oldest = oldest_[i];
    for (size_t row = packing.begin(i); row < packing.end(i); ++row) {
      const float* const fresh = x.data() + row * x.stride();
      float* to = seen.data() + row * seen.stride();
      for (size_t tap = 0; tap + 1 < kernel_; ++tap, to += width_) {
        const size_t at = oldest + tap * dilation_;
        std::copy_n(ring + (at < reach_ ? at : at - reach_) * width_, width_, to);
      }
      std::copy_n(fresh, width_, to);
      if (reach_ == 0) continue;
      std::copy_n(fresh, width_, ring + oldest * width_);
      oldest = oldest + 1 == reach_ ? 0 : oldest + 1;
    }
  }
  return linear(seen, taps_, bias_);
}

void ConvWindow::admit(size_t hypotheses) {
  rows_ = concat({rows_, Tensor::zeros({hypotheses * reach_, width_})}, 0);
  oldest_.resize(oldest_.size() + hypotheses, 0);
}

void ConvWindow::reorder(std::span<const size_t> parents) {
  bool same = parents.size() == oldest_.size();
  for (size_t i = 0; same && i < parents.size(); ++i) same = parents[i] == i;
  if (same) return;
  const Tensor next = Tensor::empty({parents.size() * reach_, width_});
  std::vector<size_t> oldest(parents.size());
  const size_t size = reach_ * width_;
  for (size_t i = 0; i < parents.size(); ++i) {
    std::copy_n(rows_.data() + parents[i] * size, size, next.data() + i * size);
    oldest[i] = oldest_[parents[i]];
  }
  rows_ = next;
  oldest_ = std::move(oldest);
}

void ConvWindow::clear() {
  std::ranges::fill(rows_.span(), 0.0f);
  std::ranges::fill(oldest_, 0);
}

}  // namespace attend
