#include "attend/text/byte_bpe.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/base/utf8.h"
#include "attend/text/byte_words.h"
#include "attend/text/lower_case.h"
#include "attend/text/vocabulary.h"
#include "attend/text/vocabulary_file.h"
#include "attend/text/word_cache.h"

namespace attend {
namespace {

class ByteBpeTokenizer : public Tokenizer {
 public:
  explicit ByteBpeTokenizer(ByteBpeVocabulary vocabulary)
      : vocabulary_(std::move(vocabulary)), merges_(vocabulary_.merges) {
    find_sentinels();
    skipped_.resize(size());
    for (size_t id = 0; id < size(); ++id) {
      skipped_[id] = vocabulary_.special.has(static_cast<int32_t>(id));
    }
    for (const int32_t id : vocabulary_.others) skipped_[static_cast<size_t>(id)] = true;
    while (static_cast<size_t>(first_piece_) < size() && skipped(first_piece_)) ++first_piece_;
    for (size_t id = 0; id < size(); ++id) {
      const std::string& piece = vocabulary_.pieces[id];
      if (piece.size() == 1 && !skipped_[id]) {
        bytes_[static_cast<unsigned char>(piece[0])] = static_cast<int32_t>(id);
      }
    }
  }

  TokenizerKind kind() const override { return TokenizerKind::kByteBpe; }
  size_t size() const override { return vocabulary_.pieces.size(); }
  SpecialTokens special() const override { return vocabulary_.special; }
  int32_t first_piece() const override { return first_piece_; }

  std::vector<int32_t> encode(std::string_view line) const override {
    const std::string lower = vocabulary_.lowercase ? lower_case(line) : "";
    const std::string_view text = vocabulary_.lowercase ? lower : line;
    const char* const end = text.data() + text.size();
    ScratchPool::Lease lease(scratch_);
    EncodeScratch& scratch = *lease;
    const auto split = [this](std::string_view word, std::vector<int32_t>& ids) {
      const size_t before = ids.size();
      for (const char c : word) ids.push_back(bytes_[static_cast<unsigned char>(c)]);
      merges_.apply(ids, before);
    };
    ByteWords(text).each([&](std::string_view word) { scratch.add(word, end, split); });
    return scratch.ids();
  }

  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) {
      check(id);
      if (!skipped(id)) text += vocabulary_.pieces[static_cast<size_t>(id)];
    }
    return text;
  }

  // Spaces as ▁; what cannot be printed as <0x0A>.
  std::string piece(int32_t id) const override {
    check(id);
    std::string_view bytes = vocabulary_.pieces[static_cast<size_t>(id)];
    std::string shown;
    while (!bytes.empty()) {
      const CodePoint c = first_code_point(bytes);
      const std::string_view character = bytes.substr(0, c.bytes);
      if (character == " ") {
        shown += "▁";
      } else if (c.valid && c.value > ' ' && printable(character) == character) {
        shown += character;
      } else {
        for (const char byte : character) {
          shown += fmt::format("<0x{:02X}>", static_cast<unsigned char>(byte));
        }
      }
      bytes.remove_prefix(c.bytes);
    }
    return shown;
  }

  std::vector<std::string> pieces(std::string_view line) const override {
    std::vector<std::string> all;
    for (const int32_t id : encode(line)) all.push_back(piece(id));
    return all;
  }

  std::string serialized() const override {
    const ByteBpeVocabulary& v = vocabulary_;
    std::string text = vocabulary_header(kind(), v.lowercase ? "lowercase " : "", size());
    text += fmt::format("merges {} special {} {} {} {}", v.merges.size(), v.special.unknown,
                        v.special.start, v.special.end, v.special.mask);
    for (const int32_t id : v.others) text += fmt::format(" {}", id);
    text += '\n';
    for (const std::string& piece : v.pieces) text += escaped_piece(piece) + "\n";
    for (const PairMerge& m : v.merges) text += fmt::format("{} {}\n", m.left, m.right);
    return text;
  }

 private:
  // Ids in a row among the others, by their names.
  void find_sentinels() {
    SpecialTokens& special = vocabulary_.special;
    special.first_sentinel = -1, special.sentinels = 0;
    std::vector<int32_t> ids = vocabulary_.others;
    std::ranges::sort(ids);
    for (const int32_t id : ids) {
      const int32_t next = special.sentinels;
      const bool in_row = next == 0 || id == special.first_sentinel + next;
      if (!in_row || next == kMostSentinels ||
          vocabulary_.pieces[static_cast<size_t>(id)] != sentinel_piece(next))
        continue;
      if (next == 0) special.first_sentinel = id;
      ++special.sentinels;
    }
  }

  bool skipped(int32_t id) const { return skipped_[static_cast<size_t>(id)]; }

  ByteBpeVocabulary vocabulary_;
  PairMerges merges_;
  std::vector<bool> skipped_;
  std::array<int32_t, 256> bytes_ = {};
  int32_t first_piece_ = 0;
  mutable ScratchPool scratch_;
};

}  // namespace

std::shared_ptr<const Tokenizer> make_byte_bpe(ByteBpeVocabulary vocabulary) {
  return std::make_shared<ByteBpeTokenizer>(std::move(vocabulary));
}

void check_byte_bpe(ByteBpeVocabulary& vocabulary) {
  std::vector<bool> is_special(vocabulary.pieces.size());
  const auto set_special = [&](int32_t id) {
    if (id >= 0) is_special[static_cast<size_t>(id)] = true;
  };
  for (const int32_t id : {vocabulary.special.unknown, vocabulary.special.start,
                           vocabulary.special.end, vocabulary.special.mask}) {
    set_special(id);
  }
  std::ranges::for_each(vocabulary.others, set_special);
  std::unordered_map<std::string_view, int32_t> known;
  for (size_t id = 0; id < vocabulary.pieces.size(); ++id) {
    if (is_special[id]) continue;
    const std::string& piece = vocabulary.pieces[id];
    if (!known.emplace(piece, static_cast<int32_t>(id)).second) {
      throw DataError("the piece '{}' is there twice", shown_name(escaped_piece(piece)));
    }
  }
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    if (!known.contains(std::string_view(&c, 1))) {
      throw DataError("there is no piece for the byte 0x{:02X}", byte);
    }
  }
  std::unordered_set<uint64_t> pairs;
  for (size_t rank = 0; rank < vocabulary.merges.size(); ++rank) {
    PairMerge& merge = vocabulary.merges[rank];
    const auto left = static_cast<size_t>(merge.left), right = static_cast<size_t>(merge.right);
    if (is_special[left] || is_special[right]) {
      throw DataError("merge {} is of a special token", rank + 1);
    }
    const auto made = known.find(vocabulary.pieces[left] + vocabulary.pieces[right]);
    if (made == known.end()) {
      throw DataError(
          "merge {} makes '{}', which is not among the pieces", rank + 1,
          shown_name(escaped_piece(vocabulary.pieces[left] + vocabulary.pieces[right])));
    }
    merge.made = made->second;
    if (!pairs.insert(uint64_t{left} << 32 | right).second) {
      throw DataError("merge {} is there twice", rank + 1);
    }
  }
}

std::shared_ptr<const Tokenizer> parse_byte_bpe(VocabularyReader& reader, std::string_view first) {
  ByteBpeVocabulary vocabulary;
  vocabulary.lowercase = VocabularyReader::take(first, "lowercase ");
  const size_t size = reader.announced(first);
  std::string_view line = reader.next_line();
  if (!VocabularyReader::take(line, "merges ")) {
    reader.fail("the second line must give the merges and the special ids");
  }
  const size_t merges = reader.announced(VocabularyReader::next_field(line));
  if (!VocabularyReader::take(line, "special ")) reader.fail("the special ids are missing");
  const auto id_of = [&](std::string_view field, bool may_lack) {
    if (may_lack && field == "-1") return -1;
    const size_t id = reader.number(field, "id");
    if (id >= size) reader.fail("{} is no id of {} tokens", id, size);
    return static_cast<int32_t>(id);
  };
  SpecialTokens& special = vocabulary.special;
  special.unknown = id_of(VocabularyReader::next_field(line), true);
  special.start = id_of(VocabularyReader::next_field(line), false);
  special.end = id_of(VocabularyReader::next_field(line), false);
  special.mask = id_of(VocabularyReader::next_field(line), true);
  while (!line.empty()) {
    vocabulary.others.push_back(id_of(VocabularyReader::next_field(line), false));
  }
  for (size_t i = 0; i < size; ++i) {
    vocabulary.pieces.push_back(
        reader.next_piece("piece", [](std::string_view piece) { return !piece.empty(); }));
  }
  for (size_t i = 0; i < merges; ++i) {
    std::string_view pair = reader.next_line();
    const int32_t left = id_of(VocabularyReader::next_field(pair), false);
    vocabulary.merges.push_back({left, id_of(pair, false), 0});
  }
  if (!reader.done()) reader.fail("{} merges are announced, and more follow", merges);
  try {
    check_byte_bpe(vocabulary);
  } catch (const DataError& error) {
    reader.fail("{}", error.what());
  }
  return make_byte_bpe(std::move(vocabulary));
}

}  // namespace attend
