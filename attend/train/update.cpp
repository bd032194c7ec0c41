#include "attend/train/update.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "attend/base/error.h"
#include "attend/kernels/elementwise.h"
#include "attend/ops/elementwise.h"
#include "attend/tensor/tape.h"
#include "attend/tensor/training.h"

namespace attend {
namespace {

using GradientSet = std::vector<Tensor>;

// Takes the gradients out of the parameters.
GradientSet take(std::span<const NamedTensor> parameters) {
  GradientSet taken;
  taken.reserve(parameters.size());
  for (const NamedTensor& p : parameters) {
    taken.push_back(p.tensor.grad());
    p.tensor.clear_grad();
  }
  return taken;
}

// Into the memory of the first.
GradientSet sum_of(GradientSet first, const GradientSet& second) {
  for (size_t i = 0; i < first.size(); ++i) {
    if (!second[i].defined()) continue;
    if (!first[i].defined()) {
      first[i] = second[i];
    } else {
      kernels::add(first[i].data(), second[i].data(), first[i].data(), first[i].size());
    }
  }
  return first;
}

}  // namespace

Rng UpdateNumber::dropout(size_t shard) const {
  return Rng(seed + 1, (update * shards + shard) << 24);
}

// Far from the streams that dropout counts up.
RandomStream UpdateNumber::objective(size_t shard) const {
  return {seed + 1, (uint64_t{1} << 62) | (update * shards + shard)};
}

UpdateGradients update_gradients(std::span<const NamedTensor> parameters,
                                 const UpdateNumber& number,
                                 const std::function<Loss(size_t shard)>& loss) {
  if (!std::has_single_bit(number.shards)) {
    throw ConfigError("train: {} shards; their number must be a power of two", number.shards);
  }
  UpdateGradients update;
  std::vector<GradientSet> sums;  // of 2^level shards each
  for (size_t shard = 0; shard < number.shards; ++shard) {
    const TrainingScope training(number.dropout(shard));
    const Loss part = loss(shard);
    update.loss += double{part.sum.item()};
    update.count += part.count;
    for (const NamedTensor& p : part.parts) {
      auto known = std::ranges::find(update.parts, p.name, &LossPart::name);
      if (known == update.parts.end()) known = update.parts.insert(known, {p.name, 0});
      known->sum += double{p.tensor.item()};
    }
    // One shard knows the number of labels before its gradients, which saves a pass over them.
    const bool alone = number.shards == 1 && part.count > 0;
    const Tensor sum = alone ? scale(part.sum, 1.0f / static_cast<float>(part.count)) : part.sum;
    if (sum.needs_grad()) backward(sum);
    GradientSet gradients = take(parameters);
    for (size_t done = shard; done % 2 == 1; done /= 2) {
      gradients = sum_of(std::move(sums.back()), gradients);
      sums.pop_back();
    }
    sums.push_back(std::move(gradients));
  }
  update.gradients = std::move(sums.front());
  if (number.shards > 1 && update.count > 0) {
    const float factor = 1.0f / static_cast<float>(update.count);
    for (const Tensor& g : update.gradients) {
      if (g.defined()) kernels::scale(factor, g.data(), g.data(), g.size());
    }
  }
  return update;
}

}  // namespace attend
