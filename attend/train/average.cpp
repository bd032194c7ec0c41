#include "attend/train/average.h"

#include <algorithm>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/parallel.h"

namespace attend {

MovingAverage::MovingAverage(std::vector<NamedTensor> parameters, double decay)
    : parameters_(std::move(parameters)), decay_(decay) {
  if (!(decay > 0 && decay < 1)) {
    throw ConfigError("moving average: the decay is {}; it must be between 0 and 1, such as 0.999",
                      decay);
  }
  for (const NamedTensor& p : parameters_) {
    mean_.push_back(Tensor::of(p.tensor.span(), p.tensor.shape()));
  }
}

void MovingAverage::update(int64_t step) {
  const auto count = static_cast<double>(step);
  const auto keep = static_cast<float>(std::min(decay_, (1 + count) / (10 + count)));
  for (size_t i = 0; i < mean_.size(); ++i) {
    float* mean = mean_[i].data();
    const float* now = parameters_[i].tensor.data();
    parallel_for(mean_[i].size(), 65536, [=](size_t begin, size_t end) {
      for (size_t j = begin; j < end; ++j) mean[j] += (1 - keep) * (now[j] - mean[j]);
    });
  }
}

void MovingAverage::swap() {
  for (size_t i = 0; i < mean_.size(); ++i) {
    std::ranges::swap_ranges(mean_[i].span(), parameters_[i].tensor.span());
  }
}

std::vector<NamedTensor> MovingAverage::state() const {
  std::vector<NamedTensor> all;
  for (size_t i = 0; i < mean_.size(); ++i) all.push_back({parameters_[i].name, mean_[i]});
  return all;
}

}  // namespace attend
