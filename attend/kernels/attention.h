// Attention over packed sequences, many heads at a time, in memory that grows with the length and
// not with its square: scores are computed tile by tile, weighted, and used at once; the gradient
// computes them again from the log-sum-exp (Dao et al., 2022). A head is a stride, not a copy.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attend/kernels/dropout.h"
#include "attend/kernels/gemm.h"

namespace attend::kernels {

// The keys [begin, end) of its sequence that a query may attend to.
struct KeyRange {
  int32_t begin, end;
};

// A value for each (sequence, head, query, key); a step of 0 means that all share one.
template <typename T>
struct PairTable {
  T* data = nullptr;
  size_t sequence_step = 0, head_step = 0, query_step = 0;

  T* row(size_t sequence, size_t head, size_t query) const {
    return data + sequence * sequence_step + head * head_step + query * query_step;
  }
};

// A bias that depends on the head and on how far the key is ahead of the query, (heads, size):
// element `zero` of a row is for a key at the query's own position.
struct RelativeBias {
  const float* data = nullptr;
  size_t size = 0, zero = 0;
};

enum class FusedWeighting { kSoftmax, kSigmoid, kRelu };

// Which queries look at which keys, and how. Row r of q belongs to the sequence s with
// q_offsets[s] <= r < q_offsets[s + 1]; keys likewise. Head h reads columns h * width on of q, and
// key head h / (heads / kv_heads).
struct AttentionSpec {
  size_t heads = 1, kv_heads = 1;
  size_t width = 0, value_width = 0;  // of one head
  size_t sequences = 0;
  const int32_t* q_offsets = nullptr;  // (sequences + 1)
  const int32_t* k_offsets = nullptr;  // (sequences + 1)
  const int32_t* k_lengths =
      nullptr;  // (sequences): how many of its rows a sequence uses; all if null
  const KeyRange* ranges = nullptr;  // (q rows), within their sequences
  PairTable<const uint8_t> mask;     // zero: may not attend; none if null

  // score = (softcap(scale q.k) + bias) * inverse_temperature, softcap(s) = cap tanh(s / cap). With
  // a vector, the sum of vector tanh(q + k) stands for q.k.
  const float* vector = nullptr;  // (heads, width)
  float scale = 1.0f;
  float softcap = 0.0f;  // 0: none
  PairTable<const float> bias;
  RelativeBias relative;
  const int64_t* positions = nullptr;  // (q rows), for `relative`: where among the keys a query is
  float inverse_temperature = 1.0f;

  FusedWeighting weighting = FusedWeighting::kSoftmax;
  const float* sinks = nullptr;  // (heads): the score of a key that gives nothing; or none
  Dropout dropout = {0.0f, RandomStream(0, 0)};  // of the weights

  size_t group() const { return heads / kv_heads; }
  size_t q_begin(size_t s) const { return static_cast<size_t>(q_offsets[s]); }
  size_t k_begin(size_t s) const { return static_cast<size_t>(k_offsets[s]); }
  size_t q_count(size_t s) const { return q_begin(s + 1) - q_begin(s); }
  size_t k_count(size_t s) const {
    return k_lengths != nullptr ? static_cast<size_t>(k_lengths[s]) : k_begin(s + 1) - k_begin(s);
  }
  size_t q_rows() const { return q_begin(sequences); }
  size_t k_rows() const { return k_begin(sequences); }
};

struct AttentionInputs {
  Matrix q, k,
      v;  // (q rows, heads width), (k rows, kv_heads width), (k rows, kv_heads value_width)
};

// out (q rows, heads value_width) = weights v. With softmax, lse (q rows, heads), if not null,
// gets the logarithm of the sum of e^score, -infinity for a query that may attend to nothing; the
// output of that one is 0. A key
// that a query may not attend to has no part in its row, whatever it holds.
void attention_forward(const AttentionSpec& spec, const AttentionInputs& in, MutableMatrix out,
                       float* lse);

// Where gradients go; null where none is wanted. `add` is for each of them.
struct AttentionGradients {
  struct Part {
    float* data = nullptr;
    size_t stride = 0;
    bool add = false;
  };
  Part dq, dk, dv;             // like q, k, v
  PairTable<float> dbias;      // steps as in the bias; always added to
  float* drelative = nullptr;  // like the relative bias; always added to
  float* dvector = nullptr;    // always added to
  float* dsinks = nullptr;     // always added to
};

void attention_backward(const AttentionSpec& spec, const AttentionInputs& in, Matrix out,
                        const float* lse, Matrix dout, const AttentionGradients& grads);

// What attention_forward weighted with, made again: weights (query_count, keys of the sequence) of
// one head, before dropout, for queries [query, query + query_count) of a sequence; or the scores
// behind them, -infinity where masked.
struct RowsOfInterest {
  size_t sequence, head, query, query_count;
};
void attention_weights(const AttentionSpec& spec, const AttentionInputs& in, const float* lse,
                       const RowsOfInterest& rows, float* weights);
void attention_scores(const AttentionSpec& spec, const AttentionInputs& in,
                      const RowsOfInterest& rows, float* scores);

}  // namespace attend::kernels
