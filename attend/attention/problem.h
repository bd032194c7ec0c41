// One call of attention, checked and resolved: what both of its paths start from. Not for use
// outside attention/.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "attend/attention/attention.h"
#include "attend/attention/recorder.h"

namespace attend {

// That of a sequence, where counts are given.
inline size_t count_of(const std::vector<int32_t>& counts, size_t sequence) {
  return counts.empty() ? 0 : static_cast<size_t>(counts[sequence]);
}

struct AttentionProblem {
  AttentionOptions options;
  PreparedScore score;
  Tensor v;
  size_t heads, kv_heads;
  Packing queries, keys;
  size_t longest_keys = 0;                                // in use in any sequence
  std::vector<kernels::KeyRange> ranges;                  // (q rows)
  std::vector<int64_t> positions;                         // (q rows)
  kernels::Dropout dropout = {0.0f, RandomStream(0, 0)};  // chance 0 where it is off
  RandomStream sampling = RandomStream(0, 0);             // of hard attention

  size_t key_count(size_t sequence) const {
    return options.key_lengths.empty() ? keys.length(sequence)
                                       : static_cast<size_t>(options.key_lengths[sequence]);
  }
  // How many queries and keys of a sequence came before those of this call.
  size_t first_query(size_t sequence) const { return count_of(options.earlier.queries, sequence); }
  size_t first_key(size_t sequence) const { return count_of(options.earlier.keys, sequence); }
  size_t group() const { return heads / kv_heads; }
  size_t width() const { return score.q.width() / heads; }
  size_t value_width() const { return v.width() / kv_heads; }

  // How a bias or a mask of pairs is read.
  PairSteps steps_of(const Shape& table, const char* what) const {
    return pair_steps(table, what, heads, queries, longest_keys);
  }

  // Element (row, head, 0) of the dropout of weights; keys follow.
  size_t dropout_row(size_t row, size_t head) const {
    return (row * heads + head) * ((longest_keys + 127) / 128 * 128);
  }
};

Attended fused_attention(const std::shared_ptr<const AttentionProblem>& problem);
Attended plain_attention(const AttentionProblem& problem);

// Throws ShapeError where the counts do not fit the sequences.
void check_earlier(const EarlierRows& earlier, size_t sequences);

// As much of a problem as a Recording reads, for layers that do not call the one op.
AttentionProblem problem_of_layer(const std::string& name, const Packing& queries,
                                  std::vector<int32_t> earlier = {});

// What the installed Recorder wants of this layer, or nothing.
class Recording {
 public:
  explicit Recording(const AttentionProblem& problem);

  explicit operator bool() const { return recorder_ != nullptr; }
  bool wants(size_t sequence, size_t head) const;
  // The queries of a sequence in this call that are wanted.
  struct Span {
    size_t first, count;
  };
  Span queries(size_t sequence) const;
  bool wants_scores() const { return request_.scores || request_.lse; }
  bool wants_parts() const { return request_.parts; }

  // Hands over one head; `scores` is used if wants_scores().
  void give(size_t sequence, size_t head, const Tensor& weights, const Tensor& scores,
            std::optional<HeadParts> parts = {}) const;
  // The same, of rows for all queries of the sequence; `parts` are those of queries() already.
  void give_rows(size_t sequence, size_t head, const Tensor& weights, const Tensor& scores,
                 std::optional<HeadParts> parts = {}) const {
    const auto [first, count] = queries(sequence);
    give(sequence, head, weights.slice_rows(first, count), scores.slice_rows(first, count),
         std::move(parts));
  }
  // What the op made a head of, for queries(); none where nobody wants it.
  std::optional<HeadParts> parts_of(size_t sequence, size_t head) const;

 private:
  const AttentionProblem& problem_;
  Recorder* recorder_ = nullptr;  // null if nothing is wanted
  RecordRequest request_;
  std::string layer_;
  size_t call_ = 0;
};

}  // namespace attend
