#include "attend/ops/crf.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/kernels/chain.h"
#include "attend/ops/crf_chain.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

void check_crf(const Tensor& emissions, const Packing& packing, const CrfWeights& weights) {
  const size_t tags = emissions.rank() == 2 ? emissions.width() : 0;
  if (tags > 0 && emissions.rows() == packing.rows() && weights.start.shape() == Shape{tags} &&
      weights.end.shape() == Shape{tags} && weights.transitions.shape() == Shape{tags, tags}) {
    return;
  }
  throw ShapeError(
      "crf: emissions {} do not fit sequences of {} rows, transitions {}, start {} and end {}",
      emissions.shape(), packing.rows(), weights.transitions.shape(), weights.start.shape(),
      weights.end.shape());
}

void check_gold(const Tensor& gold, const Packing& packing, size_t tags) {
  if (gold.dtype() != DType::kInt32 || gold.size() != packing.rows()) {
    throw ShapeError("crf: {} rows need as many int32 tags, not {}", packing.rows(), gold.shape());
  }
  for (size_t i = 0; i < gold.size(); ++i) {
    const int32_t tag = gold.indices()[i];
    if (tag == kIgnoredTarget || (tag >= 0 && static_cast<size_t>(tag) < tags)) continue;
    throw DataError("crf: tag {} of row {} is not one of {} tags", tag, i, tags);
  }
}

// The emissions of a sequence as doubles.
std::vector<double> emissions_of(const Tensor& emissions, const Packing& packing, size_t sequence) {
  std::vector<double> found;
  found.reserve(packing.length(sequence) * emissions.width());
  for (size_t row = packing.begin(sequence); row < packing.end(sequence); ++row) {
    const float* const values = emissions.data() + row * emissions.stride();
    found.insert(found.end(), values, values + emissions.width());
  }
  return found;
}

// Calls body(sequence, chunk) for all sequences that are not empty. There are at most kCrfChunks,
// in each of which sequences follow one another.
constexpr size_t kCrfChunks = 16;
template <typename Body>
void for_each_sequence(const Packing& packing, const Body& body) {
  const size_t grain = chunk_count(packing.count(), kCrfChunks);
  parallel_for(packing.count(), grain, [&](size_t begin, size_t end) {
    for (size_t s = begin; s < end; ++s) {
      if (packing.length(s) > 0) body(s, begin / grain);
    }
  });
}

// Gold tags of one sequence.
using GoldTags = std::span<const int32_t>;

bool all_known(GoldTags gold) { return std::ranges::count(gold, kIgnoredTarget) == 0; }

// Only the gold tags are left where they are known.
std::vector<double> known_emissions(std::vector<double> emissions, GoldTags gold, size_t tags) {
  for (size_t t = 0; t < gold.size(); ++t) {
    if (gold[t] == kIgnoredTarget) continue;
    const size_t tag = t * tags + static_cast<size_t>(gold[t]);
    const double kept = emissions[tag];
    std::fill_n(emissions.begin() + static_cast<ptrdiff_t>(t * tags), tags, kCrfImpossible);
    emissions[tag] = kept;
  }
  return emissions;
}

// The score of tags that are all known.
double path_score(const CrfChain& chain, const std::vector<double>& emissions, GoldTags gold) {
  double score =
      chain.start(static_cast<size_t>(gold.front())) + chain.end(static_cast<size_t>(gold.back()));
  for (size_t t = 0; t < gold.size(); ++t) {
    const auto tag = static_cast<size_t>(gold[t]);
    score += emissions[t * chain.tags() + tag];
    if (t > 0) score += chain.transition(static_cast<size_t>(gold[t - 1]), tag);
  }
  return score;
}

void count_path(GoldTags gold, double weight, size_t tags, double* places, CrfCounts& counts) {
  counts.start[static_cast<size_t>(gold.front())] += weight;
  counts.end[static_cast<size_t>(gold.back())] += weight;
  for (size_t t = 0; t < gold.size(); ++t) {
    const auto tag = static_cast<size_t>(gold[t]);
    places[t * tags + tag] += weight;
    if (t > 0) counts.transitions[static_cast<size_t>(gold[t - 1]) * tags + tag] += weight;
  }
}

// Writes or adds values to the rows of a gradient from row `begin` on.
void give(const Gradient& gradient, size_t begin, const std::vector<double>& values) {
  const size_t width = gradient.tensor.width();
  for (size_t i = 0; i < values.size(); ++i) {
    float& to = gradient.data()[(begin + i / width) * gradient.tensor.stride() + i % width];
    to = (gradient.add ? to : 0.0f) + static_cast<float>(values[i]);
  }
}

}  // namespace

Tensor crf_log_likelihood(const Tensor& emissions, const Packing& packing, const Tensor& gold,
                          const CrfWeights& weights) {
  check_crf(emissions, packing, weights);
  check_gold(gold, packing, emissions.width());
  const auto gold_of = [gold, packing](size_t s) {
    return GoldTags(gold.indices() + packing.begin(s), packing.length(s));
  };
  const Tensor y = Tensor::zeros({packing.count()});
  {
    const CrfChain chain(weights);
    for_each_sequence(packing, [&](size_t s, size_t /*chunk*/) {
      const std::vector<double> scores = emissions_of(emissions, packing, s);
      const GoldTags tags = gold_of(s);
      std::vector<double> alpha(scores.size());
      const double known = all_known(tags)
                               ? path_score(chain, scores, tags)
                               : chain.forward(known_emissions(scores, tags, chain.tags()).data(),
                                               tags.size(), alpha.data());
      if (known == kCrfImpossible) {
        throw DataError(
            "crf: the tags of sequence {} are impossible: they need a start, a step or "
            "an end of weight -infinity",
            s);
      }
      y.data()[s] =
          static_cast<float>(known - chain.forward(scores.data(), tags.size(), alpha.data()));
    });
  }

  // Of each weight: how often the gold tags use it, less how often all tag sequences do, on
  // average.
  return record(
      y, {emissions, weights.transitions, weights.start, weights.end},
      [=](const Tensor& dy, Grads& grads) {
        const CrfChain chain(weights);
        const size_t tags = chain.tags();
        std::vector<CrfCounts> counts(std::min(kCrfChunks, packing.count()), CrfCounts(tags));
        std::vector<std::vector<double>> places(packing.count());
        for_each_sequence(packing, [&](size_t s, size_t chunk) {
          const std::vector<double> scores = emissions_of(emissions, packing, s);
          const GoldTags known = gold_of(s);
          const double weight = double{dy.data()[s]};
          places[s].resize(scores.size());
          if (all_known(known)) {
            count_path(known, weight, tags, places[s].data(), counts[chunk]);
          } else {
            chain.count(known_emissions(scores, known, tags).data(), known.size(), weight,
                        places[s].data(), counts[chunk]);
          }
          chain.count(scores.data(), known.size(), -weight, places[s].data(), counts[chunk]);
        });
        CrfCounts sum(tags);
        for (const CrfCounts& part : counts) {
          const auto add = [](std::vector<double>& to, const std::vector<double>& from) {
            for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
          };
          add(sum.transitions, part.transitions);
          add(sum.products, part.products);
          add(sum.start, part.start);
          add(sum.end, part.end);
        }
        if (grads.wants(emissions)) {
          const Gradient gradient = grads.of(emissions);
          for (size_t s = 0; s < places.size(); ++s) give(gradient, packing.begin(s), places[s]);
        }
        if (grads.wants(weights.transitions)) {
          give(grads.of(weights.transitions), 0, chain.transition_counts(sum));
        }
        if (grads.wants(weights.start)) give(grads.of(weights.start), 0, sum.start);
        if (grads.wants(weights.end)) give(grads.of(weights.end), 0, sum.end);
      });
}

CrfPaths crf_best_paths(const Tensor& emissions, const Packing& packing,
                        const CrfWeights& weights) {
  check_crf(emissions, packing, weights);
  const CrfChain chain(weights);
  const size_t tags = chain.tags(), padded = chain.padded();
  CrfPaths paths{std::vector<int32_t>(packing.rows()), std::vector<double>(packing.count())};
  for_each_sequence(packing, [&](size_t s, size_t /*chunk*/) {
    const std::vector<double> scores = emissions_of(emissions, packing, s);
    const size_t length = packing.length(s);
    std::vector<double> best(padded), before(padded);
    std::vector<int32_t> came_from(length * padded);  // the tag before, of the best beginning
    for (size_t j = 0; j < tags; ++j) best[j] = chain.start(j) + scores[j];
    for (size_t t = 1; t < length; ++t) {
      std::swap(best, before);
      chain.best_steps(before.data(), best.data(), came_from.data() + t * padded);
      for (size_t j = 0; j < tags; ++j) best[j] += scores[t * tags + j];
    }
    best.resize(tags);
    for (size_t j = 0; j < tags; ++j) best[j] += chain.end(j);
    auto tag = static_cast<int32_t>(std::ranges::max_element(best) - best.begin());
    paths.scores[s] = best[static_cast<size_t>(tag)];
    for (size_t t = length; t-- > 0;) {
      paths.tags[packing.begin(s) + t] = tag;
      tag = came_from[t * padded + static_cast<size_t>(tag)];
    }
  });
  return paths;
}

Tensor crf_marginals(const Tensor& emissions, const Packing& packing, const CrfWeights& weights) {
  check_crf(emissions, packing, weights);
  const CrfChain chain(weights);
  const Tensor y = Tensor::empty(emissions.shape());
  for_each_sequence(packing, [&](size_t s, size_t /*chunk*/) {
    const std::vector<double> scores = emissions_of(emissions, packing, s);
    const size_t length = packing.length(s);
    std::vector<double> alpha(scores.size()), beta(scores.size());
    const double all = chain.forward(scores.data(), length, alpha.data());
    chain.backward(scores.data(), length, beta.data());
    float* const to = y.data() + packing.begin(s) * chain.tags();
    if (all == kCrfImpossible) {
      std::fill_n(to, scores.size(), 0.0f);
      return;
    }
    for (size_t i = 0; i < scores.size(); ++i) alpha[i] += beta[i];
    kernels::powers_of(alpha.data(), all, alpha.size(), alpha.data());
    for (size_t i = 0; i < scores.size(); ++i) to[i] = static_cast<float>(alpha[i]);
  });
  return y;
}

}  // namespace attend
