// How the gradient of attention is cut into chunks, and how what these share is summed.
#include <algorithm>
#include <vector>

#include "attend/base/parallel.h"
#include "attend/kernels/attention.h"
#include "attend/kernels/attention_backward_chunk.h"

namespace attend::kernels {
namespace {

constexpr size_t kEnoughChunks = 8;
constexpr size_t kFewQueries = 128;

// The whole gradient, cut into chunks: a key head of a sequence, or of all sequences where these
// share a bias that gets a gradient; and where that gives too few, parts of its queries. Whatever
// several chunks add to, each adds to a copy of its own, and copies are summed in order.
class BackwardWork {
 public:
  BackwardWork(const BackwardInputs& inputs, const AttentionGradients& grads)
      : inputs_(inputs), spec_(inputs.spec), grads_(grads) {
    const PairTable<float>& dbias = grads.dbias;
    const bool together = dbias.data != nullptr && dbias.sequence_step == 0;
    group_size_ = together ? spec_.sequences : 1;
    groups_ = together ? 1 : spec_.sequences;
    const size_t units = std::max<size_t>(1, groups_ * spec_.kv_heads);
    const size_t most = (longest_queries(spec_) + kFewQueries - 1) / kFewQueries;
    const bool whole = dbias.data != nullptr && dbias.query_step == 0;
    parts_ = whole ? 1 : std::max<size_t>(1, std::min((kEnoughChunks + units - 1) / units, most));
  }

  void run() {
    const size_t chunks = groups_ * spec_.kv_heads * parts_;
    if (parts_ > 1) key_sums_.resize(spec_.sequences * spec_.kv_heads * parts_ * unit_floats());
    if (grads_.drelative != nullptr) relative_sums_.resize(chunks * relative_floats());
    if (grads_.dsinks != nullptr) sink_sums_.resize(chunks * spec_.group());
    if (spec_.vector != nullptr) vector_sums_.resize(chunks * vector_floats());
    if (copies_bias()) bias_sums_.resize(spec_.kv_heads * bias_floats());
    parallel_chunks(chunks, [this](size_t i) { run_chunk(i); });
    if (parts_ > 1) {
      parallel_chunks(spec_.sequences * spec_.kv_heads, [this](size_t i) {
        deliver(keys(), i / spec_.kv_heads, i % spec_.kv_heads);
        deliver(values(), i / spec_.kv_heads, i % spec_.kv_heads);
      });
    }
    for (size_t i = 0; i < chunks; ++i) {
      const size_t head = i / parts_ % spec_.kv_heads * spec_.group();
      if (!relative_sums_.empty()) {
        add(relative_sums_, i, relative_floats(), grads_.drelative + head * spec_.relative.size);
      }
      if (!sink_sums_.empty()) add(sink_sums_, i, spec_.group(), grads_.dsinks + head);
      if (grads_.dvector != nullptr) {
        add(vector_sums_, i, vector_floats(), grads_.dvector + head * spec_.width);
      }
    }
    for (size_t h = 0; !bias_sums_.empty() && h < spec_.kv_heads; ++h) {
      add(bias_sums_, h, bias_floats(), grads_.dbias.data);
    }
  }

 private:
  using Sums = std::vector<float>;

  size_t unit_floats() const { return inputs_.longest_keys * (spec_.width + spec_.value_width); }
  size_t relative_floats() const { return spec_.group() * spec_.relative.size; }
  size_t vector_floats() const { return spec_.group() * spec_.width; }
  bool copies_bias() const {
    return grads_.dbias.data != nullptr && grads_.dbias.head_step == 0 && spec_.kv_heads > 1;
  }
  size_t bias_floats() const {
    const PairTable<float>& dbias = grads_.dbias;
    if (dbias.sequence_step != 0) return spec_.sequences * dbias.sequence_step;
    return dbias.query_step != 0 ? longest_queries(spec_) * dbias.query_step : inputs_.longest_keys;
  }

  static void add(const Sums& sums, size_t index, size_t size, float* to) {
    for (size_t i = 0; i < size; ++i) to[i] += sums[index * size + i];
  }

  // Of chunks in a causal sequence the last parts have most to do: they come first.
  void run_chunk(size_t i) {
    const size_t part = parts_ - 1 - i % parts_, kv_head = i / parts_ % spec_.kv_heads;
    const size_t group = i / parts_ / spec_.kv_heads;
    ChunkSums sums{};
    sums.dbias = grads_.dbias;
    if (!bias_sums_.empty()) sums.dbias.data = bias_sums_.data() + kv_head * bias_floats();
    if (!relative_sums_.empty()) sums.drelative = relative_sums_.data() + i * relative_floats();
    if (!vector_sums_.empty()) sums.dvector = vector_sums_.data() + i * vector_floats();
    if (!sink_sums_.empty()) sums.dsinks = sink_sums_.data() + i * spec_.group();
    for (size_t s = group * group_size_; s < (group + 1) * group_size_; ++s) {
      sums.dk = place_of(keys(), s, kv_head, part);
      sums.dv = place_of(values(), s, kv_head, part);
      const size_t begin = part_begin(s, part);
      const AttentionChunk chunk{s, kv_head, begin, part_begin(s, part + 1) - begin};
      backward_chunk(inputs_, grads_, chunk, sums);
    }
  }

  // Sequences that share a bias are cut at the same queries: a row of it belongs to one part.
  size_t part_begin(size_t sequence, size_t part) const {
    const size_t queries = spec_.q_count(sequence);
    const size_t whole = group_size_ > 1 ? longest_queries(spec_) : queries;
    return std::min(queries, whole * part / parts_);
  }

  // The gradient of keys or of values, and where its sums are among those of a part.
  struct Side {
    AttentionGradients::Part grad;
    size_t width, offset;
  };
  Side keys() const { return {grads_.dk, spec_.width, 0}; }
  Side values() const { return {grads_.dv, spec_.value_width, inputs_.longest_keys * spec_.width}; }

  float* sums_of(const Side& side, size_t sequence, size_t kv_head, size_t part) {
    return key_sums_.data() + side.offset +
           ((sequence * spec_.kv_heads + kv_head) * parts_ + part) * unit_floats();
  }

  // Where one part leaves its sums: in the gradient itself, if there are no others.
  AttentionGradients::Part place_of(const Side& side, size_t sequence, size_t kv_head,
                                    size_t part) {
    if (parts_ > 1) return {sums_of(side, sequence, kv_head, part), side.width, false};
    AttentionGradients::Part place = side.grad;
    if (place.data == nullptr) return place;
    place.data += spec_.k_begin(sequence) * place.stride + kv_head * side.width;
    return place;
  }

  void deliver(const Side& side, size_t sequence, size_t kv_head) {
    deliver_keys({sums_of(side, sequence, kv_head, 0), parts_, unit_floats(),
                  spec_.k_begin(sequence), spec_.k_count(sequence)},
                 side.grad, kv_head, side.width);
  }

  const BackwardInputs& inputs_;
  const AttentionSpec& spec_;
  const AttentionGradients& grads_;
  size_t groups_, group_size_, parts_;
  Sums key_sums_, relative_sums_, sink_sums_, bias_sums_, vector_sums_;  // empty where not used
};

}  // namespace

void attention_backward(const AttentionSpec& spec, const AttentionInputs& in, Matrix out,
                        const float* lse, Matrix dout, const AttentionGradients& grads) {
  BackwardWork({spec, in, out, lse, dout, longest_keys(spec)}, grads).run();
}

}  // namespace attend::kernels
