#include "attend/text/pair_learning.h"

#include <algorithm>
#include <queue>
#include <unordered_set>

namespace attend {
namespace {

struct PairHash {
  size_t operator()(uint64_t pair) const {
    const uint64_t hash = pair * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 32);
  }
};

class PairLearner {
 public:
  PairLearner(std::vector<CountedWord> words, std::vector<std::string>& pieces,
              const PairLearning& learning)
      : words_(std::move(words)), pieces_(pieces), learning_(learning) {
    for (size_t i = 0; i < pieces_.size(); ++i) known_.emplace(pieces_[i], number_of(i));
  }

  std::vector<PairMerge> learn() {
    count_pairs();
    std::vector<PairMerge> merges;
    while (pieces_.size() < learning_.most_pieces && !frequent_.empty()) {
      const Frequent best = frequent_.top();
      frequent_.pop();
      Pair& pair = pairs_[best.pair];
      if (pair.count != best.count) {
        // It has become rarer; more frequent ones were put there when they did.
        if (pair.count < best.count) put(best.pair, pair);
        continue;
      }
      const auto left = static_cast<int32_t>(best.pair >> 32);
      const auto right = static_cast<int32_t>(best.pair & 0xFFFFFFFFu);
      const PairMerge made{left, right, made_of(left, right)};
      // A piece that was made of others before may bring a pair back.
      if (learned_.insert(best.pair).second) merges.push_back(made);
      merge(std::exchange(pair.words, {}), made);
      pairs_[best.pair] = {};
    }
    return merges;
  }

 private:
  struct Pair {
    uint64_t count = 0;
    std::vector<uint32_t> words;  // where it occurs or did
  };
  struct Frequent {
    uint64_t count, pair;
    bool operator<(const Frequent& other) const {
      return count != other.count ? count < other.count : pair > other.pair;
    }
  };

  static int32_t number_of(size_t i) { return static_cast<int32_t>(i); }
  static uint64_t pair_of(int32_t left, int32_t right) {
    return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
  }

  void put(uint64_t key, const Pair& pair) {
    if (pair.count >= learning_.least_count) frequent_.push({pair.count, key});
  }

  void count_pairs() {
    for (uint32_t w = 0; w < words_.size(); ++w) {
      const std::vector<int32_t>& word = words_[w].pieces;
      for (size_t i = 0; i + 1 < word.size(); ++i) {
        Pair& pair = pairs_[pair_of(word[i], word[i + 1])];
        pair.count += words_[w].count;
        if (pair.words.empty() || pair.words.back() != w) pair.words.push_back(w);
      }
    }
    for (const auto& [key, pair] : pairs_) put(key, pair);
  }

  int32_t made_of(int32_t left, int32_t right) {
    std::string_view end = pieces_[static_cast<size_t>(right)];
    if (end.starts_with(learning_.continues)) end.remove_prefix(learning_.continues.size());
    std::string text = pieces_[static_cast<size_t>(left)] + std::string(end);
    const auto [found, is_new] = known_.emplace(text, number_of(pieces_.size()));
    if (is_new) pieces_.push_back(std::move(text));
    return found->second;
  }

  void merge(std::vector<uint32_t> words, const PairMerge& made) {
    std::ranges::sort(words);
    words.erase(std::ranges::unique(words).begin(), words.end());
    changed_.clear();
    for (const uint32_t w : words) merge_in(w, made);
    std::ranges::sort(changed_);
    changed_.erase(std::ranges::unique(changed_).begin(), changed_.end());
    for (const uint64_t key : changed_) put(key, pairs_[key]);
  }

  void merge_in(uint32_t number, const PairMerge& made) {
    std::vector<int32_t>& word = words_[number].pieces;
    const uint64_t count = words_[number].count;
    size_t kept = 0;
    for (size_t i = 0; i < word.size(); ++i) {
      const bool here = i + 1 < word.size() && word[i] == made.left && word[i + 1] == made.right;
      if (!here) {
        word[kept++] = word[i];
        continue;
      }
      if (kept > 0) {
        take(pair_of(word[kept - 1], made.left), count);
        add(pair_of(word[kept - 1], made.made), count, number);
      }
      if (i + 2 < word.size()) {
        take(pair_of(made.right, word[i + 2]), count);
        add(pair_of(made.made, word[i + 2]), count, number);
      }
      word[kept++] = made.made;
      ++i;
    }
    word.resize(kept);
  }

  void take(uint64_t key, uint64_t count) {
    Pair& pair = pairs_[key];
    pair.count -= std::min(pair.count, count);
  }

  void add(uint64_t key, uint64_t count, uint32_t word) {
    Pair& pair = pairs_[key];
    pair.count += count;
    if (pair.words.empty() || pair.words.back() != word) pair.words.push_back(word);
    changed_.push_back(key);
  }

  std::vector<CountedWord> words_;
  std::vector<std::string>& pieces_;
  PairLearning learning_;
  std::unordered_map<std::string, int32_t> known_;
  std::unordered_map<uint64_t, Pair, PairHash> pairs_;
  std::unordered_set<uint64_t, PairHash> learned_;
  std::priority_queue<Frequent> frequent_;
  std::vector<uint64_t> changed_;  // pairs that became more frequent
};

}  // namespace

void WordCounts::add(std::string_view word) {
  if (const auto found = counts_.find(word); found != counts_.end()) {
    ++found->second;
    return;
  }
  while (counts_.size() >= kMost) {
    ++forgotten_;
    std::erase_if(counts_, [this](const auto& entry) { return entry.second <= forgotten_; });
  }
  counts_.emplace(word, 1 + forgotten_);
}

std::vector<std::pair<std::string, uint64_t>> WordCounts::sorted() && {
  std::vector<std::pair<std::string, uint64_t>> all(counts_.begin(), counts_.end());
  std::ranges::sort(all);
  return all;
}

std::vector<PairMerge> learn_pairs(std::vector<CountedWord> words, std::vector<std::string>& pieces,
                                   const PairLearning& learning) {
  return PairLearner(std::move(words), pieces, learning).learn();
}

}  // namespace attend
