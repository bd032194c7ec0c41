#include "attend/ops/crf_chain.h"

#include <algorithm>
#include <cmath>

#include "attend/kernels/chain.h"

namespace attend {
namespace {

// Sums of powers below this have lost digits, and powers above it are near the range of a double.
constexpr double kSmallestSum = 1e-280, kLargestExponent = 600;

std::vector<double> doubles_of(const Tensor& x) {
  const std::vector<float> values = x.to_vector();
  return {values.begin(), values.end()};
}

// e^(x - largest), and the largest.
double powers_of(const double* x, size_t size, double* powers) {
  const double largest = *std::max_element(x, x + size);
  const double offset = largest == kCrfImpossible ? 0 : largest;
  kernels::powers_of(x, offset, size, powers);
  return offset;
}

}  // namespace

double log_sum_exp(const double* x, size_t size) {
  const double largest = *std::max_element(x, x + size);
  if (largest == kCrfImpossible) return kCrfImpossible;
  double sum = 0;
  for (size_t i = 0; i < size; ++i) sum += std::exp(x[i] - largest);
  return largest + std::log(sum);
}

CrfChain::CrfChain(const CrfWeights& weights)
    : tags_(weights.start.size()),
      padded_(kernels::padded_for_chain(tags_)),
      transitions_(doubles_of(weights.transitions)),
      start_(doubles_of(weights.start)),
      end_(doubles_of(weights.end)),
      peaks_(tags_, kCrfImpossible),
      powers_(tags_ * padded_),
      powers_to_(tags_ * padded_),
      steps_(tags_ * padded_) {
  for (size_t i = 0; i < tags_; ++i) {
    for (size_t j = 0; j < tags_; ++j) peaks_[j] = std::max(peaks_[j], transition(i, j));
  }
  for (double& peak : peaks_) peak = peak == kCrfImpossible ? 0 : peak;
  for (size_t i = 0; i < tags_; ++i) {
    for (size_t j = 0; j < tags_; ++j) {
      steps_[i * padded_ + j] = transition(i, j);
      powers_[i * padded_ + j] = powers_to_[j * padded_ + i] =
          std::exp(transition(i, j) - peaks_[j]);
    }
  }
}

// The sums below are products of a vector and the matrix of powers; one whose terms are too small
// for that is added up exactly.
double CrfChain::forward(const double* emissions, size_t length, double* alpha) const {
  std::vector<double> powers(tags_), sums(padded_), logarithms(tags_);
  for (size_t j = 0; j < tags_; ++j) alpha[j] = start_[j] + emissions[j];
  for (size_t t = 1; t < length; ++t) {
    const double* const before = alpha + (t - 1) * tags_;
    double* const now = alpha + t * tags_;
    const double largest = powers_of(before, tags_, powers.data());
    kernels::vector_times_matrix(powers.data(), powers_.data(), tags_, padded_, sums.data());
    kernels::logarithms_of(sums.data(), largest, tags_, logarithms.data());
    for (size_t j = 0; j < tags_; ++j) {
      const double sum = sums[j] > kSmallestSum ? peaks_[j] + logarithms[j] : sum_into(before, j);
      now[j] = sum + emissions[t * tags_ + j];
    }
  }
  std::vector<double>& last = sums;
  for (size_t j = 0; j < tags_; ++j) last[j] = alpha[(length - 1) * tags_ + j] + end_[j];
  return log_sum_exp(last.data(), tags_);
}

void CrfChain::backward(const double* emissions, size_t length, double* beta) const {
  std::vector<double> after(tags_), weighed(tags_), powers(tags_), sums(padded_), logarithms(tags_);
  std::ranges::copy(end_, beta + (length - 1) * tags_);
  for (size_t t = length - 1; t-- > 0;) {
    for (size_t j = 0; j < tags_; ++j) {
      after[j] = emissions[(t + 1) * tags_ + j] + beta[(t + 1) * tags_ + j];
      weighed[j] = after[j] + peaks_[j];
    }
    const double largest = powers_of(weighed.data(), tags_, powers.data());
    kernels::vector_times_matrix(powers.data(), powers_to_.data(), tags_, padded_, sums.data());
    kernels::logarithms_of(sums.data(), largest, tags_, logarithms.data());
    for (size_t i = 0; i < tags_; ++i) {
      beta[t * tags_ + i] = sums[i] > kSmallestSum ? logarithms[i] : sum_from(i, after.data());
    }
  }
}

void CrfChain::count(const double* emissions, size_t length, double weight, double* places,
                     CrfCounts& counts) const {
  std::vector<double> alpha(length * tags_), beta(length * tags_), before(tags_), after(padded_);
  const double all = forward(emissions, length, alpha.data());
  backward(emissions, length, beta.data());
  if (all == kCrfImpossible) return;
  std::vector<double> marginals(length * tags_);
  for (size_t i = 0; i < marginals.size(); ++i) marginals[i] = alpha[i] + beta[i];
  kernels::powers_of(marginals.data(), all, marginals.size(), marginals.data());
  for (size_t i = 0; i < marginals.size(); ++i) places[i] += weight * marginals[i];
  const double* const last = marginals.data() + (length - 1) * tags_;
  for (size_t j = 0; j < tags_; ++j) {
    counts.start[j] += weight * marginals[j];
    counts.end[j] += weight * last[j];
  }
  for (size_t t = 1; t < length; ++t) {
    const double* const from = alpha.data() + (t - 1) * tags_;
    const double* const emitted = emissions + t * tags_;
    const double* const to = beta.data() + t * tags_;
    const double largest = powers_of(from, tags_, before.data());
    bool in_range = true;
    for (size_t j = 0; j < tags_; ++j) {
      after[j] = emitted[j] + to[j] + peaks_[j];
      in_range = in_range && after[j] + largest - all <= kLargestExponent;
    }
    if (in_range) {
      kernels::powers_of(after.data(), all - largest, tags_, after.data());
      for (size_t j = 0; j < tags_; ++j) after[j] *= weight;
      kernels::add_outer_product(before.data(), after.data(), tags_, padded_,
                                 counts.products.data());
      continue;
    }
    for (size_t i = 0; i < tags_; ++i) {
      double* const row = counts.transitions.data() + i * tags_;
      for (size_t j = 0; j < tags_; ++j) {
        row[j] += weight * std::exp(from[i] + transition(i, j) + emitted[j] + to[j] - all);
      }
    }
  }
}

std::vector<double> CrfChain::transition_counts(const CrfCounts& counts) const {
  std::vector<double> found = counts.transitions;
  for (size_t i = 0; i < tags_; ++i) {
    for (size_t j = 0; j < tags_; ++j) {
      const size_t padded = i * padded_ + j;
      found[i * tags_ + j] += counts.products[padded] * powers_[padded];
    }
  }
  return found;
}

void CrfChain::best_steps(const double* before, double* best, int32_t* from) const {
  kernels::largest_sums(before, steps_.data(), tags_, padded_, best, from);
}

double CrfChain::sum_into(const double* before, size_t to) const {
  std::vector<double> terms(tags_);
  for (size_t i = 0; i < tags_; ++i) terms[i] = before[i] + transition(i, to);
  return log_sum_exp(terms.data(), tags_);
}

double CrfChain::sum_from(size_t from, const double* after) const {
  std::vector<double> terms(tags_);
  for (size_t j = 0; j < tags_; ++j) terms[j] = transition(from, j) + after[j];
  return log_sum_exp(terms.data(), tags_);
}

}  // namespace attend
