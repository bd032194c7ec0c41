#include "attend/attention/intervention.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "attend/ops/elementwise.h"

namespace attend {
namespace {

thread_local Intervention* active_intervention = nullptr;

bool is_of(const HeadsOf& heads, const HeadCall& call) {
  return heads.layer == call.layer && (!heads.head || *heads.head == call.head);
}

// Where a query or a key is among the rows or columns of a call; none where it is not among them.
std::optional<size_t> place_in(size_t number, size_t first, size_t count) {
  if (number < first || number - first >= count) return std::nullopt;
  return number - first;
}

}  // namespace

Intervention::Intervention() : before_(active_intervention) { active_intervention = this; }

Intervention::~Intervention() { active_intervention = before_; }

Intervention& Intervention::knock_out(HeadsOf heads) {
  knocked_out_.push_back(std::move(heads));
  return *this;
}

Intervention& Intervention::mask(HeadsOf heads, size_t query, size_t key) {
  masked_.push_back({std::move(heads), query, key});
  return *this;
}

Intervention& Intervention::replace_row(HeadsOf heads, size_t query, std::vector<float> weights) {
  replaced_.push_back({std::move(heads), query, std::move(weights)});
  return *this;
}

std::vector<HeadsOf> Intervention::heads() const {
  std::vector<HeadsOf> all = knocked_out_;
  for (const Pair& pair : masked_) all.push_back(pair.heads);
  for (const Row& row : replaced_) all.push_back(row.heads);
  return all;
}

bool Intervention::changes(const std::string& layer) const {
  const auto names = [&](const HeadsOf& heads) { return heads.layer == layer; };
  return std::ranges::any_of(knocked_out_, names) ||
         std::ranges::any_of(masked_, names, &Pair::heads) ||
         std::ranges::any_of(replaced_, names, &Row::heads);
}

Tensor Intervention::scores(const HeadCall& call, const Tensor& scores) const {
  Tensor seen;  // int32, 0 where a pair is masked
  for (const Pair& pair : masked_) {
    const auto row = place_in(pair.query, call.first_query, scores.rows());
    const auto column = place_in(pair.key, call.first_key, scores.width());
    if (!is_of(pair.heads, call) || !row || !column) continue;
    if (!seen.defined()) {
      seen = Tensor::ids(std::vector<int32_t>(scores.size(), 1), scores.shape());
    }
    seen.indices()[*row * scores.width() + *column] = 0;
  }
  if (!seen.defined()) return scores;
  return where(seen, scores, Tensor::full(scores.shape(), -std::numeric_limits<float>::infinity()));
}

Tensor Intervention::weights(const HeadCall& call, const Tensor& weights) const {
  const auto is_meant = [&](const HeadsOf& heads) { return is_of(heads, call); };
  if (std::ranges::any_of(knocked_out_, is_meant)) return Tensor::zeros(weights.shape());
  Tensor kept, put;
  for (const Row& row : replaced_) {
    const auto place = place_in(row.query, call.first_query, weights.rows());
    if (!is_meant(row.heads) || !place) continue;
    if (!kept.defined()) {
      kept = Tensor::ids(std::vector<int32_t>(weights.size(), 1), weights.shape());
      put = Tensor::zeros(weights.shape());
    }
    const size_t width = weights.width();
    for (size_t j = 0; j < width; ++j) {
      const size_t key = call.first_key + j;
      kept.indices()[*place * width + j] = 0;
      put.data()[*place * width + j] = key < row.weights.size() ? row.weights[key] : 0.0f;
    }
  }
  return kept.defined() ? where(kept, weights, put) : weights;
}

const Intervention* current_intervention() { return active_intervention; }

const Intervention* intervention_in(const std::string& layer) {
  return active_intervention != nullptr && active_intervention->changes(layer) ? active_intervention
                                                                               : nullptr;
}

}  // namespace attend
