#include "attend/data/corpus.h"

#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "attend/base/error.h"
#include "attend/base/hash.h"
#include "attend/data/corpus_file.h"

namespace attend {

static_assert(std::endian::native == std::endian::little);
static_assert(std::is_trivially_copyable_v<CorpusFooter> &&
              std::has_unique_object_representations_v<CorpusFooter>);

template <typename... Args>
void Corpus::fail(fmt::format_string<Args...> text, Args&&... args) const {
  throw FormatError("{}: {}; delete it, and it is made again", name_,
                    fmt::format(text, std::forward<Args>(args)...));
}

Corpus::Corpus(const std::filesystem::path& file) : name_(file.string()), mapped_(file) {
  read_footer();
  check_table();
}

void Corpus::read_footer() {
  const std::string_view text = mapped_.text();
  if (text.size() < kCorpusMagic.size() + sizeof(CorpusFooter) || !text.starts_with(kCorpusMagic)) {
    fail("not a corpus");
  }
  const std::string_view end = text.substr(text.size() - sizeof(CorpusFooter));
  std::memcpy(&footer_, end.data(), sizeof footer_);
  if (std::string_view(footer_.magic, sizeof footer_.magic) != kCorpusMagic) fail("it is cut off");
  if (footer_.version != kCorpusVersion) {
    fail("version {}, and this program reads version {}", footer_.version, kCorpusVersion);
  }
  if (footer_.footer_hash != hash_of(end.substr(0, offsetof(CorpusFooter, footer_hash)))) {
    fail("its footer is damaged");
  }
  const size_t room = text.size() - kCorpusMagic.size() - sizeof(CorpusFooter);
  if ((footer_.id_bytes != 2 && footer_.id_bytes != 4) || footer_.ids > room / footer_.id_bytes ||
      footer_.pairs > room / kPairBytes ||
      room != padded(footer_.ids * footer_.id_bytes) + footer_.pairs * kPairBytes) {
    fail("its size does not fit what it says it holds");
  }
  const size_t pairs = footer_.pairs;
  const char* table = end.data() - pairs * kPairBytes;
  const char* begins = table + pairs * sizeof(PairLengths);
  lengths_ = {reinterpret_cast<const PairLengths*>(table), pairs};
  begins_ = {reinterpret_cast<const uint64_t*>(begins), pairs};
  lines_ = {begins_.data() + pairs, pairs};
}

void Corpus::check_table() const {
  const std::string_view table(reinterpret_cast<const char*>(lengths_.data()), size() * kPairBytes);
  if (hash_of(table) != footer_.table_hash) fail("its table is damaged");
  uint64_t next = 0;
  for (size_t i = 0; i < size(); ++i) {
    if (begins_[i] != next) fail("pair {} is not where it should be", i);
    next += uint64_t{lengths_[i].source} + lengths_[i].target;
    if (next > footer_.ids) fail("pair {} is past the end", i);
  }
  if (next != footer_.ids) fail("there are {} ids, and pairs of {}", footer_.ids, next);
}

void Corpus::append_source(size_t pair, std::vector<int32_t>& ids) const {
  append(begins_[pair], lengths_[pair].source, footer_.source_vocabulary, ids);
}

void Corpus::append_target(size_t pair, std::vector<int32_t>& ids) const {
  append(begins_[pair] + lengths_[pair].source, lengths_[pair].target, footer_.target_vocabulary,
         ids);
}

void Corpus::append(uint64_t begin, size_t count, uint64_t vocabulary,
                    std::vector<int32_t>& ids) const {
  const char* first = mapped_.text().data() + kCorpusMagic.size();
  const auto copy = [&]<typename Id>(const Id* from) {
    for (size_t i = 0; i < count; ++i) {
      if (from[begin + i] >= vocabulary) {
        fail("id {} in a vocabulary of {}", from[begin + i], vocabulary);
      }
      ids.push_back(static_cast<int32_t>(from[begin + i]));
    }
  };
  if (footer_.id_bytes == 2) {
    copy(reinterpret_cast<const uint16_t*>(first));
  } else {
    copy(reinterpret_cast<const uint32_t*>(first));
  }
}

}  // namespace attend
