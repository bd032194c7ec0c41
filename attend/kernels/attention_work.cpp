#include "attend/kernels/attention_work.h"

#include <algorithm>

namespace attend::kernels {
namespace {

constexpr size_t kEnoughChunks = 16;
constexpr size_t kFewQueries = 96;

size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

// Pairs of a query and a key that the chunk looks at.
size_t work_of(const AttentionSpec& spec, const AttentionChunk& chunk) {
  size_t pairs = 0;
  const KeyRange* range = spec.ranges + spec.q_begin(chunk.sequence) + chunk.query;
  for (size_t i = 0; i < chunk.queries; ++i) {
    pairs += static_cast<size_t>(std::max(0, range[i].end - range[i].begin));
  }
  return pairs;
}

}  // namespace

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
      const size_t work = work_of(spec, chunk);
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
