// The file of a list of characters, words or lines, or of bytes: see vocabulary.h.
#include "attend/text/vocabulary_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "attend/base/printable.h"
#include "attend/base/utf8.h"
#include "attend/text/vocabulary.h"

namespace attend {
namespace {

constexpr std::string_view kVersion = "1", kLowercase = "lowercase ", kMasked = "mask ",
                           kSentinels = "sentinels ";
constexpr size_t kLongestFileLine = size_t{1} << 22;  // lines of text have 1 MB, an escape 4 bytes

std::string header(TokenizerKind kind, VocabularyTraits traits, size_t size) {
  return vocabulary_header(
      kind,
      fmt::format("{}{}{}", traits.lowercase ? kLowercase : "", traits.mask ? kMasked : "",
                  traits.sentinels > 0 ? fmt::format("{}{} ", kSentinels, traits.sentinels) : ""),
      size);
}

bool fits(TokenizerKind kind, std::string_view piece) {
  if (piece.empty() || !valid_utf8(piece)) return false;
  if (kind == TokenizerKind::kCharacter) return first_code_point(piece).bytes == piece.size();
  if (kind == TokenizerKind::kWord) return piece.find_first_of(kWhiteSpace) == piece.npos;
  return kWhiteSpace.find(piece.front()) == piece.npos &&
         kWhiteSpace.find(piece.back()) == piece.npos;
}

// Stops at the first thing that is wrong: what the file claims takes no memory.
std::vector<std::string> parse_pieces(VocabularyReader& reader, TokenizerKind kind,
                                      std::span<const std::string> specials, size_t size) {
  for (const std::string& special : specials) {
    if (reader.done() || reader.next_line() != special) {
      reader.fail("the first tokens must be {}", fmt::join(specials, ", "));
    }
  }
  std::vector<std::string> pieces;
  std::unordered_set<std::string> seen;
  while (!reader.done()) {
    reader.check_announced(size, pieces.size() + specials.size());
    const auto fitting = [&](std::string_view piece) { return fits(kind, piece); };
    pieces.push_back(reader.next_piece(name_of(kind), fitting));
    if (!seen.insert(pieces.back()).second) {
      reader.fail("'{}' is there twice", shown_name(reader.line()));
    }
  }
  if (pieces.size() + specials.size() != size) {
    reader.fail("{} tokens are announced and {} whole lines follow", size,
                pieces.size() + specials.size());
  }
  return pieces;
}

std::shared_ptr<const Tokenizer> parse_list(VocabularyReader& reader, TokenizerKind kind,
                                            std::string_view first) {
  const bool lowercase = VocabularyReader::take(first, kLowercase);
  VocabularyTraits traits{lowercase, VocabularyReader::take(first, kMasked)};
  if (VocabularyReader::take(first, kSentinels)) {
    const size_t count = reader.number(VocabularyReader::next_field(first), "number of sentinels");
    if (count == 0 || count > size_t{kMostSentinels}) {
      reader.fail("{} sentinels are announced; there can be 1 to {}", count, kMostSentinels);
    }
    traits.sentinels = static_cast<int32_t>(count);
  }
  const size_t size = reader.announced(first);
  if (kind != TokenizerKind::kByte) {
    std::vector<std::string> special;
    for (int32_t id = 0; id < traits.first_piece(); ++id) {
      special.push_back(traits.special_piece(id));
    }
    return std::make_shared<ListTokenizer>(kind, traits, parse_pieces(reader, kind, special, size));
  }
  auto bytes = std::make_shared<const ByteTokenizer>(traits);
  if (size != bytes->size()) reader.fail("a byte tokenizer has {} tokens", bytes->size());
  if (!reader.done()) reader.fail("a byte tokenizer has one line");
  return bytes;
}

}  // namespace

std::string vocabulary_header(TokenizerKind kind, std::string_view traits, size_t size) {
  return fmt::format("{}{} {} {}{}\n", kVocabularyMagic, kVersion, name_of(kind), traits, size);
}

std::string escaped_piece(std::string_view piece) {
  const bool text = valid_utf8(piece);
  std::string out;
  for (const char c : piece) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7F || c == '\\' || (byte >= 0x80 && !text)) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

bool VocabularyReader::unescape(std::string_view text, std::string& piece) {
  while (!text.empty()) {
    if (text[0] != '\\') {
      piece += text[0];
      text.remove_prefix(1);
      continue;
    }
    unsigned byte = 0;
    if (text.size() < 4 || text[1] != 'x') return false;
    const auto parsed = std::from_chars(text.data() + 2, text.data() + 4, byte, 16);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + 4) return false;
    piece += static_cast<char>(byte);
    text.remove_prefix(4);
  }
  return true;
}

void VocabularyReader::fail_piece(std::string_view text, std::string_view what) const {
  fail("'{}' is not a {}", shown_name(text), what);
}

std::string_view VocabularyReader::next_line() {
  ++line_;
  const size_t end = rest_.substr(0, kLongestFileLine + 1).find('\n');
  if (end == rest_.npos) {
    if (rest_.size() <= kLongestFileLine) fail("the line is cut off");
    fail("the line is over {} bytes", kLongestFileLine);
  }
  text_ = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  return text_;
}

std::string_view VocabularyReader::next_field(std::string_view& line) {
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

bool VocabularyReader::take(std::string_view& line, std::string_view start) {
  const bool there = line.starts_with(start);
  if (there) line.remove_prefix(start.size());
  return there;
}

size_t VocabularyReader::number(std::string_view field, std::string_view what) const {
  size_t value = 0;
  const auto parsed = std::from_chars(field.data(), field.data() + field.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != field.data() + field.size()) {
    fail("'{}' is no {}", shown_name(field), what);
  }
  return value;
}

size_t VocabularyReader::announced(std::string_view field) const {
  const size_t size = number(field, "number of tokens");
  if (size > kMostTokens) fail("{} tokens are announced; at most {}", size, kMostTokens);
  return size;
}

void VocabularyReader::check_announced(size_t announced, size_t found) const {
  if (found == announced) fail("{} tokens are announced, and more follow", announced);
}

std::string ByteTokenizer::serialized() const { return header(kind(), traits_, size()); }

std::string ListTokenizer::serialized() const {
  std::string text = header(kind_, traits_, size());
  for (int32_t id = 0; id < first_piece(); ++id) text += traits_.special_piece(id) + "\n";
  for (const std::string& piece : pieces_) text += escaped_piece(piece) + "\n";
  return text;
}

std::shared_ptr<const Tokenizer> parse_vocabulary(std::string_view text, const std::string& name) {
  VocabularyReader reader(text, name);
  std::string_view first = reader.next_line().substr(kVocabularyMagic.size());
  if (const auto version = VocabularyReader::next_field(first); version != kVersion) {
    reader.fail("is version '{}', and this program reads version {}", shown_name(version),
                kVersion);
  }
  const std::string_view name_of_kind = VocabularyReader::next_field(first);
  if (name_of_kind == name_of(TokenizerKind::kWordpiece)) return parse_wordpiece(reader, first);
  if (name_of_kind == name_of(TokenizerKind::kByteBpe)) return parse_byte_bpe(reader, first);
  for (const TokenizerKind kind : {TokenizerKind::kCharacter, TokenizerKind::kWord,
                                   TokenizerKind::kLine, TokenizerKind::kByte}) {
    if (name_of_kind == name_of(kind)) return parse_list(reader, kind, first);
  }
  reader.fail("'{}' is not one of character, word, line, byte, wordpiece, byte_bpe",
              shown_name(name_of_kind));
}

}  // namespace attend
