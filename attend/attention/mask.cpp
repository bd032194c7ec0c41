#include "attend/attention/mask.h"

#include <algorithm>
#include <span>

#include "attend/base/error.h"

namespace attend {
namespace {

using kernels::KeyRange;

void check_window(const std::optional<int64_t>& width, const char* side) {
  if (width && *width < 0) {
    throw ConfigError(
        "attention: the window's {} side is {}; it counts keys beside the query, so 0 or more",
        side, *width);
  }
}

// One for each sequence, or one for all.
void check_count(size_t count, const char* what, size_t sequences) {
  if (count > 1 && count != sequences) {
    throw ShapeError("attention: {} {} for {} sequences; give one for each, or one for all", count,
                     what, sequences);
  }
}

template <typename T>
T of_sequence(const std::vector<T>& values, size_t sequence, T otherwise) {
  return values.empty() ? otherwise : values[values.size() == 1 ? 0 : sequence];
}

void check(const Mask& mask, const Packing& queries, const Packing& keys) {
  check_window(mask.left, "left");
  check_window(mask.right, "right");
  if (!mask.prefix.empty() && !mask.causal && !mask.strictly_causal) {
    throw ConfigError(
        "attention: a prefix is what causal queries see beside their past; set causal or "
        "strictly_causal");
  }
  check_count(mask.prefix.size(), "prefixes", queries.count());
  check_count(mask.q_offset.size(), "query offsets", queries.count());
  if (mask.q_documents.empty() && mask.k_documents.empty()) return;
  if (mask.q_documents.size() != queries.rows() || mask.k_documents.size() != keys.rows()) {
    throw ShapeError("attention: documents of {} queries and {} keys, but there are {} and {}",
                     mask.q_documents.size(), mask.k_documents.size(), queries.rows(), keys.rows());
  }
}

// The run of keys of one document, within a sequence; empty if it has none.
KeyRange run_of(std::span<const int32_t> documents, int32_t document) {
  const auto first = std::ranges::find(documents, document);
  const auto last = std::find_if(first, documents.end(), [=](int32_t d) { return d != document; });
  if (std::find(last, documents.end(), document) != documents.end()) {
    throw ShapeError("attention: the keys of document {} are not in one run; sort them by document",
                     document);
  }
  return {static_cast<int32_t>(first - documents.begin()),
          static_cast<int32_t>(last - documents.begin())};
}

// Where the first query of a sequence stands among its keys.
int64_t first_position(const Mask& mask, const Packing& queries, size_t sequence, int64_t count) {
  return of_sequence(mask.q_offset, sequence,
                     count - static_cast<int64_t>(queries.length(sequence)));
}

// What query i may see of `count` keys, but for documents; `first` is the position of query 0. A
// query's place is added last: where the sum before it is cut, it is so far from all keys that a
// place does not matter.
KeyRange range_of(const Mask& mask, int64_t first, int64_t i, int64_t count, int64_t prefix) {
  int64_t begin = 0, end = count;
  if (mask.causal) end = std::min(end, std::max(saturating_add(first, i + 1), prefix));
  if (mask.strictly_causal) end = std::min(end, std::max(saturating_add(first, i), prefix));
  if (mask.left) begin = std::max(begin, saturating_add(saturating_subtract(first, *mask.left), i));
  if (mask.right) {
    end = std::min(end, saturating_add(saturating_add(first, *mask.right), i + 1));
  }
  if (begin >= end) return {0, 0};
  return {static_cast<int32_t>(begin), static_cast<int32_t>(end)};
}

KeyRange both(KeyRange a, KeyRange b) {
  const KeyRange range{std::max(a.begin, b.begin), std::min(a.end, b.end)};
  return range.begin < range.end ? range : KeyRange{0, 0};
}

}  // namespace

PairMask::PairMask(const Shape& shape, std::vector<uint8_t> allowed)
    : shape_(shape), allowed_(std::make_shared<const std::vector<uint8_t>>(std::move(allowed))) {
  if (allowed_->size() != shape.size()) {
    throw ShapeError("attention: a mask of shape {} needs {} values, not {}", shape, shape.size(),
                     allowed_->size());
  }
}

std::vector<int64_t> query_positions(const Mask& mask, const Packing& queries,
                                     std::span<const int32_t> key_counts) {
  std::vector<int64_t> positions;
  positions.reserve(queries.rows());
  for (size_t s = 0; s < queries.count(); ++s) {
    const int64_t first = first_position(mask, queries, s, key_counts[s]);
    const auto length = static_cast<int64_t>(queries.length(s));
    for (int64_t i = 0; i < length; ++i) positions.push_back(saturating_add(first, i));
  }
  return positions;
}

std::vector<KeyRange> key_ranges(const Mask& mask, const Packing& queries, const Packing& keys,
                                 std::span<const int32_t> key_counts) {
  check(mask, queries, keys);
  std::vector<KeyRange> ranges(queries.rows());
  for (size_t s = 0; s < queries.count(); ++s) {
    const int64_t count = key_counts[s];
    const int64_t first = first_position(mask, queries, s, count);
    const int64_t prefix = of_sequence(mask.prefix, s, 0);
    KeyRange run{0, static_cast<int32_t>(count)};
    for (size_t row = queries.begin(s); row < queries.end(s); ++row) {
      if (!mask.q_documents.empty() &&
          (row == queries.begin(s) || mask.q_documents[row] != mask.q_documents[row - 1])) {
        run = run_of(std::span(mask.k_documents).subspan(keys.begin(s), static_cast<size_t>(count)),
                     mask.q_documents[row]);
      }
      ranges[row] = both(
          run, range_of(mask, first, static_cast<int64_t>(row - queries.begin(s)), count, prefix));
    }
  }
  return ranges;
}

PairSteps pair_steps(const Shape& shape, const char* what, size_t heads, const Packing& queries,
                     size_t longest_keys) {
  const size_t rank = shape.rank();
  const auto fits = [](size_t extent, size_t wanted) { return extent == wanted || extent == 1; };
  const auto covers = [](size_t extent, size_t wanted) { return extent >= wanted || extent == 1; };
  const bool right = rank >= 2 && rank <= 4 && covers(shape[-2], queries.longest()) &&
                     shape[-1] >= longest_keys && (rank < 3 || fits(shape[-3], heads)) &&
                     (rank < 4 || fits(shape[0], queries.count()));
  if (!right) {
    throw ShapeError(
        "attention: a {} of shape {} does not fit {} sequences of up to {} queries and {} keys in "
        "{} heads; it is [queries, keys], [heads, queries, keys] or [sequences, heads, queries, "
        "keys], where 1 stands for all",
        what, shape, queries.count(), queries.longest(), longest_keys, heads);
  }
  const size_t matrix = shape[-2] * shape[-1];
  const size_t per_head = rank >= 3 && shape[-3] > 1 ? matrix : 0;
  const size_t per_sequence = rank == 4 && shape[0] > 1 ? shape[1] * matrix : 0;
  return {per_sequence, per_head, shape[-2] > 1 ? shape[-1] : 0};
}

}  // namespace attend
