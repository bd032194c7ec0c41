// The plain twin of attention: each score, mask, bias and position as its paper defines it, one
// pair of a query and a key at a time, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>

#include "attend/attention/attention.h"
#include "attend/attention/bias.h"
#include "tests/plain/linear.h"
#include "tests/plain/plain.h"
#include "tests/plain/weightings.h"

namespace attend::plain {

// T5's bias, as it is learned rather than as the op takes it.
struct LearnedBuckets {
  Tensor table;  // [buckets, heads]
  T5Buckets buckets;
};

struct AttentionCall {
  Tensor q, k, v;
  AttentionOptions options;  // without dropout
  std::optional<LearnedBuckets> t5 = {};
};

class Attention {
 public:
  explicit Attention(AttentionCall call) : call_(std::move(call)) {}
  Attention(const Attention&) = delete;
  Attention& operator=(const Attention&) = delete;

  // The values that stand for a tensor of the call, to be changed at will.
  Plain& operator[](const Tensor& x) {
    const auto found = values_.find(x.data());
    return found != values_.end() ? found->second : values_.emplace(x.data(), x).first->second;
  }

  // [q rows, heads x value width], and beside it the log-probabilities [q rows, heads] of samples.
  Plain output() {
    prepare();
    const size_t columns = o_.heads * value_width_;
    const bool sampled = o_.weighting == Weighting::kHardSample;
    Plain y(Shape{queries_.rows(), columns + (sampled ? o_.heads : 0)});
    for (size_t s = 0; s < queries_.count(); ++s) {
      for (size_t h = 0; h < o_.heads; ++h) {
        const Plain scores = all_scores(s, h);
        const Plain weights = weigh(scores, weighting(s, h));
        for (size_t i = 0; i < weights.rows(); ++i) {
          const size_t row = queries_.begin(s) + i;
          for (size_t c = 0; c < value_width_; ++c) {
            y(row, h * value_width_ + c) = sum_of_values({s, h, i, 0}, weights, c);
          }
          if (sampled) y(row, columns + h) = log_probability(scores, weights, i);
        }
      }
    }
    return y;
  }

  // The rows that some pair reads: queries that may look at a key, and keys that a query may look
  // at, in any head.
  struct ReadRows {
    std::vector<bool> queries, keys;
  };
  ReadRows read_rows() {
    prepare();
    ReadRows read{std::vector<bool>(queries_.rows()), std::vector<bool>(keys_.rows())};
    for (size_t s = 0; s < queries_.count(); ++s) {
      for (size_t h = 0; h < o_.heads; ++h) {
        for (size_t i = 0; i < queries_.length(s); ++i) {
          for (size_t j = 0; j < key_count(s); ++j) {
            const Pair pair{s, h, i, j};
            if (!allowed(pair)) continue;
            read.queries[row_of_query(pair)] = read.keys[row_of_key(pair)] = true;
          }
        }
      }
    }
    return read;
  }

 private:
  struct Pair {
    size_t s, h, i, j;  // sequence, head, and the query and the key within it
  };

  // What depends on rows alone.
  void prepare() {
    Plain &q = (*this)[call_.q], &k = (*this)[call_.k];
    queries_ = o_.queries.value_or(Packing::even(1, q.rows()));
    keys_ = o_.keys.value_or(Packing::even(1, k.rows()));
    kv_heads_ = o_.kv_heads == 0 ? o_.heads : o_.kv_heads;
    value_width_ = call_.v.width() / kv_heads_;
    const ScoreWeights& w = o_.score_weights;
    q_ = w.query.defined() ? columns_times(q, w.query, 0) : q;
    k_ = w.key.defined() ? columns_times(k, w.key, 0) : k;
    if (o_.score == Score::kConcat) k_ = columns_times(k, w.query, q.width());
    if (w.location.defined()) {
      k_ = zip(k_, linear((*this)[w.location_inputs], (*this)[w.location], nullptr), std::plus{});
    }
    width_ = q_.width() / o_.heads;
  }

  // x W^T with the columns of W that begin at `first`.
  Plain columns_times(const Plain& x, const Tensor& weight, size_t first) {
    const Plain& w = (*this)[weight];
    Plain y(Shape{x.rows(), w.rows()});
    for (size_t i = 0; i < y.rows(); ++i) {
      for (size_t o = 0; o < y.width(); ++o) {
        for (size_t c = 0; c < x.width(); ++c) y(i, o) += x(i, c) * w(o, first + c);
      }
    }
    return y;
  }

  size_t key_count(size_t s) const {
    return o_.key_lengths.empty() ? keys_.length(s) : static_cast<size_t>(o_.key_lengths[s]);
  }
  size_t row_of_query(const Pair& p) const { return queries_.begin(p.s) + p.i; }
  size_t row_of_key(const Pair& p) const { return keys_.begin(p.s) + p.j; }
  size_t key_head(const Pair& p) const { return p.h / (o_.heads / kv_heads_); }
  double q(const Pair& p, size_t c) const { return q_(row_of_query(p), p.h * width_ + c); }
  double k(const Pair& p, size_t c) const { return k_(row_of_key(p), key_head(p) * width_ + c); }

  // Sum of f(c) over the columns of a head.
  template <typename F>
  double sum(F&& f) const {
    double total = 0.0;
    for (size_t c = 0; c < width_; ++c) total += f(c);
    return total;
  }

  double dot(const Pair& p) {
    return sum([&](size_t c) { return q(p, c) * (k(p, c) + shaw(o_.shaw.keys, p, c)); });
  }

  double compared(const Pair& p) {
    const double scale = o_.scale.value_or(1.0f);
    switch (o_.score) {
      case Score::kDot:
      case Score::kGeneral:
        return scale * dot(p);
      case Score::kScaledDot:
        return o_.scale ? scale * dot(p) : dot(p) / std::sqrt(static_cast<double>(width_));
      case Score::kCosine:
        return scale * dot(p) /
               std::sqrt(sum([&](size_t c) { return q(p, c) * q(p, c); }) *
                         sum([&](size_t c) { return k(p, c) * k(p, c); }));
      case Score::kDistance:
        return -scale * sum([&](size_t c) { return std::pow(q(p, c) - k(p, c), 2); });
      case Score::kAdditive:
      case Score::kConcat: {
        const Plain& v = (*this)[o_.score_weights.vector];
        return scale * sum([&](size_t c) {
                 return v.values[p.h * width_ + c] * std::tanh(q(p, c) + k(p, c));
               });
      }
      case Score::kLocation:
        return scale * q(p, p.j);
    }
    throw std::logic_error("a score without a plain twin");
  }

  // Key minus query, where the last query stands at the last key unless an offset says otherwise.
  int64_t distance(const Pair& p) const {
    const auto query = static_cast<int64_t>(p.i), key = static_cast<int64_t>(p.j);
    const auto last_key = static_cast<int64_t>(key_count(p.s)),
               last_query = static_cast<int64_t>(queries_.length(p.s));
    const std::vector<int64_t>& offsets = o_.mask.q_offset;
    const int64_t first = offsets.empty()       ? last_key - last_query
                          : offsets.size() == 1 ? offsets[0]
                                                : offsets[p.s];
    return key - (query + first);
  }

  double shaw(const Tensor& vectors, const Pair& p, size_t c) {
    if (!vectors.defined()) return 0.0;
    const auto farthest = static_cast<int64_t>(vectors.rows() / 2);
    const int64_t place = std::clamp(distance(p), -farthest, farthest) + farthest;
    return (*this)[vectors](static_cast<size_t>(place), c);
  }

  double distance_bias(const Pair& p) {
    if (call_.t5) return (*this)[call_.t5->table](call_.t5->buckets.of(distance(p)), p.h);
    if (!o_.relative.values.defined()) return 0.0;
    const int64_t place = static_cast<int64_t>(o_.relative.zero) + distance(p);
    return (*this)[o_.relative.values](p.h, static_cast<size_t>(place));
  }

  // Where a table of pairs has this one; an extent of 1 is one for all.
  static size_t place_in(const Shape& shape, const Pair& p) {
    const size_t heads = shape.rank() > 2 ? shape[-3] : 1;
    const size_t sequences = shape.rank() > 3 ? shape[-4] : 1;
    const size_t matrix = (sequences > 1 ? p.s : 0) * heads + (heads > 1 ? p.h : 0);
    const size_t query = shape[-2] > 1 ? p.i : 0, key = shape[-1] > 1 ? p.j : 0;
    return (matrix * shape[-2] + query) * shape[-1] + key;
  }

  bool allowed(const Pair& p) const {
    const Mask& mask = o_.mask;
    const int64_t ahead = distance(p);
    const size_t prefix = mask.prefix.empty()
                              ? 0
                              : static_cast<size_t>(mask.prefix[mask.prefix.size() == 1 ? 0 : p.s]);
    if (mask.causal && ahead > 0 && p.j >= prefix) return false;
    if (mask.strictly_causal && ahead >= 0 && p.j >= prefix) return false;
    if (mask.left && ahead < -*mask.left) return false;
    if (mask.right && ahead > *mask.right) return false;
    if (!mask.q_documents.empty() &&
        mask.q_documents[row_of_query(p)] != mask.k_documents[row_of_key(p)]) {
      return false;
    }
    return !mask.pairs.defined() || mask.pairs.data()[place_in(mask.pairs.shape(), p)] != 0;
  }

  double score(const Pair& p) {
    double s = compared(p);
    if (o_.softcap != 0.0f) s = o_.softcap * std::tanh(s / o_.softcap);
    s += distance_bias(p);
    if (o_.bias.defined()) s += (*this)[o_.bias].values[place_in(o_.bias.shape(), p)];
    return s / o_.temperature;
  }

  // [queries, keys]; a sink is one more key.
  Plain all_scores(size_t s, size_t h) {
    const size_t keys = key_count(s), sinks = o_.sinks.defined() ? 1 : 0;
    Plain scores(Shape{queries_.length(s), keys + sinks});
    for (size_t i = 0; i < scores.rows(); ++i) {
      for (size_t j = 0; j < keys; ++j) {
        scores(i, j) = allowed({s, h, i, j}) ? score({s, h, i, j}) : kMasked;
      }
      if (sinks > 0) scores(i, keys) = (*this)[o_.sinks].values[h];
    }
    return scores;
  }

  WeightingOptions weighting(size_t s, size_t h) const {
    WeightingOptions options{.weighting = o_.weighting, .top_k = o_.top_k};
    if (o_.random) options.random = *o_.random;
    options.first_row = queries_.begin(s) * o_.heads + h * queries_.length(s);
    return options;
  }

  double sum_of_values(Pair p, const Plain& weights, size_t c) {
    const Plain& v = (*this)[call_.v];
    double total = 0.0;
    for (p.j = 0; p.j < key_count(p.s); ++p.j) {
      const double value = v(row_of_key(p), key_head(p) * value_width_ + c);
      total += weights(p.i, p.j) * (value + shaw(o_.shaw.values, p, c));
    }
    return total;
  }

  static double log_probability(const Plain& scores, const Plain& drawn, size_t i) {
    const Plain p = weigh(scores, {.weighting = Weighting::kSoftmax});
    for (size_t j = 0; j < drawn.width(); ++j) {
      if (drawn(i, j) == 1) return std::log(p(i, j));
    }
    return 0.0;
  }

  AttentionCall call_;
  const AttentionOptions& o_ = call_.options;
  std::map<const float*, Plain> values_;
  Packing queries_, keys_;
  size_t kv_heads_ = 0, width_ = 0, value_width_ = 0;
  Plain q_{Shape{0, 0}}, k_{Shape{0, 0}};  // projected
};

}  // namespace attend::plain
