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

// Of each parameter: a tensor, or rows, or neither.
struct GradientSet {
  std::vector<Tensor> whole;
  std::vector<RowGradient> rows;
};

// Takes the gradients out of the parameters.
GradientSet take(std::span<const NamedTensor> parameters) {
  GradientSet taken;
  for (const NamedTensor& p : parameters) {
    taken.rows.push_back(row_gradient(p.tensor));
    taken.whole.push_back(taken.rows.back().defined() ? Tensor() : p.tensor.grad());
    p.tensor.clear_grad();
  }
  return taken;
}

// Into the memory of the first.
GradientSet sum_of(GradientSet first, const GradientSet& second) {
  for (size_t i = 0; i < first.whole.size(); ++i) {
    Tensor& sum = first.whole[i];
    const Tensor& other = second.whole[i];
    if (!sum.defined() && !other.defined()) {
      first.rows[i] = joined(first.rows[i], second.rows[i]);
      continue;
    }
    if (!sum.defined()) {
      sum = other;
      if (first.rows[i].defined()) add_rows(std::exchange(first.rows[i], {}), sum);
    } else if (other.defined()) {
      kernels::add(sum.data(), other.data(), sum.data(), sum.size());
    }
    if (second.rows[i].defined()) add_rows(second.rows[i], sum);
  }
  return first;
}

void scale_all(GradientSet& set, float factor) {
  for (const Tensor& g : set.whole) {
    if (g.defined()) kernels::scale(factor, g.data(), g.data(), g.size());
  }
  for (RowGradient& g : set.rows) {
    if (!g.defined()) continue;
    const Tensor scaled = Tensor::empty(g.values.shape());
    for (size_t i = 0; i < g.values.rows(); ++i) {
      kernels::scale(factor, g.values.data() + i * g.values.stride(),
                     scaled.data() + i * scaled.stride(), scaled.width());
    }
    g.values = scaled;
  }
}

}  // namespace

Rng UpdateNumber::dropout(size_t shard) const {
  return Rng(seed + 1, (update * shards + shard) << 24);
}

// Far from the streams that dropout counts up.
RandomStream UpdateNumber::objective(size_t shard) const {
  return {seed + 1, (uint64_t{1} << 62) | (update * shards + shard)};
}

void add_parts(const Loss& loss, std::vector<LossPart>& parts) {
  for (const LossTerm& term : loss.parts) {
    auto known = std::ranges::find(parts, term.name, &LossPart::name);
    if (known == parts.end()) known = parts.insert(known, {term.name});
    known->sum += double{term.tensor.item()};
    known->labels += term.labels;
  }
}

UpdateGradients update_gradients(std::span<const NamedTensor> parameters,
                                 const UpdateNumber& number,
                                 const std::function<Loss(size_t shard)>& loss) {
  if (!std::has_single_bit(number.shards)) {
    throw ConfigError("train: {} shards; their number must be a power of two", number.shards);
  }
  UpdateGradients update;
  std::vector<GradientSet> sums;  // of 2^level shards each
  bool summed = false;
  for (size_t shard = 0; shard < number.shards; ++shard) {
    const TrainingScope training(number.dropout(shard));
    const Loss part = loss(shard);
    update.loss += double{part.sum.item()};
    update.count += part.count;
    summed = part.summed;
    add_parts(part, update.parts);
    // One shard knows the number of labels before its gradients, which saves a pass over them.
    const bool alone = number.shards == 1 && part.count > 0 && !summed;
    const Tensor sum = alone ? scale(part.sum, 1.0f / static_cast<float>(part.count)) : part.sum;
    if (sum.needs_grad()) backward(sum);
    GradientSet gradients = take(parameters);
    for (size_t done = shard; done % 2 == 1; done /= 2) {
      gradients = sum_of(std::move(sums.back()), gradients);
      sums.pop_back();
    }
    sums.push_back(std::move(gradients));
  }
  if (number.shards > 1 && update.count > 0 && !summed) {
    scale_all(sums.front(), 1.0f / static_cast<float>(update.count));
  }
  update.gradients = std::move(sums.front().whole);
  update.rows = std::move(sums.front().rows);
  return update;
}

}  // namespace attend
