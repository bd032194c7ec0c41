// The file of a list of characters, words or lines, or of bytes: see vocabulary.h.
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_set>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/base/utf8.h"
#include "attend/text/vocabulary.h"

namespace attend {
namespace {

constexpr std::string_view kVersion = "1", kLowercase = "lowercase ", kMasked = "mask ";
constexpr size_t kMostTokens = size_t{1} << 24;       // as configs have it
constexpr size_t kLongestFileLine = size_t{1} << 22;  // lines of text have 1 MB, an escape 4 bytes

std::string header(TokenizerKind kind, VocabularyTraits traits, size_t size) {
  return fmt::format("{}{} {} {}{}{}\n", kVocabularyMagic, kVersion, name_of(kind),
                     traits.lowercase ? kLowercase : "", traits.mask ? kMasked : "", size);
}

std::string escaped(std::string_view piece) {
  std::string out;
  for (const char c : piece) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7F || c == '\\') {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    if (text[0] != '\\') {
      out += text[0];
      text.remove_prefix(1);
      continue;
    }
    unsigned byte = 0;
    if (text.size() < 4 || text[1] != 'x') return std::nullopt;
    const auto parsed = std::from_chars(text.data() + 2, text.data() + 4, byte, 16);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + 4) return std::nullopt;
    out += static_cast<char>(byte);
    text.remove_prefix(4);
  }
  return out;
}

// Reads a vocabulary file from its start; what is wrong is said with the line it is in.
class Parser {
 public:
  Parser(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  std::shared_ptr<const Tokenizer> parse() {
    std::string_view first = next_line().substr(kVocabularyMagic.size());
    if (const std::string_view version = next_field(first); version != kVersion) {
      fail("is version '{}', and this program reads version {}", shown_name(version), kVersion);
    }
    const TokenizerKind kind = parse_kind(next_field(first));
    const VocabularyTraits traits{.lowercase = take(first, kLowercase),
                                  .mask = take(first, kMasked)};
    first_piece_ = static_cast<size_t>(traits.first_piece());
    size_t size = 0;
    const auto parsed = std::from_chars(first.data(), first.data() + first.size(), size);
    if (parsed.ec != std::errc() || parsed.ptr != first.data() + first.size()) {
      fail("'{}' is no number of tokens", shown_name(first));
    }
    if (kind != TokenizerKind::kByte) {
      return std::make_shared<ListTokenizer>(kind, traits, parse_pieces(kind, size));
    }
    auto bytes = std::make_shared<const ByteTokenizer>(traits);
    if (size != bytes->size()) fail("a byte tokenizer has {} tokens", bytes->size());
    if (!rest_.empty()) fail("a byte tokenizer has one line");
    return bytes;
  }

 private:
  TokenizerKind parse_kind(std::string_view name) {
    for (const TokenizerKind kind : {TokenizerKind::kCharacter, TokenizerKind::kWord,
                                     TokenizerKind::kLine, TokenizerKind::kByte}) {
      if (name == name_of(kind)) return kind;
    }
    fail("'{}' is not one of character, word, line, byte", shown_name(name));
  }

  // Stops at the first thing that is wrong: what the file claims takes no memory.
  std::vector<std::string> parse_pieces(TokenizerKind kind, size_t size) {
    if (size > kMostTokens) fail("{} tokens are announced; at most {}", size, kMostTokens);
    for (const std::string_view special : std::span(kSpecialPieces).first(first_piece_)) {
      if (rest_.empty() || next_line() != special) {
        fail("the first tokens must be {}",
             fmt::join(std::span(kSpecialPieces).first(first_piece_), ", "));
      }
    }
    std::vector<std::string> pieces;
    std::unordered_set<std::string> seen;
    while (!rest_.empty()) {
      if (pieces.size() + first_piece_ == size) {
        fail("{} tokens are announced, and more follow", size);
      }
      const std::string_view text = next_line();
      std::optional<std::string> piece = unescaped(text);
      if (!piece || !fits(kind, *piece)) fail("'{}' is not a {}", shown_name(text), name_of(kind));
      if (!seen.insert(*piece).second) fail("'{}' is there twice", shown_name(text));
      pieces.push_back(*std::move(piece));
    }
    if (pieces.size() + first_piece_ != size) {
      fail("{} tokens are announced and {} whole lines follow", size, pieces.size() + first_piece_);
    }
    return pieces;
  }

  static bool fits(TokenizerKind kind, std::string_view piece) {
    if (piece.empty() || !valid_utf8(piece)) return false;
    if (kind == TokenizerKind::kCharacter) return first_code_point(piece).bytes == piece.size();
    if (kind == TokenizerKind::kWord) return piece.find_first_of(kWhiteSpace) == piece.npos;
    return kWhiteSpace.find(piece.front()) == piece.npos &&
           kWhiteSpace.find(piece.back()) == piece.npos;
  }

  std::string_view next_line() {
    ++line_;
    const size_t end = rest_.substr(0, kLongestFileLine + 1).find('\n');
    if (end == rest_.npos) {
      if (rest_.size() <= kLongestFileLine) fail("the line is cut off");
      fail("the line is over {} bytes", kLongestFileLine);
    }
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return line;
  }

  static bool take(std::string_view& line, std::string_view start) {
    const bool there = line.starts_with(start);
    if (there) line.remove_prefix(start.size());
    return there;
  }

  static std::string_view next_field(std::string_view& line) {
    const size_t end = std::min(line.find(' '), line.size());
    const std::string_view field = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return field;
  }

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    throw FormatError("{}:{}: {}; train the tokenizer again or copy the file anew", name_, line_,
                      fmt::format(text, std::forward<Args>(args)...));
  }

  std::string_view rest_;
  const std::string& name_;
  size_t line_ = 0, first_piece_ = 0;
};

}  // namespace

std::string ByteTokenizer::serialized() const { return header(kind(), traits_, size()); }

std::string ListTokenizer::serialized() const {
  std::string text = header(kind_, traits_, size());
  for (int32_t id = 0; id < first_piece(); ++id) text += std::string(kSpecialPieces[id]) + "\n";
  for (const std::string& piece : pieces_) text += escaped(piece) + "\n";
  return text;
}

std::shared_ptr<const Tokenizer> parse_vocabulary(std::string_view text, const std::string& name) {
  return Parser(text, name).parse();
}

}  // namespace attend
