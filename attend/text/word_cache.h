// Ids of words that were encoded before: a table of fixed size, in which a word takes the place of
// another. Not for use outside text/.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace attend {

// The bytes of a short word as numbers.
struct WordKey {
  static constexpr size_t kLongest = 24;

  uint64_t a = 0, b = 0, c = 0;
  uint8_t size = 0;

  // `word` has 1 to kLongest bytes, and nothing is read past `end`.
  static WordKey of(std::string_view word, const char* end) {
    char bytes[kLongest];
    if (static_cast<size_t>(end - word.data()) >= kLongest) {
      std::memcpy(bytes, word.data(), kLongest);
    } else {
      std::memset(bytes, 0, kLongest);
      std::memcpy(bytes, word.data(), word.size());
    }
    WordKey key;
    key.size = static_cast<uint8_t>(word.size());
    key.a = part(bytes, word.size());
    if (word.size() > 8) key.b = part(bytes + 8, word.size() - 8);
    if (word.size() > 16) key.c = part(bytes + 16, word.size() - 16);
    return key;
  }

  bool operator==(const WordKey& other) const = default;

  uint64_t hash() const {
    uint64_t h = (a ^ (uint64_t{size} << 56)) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 29) ^ b) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 32) ^ c) * 0x94D049BB133111EBu;
    return h ^ (h >> 31);
  }

 private:
  static uint64_t part(const char* bytes, size_t size) {
    uint64_t value;
    std::memcpy(&value, bytes, 8);
    return size >= 8 ? value : value & ((uint64_t{1} << (8 * size)) - 1);
  }
};

class WordCache {
 public:
  static constexpr size_t kMostIds = 8;

  struct Entry {
    WordKey key;  // of size 0: nothing yet
    uint8_t count = 0;
    std::array<int32_t, kMostIds> ids = {};
  };

  // Where the word is, if its key is there, or else where it may be put.
  Entry& entry(const WordKey& key) { return entries_[key.hash() % kEntries]; }

 private:
  static constexpr size_t kEntries = size_t{1} << 14;
  std::vector<Entry> entries_ = std::vector<Entry>(kEntries);
};

// What one call of encode() works with.
class EncodeScratch {
 public:
  // Appends the ids of a word of at least one byte, which `encode(word, ids)` appends where they
  // are not in the cache. Nothing is read past `end`.
  template <typename Encode>
  void add(std::string_view word, const char* end, const Encode& encode) {
    if (word.size() > WordKey::kLongest) return encode(word, ids_);
    const WordKey key = WordKey::of(word, end);
    WordCache::Entry& entry = cache_.entry(key);
    if (!(entry.key == key)) {
      const size_t before = ids_.size();
      encode(word, ids_);
      const size_t count = ids_.size() - before;
      if (count > WordCache::kMostIds) return;
      entry.key = key;
      entry.count = static_cast<uint8_t>(count);
      std::copy_n(ids_.begin() + static_cast<std::ptrdiff_t>(before), count, entry.ids.begin());
      return;
    }
    if (entry.count == 1) return ids_.push_back(entry.ids[0]);
    ids_.insert(ids_.end(), entry.ids.begin(), entry.ids.begin() + entry.count);
  }

  void clear() { ids_.clear(); }
  const std::vector<int32_t>& ids() const { return ids_; }

 private:
  WordCache cache_;
  std::vector<int32_t> ids_;
};

// Lends each thread a scratch of its own. Safe for any number of threads.
class ScratchPool {
 public:
  class Lease {
   public:
    explicit Lease(ScratchPool& pool) : pool_(pool), scratch_(pool.take()) {}
    ~Lease() { pool_.give(std::move(scratch_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    EncodeScratch& operator*() { return *scratch_; }

   private:
    ScratchPool& pool_;
    std::unique_ptr<EncodeScratch> scratch_;
  };

 private:
  std::unique_ptr<EncodeScratch> take() {
    {
      const std::scoped_lock lock(mutex_);
      if (!free_.empty()) {
        auto scratch = std::move(free_.back());
        free_.pop_back();
        return scratch;
      }
    }
    return std::make_unique<EncodeScratch>();
  }
  void give(std::unique_ptr<EncodeScratch> scratch) {
    scratch->clear();
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(scratch));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<EncodeScratch>> free_;
};

}  // namespace attend
