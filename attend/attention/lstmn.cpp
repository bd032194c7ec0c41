#include "attend/attention/lstmn.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "attend/attention/problem.h"
#include "attend/base/error.h"
#include "attend/base/parallel.h"
#include "attend/kernels/activations.h"
#include "attend/kernels/softmax.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/embedding.h"
#include "attend/ops/rows.h"
#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// What one step left behind: rows of the sequences that had it, longest first.
struct Step {
  Tensor key, h, c;  // [sequences, attention], [sequences, hidden] twice
};

const float* row_of(const Tensor& x, size_t row) { return x.data() + row * x.stride(); }

float dot(const float* a, const float* b, size_t size) {
  return std::inner_product(a, a + size, b, 0.0f);
}

void add_scaled(float factor, const float* x, float* y, size_t size) {
  for (size_t i = 0; i < size; ++i) y[i] += factor * x[i];
}

// tanh(q_s + key_si) of sequence s and all steps i, (steps, attention).
void compare(const Tensor& q, std::span<const Step> past, size_t s, std::vector<float>& out) {
  const size_t width = q.width();
  out.resize(past.size() * width);
  for (size_t i = 0; i < past.size(); ++i) {
    std::transform(row_of(q, s), row_of(q, s) + width, row_of(past[i].key, s),
                   out.data() + i * width, std::plus<>());
  }
  kernels::activate(kernels::Activation::kTanh, out.data(), out.data(), out.size());
}

// The gradient of recall. Rows of a sequence are its own in every tensor but the vector, whose
// gradients are added in the order of sequences.
class RecallBackward {
 public:
  RecallBackward(const Tensor& q, const Tensor& vector, std::span<const Step> past, Grads& grads)
      : q_(q), vector_(vector), past_(past), dq_(place(q, grads)) {
    for (const Step& step : past) {
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
    std::vector<float> dweights(steps), tanhs, dsum(width);
    double mean = 0.0;
    for (size_t i = 0; i < steps; ++i) {
      const Step& step = past_[i];
      dweights[i] =
          dot(row_of(step.h, s), dy, hidden) + dot(row_of(step.c, s), dy + hidden, hidden);
      mean += double{weights[i]} * dweights[i];
      if (dh_[i]) add_scaled(weights[i], dy, dh_[i] + s * step.h.stride(), hidden);
      if (dc_[i]) add_scaled(weights[i], dy + hidden, dc_[i] + s * step.c.stride(), hidden);
    }
    compare(q_, past_, s, tanhs);
    for (size_t i = 0; i < steps; ++i) {
      const float dscore = weights[i] * (dweights[i] - static_cast<float>(mean));
      const float* t = tanhs.data() + i * width;
      if (dvectors_.defined()) add_scaled(dscore, t, dvectors_.data() + s * width, width);
      for (size_t a = 0; a < width; ++a) {
        dsum[a] = dscore * vector_.data()[a] * (1.0f - t[a] * t[a]);
      }
      if (dkeys_[i]) add_scaled(1.0f, dsum.data(), dkeys_[i] + s * past_[i].key.stride(), width);
      if (dq_) add_scaled(1.0f, dsum.data(), dq_ + s * q_.stride(), width);
    }
  }

  const Tensor &q_, &vector_;
  std::span<const Step> past_;
  float *dq_, *dvector_;
  std::vector<float*> dkeys_, dh_, dc_;
  Tensor dvectors_;  // (sequences, attention)
};

struct Recalled {
  Tensor mixture;          // [sequences, 2 hidden]: of h, then of c
  Tensor weights, scores;  // [sequences, steps], off the tape
};

// Additive attention over steps where they lie, so that nothing of the past is copied or projected
// again. q [sequences, attention].
Recalled recall(const Tensor& q, const Tensor& vector, const std::vector<Step>& past) {
  const size_t hidden = past[0].h.width(), width = q.width(), steps = past.size();
  const size_t grain = 1 + 16384 / (steps * (width + hidden));
  Recalled recalled{Tensor::zeros({q.rows(), 2 * hidden}), Tensor::empty({q.rows(), steps}),
                    Tensor::empty({q.rows(), steps})};
  const auto& [y, weights, scores] = recalled;
  parallel_for(q.rows(), grain, [&, s_data = scores.data()](size_t begin, size_t end) {
    std::vector<float> tanhs;
    for (size_t s = begin; s < end; ++s) {
      compare(q, past, s, tanhs);
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
  for (const Step& step : past) inputs.insert(inputs.end(), {step.key, step.h, step.c});
  recalled.mixture =
      record(y, inputs, [q, vector, past, kept = weights](const Tensor& dy, Grads& grads) {
        RecallBackward(q, vector, past, grads).run(kept, dy);
      });
  return recalled;
}

// Rows of x step by step: those of step t are the t-th ones of all sequences longer than t, longest
// first.
struct Walk {
  std::vector<size_t> order;  // of the sequences
  std::vector<std::vector<int32_t>> rows;

  explicit Walk(const Packing& packing) : order(packing.count()), rows(packing.longest()) {
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](size_t s) { return packing.length(s); });
    for (const size_t s : order) {
      for (size_t t = 0; t < packing.length(s); ++t) {
        rows[t].push_back(static_cast<int32_t>(packing.begin(s) + t));
      }
    }
  }

  // Where each row of x is among the steps, one after another.
  Tensor back() const {
    int32_t at = 0;
    size_t count = 0;
    for (const auto& step : rows) count += step.size();
    Tensor ids = Tensor::empty({count}, DType::kInt32);
    for (const auto& step : rows) {
      for (const int32_t row : step) ids.indices()[row] = at++;
    }
    return ids;
  }
};

// Hands over the weights of each sequence as a matrix of its steps, of which each looks at those
// before it.
void hand_over(const Recording& recording, const Packing& packing, const Walk& walk,
               const std::vector<Recalled>& steps) {
  for (size_t at = 0; at < walk.order.size(); ++at) {
    const size_t s = walk.order[at], length = packing.length(s);
    if (!recording.wants(s, 0)) continue;
    const Tensor weights = Tensor::zeros({length, length});
    const Tensor scores = Tensor::full({length, length}, -std::numeric_limits<float>::infinity());
    for (size_t t = 1; t < length; ++t) {
      const Recalled& step = steps[t - 1];
      std::copy_n(row_of(step.weights, at), t, weights.data() + t * length);
      std::copy_n(row_of(step.scores, at), t, scores.data() + t * length);
    }
    recording.give_rows(s, 0, weights, scores);
  }
}

Tensor pick(const Tensor& x, const std::vector<int32_t>& rows) {
  return gather_rows(x, Tensor::ids(rows, {rows.size()}));
}

}  // namespace

Lstmn::Lstmn(const LstmnConfig& c, Rng& rng) : config(c) {
  if (c.input == 0 || c.hidden == 0) {
    throw ConfigError("lstmn: input {} and hidden {} must be at least 1", c.input, c.hidden);
  }
  if (config.attention == 0) config.attention = config.hidden;
  from_hidden = Linear(config.hidden, config.attention, rng);
  from_input = Linear(config.input, config.attention, rng, {.bias = false});
  from_mixture = Linear(config.hidden, config.attention, rng, {.bias = false});
  const auto uniform = [&](const Shape& shape, size_t in) {
    return parameter(shape, Init::kUniform, rng, 1.0f / std::sqrt(static_cast<float>(in)));
  };
  vector = uniform({config.attention}, config.attention);
  const size_t gates = gate_count(Cell::kLstm) * config.hidden;
  lstm.input = uniform({gates, config.input}, config.hidden);
  lstm.hidden = uniform({gates, config.hidden}, config.hidden);
  lstm.input_bias = uniform({gates}, config.hidden);
}

Tensor Lstmn::operator()(const Tensor& x, const Packing& packing) const {
  if (x.rank() != 2 || x.rows() != packing.rows() || x.width() != config.input) {
    throw ShapeError("lstmn: {} is not [{}, {}]", x.shape(), packing.rows(), config.input);
  }
  AttentionProblem seen{};
  seen.options.name = name;
  seen.queries = packing;
  const Recording recording(seen);
  const Walk walk(packing);
  const Tensor compared = from_input(x);
  std::vector<Step> past;
  std::vector<Recalled> recalled;
  std::vector<Tensor> outputs;
  for (const std::vector<int32_t>& rows : walk.rows) {
    RecurrentState before;
    if (!past.empty()) {
      Tensor q = pick(compared, rows);
      if (!recalled.empty()) {
        const Tensor mixture = recalled.back().mixture.slice_rows(0, rows.size());
        q = add(q, from_mixture(mixture.slice_columns(0, config.hidden)));
      }
      recalled.push_back(recall(q, vector, past));
      const Tensor& mixture = recalled.back().mixture;
      before = {mixture.slice_columns(0, config.hidden),
                mixture.slice_columns(config.hidden, config.hidden)};
    }
    const RecurrentState now =
        recurrent(pick(x, rows), Packing::even(rows.size(), 1), lstm, before).state;
    past.push_back({from_hidden(now.h), now.h, now.c});
    outputs.push_back(now.h);
  }
  if (recording) hand_over(recording, packing, walk, recalled);
  if (outputs.empty()) return Tensor::empty({0, config.hidden});
  return gather_rows(concat(outputs, 0), walk.back());
}

void Lstmn::visit(Visitor& v) {
  v("from_hidden", from_hidden);
  v("from_input", from_input);
  v("from_mixture", from_mixture);
  v("vector", vector);
  v("weight_ih", lstm.input);
  v("weight_hh", lstm.hidden);
  v("bias", lstm.input_bias);
}

}  // namespace attend
