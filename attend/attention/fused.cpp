// The fused path: the kernels of attention.h on the tape.
#include "attend/attention/problem.h"
#include "attend/ops/matrix.h"
#include "attend/ops/shape.h"

namespace attend {
namespace {

template <typename T>
kernels::PairTable<T> pair_table(T* data, const Shape& shape, const char* what,
                                 const AttentionProblem& p) {
  const PairSteps steps = p.steps_of(shape, what);
  return {data, steps.sequence, steps.head, steps.query};
}

kernels::AttentionSpec spec_of(const AttentionProblem& p, const Tensor& bias,
                               const Tensor& relative) {
  kernels::AttentionSpec spec;
  spec.heads = p.heads;
  spec.kv_heads = p.kv_heads;
  spec.width = p.width();
  spec.value_width = p.value_width();
  spec.sequences = p.queries.count();
  spec.q_offsets = p.queries.offsets().data();
  spec.k_offsets = p.keys.offsets().data();
  if (!p.options.key_lengths.empty()) spec.k_lengths = p.options.key_lengths.data();
  spec.ranges = p.ranges.data();
  const AttentionOptions& o = p.options;
  if (o.mask.pairs.defined()) {
    spec.mask = pair_table(o.mask.pairs.data(), o.mask.pairs.shape(), "mask", p);
  }
  if (p.score.core == ScoreCore::kAdditive) spec.vector = p.score.vector.data();
  spec.scale = p.score.scale;
  spec.softcap = o.softcap;
  if (bias.defined()) {
    spec.bias = pair_table(static_cast<const float*>(bias.data()), bias.shape(), "bias", p);
  }
  if (relative.defined()) spec.relative = {relative.data(), relative.width(), o.relative.zero};
  spec.positions = p.positions.data();
  spec.inverse_temperature = 1.0f / o.temperature;
  spec.weighting = traits_of(o.weighting).fused.value();
  if (o.sinks.defined()) spec.sinks = o.sinks.data();
  spec.dropout = p.dropout;
  return spec;
}

kernels::AttentionGradients::Part part_of(const Tensor& x, Grads& grads) {
  if (!grads.wants(x)) return {};
  const Gradient dx = grads.of(x);
  return {dx.data(), dx.tensor.stride(), dx.add};
}

// The same for keys and values, of which some may not be in use and get no gradient.
kernels::AttentionGradients::Part key_part_of(const Tensor& x, const AttentionProblem& p,
                                              Grads& grads) {
  if (p.options.key_lengths.empty() || !grads.wants(x)) return part_of(x, grads);
  return {grads.accumulator(x), x.stride(), true};
}

void hand_over(const AttentionProblem& p, const kernels::AttentionSpec& spec,
               const kernels::AttentionInputs& in, const float* lse) {
  const Recording recording(p);
  if (!recording) return;
  for (size_t s = 0; s < p.queries.count(); ++s) {
    const auto [first, count] = recording.queries(s);
    for (size_t h = 0; h < p.heads; ++h) {
      if (!recording.wants(s, h)) continue;
      const kernels::RowsOfInterest rows{s, h, first, count};
      const Tensor weights = Tensor::empty({count, p.key_count(s)});
      kernels::attention_weights(spec, in, lse, rows, weights.data());
      Tensor scores;
      if (recording.wants_scores()) {
        scores = Tensor::like(weights);
        kernels::attention_scores(spec, in, rows, scores.data());
      }
      recording.give(s, h, weights, scores, recording.parts_of(s, h));
    }
  }
}

}  // namespace

Attended fused_attention(const std::shared_ptr<const AttentionProblem>& problem) {
  const AttentionProblem& p = *problem;
  const Tensor &q = p.score.q, &k = p.score.k, &v = p.v, &sinks = p.options.sinks;
  const Tensor& vector = p.score.vector;
  const Tensor bias = p.options.bias.defined() ? contiguous(p.options.bias) : Tensor();
  const Tensor relative =
      p.options.relative.values.defined() ? contiguous(p.options.relative.values) : Tensor();
  Tensor out = Tensor::empty({q.rows(), p.heads * p.value_width()});
  const Tensor lse = Tensor::empty({q.rows(), p.heads});
  const kernels::AttentionSpec spec = spec_of(p, bias, relative);
  const kernels::AttentionInputs in{matrix(q), matrix(k), matrix(v)};
  kernels::attention_forward(spec, in, target(out), lse.data());
  hand_over(p, spec, in, lse.data());

  const bool softmax = p.options.weighting == Weighting::kSoftmax;
  Attended attended{out, softmax ? lse : Tensor(), {}, AttentionPath::kFused, {}};
  attended.output = record(
      out, {q, k, v, bias, relative, sinks, vector},
      [problem, q, k, v, bias, relative, sinks, vector, lse, out = out.detach()](const Tensor& dy,
                                                                                 Grads& grads) {
        const AttentionProblem& pr = *problem;
        kernels::AttentionGradients to{part_of(q, grads), key_part_of(k, pr, grads),
                                       key_part_of(v, pr, grads)};
        if (bias.defined() && grads.wants(bias)) {
          to.dbias = pair_table(grads.accumulator(bias), bias.shape(), "bias", pr);
        }
        if (relative.defined() && grads.wants(relative)) {
          to.drelative = grads.accumulator(relative);
        }
        if (sinks.defined() && grads.wants(sinks)) to.dsinks = grads.accumulator(sinks);
        if (vector.defined() && grads.wants(vector)) to.dvector = grads.accumulator(vector);
        kernels::attention_backward(spec_of(pr, bias, relative), {matrix(q), matrix(k), matrix(v)},
                                    matrix(out), lse.data(), matrix(dy), to);
      });
  return attended;
}

}  // namespace attend
