#include "cli/bench_cases.h"

#include <fmt/format.h>

#include <memory>

#include "attend/attention/attention.h"
#include "attend/base/rng.h"
#include "attend/kernels/activations.h"
#include "attend/kernels/cross_entropy.h"
#include "attend/kernels/dropout.h"
#include "attend/kernels/embedding.h"
#include "attend/kernels/gemm.h"
#include "attend/kernels/layer_norm.h"
#include "attend/kernels/optimizer.h"
#include "attend/kernels/softmax.h"
#include "attend/ops/recurrent.h"
#include "attend/tensor/tape.h"

namespace attend::cli {
namespace {

using Floats = std::shared_ptr<std::vector<float>>;

Floats numbers(size_t size) {
  auto x = std::make_shared<std::vector<float>>(size);
  fill_uniform(*x, RandomStream(1, size), -1.0f, 1.0f);
  return x;
}

double bytes_of(size_t floats) { return static_cast<double>(floats * sizeof(float)); }

Case gemm_case(size_t m, size_t n, size_t k, const char* form) {
  const bool a_transposed = form[0] == 'T', b_transposed = form[1] == 'T';
  const Floats a = numbers(m * k), b = numbers(k * n), c = numbers(m * n);
  const double work = 2.0 * static_cast<double>(m) * static_cast<double>(n * k);
  return {fmt::format("gemm {} {} x {} x {}", form, m, n, k), work, bytes_of(m * k + k * n + m * n),
          [=] {
            kernels::gemm(m, n, k, {a->data(), a_transposed ? m : k, a_transposed},
                          {b->data(), b_transposed ? k : n, b_transposed}, {c->data(), n});
          }};
}

Case activation_case(const char* name, kernels::Activation activation, size_t size) {
  const Floats x = numbers(size), y = numbers(size);
  return {fmt::format("{} {}", name, size), 0.0, bytes_of(2 * size),
          [=] { kernels::activate(activation, x->data(), y->data(), size); }};
}

Case dropout_case(size_t size) {
  const Floats x = numbers(size), y = numbers(size), dy = numbers(size), dx = numbers(size);
  const kernels::Dropout options{0.1f, RandomStream(1, 2)};
  return {fmt::format("dropout, both ways, {}", size), 0.0, bytes_of(4 * size), [=] {
            kernels::dropout(x->data(), y->data(), size, options);
            kernels::dropout_backward(dy->data(), dx->data(), size, options, false);
          }};
}

Case embedding_case(size_t count, size_t vocab, size_t width) {
  auto ids = std::make_shared<std::vector<int32_t>>(count);
  for (size_t i = 0; i < count; ++i) {
    (*ids)[i] = static_cast<int32_t>(RandomStream(1, 3).below(i, vocab));
  }
  const Floats dy = numbers(count * width), d_table = numbers(vocab * width);
  return {fmt::format("embedding gradient {} of {} x {}", count, vocab, width), 0.0,
          bytes_of((count + vocab) * width), [=] {
            kernels::embedding_backward({*ids, vocab, width}, dy->data(), d_table->data(), false);
          }};
}

Case adamw_case(size_t tensors, size_t size) {
  const size_t total = tensors * size;
  const Floats p = numbers(total), g = numbers(total), m = numbers(total);
  const auto v = std::make_shared<std::vector<float>>(total, 0.1f);
  std::vector<kernels::OptimizerTensor> list;
  for (size_t at = 0; at < total; at += size) {
    list.push_back({p->data() + at, g->data() + at, m->data() + at, v->data() + at, size, 0.01f});
  }
  return {fmt::format("AdamW {} x {}", tensors, size), 0.0, bytes_of(7 * total),
          [list, memory = std::vector<Floats>{p, g, m, v}] { kernels::adam(list, {}); },
          bytes_of(4 * total)};
}

Case softmax_case(size_t rows, size_t width) {
  const Floats x = numbers(rows * width), y = numbers(rows * width);
  return {fmt::format("softmax {} x {}", rows, width), 0.0, bytes_of(2 * rows * width), [=] {
            kernels::softmax(kernels::dense_rows(x->data(), rows, width),
                             kernels::dense_rows(y->data(), rows, width));
          }};
}

Case layer_norm_case(size_t rows, size_t width) {
  const size_t size = rows * width;
  const Floats x = numbers(size), y = numbers(size), dy = numbers(size), dx = numbers(size);
  const Floats gamma = numbers(width), beta = numbers(width), dgamma = numbers(width);
  const Floats dbeta = numbers(width), mean = numbers(rows), rstd = numbers(rows);
  return {fmt::format("layer norm, both ways, {} x {}", rows, width), 0.0, bytes_of(5 * size), [=] {
            const auto rows_of = [&](const Floats& v) {
              return kernels::dense_rows(v->data(), rows, width);
            };
            kernels::layer_norm(rows_of(x), {gamma->data(), beta->data()}, rows_of(y), mean->data(),
                                rstd->data());
            kernels::layer_norm_backward(rows_of(x), rows_of(dy), gamma->data(), mean->data(),
                                         rstd->data(),
                                         {rows_of(dx), dgamma->data(), dbeta->data()});
          }};
}

Case cross_entropy_case(size_t rows, size_t vocab) {
  const Floats logits = numbers(rows * vocab), loss = numbers(rows), lse = numbers(rows);
  const auto targets = std::make_shared<std::vector<int32_t>>(rows, 7);
  return {fmt::format("cross-entropy, both ways, {} x {}", rows, vocab), 0.0,
          bytes_of(2 * rows * vocab),
          [=] {
            kernels::cross_entropy_in_place(kernels::dense_rows(logits->data(), rows, vocab),
                                            targets->data(), 0.1f, 1.0f, loss->data(), lse->data());
          },
          bytes_of(rows * vocab)};
}

Tensor parameter_of(const Shape& shape) {
  Tensor x = Tensor::empty(shape);
  fill_uniform(x.span(), RandomStream(1, shape.size()), -0.05f, 0.05f);
  return x.require_grad();
}

// Scaled dot products and softmax, forwards and backwards: 4 operations for each pair and column,
// then 10, and none for the exponentials.
Case attention_case(size_t sequences, size_t heads, size_t length, size_t width, bool causal) {
  const size_t rows = sequences * length, columns = heads * width;
  const Packing packing = Packing::even(sequences, length);
  const Tensor q = parameter_of({rows, columns}), k = parameter_of({rows, columns});
  const Tensor v = parameter_of({rows, columns}), dy = Tensor::full({rows, columns}, 1.0f);
  const double pairs = static_cast<double>(rows) *
                       (causal ? static_cast<double>(length + 1) / 2 : static_cast<double>(length));
  return {fmt::format("attention{}, both ways, {} x {} x {} x {}", causal ? ", causal" : "",
                      sequences, heads, length, width),
          14.0 * pairs * static_cast<double>(columns), 0.0, [=] {
            const AttentionOptions options{
                .heads = heads, .queries = packing, .keys = packing, .mask = {.causal = causal}};
            backward(attention(q, k, v, options).output, dy);
            for (const Tensor& t : {q, k, v}) t.clear_grad();
          }};
}

// A step of decoding: one query for each sequence reads all of its keys and values.
Case attention_step_case(size_t sequences, size_t heads, size_t length, size_t width) {
  const size_t rows = sequences * length, columns = heads * width;
  const auto values = [](size_t count, size_t wide) {
    return Tensor::of(*numbers(count * wide), {count, wide});
  };
  const Tensor q = values(sequences, columns), k = values(rows, columns), v = values(rows, columns);
  const Packing one = Packing::even(sequences, 1), all = Packing::even(sequences, length);
  return {fmt::format("attention, one query, {} x {} x {} x {}", sequences, heads, length, width),
          4.0 * static_cast<double>(rows) * static_cast<double>(columns),
          bytes_of(2 * rows * columns), [=] {
            const NoGrad none;
            attention(q, k, v, {.heads = heads, .queries = one, .keys = all});
          }};
}

// A whole layer through the tape, forwards and backwards.
Case recurrent_case(Cell cell, size_t sequences, size_t steps, size_t width) {
  const size_t rows = sequences * steps, wide = gate_count(cell) * width;
  const Packing packing = Packing::even(sequences, steps);
  const Tensor x = parameter_of({rows, width}), dy = Tensor::full({rows, width}, 1.0f);
  const RecurrentWeights weights{parameter_of({wide, width}), parameter_of({wide, width}),
                                 parameter_of({wide}), parameter_of({wide})};
  // Two products forwards, four backwards.
  const double flops = 12.0 * static_cast<double>(rows * wide) * static_cast<double>(width);
  return {fmt::format("{}, both ways, {} x {} x {}", name_of(cell), sequences, steps, width), flops,
          0.0, [=] {
            backward(recurrent(x, packing, weights, {}, {cell}).output, dy);
            for (const Tensor& t :
                 {x, weights.input, weights.hidden, weights.input_bias, weights.hidden_bias}) {
              t.clear_grad();
            }
          }};
}

}  // namespace

std::vector<std::function<Case()>> bench_cases() {
  using kernels::Activation;
  return {
      [] { return gemm_case(2048, 2048, 512, "NT"); },
      [] { return gemm_case(2048, 512, 2048, "NN"); },
      [] { return gemm_case(512, 512, 2048, "TN"); },
      [] { return gemm_case(1024, 8000, 512, "NT"); },
      [] { return activation_case("gelu", Activation::kGelu, 2048 * 2048); },
      [] { return softmax_case(4096, 512); },
      [] { return layer_norm_case(2048, 512); },
      [] { return cross_entropy_case(1024, 8000); },
      [] { return dropout_case(2048 * 2048); },
      [] { return embedding_case(4096, 8000, 512); },
      [] { return adamw_case(100, 200000); },
      [] { return attention_case(8, 8, 512, 64, false); },
      [] { return attention_case(8, 8, 512, 64, true); },
      [] { return attention_step_case(16, 8, 1024, 64); },
      [] { return recurrent_case(Cell::kLstm, 64, 30, 512); },
      [] { return recurrent_case(Cell::kGru, 64, 30, 512); },
  };
}

}  // namespace attend::cli
