#include "attend/attention/recall.h"

#include <algorithm>

#include "attend/kernels/recall.h"
#include "attend/kernels/softmax.h"
#include "attend/ops/activations.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/linear.h"
#include "attend/ops/matrix.h"
#include "attend/ops/rows.h"
#include "attend/ops/shape.h"
#include "attend/ops/softmax.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

std::vector<kernels::RecallStep> steps_of(const std::vector<PastStep>& past) {
  std::vector<kernels::RecallStep> steps;
  steps.reserve(past.size());
  for (const PastStep& step : past) {
    steps.push_back({matrix(step.key), matrix(step.h), matrix(step.c)});
  }
  return steps;
}

kernels::RecallInputs inputs_of(const Tensor& q, const Tensor& vector,
                                const std::vector<PastStep>& past,
                                std::span<const kernels::RecallStep> steps) {
  return {q.rows(), q.width(), past[0].h.width(), steps, matrix(q), vector.data()};
}

// Where the gradient of x is added up; null where nobody wants it.
kernels::MutableMatrix place(const Tensor& x, Grads& grads) {
  if (!grads.wants(x)) return {nullptr, 0};
  return {grads.accumulator(x), x.stride()};
}

// Those of the vector are added in the order of sequences.
void backward(const Tensor& q, const Tensor& vector, const std::vector<PastStep>& past,
              const Tensor& weights, const Tensor& dy, Grads& grads) {
  std::vector<kernels::MutableMatrix> dkeys, dh, dc;
  for (const PastStep& step : past) {
    dkeys.push_back(place(step.key, grads));
    dh.push_back(place(step.h, grads));
    dc.push_back(place(step.c, grads));
  }
  const Tensor dvectors = Tensor::zeros(q.shape());
  kernels::MutableMatrix dq = place(q, grads);
  const Tensor unwanted = dq.data == nullptr ? Tensor::zeros(q.shape()) : Tensor();
  if (dq.data == nullptr) dq = target(unwanted);
  const std::vector<kernels::RecallStep> steps = steps_of(past);
  kernels::recall_backward(inputs_of(q, vector, past, steps),
                           {weights.data(), matrix(dy), dkeys, dh, dc, dq, dvectors.data()});
  if (!grads.wants(vector)) return;
  float* const dvector = grads.accumulator(vector);
  for (size_t s = 0; s < q.rows(); ++s) {
    const float* const part = dvectors.data() + s * q.width();
    for (size_t j = 0; j < q.width(); ++j) dvector[j] += part[j];
  }
}

}  // namespace

Recalled recall(const Tensor& q, const Tensor& vector, const std::vector<PastStep>& past) {
  const std::vector<kernels::RecallStep> steps = steps_of(past);
  const kernels::RecallInputs in = inputs_of(q, vector, past, steps);
  Recalled recalled{Tensor::empty({in.sequences, 2 * in.hidden}),
                    Tensor::empty({in.sequences, past.size()}),
                    Tensor::empty({in.sequences, past.size()})};
  const auto& [y, weights, scores, _] = recalled;
  kernels::recall_scores(in, scores.data());
  kernels::softmax(rows_of(scores), mutable_rows_of(weights));
  kernels::recall_mixtures(in, weights.data(), y.data());
  std::vector<Tensor> inputs{q, vector};
  for (const PastStep& step : past) inputs.insert(inputs.end(), {step.key, step.h, step.c});
  recalled.mixture =
      record(y, inputs, [q, vector, past, kept = weights](const Tensor& dy, Grads& grads) {
        backward(q, vector, past, kept, dy, grads);
      });
  return recalled;
}

Recalled recall(const Tensor& q, const Tensor& vector, const std::vector<PastStep>& past,
                const Intervention& intervention, const std::string& layer) {
  const size_t sequences = q.rows();
  const HeadCall call{layer, 0, past.size()};
  const Tensor across = reshape(vector, {1, vector.size()});
  std::vector<Tensor> columns, values;  // of each step
  for (const PastStep& step : past) {
    const Tensor key = step.key.slice_rows(0, sequences);
    columns.push_back(linear(tanh(add(q, key)), across));
    values.push_back(concat({step.h.slice_rows(0, sequences), step.c.slice_rows(0, sequences)}, 1));
  }
  const Tensor all = concat(columns, 1);
  std::vector<Tensor> mixtures, weights, scores;  // of each sequence
  for (size_t s = 0; s < sequences; ++s) {
    scores.push_back(intervention.scores(call, all.slice_rows(s, 1)));
    weights.push_back(intervention.weights(call, softmax(scores.back())));
    std::vector<Tensor> rows;
    rows.reserve(values.size());
    for (const Tensor& step : values) rows.push_back(step.slice_rows(s, 1));
    mixtures.push_back(matmul(weights.back(), concat(rows, 0)));
  }
  return {concat(mixtures, 0), concat(weights, 0).detach(), concat(scores, 0).detach()};
}

}  // namespace attend
