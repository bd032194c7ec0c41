#include "attend/decode/sampling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attend/base/rng.h"
#include "attend/kernels/softmax.h"
#include "attend/kernels/top_k.h"

namespace attend {
namespace {

// Of more, selecting the likeliest one by one takes longer than putting all in order.
constexpr size_t kMostSelected = 256;

// The number of the one that a share of the mass falls on.
template <typename Mass>
size_t draw(size_t count, double total, double uniform, const Mass& mass) {
  double left = uniform * total;
  size_t last = 0;
  for (size_t i = 0; i < count; ++i) {
    if (mass(i) == 0) continue;
    last = i;
    if (left < mass(i)) break;
    left -= mass(i);
  }
  return last;
}

// How many samples a line has, or what else there is, changes none of its streams.
uint64_t stream_of(size_t line, size_t sample) { return (uint64_t{line} << 32) + sample; }

bool is_filtered(const SearchConfig& config) {
  return config.top_k > 0 || config.top_p < 1.0f || config.min_p > 0.0f || config.typical_p < 1.0f;
}

}  // namespace

size_t sample_candidates(const SearchConfig& config) {
  return config.top_k > 0 && config.top_k <= kMostSelected ? config.top_k : 1;
}

size_t Sampler::operator()(std::span<const float> logits, std::span<const int32_t> likeliest,
                           const SearchConfig& config, double uniform) {
  const auto first = static_cast<size_t>(likeliest.front());
  choices_.clear();
  if (config.top_k > 0 && config.top_k <= kMostSelected) {
    choose_among(logits, likeliest, config);
  } else {
    weigh_all(logits, first, config);
    if (!is_filtered(config)) {
      const double total = std::accumulate(mass_.begin(), mass_.end(), 0.0);
      return draw(mass_.size(), total, uniform, [&](size_t i) { return double{mass_[i]}; });
    }
    choose_among_all(mass_[first], config);
  }
  const size_t place =
      draw(choices_.size(), mass_of(choices_), uniform, [&](size_t i) { return choices_[i].mass; });
  return static_cast<size_t>(choices_[place].token);
}

void Sampler::choose_among(std::span<const float> logits, std::span<const int32_t> likeliest,
                           const SearchConfig& config) {
  const float largest = logits[static_cast<size_t>(likeliest.front())];
  for (const int32_t token : likeliest.first(std::min(config.top_k, likeliest.size()))) {
    if (token < 0) break;
    const float log_mass = (logits[static_cast<size_t>(token)] - largest) / config.temperature;
    choices_.push_back({token, log_mass, std::exp(double{log_mass})});
  }
  filter(choices_, config, mass_of(choices_));
}

void Sampler::weigh_all(std::span<const float> logits, size_t likeliest,
                        const SearchConfig& config) {
  log_mass_.resize(logits.size());
  mass_.resize(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    log_mass_[i] = (logits[i] - logits[likeliest]) / config.temperature;
  }
  kernels::softmax(kernels::dense_rows(log_mass_.data(), 1, logits.size()),
                   kernels::dense_rows(mass_.data(), 1, logits.size()));
}

void Sampler::choose_among_all(float largest, const SearchConfig& config) {
  double total = 1.0;
  if (config.top_k > 0) {
    add_down_to(0.0f);
    keep_top_k(choices_, config.top_k);
    total = mass_of(choices_);
  } else {
    add_what_may_stay(largest, config);
  }
  filter(choices_, config, total);
}

// Those that top-p and min-p may keep are few, mostly: the others need not be looked at again.
void Sampler::add_what_may_stay(float largest, const SearchConfig& config) {
  constexpr double kRounding = 1e-5;
  const float least = config.min_p * largest * 0.999f;
  const float rest = 1.0f - config.top_p;  // what all below rest / vocabulary have less of
  for (float bound = rest / 64; bound > std::max(least, rest / static_cast<float>(mass_.size()));
       bound /= 16) {
    add_down_to(bound);
    if (mass_of(choices_) > double{config.top_p} + kRounding) return;
    choices_.clear();
  }
  add_down_to(least);
}

void Sampler::add_down_to(float least) {
  for (size_t i = 0; i < mass_.size(); ++i) {
    if (mass_[i] >= least && mass_[i] > 0.0f) {
      choices_.push_back({static_cast<int32_t>(i), log_mass_[i], double{mass_[i]}});
    }
  }
}

void Sampler::sample(const Frontier& frontier, const NextTokens& next, LiveRange range,
                     std::vector<Candidate>& chosen) {
  for (size_t i = range.begin; i < range.end; ++i) {
    const Live& live = frontier.live()[i];
    const double before = live.so_far.log_probability;
    if (!next.any(i) || std::isnan(before)) continue;
    const SearchRequest& asked = frontier.request(live.record);
    const std::span<const float> row = next.logits.slice_rows(i, 1).span();
    const std::span<const int32_t> likeliest = std::span(next.ids).subspan(i * next.k, next.k);
    const std::optional<int32_t> forced = frontier.forced(live);
    const bool branches = frontier.at_first_choice(live);
    const size_t first = branches ? 0 : live.sample;
    const size_t end = branches ? asked.config.n_best : live.sample + 1;
    for (size_t number = first; number < end; ++number) {
      const RandomStream random(asked.config.seed, stream_of(asked.line, number));
      const double uniform{random.uniform(live.so_far.tokens.size())};
      const int32_t token =
          forced ? *forced : static_cast<int32_t>((*this)(row, likeliest, asked.config, uniform));
      const float log_probability = next.model_log_probability(i, token);
      chosen.push_back({.parent = i,
                        .token = token,
                        .log_probability = log_probability,
                        .total = before + double{log_probability},
                        .sample = number});
    }
  }
}

size_t sample_token(std::span<const float> logits, const SearchConfig& config, double uniform) {
  const size_t k = std::min(sample_candidates(config), logits.size());
  std::vector<int32_t> ids(k);
  std::vector<float> log_probabilities(k);
  kernels::top_k(kernels::dense_rows(logits.data(), 1, logits.size()), k, ids.data(),
                 log_probabilities.data());
  return Sampler()(logits, ids, config, uniform);
}

}  // namespace attend
