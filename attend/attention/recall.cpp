#include "attend/attention/recall.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include "attend/base/parallel.h"
#include "attend/kernels/activations.h"
#include "attend/kernels/softmax.h"
#include "attend/ops/rows.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

const float* row_of(const Tensor& x, size_t row) { return x.data() + row * x.stride(); }

float dot(const float* a, const float* b, size_t size) {
  return std::inner_product(a, a + size, b, 0.0f);
}

void add_scaled(float factor, const float* x, float* y, size_t size) {
  for (size_t i = 0; i < size; ++i) y[i] += factor * x[i];
}

// q_s + key_si of sequence s and all steps i, (steps, attention).
void add_keys(const Tensor& q, std::span<const PastStep> past, size_t s, std::vector<float>& out) {
  const size_t width = q.width();
  out.resize(past.size() * width);
  for (size_t i = 0; i < past.size(); ++i) {
    std::transform(row_of(q, s), row_of(q, s) + width, row_of(past[i].key, s),
                   out.data() + i * width, std::plus<>());
  }
}

// The gradient of recall. Rows of a sequence are its own in every tensor but the vector, whose
// gradients are added in the order of sequences.
class RecallBackward {
 public:
  RecallBackward(const Tensor& q, const Tensor& vector, std::span<const PastStep> past,
                 Grads& grads)
      : q_(q), vector_(vector), past_(past), dq_(place(q, grads)) {
    for (const PastStep& step : past) {
      dkeys_.push_back(place(step.key, grads));
      dh_.push_back(place(step.h, grads));
      dc_.push_back(place(step.c, grads));
    }
    if (grads.wants(vector)) dvectors_ = Tensor::zeros(q.shape());
    dvector_ = place(vector, grads);
  }

  void run(const Tensor& weights, const Tensor& dy) {
    parallel_for(q_.rows(), 1, [&](size_t begin, size_t end) {
      for (size_t s = begin; s < end; ++s) sequence(s, row_of(weights, s), row_of(dy, s));
    });
    if (!dvectors_.defined()) return;
    for (size_t s = 0; s < q_.rows(); ++s) {
      add_scaled(1.0f, row_of(dvectors_, s), dvector_, q_.width());
    }
  }

 private:
  static float* place(const Tensor& x, Grads& grads) {
    return grads.wants(x) ? grads.accumulator(x) : nullptr;
  }

  void sequence(size_t s, const float* weights, const float* dy) {
    const size_t steps = past_.size(), hidden = past_[0].h.width(), width = q_.width();
    std::vector<float> dweights(steps), tanhs, slopes(steps * width), dsum(width);
    double mean = 0.0;
    for (size_t i = 0; i < steps; ++i) {
      const PastStep& step = past_[i];
      dweights[i] =
          dot(row_of(step.h, s), dy, hidden) + dot(row_of(step.c, s), dy + hidden, hidden);
      mean += double{weights[i]} * dweights[i];
      if (dh_[i]) add_scaled(weights[i], dy, dh_[i] + s * step.h.stride(), hidden);
      if (dc_[i]) add_scaled(weights[i], dy + hidden, dc_[i] + s * step.c.stride(), hidden);
    }
    add_keys(q_, past_, s, tanhs);
    kernels::tanh_with_slope(tanhs.data(), tanhs.data(), slopes.data(), tanhs.size());
    for (size_t i = 0; i < steps; ++i) {
      const float dscore = weights[i] * (dweights[i] - static_cast<float>(mean));
      const float *t = tanhs.data() + i * width, *slope = slopes.data() + i * width;
      if (dvectors_.defined()) add_scaled(dscore, t, dvectors_.data() + s * width, width);
      for (size_t a = 0; a < width; ++a) dsum[a] = dscore * vector_.data()[a] * slope[a];
      if (dkeys_[i]) add_scaled(1.0f, dsum.data(), dkeys_[i] + s * past_[i].key.stride(), width);
      if (dq_) add_scaled(1.0f, dsum.data(), dq_ + s * q_.stride(), width);
    }
  }

  const Tensor &q_, &vector_;
  std::span<const PastStep> past_;
  float *dq_, *dvector_;
  std::vector<float*> dkeys_, dh_, dc_;
  Tensor dvectors_;  // (sequences, attention)
};

}  // namespace

Recalled recall(const Tensor& q, const Tensor& vector, const std::vector<PastStep>& past) {
  const size_t hidden = past[0].h.width(), width = q.width(), steps = past.size();
  const size_t grain = 1 + 16384 / (steps * (width + hidden));
  Recalled recalled{Tensor::zeros({q.rows(), 2 * hidden}), Tensor::empty({q.rows(), steps}),
                    Tensor::empty({q.rows(), steps})};
  const auto& [y, weights, scores] = recalled;
  parallel_for(q.rows(), grain, [&, s_data = scores.data()](size_t begin, size_t end) {
    std::vector<float> tanhs;
    for (size_t s = begin; s < end; ++s) {
      add_keys(q, past, s, tanhs);
      kernels::activate(kernels::Activation::kTanh, tanhs.data(), tanhs.data(), tanhs.size());
      for (size_t i = 0; i < steps; ++i) {
        s_data[s * steps + i] = dot(tanhs.data() + i * width, vector.data(), width);
      }
    }
  });
  kernels::softmax(rows_of(scores), mutable_rows_of(weights));
  parallel_for(q.rows(), grain,
               [&, y_data = y.data(), w = weights.data()](size_t begin, size_t end) {
                 for (size_t s = begin; s < end; ++s) {
                   float* mixture = y_data + s * 2 * hidden;
                   for (size_t i = 0; i < steps; ++i) {
                     add_scaled(w[s * steps + i], row_of(past[i].h, s), mixture, hidden);
                     add_scaled(w[s * steps + i], row_of(past[i].c, s), mixture + hidden, hidden);
                   }
                 }
               });
  std::vector<Tensor> inputs{q, vector};
  for (const PastStep& step : past) inputs.insert(inputs.end(), {step.key, step.h, step.c});
  recalled.mixture =
      record(y, inputs, [q, vector, past, kept = weights](const Tensor& dy, Grads& grads) {
        RecallBackward(q, vector, past, grads).run(kept, dy);
      });
  return recalled;
}

}  // namespace attend
