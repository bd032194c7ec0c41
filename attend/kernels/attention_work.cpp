#include "attend/kernels/attention_work.h"

#include <algorithm>

namespace attend::kernels {
namespace {

constexpr size_t kEnoughChunks = 16;
constexpr size_t kFewQueries = 96;

size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

}  // namespace

size_t pairs_of(const AttentionSpec& spec, const AttentionChunk& chunk) {
  size_t pairs = 0;
  const KeyRange* range = spec.ranges + spec.q_begin(chunk.sequence) + chunk.query;
  for (size_t i = 0; i < chunk.queries; ++i) {
    pairs += static_cast<size_t>(std::max(0, range[i].end - range[i].begin));
  }
  return pairs;
}

size_t longest_keys(const AttentionSpec& spec) {
  size_t longest = 0;
  for (size_t s = 0; s < spec.sequences; ++s) longest = std::max(longest, spec.k_count(s));
  return longest;
}

size_t longest_queries(const AttentionSpec& spec) {
  size_t longest = 0;
  for (size_t s = 0; s < spec.sequences; ++s) longest = std::max(longest, spec.q_count(s));
  return longest;
}

std::vector<AttentionChunk> attention_chunks(const AttentionSpec& spec, size_t longest) {
  const size_t units = std::max<size_t>(1, spec.sequences * spec.kv_heads);
  struct Sized {
    size_t work;
    AttentionChunk chunk;
  };
  std::vector<Sized> sized;
  for (size_t s = 0; s < spec.sequences; ++s) {
    const size_t queries = spec.q_count(s);
    const size_t most = ceil_div(queries * spec.group(), kFewQueries);
    const size_t parts =
        std::max(ceil_div(queries, longest), std::min(ceil_div(kEnoughChunks, units), most));
    for (size_t part = 0; part < parts; ++part) {
      const size_t begin = queries * part / parts, end = queries * (part + 1) / parts;
      AttentionChunk chunk{s, 0, begin, end - begin};
      if (chunk.queries == 0) continue;
      const size_t work = pairs_of(spec, chunk);
      for (; chunk.kv_head < spec.kv_heads; ++chunk.kv_head) sized.push_back({work, chunk});
    }
  }
  std::ranges::stable_sort(sized, std::greater(), &Sized::work);
  std::vector<AttentionChunk> chunks;
  chunks.reserve(sized.size());
  for (const Sized& s : sized) chunks.push_back(s.chunk);
  return chunks;
}

}  // namespace attend::kernels
