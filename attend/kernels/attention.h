// Attention over packed sequences with many heads, in memory linear in the length: scores are
// computed, weighted and used tile by tile, and the gradient recomputes them from the log-sum-exp
// (Dao et al., 2022). A head is a stride, not a copy.
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

  // The values of a query, one for each key.
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

// The weightings that have a fused kernel.
enum class FusedWeighting { kSoftmax, kSigmoid, kRelu };

// Which queries attend to which keys, and how. Row r of q belongs to the sequence s with
// q_offsets[s] <= r < q_offsets[s + 1]; keys likewise. Head h reads columns h * width on of q, and
// key head h / (heads / kv_heads).
struct AttentionSpec {
  size_t heads = 1, kv_heads = 1;
  size_t width = 0, value_width = 0;  // of one head
  size_t sequences = 0;
  const int32_t* q_offsets = nullptr;  // (sequences + 1)
  const int32_t* k_offsets = nullptr;  // (sequences + 1)
  const int32_t* k_lengths = nullptr;  // (sequences): rows of a sequence in use; all if null
  const KeyRange* ranges = nullptr;    // (q rows), within their sequences
  PairTable<const uint8_t> mask;       // zero: masked; null: no mask

  // score = (softcap(scale q.k) + bias) * inverse_temperature, softcap(s) = cap tanh(s / cap). With
  // a vector, sum(vector tanh(q + k)) takes the place of q.k.
  const float* vector = nullptr;  // (heads, width)
  float scale = 1.0f;
  float softcap = 0.0f;  // 0: none
  PairTable<const float> bias;
  RelativeBias relative;
  // (q rows), for `relative`: the position of a query among the keys.
  const int64_t* positions = nullptr;
  float inverse_temperature = 1.0f;

  FusedWeighting weighting = FusedWeighting::kSoftmax;
  const float* sinks = nullptr;  // (heads): the score of a key without a value; or null
  Dropout dropout = {0.0f, RandomStream(0, 0)};  // of the weights

  // Query heads per key head; the first row and the number of rows of a sequence; all rows.
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

// Queries, keys and values.
struct AttentionInputs {
  Matrix q, k,
      v;  // (q rows, heads width), (k rows, kv_heads width), (k rows, kv_heads value_width)
};

// out (q rows, heads value_width) = weights v. With softmax, lse (q rows, heads), if not null, gets
// the logarithm of the sum of e^score; for a query that sees no key it is -infinity and the output
// is 0. A masked key has no influence on a row, even if it is NaN.
void attention_forward(const AttentionSpec& spec, const AttentionInputs& in, MutableMatrix out,
                       float* lse);

// Where gradients are written; null where none is needed. `add` applies to each by itself.
struct AttentionGradients {
  // A gradient in memory: rows a stride apart, overwritten or added to.
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

// Gradients of attention_forward, from its output `out` and `lse`, and the gradient `dout` of its
// output.
void attention_backward(const AttentionSpec& spec, const AttentionInputs& in, Matrix out,
                        const float* lse, Matrix dout, const AttentionGradients& grads);

// Recomputes the weights of attention_forward, (query_count, keys of the sequence), of one head
// before dropout, for queries [query, query + query_count) of a sequence; or their scores,
// -infinity where masked.
struct RowsOfInterest {
  size_t sequence, head, query, query_count;
};
void attention_weights(const AttentionSpec& spec, const AttentionInputs& in, const float* lse,
                       const RowsOfInterest& rows, float* weights);
void attention_scores(const AttentionSpec& spec, const AttentionInputs& in,
                      const RowsOfInterest& rows, float* scores);

}  // namespace attend::kernels
