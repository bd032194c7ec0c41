// What a head of the op is made of, for a Recorder: rows and terms of the queries that are wanted.
#include <algorithm>

#include "attend/attention/problem.h"

namespace attend {
namespace {

// Rows may be those of a cache, which goes on to change.
Tensor copy_of(const Tensor& x) { return Tensor::of(x.to_vector(), x.shape()); }

class PartsOfHead {
 public:
  PartsOfHead(const AttentionProblem& p, size_t sequence, size_t head, size_t first, size_t count)
      : p_(p),
        s_(sequence),
        h_(head),
        first_(first),
        q_count_(count),
        k_count_(p.key_count(sequence)) {}

  HeadParts all() const {
    const AttentionOptions& o = p_.options;
    const size_t begin = p_.queries.begin(s_) + first_;
    HeadParts parts{.score = o.score,
                    .core = p_.score.core,
                    .weighting = o.weighting,
                    .top_k = o.top_k,
                    .q = block(p_.score.q, begin, q_count_, h_, p_.width())};
    if (p_.score.k.defined()) parts.k = of_keys(p_.score.k, p_.width());
    parts.v = of_keys(p_.v, p_.value_width());
    if (p_.score.vector.defined()) {
      const Tensor vectors = p_.score.vector.reshape({p_.heads, p_.width()});
      parts.vector = copy_of(vectors.slice_rows(h_, 1)).reshape({p_.width()});
    }
    if (o.shaw.keys.defined()) parts.key_terms = shaw_rows(o.shaw.keys);
    if (o.shaw.values.defined()) parts.value_terms = shaw_rows(o.shaw.values);
    if (o.relative.values.defined()) parts.relative = relative();
    if (o.bias.defined()) parts.bias = dense_bias();
    parts.masked = masked();
    parts.scale = p_.score.scale;
    parts.softcap = o.softcap;
    parts.temperature = o.temperature;
    if (o.sinks.defined()) parts.sink = o.sinks.to_vector()[h_];
    return parts;
  }

 private:
  static Tensor block(const Tensor& x, size_t row, size_t rows, size_t head, size_t width) {
    return copy_of(x.slice_rows(row, rows).slice_columns(head * width, width));
  }
  Tensor of_keys(const Tensor& x, size_t width) const {
    return block(x, p_.keys.begin(s_), k_count_, h_ / p_.group(), width);
  }
  size_t row(size_t query) const { return p_.queries.begin(s_) + first_ + query; }
  int64_t distance(size_t query, size_t key) const {
    return saturating_subtract(static_cast<int64_t>(key), p_.positions[row(query)]);
  }

  // A matrix of f(query, key).
  template <typename F>
  Tensor pairs(const F& f) const {
    Tensor y = Tensor::empty({q_count_, k_count_});
    for (size_t i = 0; i < q_count_; ++i) {
      for (size_t j = 0; j < k_count_; ++j) y.data()[i * k_count_ + j] = f(i, j);
    }
    return y;
  }

  Tensor relative() const {
    const RelativeBias& relative = p_.options.relative;
    const std::vector<float> values = relative.values.slice_rows(h_, 1).to_vector();
    return pairs([&](size_t i, size_t j) {
      return values[static_cast<size_t>(static_cast<int64_t>(relative.zero) + distance(i, j))];
    });
  }

  Tensor dense_bias() const {
    const Tensor& bias = p_.options.bias;
    const PairSteps steps = p_.steps_of(bias.shape(), "bias");
    const std::vector<float> values = bias.to_vector();
    return pairs([&](size_t i, size_t j) { return values[place(steps, i, j)]; });
  }

  // Where a table of pairs has a pair.
  size_t place(const PairSteps& steps, size_t i, size_t j) const {
    return s_ * steps.sequence + h_ * steps.head + (first_ + i) * steps.query + j;
  }

  // Shaw's vector of each pair: that of the distance, clipped.
  Tensor shaw_rows(const Tensor& vectors) const {
    const auto farthest = static_cast<int64_t>(vectors.rows() / 2);
    Tensor rows = Tensor::empty({q_count_ * k_count_, vectors.width()});
    for (size_t i = 0; i < q_count_; ++i) {
      for (size_t j = 0; j < k_count_; ++j) {
        const auto at = static_cast<size_t>(
            std::clamp<int64_t>(distance(i, j), -farthest, farthest) + farthest);
        std::copy_n(vectors.data() + at * vectors.stride(), vectors.width(),
                    rows.data() + (i * k_count_ + j) * vectors.width());
      }
    }
    return rows;
  }

  std::vector<MaskedBy> masked() const {
    std::vector<MaskedBy> reasons(q_count_ * k_count_, MaskedBy::kNothing);
    for (size_t i = 0; i < q_count_; ++i) {
      for (size_t j = 0; j < k_count_; ++j) reasons[i * k_count_ + j] = reason(i, j);
    }
    const bool sees_all =
        std::ranges::all_of(reasons, [](MaskedBy reason) { return reason == MaskedBy::kNothing; });
    return sees_all ? std::vector<MaskedBy>() : reasons;
  }

  MaskedBy reason(size_t i, size_t j) const {
    const Mask& mask = p_.options.mask;
    const kernels::KeyRange range = p_.ranges[row(i)];
    const auto key = static_cast<int32_t>(j);
    if (key >= range.begin && key < range.end) {
      if (!mask.pairs.defined()) return MaskedBy::kNothing;
      const PairSteps steps = p_.steps_of(mask.pairs.shape(), "mask");
      return mask.pairs.data()[place(steps, i, j)] != 0 ? MaskedBy::kNothing : MaskedBy::kTable;
    }
    if (!mask.q_documents.empty() &&
        mask.q_documents[row(i)] != mask.k_documents[p_.keys.begin(s_) + j]) {
      return MaskedBy::kDocument;
    }
    const int64_t ahead = distance(i, j);
    if ((mask.causal && ahead > 0) || (mask.strictly_causal && ahead >= 0)) {
      return MaskedBy::kCausal;
    }
    return MaskedBy::kWindow;
  }

  const AttentionProblem& p_;
  size_t s_, h_, first_, q_count_, k_count_;
};

}  // namespace

std::optional<HeadParts> Recording::parts_of(size_t sequence, size_t head) const {
  if (!request_.parts) return std::nullopt;
  const auto [first, count] = queries(sequence);
  return PartsOfHead(problem_, sequence, head, first, count).all();
}

}  // namespace attend
