#include "attend/train/word_sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <queue>

#include "attend/base/error.h"
#include "attend/base/parallel.h"

namespace attend {
namespace {

// Places of a stream from which other numbers are drawn.
constexpr uint64_t kNegativePlaces = uint64_t{1} << 40;

constexpr double kOne = 4294967296.0;  // 2^32

}  // namespace

AliasTable::AliasTable(std::span<const double> weights)
    : stays_(weights.size(), 0xFFFFFFFF), other_(weights.size()) {
  std::iota(other_.begin(), other_.end(), 0);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> share(weights.size());
  std::vector<uint32_t> less, more;  // than their place has room for
  for (size_t i = 0; i < weights.size(); ++i) {
    share[i] = weights[i] / total * static_cast<double>(weights.size());
    (share[i] < 1 ? less : more).push_back(static_cast<uint32_t>(i));
  }
  while (!less.empty() && !more.empty()) {
    const uint32_t small = less.back(), large = more.back();
    less.pop_back();
    stays_[small] = static_cast<uint32_t>(std::min(share[small] * kOne, kOne - 1));
    other_[small] = large;
    share[large] -= 1 - share[small];
    if (share[large] < 1) {
      more.pop_back();
      less.push_back(large);
    }
  }
}

HuffmanTree::HuffmanTree(std::span<const double> weights) {
  const size_t words = weights.size();
  using Entry = std::pair<double, size_t>;  // equal weights in the order of their numbers
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> left;
  for (size_t i = 0; i < words; ++i) left.emplace(weights[i], i);
  // Words, then inner nodes as they are made; the last is the root.
  std::vector<size_t> parent(words == 0 ? 0 : 2 * words - 1);
  std::vector<float> sign(parent.size());
  for (size_t node = words; node < parent.size(); ++node) {
    const Entry first = left.top();
    left.pop();
    const Entry second = left.top();
    left.pop();
    parent[first.second] = parent[second.second] = node;
    sign[first.second] = -1.0f;
    sign[second.second] = 1.0f;
    left.emplace(first.first + second.first, node);
  }
  first.push_back(0);
  for (size_t word = 0; word < words; ++word) {
    const size_t begin = nodes.size();
    for (size_t at = word; at + 1 < parent.size(); at = parent[at]) {
      nodes.push_back(static_cast<int32_t>(parent[at] - words));
      signs.push_back(sign[at]);
    }
    std::reverse(nodes.begin() + static_cast<std::ptrdiff_t>(begin), nodes.end());
    std::reverse(signs.begin() + static_cast<std::ptrdiff_t>(begin), signs.end());
    first.push_back(static_cast<uint32_t>(nodes.size()));
  }
}

WordSampler::WordSampler(std::span<const uint64_t> counts, size_t first,
                         const WordContextSettings& settings)
    : settings_(settings), first_(first) {
  std::vector<double> weights;
  double total = 0;
  for (size_t id = first; id < counts.size(); ++id) total += static_cast<double>(counts[id]);
  if (total == 0) {
    throw DataError(
        "train: no word of the vocabulary occurs in the training text; lower "
        "vocabulary.minimum_count, or give more text");
  }
  keep_.assign(counts.size(), 0);
  for (size_t id = first; id < counts.size(); ++id) {
    const auto count = static_cast<double>(counts[id]);
    double chance = 1;
    if (settings.subsample > 0 && count > 0) {
      const double share = settings.subsample * total / count;
      chance = std::min(1.0, std::sqrt(share) + share);
    }
    keep_[id] = static_cast<uint64_t>(chance * kOne);
    weights.push_back(settings.hierarchical ? std::max(count, 1.0)
                                            : std::pow(count, settings.exponent));
  }
  if (settings.hierarchical) {
    tree_ = HuffmanTree(weights);
  } else {
    negatives_ = AliasTable(weights);
  }
}

WordSampler::Drawn WordSampler::draw(const Tokens& texts, RandomStream random) const {
  Drawn drawn;
  drawn.windows.together = settings_.together;
  drawn.windows.reach = settings_.window;
  add_words(texts, random, drawn);
  if (settings_.hierarchical) {
    add_paths(drawn);
  } else {
    add_negatives(random, drawn);
  }
  return drawn;
}

// Two words share the four numbers of a block: whether each stays, and how far its window reaches.
void WordSampler::add_words(const Tokens& texts, RandomStream random, Drawn& drawn) const {
  WordWindows& windows = drawn.windows;
  const std::span<const int32_t> all = texts.ids.index_span();
  drawn.ids.reserve(all.size());
  windows.begin.reserve(all.size());
  windows.end.reserve(all.size());
  std::array<uint32_t, 4> numbers{};
  for (size_t text = 0; text < texts.count(); ++text) {
    const size_t first = drawn.ids.size();
    for (size_t i = texts.packing.begin(text); i < texts.packing.end(text); ++i) {
      if (i % 2 == 0 || i == texts.packing.begin(text)) {
        numbers = philox(random.seed(), i / 2, random.stream());
      }
      const auto id = static_cast<size_t>(all[i]);
      if (id < first_ || id >= keep_.size() || numbers[i % 2] >= keep_[id]) continue;
      const uint64_t reach = (uint64_t{numbers[2 + i % 2]} * settings_.window >> 32) + 1;
      const size_t position = drawn.ids.size();
      windows.begin.push_back(
          static_cast<uint32_t>(position - std::min<size_t>(reach, position - first)));
      windows.end.push_back(static_cast<uint32_t>(position + reach + 1));
      drawn.ids.push_back(all[i]);
    }
    const size_t last = drawn.ids.size();
    for (size_t p = std::max(first, last - std::min(last, settings_.window)); p < last; ++p) {
      windows.end[p] = std::min(windows.end[p], static_cast<uint32_t>(last));
    }
  }
}

void WordSampler::add_negatives(RandomStream random, Drawn& drawn) const {
  WordWindows& windows = drawn.windows;
  const size_t positions = drawn.ids.size(), each = settings_.negatives + 1;
  windows.first_output.resize(positions + 1);
  windows.outputs.resize(positions * each);
  windows.signs.resize(positions * each);
  constexpr size_t kGrain = 64;
  parallel_for(positions + 1, kGrain, [&](size_t begin, size_t end) {
    std::array<uint32_t, 4> numbers{};
    size_t block = ~size_t{0};
    for (size_t p = begin; p < end; ++p) {
      windows.first_output[p] = static_cast<uint32_t>(p * each);
      if (p == positions) break;
      int32_t* const outputs = windows.outputs.data() + p * each;
      float* const signs = windows.signs.data() + p * each;
      outputs[0] = drawn.ids[p];
      signs[0] = -1.0f;
      for (size_t k = 1; k < each; ++k) {
        const size_t place = p * settings_.negatives + k - 1;
        if (place / 4 != block) {
          block = place / 4;
          numbers = philox(random.seed(), kNegativePlaces + block, random.stream());
        }
        outputs[k] = static_cast<int32_t>(first_ + negatives_.draw(numbers[place % 4]));
        signs[k] = outputs[k] == outputs[0] ? 0.0f : 1.0f;
      }
    }
  });
}

void WordSampler::add_paths(Drawn& drawn) const {
  WordWindows& windows = drawn.windows;
  windows.first_output.push_back(0);
  for (const int32_t id : drawn.ids) {
    const size_t word = static_cast<size_t>(id) - first_;
    for (size_t i = tree_.first[word]; i < tree_.first[word + 1]; ++i) {
      windows.outputs.push_back(tree_.nodes[i]);
      windows.signs.push_back(tree_.signs[i]);
    }
    windows.first_output.push_back(static_cast<uint32_t>(windows.outputs.size()));
  }
}

}  // namespace attend
