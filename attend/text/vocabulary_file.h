// What the files of Attend's own tokenizers have in common: see vocabulary.h. Not for use outside
// text/.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attend/base/error.h"
#include "attend/text/tokenizer.h"

namespace attend {

inline constexpr size_t kMostTokens = size_t{1} << 24;  // as configs have it

// The first line. `traits` are words, each with a space after it.
std::string vocabulary_header(TokenizerKind kind, std::string_view traits, size_t size);

// Bytes up to space, DEL and backslash as \xHH; so are bytes from 0x80 on of what is not UTF-8.
std::string escaped_piece(std::string_view piece);

// Reads a file from its start, line by line. What is wrong is said with the line it is in, and
// throws FormatError.
class VocabularyReader {
 public:
  VocabularyReader(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  bool done() const { return rest_.empty(); }
  std::string_view next_line();
  std::string_view line() const { return text_; }  // that was read last
  // A piece that fits `what`, "word".
  template <typename Fits>
  std::string next_piece(std::string_view what, const Fits& fits) {
    const std::string_view text = next_line();
    std::string piece;
    if (!unescape(text, piece) || !fits(std::string_view(piece))) fail_piece(text, what);
    return piece;
  }

  // The words of a line, one by one.
  static std::string_view next_field(std::string_view& line);
  static bool take(std::string_view& line, std::string_view start);
  // A whole number; otherwise "'4x' is no <what>".
  size_t number(std::string_view field, std::string_view what) const;
  // The number of tokens that a file announces.
  size_t announced(std::string_view field) const;
  void check_announced(size_t announced, size_t found) const;

  template <typename... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    throw FormatError("{}:{}: {}; train the tokenizer again or copy the file anew", name_, line_,
                      fmt::format(text, std::forward<Args>(args)...));
  }

 private:
  static bool unescape(std::string_view text, std::string& piece);
  [[noreturn]] void fail_piece(std::string_view text, std::string_view what) const;

  std::string_view rest_, text_;
  const std::string& name_;
  size_t line_ = 0;
};

// The rest of the file of a kind, after the kind in its first line, of which `first` is left.
std::shared_ptr<const Tokenizer> parse_wordpiece(VocabularyReader& reader, std::string_view first);
std::shared_ptr<const Tokenizer> parse_byte_bpe(VocabularyReader& reader, std::string_view first);

}  // namespace attend
