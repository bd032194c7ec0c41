#include "attend/attention/cache.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "attend/base/error.h"

namespace attend {
namespace {

void copy_rows(const Tensor& from, size_t row, size_t count, const Tensor& to, size_t to_row) {
  if (from.width() == 0) return;  // keys that nobody reads
  for (size_t i = 0; i < count; ++i) {
    std::memmove(to.data() + (to_row + i) * to.stride(), from.data() + (row + i) * from.stride(),
                 from.width() * sizeof(float));
  }
}

void check_count(size_t rows) {
  constexpr auto kMost = static_cast<size_t>(std::numeric_limits<int32_t>::max());
  if (rows > kMost) {
    throw ShapeError("cache: a sequence of {} rows; at most {}", rows, kMost);
  }
}

// The moves s <- parents[s] in an order in which none overwrites what a later one reads; nothing
// where they go in a circle.
std::optional<std::vector<size_t>> moves_in_place(std::span<const size_t> parents, size_t before) {
  std::vector<size_t> readers(before), order;
  size_t moves = 0;
  for (size_t s = 0; s < parents.size(); ++s) {
    if (parents[s] == s) continue;
    ++readers[parents[s]];
    ++moves;
  }
  for (size_t s = 0; s < parents.size(); ++s) {
    if (parents[s] != s && readers[s] == 0) order.push_back(s);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t parent = parents[order[i]];
    const bool moves_too = parent < parents.size() && parents[parent] != parent;
    if (--readers[parent] == 0 && moves_too) order.push_back(parent);
  }
  return order.size() == moves ? std::optional(order) : std::nullopt;
}

}  // namespace

KeyValueCache::KeyValueCache(size_t sequences, size_t window)
    : window_(window), lengths_(sequences), seen_(sequences) {}

KeyValueCache::KeyValueCache(const KeyValueCache& other)
    : distances(other.distances),
      window_(other.window_),
      capacity_(other.capacity_),
      lengths_(other.lengths_),
      seen_(other.seen_) {
  const auto copy = [](const Tensor& x) {
    return x.defined() ? Tensor::of(x.span(), x.shape()) : Tensor();
  };
  keys_ = copy(other.keys_);
  values_ = copy(other.values_);
}

void KeyValueCache::append(const Packing& rows, const Tensor& k, const Tensor& v) {
  if (rows.count() != sequences() || rows.rows() != k.rows() || k.rows() != v.rows()) {
    throw ShapeError("cache: keys {} and values {} of {} rows for {} sequences, but it holds {}",
                     k.shape(), v.shape(), rows.rows(), rows.count(), sequences());
  }
  if (keys_.defined() && (keys_.width() != k.width() || values_.width() != v.width())) {
    throw ShapeError("cache: keys {} and values {} do not fit those of before, {} and {} wide",
                     k.shape(), v.shape(), keys_.width(), values_.width());
  }
  if (!keys_.defined()) {
    keys_ = Tensor::empty({0, k.width()});
    values_ = Tensor::empty({0, v.width()});
  }
  if (window_ > 0) drop_old();
  size_t longest = 0;
  for (size_t s = 0; s < sequences(); ++s) {
    longest = std::max(longest, static_cast<size_t>(lengths_[s]) + rows.length(s));
    check_count(static_cast<size_t>(seen_[s]) + rows.length(s));
  }
  reserve(longest);
  for (size_t s = 0; s < sequences(); ++s) {
    const size_t to = s * capacity_ + static_cast<size_t>(lengths_[s]);
    copy_rows(k, rows.begin(s), rows.length(s), keys_, to);
    copy_rows(v, rows.begin(s), rows.length(s), values_, to);
    lengths_[s] += static_cast<int32_t>(rows.length(s));
    seen_[s] += static_cast<int32_t>(rows.length(s));
  }
}

// A query sees itself and window - 1 keys before; as many more stay for a sequence that is rewound.
// They move only when a sequence has twice that, so that a row moves once.
void KeyValueCache::drop_old() {
  for (size_t s = 0; s < sequences(); ++s) {
    const auto length = static_cast<size_t>(lengths_[s]);
    if (length / 4 < window_) continue;  // four windows may be more than size_t holds
    const size_t kept = 2 * window_ - 1;
    const size_t first = s * capacity_, extra = length - kept;
    copy_rows(keys_, first + extra, kept, keys_, first);
    copy_rows(values_, first + extra, kept, values_, first);
    lengths_[s] = static_cast<int32_t>(kept);
  }
}

// Where a window has dropped most of a long prompt, its memory is given back. A sequence that is
// written holds up to four windows, for which doubling takes less than eight.
void KeyValueCache::reserve(size_t rows) {
  const bool roomy = window_ > 0 && capacity_ / 8 > window_ && capacity_ / 2 > rows;
  if (rows <= capacity_ && !roomy) return;
  const size_t capacity = roomy ? std::max<size_t>({rows, 4 * window_, 16})
                                : std::max<size_t>({rows, 2 * capacity_, 16});
  const auto move = [&](Tensor& x) {
    const Tensor to = Tensor::empty({sequences() * capacity, x.width()});
    for (size_t s = 0; s < sequences(); ++s) {
      copy_rows(x, s * capacity_, static_cast<size_t>(lengths_[s]), to, s * capacity);
    }
    x = to;
  };
  move(keys_);
  move(values_);
  capacity_ = capacity;
}

void KeyValueCache::reorder(std::span<const size_t> parents) {
  std::vector<int32_t> lengths, seen;
  for (const size_t parent : parents) {
    if (parent >= sequences()) {
      throw ShapeError("cache: there is no sequence {} among {}", parent, sequences());
    }
    lengths.push_back(lengths_[parent]);
    seen.push_back(seen_[parent]);
  }
  std::optional<std::vector<size_t>> order;  // in place where that can be
  if (parents.size() <= sequences()) order = moves_in_place(parents, sequences());
  const auto arrange = [&](Tensor& x) {
    if (!x.defined()) return;
    const size_t rows = parents.size() * capacity_;
    const Tensor to = order ? x.slice_rows(0, rows) : Tensor::empty({rows, x.width()});
    const auto copy = [&](size_t s) {
      copy_rows(x, parents[s] * capacity_, static_cast<size_t>(lengths[s]), to, s * capacity_);
    };
    if (order) {
      std::ranges::for_each(*order, copy);
    } else {
      for (size_t s = 0; s < parents.size(); ++s) copy(s);
    }
    x = to;
  };
  arrange(keys_);
  arrange(values_);
  lengths_ = std::move(lengths);
  seen_ = std::move(seen);
}

void KeyValueCache::admit(size_t more) {
  const size_t before = sequences();
  lengths_.resize(before + more, 0);
  seen_.resize(before + more, 0);
  const auto grow = [&](Tensor& x) {
    if (!x.defined()) return;
    const Tensor larger = Tensor::empty({sequences() * capacity_, x.width()});
    copy_rows(x, 0, before * capacity_, larger, 0);
    x = larger;
  };
  grow(keys_);
  grow(values_);
}

void KeyValueCache::admit(const KeyValueCache& more) {
  if (keys_.defined() && more.keys_.defined() &&
      (keys_.width() != more.keys_.width() || values_.width() != more.values_.width())) {
    throw ShapeError("cache: keys and values of {} and {} columns cannot join those of {} and {}",
                     more.keys_.width(), more.values_.width(), keys_.width(), values_.width());
  }
  if (more.keys_.defined() && !keys_.defined()) {
    keys_ = Tensor::empty({0, more.keys_.width()});
    values_ = Tensor::empty({0, more.values_.width()});
  }
  const size_t before = sequences();
  if (more.capacity_ > capacity_) reserve(more.capacity_);
  admit(more.sequences());
  for (size_t s = 0; s < more.sequences(); ++s) {
    const auto length = static_cast<size_t>(more.lengths_[s]);
    lengths_[before + s] = more.lengths_[s];
    seen_[before + s] = more.seen_[s];
    copy_rows(more.keys_, s * more.capacity_, length, keys_, (before + s) * capacity_);
    copy_rows(more.values_, s * more.capacity_, length, values_, (before + s) * capacity_);
  }
}

void KeyValueCache::rewind(std::span<const int32_t> seen) {
  if (seen.size() != sequences()) {
    throw ShapeError("cache: {} lengths to rewind to, but it holds {} sequences", seen.size(),
                     sequences());
  }
  for (size_t s = 0; s < sequences(); ++s) {
    const int32_t dropped = seen_[s] - lengths_[s];
    const int32_t needed = window_ > 0 ? seen[s] - static_cast<int32_t>(std::min<size_t>(
                                                       window_ - 1, static_cast<size_t>(seen[s])))
                                       : 0;
    if (seen[s] < 0 || seen[s] > seen_[s] || (dropped > 0 && needed < dropped)) {
      throw ShapeError(
          "cache: sequence {} cannot be rewound from {} rows to {}; the first {} were dropped", s,
          seen_[s], seen[s], dropped);
    }
    lengths_[s] = seen[s] - dropped;
    seen_[s] = seen[s];
  }
}

void KeyValueCache::clear() {
  distances = {};
  std::ranges::fill(lengths_, 0);
  std::ranges::fill(seen_, 0);
}

}  // namespace attend
