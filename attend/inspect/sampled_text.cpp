#include "attend/inspect/sampled_text.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/kernels/top_k.h"
#include "attend/tensor/tape.h"

namespace attend {

SampledText::SampledText(const TextModel& model, const Trace& trace, SampledTextOptions options)
    : generator_(model.generator()), options_(std::move(options)) {
  const SearchRuntime runtime = search_runtime(model);
  special_ = runtime.special;
  // The start has the first position.
  if (runtime.positions) {
    options_.most = std::min(options_.most, std::max<size_t>(*runtime.positions, 2) - 1);
  }
  if (runtime.joint_positions) {
    const size_t read = inputs_of(trace).rows() + 1, all = *runtime.joint_positions;
    options_.most = std::min(options_.most, std::max<size_t>(all - std::min(all, read), 1));
  }
  if (!(options_.temperature > 0.0f) || !std::isfinite(options_.temperature)) {
    throw ConfigError("sampling: temperature is {}; it should be a finite number above 0",
                      options_.temperature);
  }
  tree_ = std::make_shared<BeamTree>(options_.candidates, special_.end);
  state_ = generator_.start(inputs_of(trace));
}

bool SampledText::step() {
  if (ended_ || tokens_.size() >= options_.most) return false;
  const Tensor logits = logits_of_next();
  const size_t place = tokens_.size();
  const bool given = place < options_.beginning.size();
  add(logits, given ? options_.beginning[place] : sampled(logits.span()));
  return true;
}

std::optional<int32_t> SampledText::next() {
  if (ended_) return std::nullopt;
  return sampled(logits_of_next().span());
}

Tensor SampledText::logits_of_next() {
  const NoGrad no_grad;
  const int32_t last = tokens_.empty() ? special_.start : tokens_.back();
  return generator_.step(*state_, {&last, 1});
}

int32_t SampledText::sampled(std::span<const float> logits) const {
  const auto may_follow = [&](size_t id) {
    const auto token = static_cast<int32_t>(id);
    return (!special_.has(token) || token == special_.end) && std::isfinite(logits[id]);
  };
  double largest = -INFINITY, sum = 0;
  for (size_t id = 0; id < logits.size(); ++id) {
    if (may_follow(id)) largest = std::max(largest, double{logits[id]});
  }
  std::vector<double> shares(logits.size(), 0.0);
  for (size_t id = 0; id < logits.size(); ++id) {
    if (may_follow(id)) {
      shares[id] = std::exp((double{logits[id]} - largest) / double{options_.temperature});
    }
    sum += shares[id];
  }
  if (!(sum > 0))
    throw DataError("sampling: the model gives no numbers; its weights are not finite");
  double left = double{RandomStream(options_.seed, 0).uniform(tokens_.size())} * sum;
  size_t chosen = 0;
  for (size_t id = 0; id < shares.size(); ++id) {
    if (shares[id] == 0.0) continue;
    chosen = id;
    left -= shares[id];
    if (left < 0) break;
  }
  return static_cast<int32_t>(chosen);
}

void SampledText::add(const Tensor& logits, int32_t token) {
  const size_t count = std::min(options_.candidates, logits.width());
  std::vector<int32_t> ids(count);
  std::vector<float> log_probabilities(count);
  kernels::top_k({logits.data(), 1, logits.width(), logits.stride()}, count, ids.data(),
                 log_probabilities.data());
  const float* const row = logits.data();
  const float most = ids[0] < 0 ? 0.0f : row[ids[0]] - log_probabilities[0];  // log sum exp
  const size_t parent = path_.empty() ? 0 : path_.back();
  const auto add_node = [&](int32_t id, float log_probability, bool kept) {
    return tree_->add({parent, id, log_probability, total_ + double{log_probability}, kept});
  };
  first_ = tree_->nodes().size() + 1;
  const float own = row[token] - most;
  path_.push_back(add_node(token, own, true));
  for (size_t i = 0; i < count; ++i) {
    if (ids[i] >= 0 && ids[i] != token) add_node(ids[i], log_probabilities[i], false);
  }
  total_ += double{own};
  ended_ = token == special_.end;
  if (!ended_) tokens_.push_back(token);
}

}  // namespace attend
