#include "attend/data/corpus.h"

#include <algorithm>
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

namespace {

constexpr size_t kBeginEvery = 64;

template <typename T>
std::string_view text_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

template <typename... Args>
void Corpus::fail(fmt::format_string<Args...> text, Args&&... args) const {
  throw FormatError("{}: {}; delete it, and it is made again", file_.path().string(),
                    fmt::format(text, std::forward<Args>(args)...));
}

Corpus::Corpus(const std::filesystem::path& file) : file_(file) {
  read_footer();
  read_table();
}

void Corpus::read_footer() {
  char magic[kCorpusMagic.size()] = {};
  const size_t size = file_.size();
  if (size < sizeof magic + sizeof footer_) fail("not a corpus");
  file_.read(0, std::as_writable_bytes(std::span(magic)));
  if (std::string_view(magic, sizeof magic) != kCorpusMagic) fail("not a corpus");
  file_.read(size - sizeof footer_, std::as_writable_bytes(std::span(&footer_, 1)));
  if (std::string_view(footer_.magic, sizeof footer_.magic) != kCorpusMagic) fail("it is cut off");
  if (footer_.version != kCorpusVersion) {
    fail("version {}, and this program reads version {}", footer_.version, kCorpusVersion);
  }
  const std::string_view footer = text_of(std::span<const CorpusFooter>(&footer_, 1));
  if (footer_.footer_hash != hash_of(footer.substr(0, offsetof(CorpusFooter, footer_hash)))) {
    fail("its footer is damaged");
  }
  const size_t room = size - sizeof magic - sizeof footer_;
  if ((footer_.id_bytes != 2 && footer_.id_bytes != 4) || footer_.ids > room / footer_.id_bytes ||
      footer_.pairs > room / kPairBytes ||
      room != padded(footer_.ids * footer_.id_bytes) + footer_.pairs * kPairBytes) {
    fail("its size does not fit what it says it holds");
  }
}

void Corpus::read_table() {
  const size_t pairs = footer_.pairs;
  size_t at = file_.size() - sizeof footer_ - pairs * kPairBytes;
  Hash hash;
  const auto read = [&]<typename T>(std::span<T> to) {
    file_.read(at, std::as_writable_bytes(to));
    at += to.size_bytes();
    hash.add(text_of<T>(to));
  };
  lengths_.resize(pairs);
  read(std::span(lengths_));
  uint64_t next = 0;
  std::vector<uint64_t> begins(std::min(pairs, size_t{1} << 16));
  for (size_t i = 0; i < pairs; ++i) {
    if (i % begins.size() == 0) {
      read(std::span(begins).first(std::min(begins.size(), pairs - i)));
    }
    if (begins[i % begins.size()] != next) fail("pair {} is not where it should be", i);
    if (i % kBeginEvery == 0) begins_.push_back(next);
    next += uint64_t{lengths_[i].source} + lengths_[i].target;
    if (next > footer_.ids) fail("pair {} is past the end", i);
  }
  if (next != footer_.ids) fail("there are {} ids, and pairs of {}", footer_.ids, next);
  lines_.resize(pairs);
  read(std::span(lines_));
  if (hash.value() != footer_.table_hash) fail("its table is damaged");
}

uint64_t Corpus::begin_of(size_t pair) const {
  uint64_t begin = begins_[pair / kBeginEvery];
  for (size_t i = pair / kBeginEvery * kBeginEvery; i < pair; ++i) {
    begin += uint64_t{lengths_[i].source} + lengths_[i].target;
  }
  return begin;
}

void Corpus::append_source(size_t pair, std::vector<int32_t>& ids) const {
  append(begin_of(pair), lengths_[pair].source, footer_.source_vocabulary, ids);
}

void Corpus::append_target(size_t pair, std::vector<int32_t>& ids) const {
  append(begin_of(pair) + lengths_[pair].source, lengths_[pair].target, footer_.target_vocabulary,
         ids);
}

void Corpus::append(uint64_t begin, size_t count, uint64_t vocabulary,
                    std::vector<int32_t>& ids) const {
  const size_t before = ids.size(), id_bytes = footer_.id_bytes;
  ids.resize(before + count);
  // Ids of two bytes are read into the second half and widened from the front.
  const std::span<std::byte> room = std::as_writable_bytes(std::span(ids).subspan(before));
  const std::span<std::byte> stored = room.last(count * id_bytes);
  file_.read(kCorpusMagic.size() + begin * id_bytes, stored);
  for (size_t i = 0; i < count; ++i) {
    uint32_t id = 0;
    std::memcpy(&id, stored.data() + i * id_bytes, id_bytes);
    if (id >= vocabulary) fail("id {} in a vocabulary of {}", id, vocabulary);
    ids[before + i] = static_cast<int32_t>(id);
  }
}

}  // namespace attend
