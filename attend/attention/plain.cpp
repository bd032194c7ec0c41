// The plain path: one sequence and one head at a time, composed of ops, with all scores in memory.
// Every point of the space can take it; it is the twin that the fused path is tested against.
#include <limits>

#include "attend/attention/intervention.h"
#include "attend/attention/problem.h"
#include "attend/kernels/dropout.h"
#include "attend/ops/activations.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/embedding.h"
#include "attend/ops/linear.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// One head of one sequence.
class PlainHead {
 public:
  PlainHead(const AttentionProblem& p, size_t sequence, size_t head)
      : p_(p),
        s_(sequence),
        h_(head),
        q_count_(p.queries.length(sequence)),
        k_count_(p.key_count(sequence)) {}

  Tensor query() const { return block(p_.score.q, p_.queries.begin(s_), q_count_, h_, p_.width()); }
  Tensor key() const { return p_.score.k.defined() ? of_keys(p_.score.k, p_.width()) : Tensor(); }
  Tensor value() const { return of_keys(p_.v, p_.value_width()); }

  // [queries, keys], -infinity where masked.
  Tensor scores() const {
    const AttentionOptions& o = p_.options;
    const Tensor vector = p_.score.vector.defined()
                              ? reshape(p_.score.vector, {p_.heads, p_.width()})
                                    .slice_rows(h_, 1)
                                    .reshape({p_.width()})
                              : Tensor();
    Tensor s = core_scores(p_.score.core, query(), key(), vector, k_count_);
    if (o.shaw.keys.defined()) s = add(s, shaw_scores());
    const Tensor may_look = allowed();
    // A masked key's NaN stops here: the slope of the softcap would let it pass, times 0.
    if (!all_finite(s)) s = where(may_look, s, Tensor::zeros(s.shape()));
    s = scale(s, p_.score.scale);
    if (o.softcap != 0.0f) s = scale(tanh(scale(s, 1.0f / o.softcap)), o.softcap);
    if (o.relative.values.defined()) s = add(s, relative_bias());
    if (o.bias.defined()) s = add(s, dense_bias());
    if (o.temperature != 1.0f) s = scale(s, 1.0f / o.temperature);
    const Tensor masked =
        Tensor::full({q_count_, k_count_}, -std::numeric_limits<float>::infinity());
    return where(may_look, s, masked);
  }

  Weighted weights(const Tensor& scores) const {
    const AttentionOptions& o = p_.options;
    WeightingOptions weighting{o.weighting, o.top_k, p_.sampling,
                               (p_.queries.begin(s_) * p_.heads + h_ * q_count_)};
    if (!o.sinks.defined()) return weigh(scores, weighting);
    const Tensor sink = matmul(Tensor::full({q_count_, 1}, 1.0f),
                               reshape(o.sinks, {p_.heads, 1}).slice_rows(h_, 1));
    Weighted weighted = weigh(concat({scores, sink}, 1), weighting);
    weighted.weights = weighted.weights.slice_columns(0, k_count_);
    return weighted;
  }

  Tensor output(const Tensor& weights) const {
    Tensor w = weights;
    if (p_.dropout.chance > 0.0f) w = multiply(w, dropout_factors());
    Tensor y = weighted_sum(w, value());
    if (p_.options.shaw.values.defined()) {
      const Tensor& vectors = p_.options.shaw.values;
      y = add(y, matmul(sum_by_distance(w, shaw_places(vectors), vectors.rows()), vectors));
    }
    return y;
  }

 private:
  static Tensor block(const Tensor& x, size_t row, size_t rows, size_t head, size_t width) {
    return x.slice_rows(row, rows).slice_columns(head * width, width);
  }
  Tensor of_keys(const Tensor& x, size_t width) const {
    return block(x, p_.keys.begin(s_), k_count_, h_ / p_.group(), width);
  }
  size_t row(size_t query) const { return p_.queries.begin(s_) + query; }

  // An int32 matrix of f(query, key).
  template <typename F>
  Tensor pairs(const F& f) const {
    Tensor y = Tensor::empty({q_count_, k_count_}, DType::kInt32);
    for (size_t i = 0; i < q_count_; ++i) {
      for (size_t j = 0; j < k_count_; ++j) {
        y.indices()[i * k_count_ + j] = static_cast<int32_t>(f(i, j));
      }
    }
    return y;
  }

  Tensor allowed() const {
    const PairMask& mask = p_.options.mask.pairs;
    PairSteps steps{};
    if (mask.defined()) steps = p_.steps_of(mask.shape(), "mask");
    return pairs([&](size_t i, size_t j) {
      const kernels::KeyRange range = p_.ranges[row(i)];
      const auto key = static_cast<int32_t>(j);
      if (key < range.begin || key >= range.end) return false;
      return !mask.defined() ||
             mask.data()[s_ * steps.sequence + h_ * steps.head + i * steps.query + j] != 0;
    });
  }

  // values [count, 1] picked by an int32 matrix.
  Tensor pick(const Tensor& values, const Tensor& places) const {
    return reshape(gather_rows(reshape(values, {values.size(), 1}), places), {q_count_, k_count_});
  }

  Tensor relative_bias() const {
    const RelativeBias& relative = p_.options.relative;
    return pick(relative.values.slice_rows(h_, 1), pairs([&](size_t i, size_t j) {
                  return static_cast<int64_t>(relative.zero + j) - p_.positions[row(i)];
                }));
  }

  Tensor dense_bias() const {
    const Tensor& bias = p_.options.bias;
    const PairSteps steps = p_.steps_of(bias.shape(), "bias");
    return pick(bias, pairs([&](size_t i, size_t j) {
                  return s_ * steps.sequence + h_ * steps.head + i * steps.query + j;
                }));
  }

  // Rows of Shaw's vectors for all pairs: the distance, clipped.
  Tensor shaw_places(const Tensor& vectors) const {
    const auto farthest = static_cast<int64_t>(vectors.rows() / 2);
    return pairs([&](size_t i, size_t j) {
      const int64_t distance = saturating_subtract(static_cast<int64_t>(j), p_.positions[row(i)]);
      return std::clamp(distance, -farthest, farthest) + farthest;
    });
  }

  Tensor shaw_scores() const {
    const Tensor& vectors = p_.options.shaw.keys;
    const Tensor products = matmul(query(), vectors, {.transpose_b = true});
    const Tensor places = shaw_places(vectors);
    return pick(products, pairs([&](size_t i, size_t j) {
                  return static_cast<int32_t>(i * vectors.rows()) +
                         places.indices()[i * k_count_ + j];
                }));
  }

  // y[i, places[i, j]] += w[i, j]
  static Tensor sum_by_distance(const Tensor& w, const Tensor& places, size_t count) {
    const Tensor y = Tensor::zeros({w.rows(), count});
    const size_t keys = w.width();
    for (size_t i = 0; i < w.rows(); ++i) {
      for (size_t j = 0; j < keys; ++j) {
        y.data()[i * count + static_cast<size_t>(places.indices()[i * keys + j])] +=
            w.data()[i * w.stride() + j];
      }
    }
    return record(y, {w}, [=](const Tensor& dy, Grads& grads) {
      const Gradient dw = grads.of(w);
      for (size_t i = 0; i < w.rows(); ++i) {
        for (size_t j = 0; j < keys; ++j) {
          const auto place = static_cast<size_t>(places.indices()[i * keys + j]);
          float& to = dw.data()[i * dw.tensor.stride() + j];
          to = (dw.add ? to : 0.0f) + dy.data()[i * dy.stride() + place];
        }
      }
    });
  }

  Tensor dropout_factors() const {
    Tensor factors = Tensor::empty({q_count_, k_count_});
    for (size_t i = 0; i < q_count_; ++i) {
      kernels::dropout_factors(p_.dropout_row(row(i), h_), factors.data() + i * k_count_, k_count_,
                               p_.dropout);
    }
    return factors;
  }

  const AttentionProblem& p_;
  size_t s_, h_, q_count_, k_count_;
};

}  // namespace

Attended plain_attention(const AttentionProblem& p) {
  const Recording recording(p);
  const Intervention* const intervention = intervention_in(p.options.name);
  std::vector<Tensor> outputs, probabilities;  // of sequences
  for (size_t s = 0; s < p.queries.count(); ++s) {
    std::vector<Tensor> heads, logs;
    for (size_t h = 0; h < p.heads; ++h) {
      const PlainHead head(p, s, h);
      const HeadCall call{p.options.name, h, p.first_query(s), p.first_key(s)};
      Tensor scores = head.scores();
      if (intervention != nullptr) scores = intervention->scores(call, scores);
      Weighted weighted = head.weights(scores);
      if (intervention != nullptr) {
        weighted.weights = intervention->weights(call, weighted.weights);
      }
      if (recording && recording.wants(s, h)) {
        recording.give_rows(s, h, weighted.weights, scores, recording.parts_of(s, h));
      }
      heads.push_back(head.output(weighted.weights));
      if (weighted.log_probability.defined()) {
        logs.push_back(reshape(weighted.log_probability, {p.queries.length(s), 1}));
      }
    }
    outputs.push_back(concat(heads, 1));
    if (!logs.empty()) probabilities.push_back(concat(logs, 1));
  }
  Attended attended{};
  attended.path = AttentionPath::kPlain;
  if (outputs.empty()) {
    const AttentionOptions& o = p.options;
    const Tensor inputs[] = {p.score.q,         p.score.k,   p.score.vector, p.v,    o.bias,
                             o.relative.values, o.shaw.keys, o.shaw.values,  o.sinks};
    attended.output = no_rows(p.heads * p.value_width(), inputs);
    if (o.weighting == Weighting::kHardSample) attended.log_probability = no_rows(p.heads, inputs);
    return attended;
  }
  attended.output = concat(outputs, 0);
  if (!probabilities.empty()) attended.log_probability = concat(probabilities, 0);
  return attended;
}

}  // namespace attend
