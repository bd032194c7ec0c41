// The words that byte-level BPE merges within, as GPT-2 finds them (Radford et al., 2019):
// contractions, then runs of letters, of numbers and of other characters, each with one space
// before it, then white space. Together they are the text. Not for use outside text/.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "attend/base/utf8.h"

namespace attend {

enum class ByteWordClass : uint8_t { kLetter, kNumber, kSpace, kOther, kNotAscii };
// By the first byte.
inline constexpr std::array<ByteWordClass, 256> kByteWordClasses = [] {
  std::array<ByteWordClass, 256> classes = {};
  for (int c = 0; c < 256; ++c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    classes[static_cast<size_t>(c)] = c >= 0x80              ? ByteWordClass::kNotAscii
                                      : letter               ? ByteWordClass::kLetter
                                      : c >= '0' && c <= '9' ? ByteWordClass::kNumber
                                      : c == ' ' || (c >= '\t' && c <= '\r')
                                          ? ByteWordClass::kSpace
                                          : ByteWordClass::kOther;
  }
  return classes;
}();
// Of a character that is not ASCII.
ByteWordClass byte_word_class(char32_t c);

class ByteWords {
 public:
  explicit ByteWords(std::string_view text) : text_(text) {}

  // Calls use(word) for each word, in order. The text need not be valid UTF-8: what is no character
  // is neither letter, number nor space.
  template <typename Use>
  void each(const Use& use) {
    while (at_ < text_.size()) {
      const size_t begin = at_;
      at_ = end_of_word();
      use(text_.substr(begin, at_ - begin));
    }
  }

 private:
  using enum ByteWordClass;

  size_t end_of_word() const {
    const char first = text_[at_];
    if (first == '\'') {
      if (const size_t size = contraction(); size > 0) return at_ + size;
    }
    size_t bytes = 0, begin = at_ + (first == ' ' ? 1 : 0);
    ByteWordClass kind = begin < text_.size() ? class_at(begin, bytes) : kSpace;
    if (kind != kSpace) return end_of_run(begin, kind);
    // White space that a word follows leaves its last character to that word, or to itself.
    size_t end = at_, last = at_;
    while (end < text_.size() && class_at(end, bytes) == kSpace) {
      last = end;
      end += bytes;
    }
    return end == text_.size() || last == at_ ? end : last;
  }

  size_t end_of_run(size_t at, ByteWordClass kind) const {
    size_t bytes = 0;
    while (at < text_.size() && class_at(at, bytes) == kind) at += bytes;
    return at;
  }

  ByteWordClass class_at(size_t at, size_t& bytes) const {
    const ByteWordClass kind = kByteWordClasses[static_cast<unsigned char>(text_[at])];
    bytes = 1;
    if (kind != kNotAscii) return kind;
    const CodePoint c = first_code_point(text_.substr(at));
    bytes = c.bytes;
    return c.valid ? byte_word_class(c.value) : kOther;
  }

  // The size of 's, 't, 're, 've, 'm, 'll or 'd; 0 for anything else.
  size_t contraction() const {
    const auto next = [this](size_t i) { return at_ + i < text_.size() ? text_[at_ + i] : '\0'; };
    const char one = next(1), two = next(2);
    if (one == 's' || one == 't' || one == 'm' || one == 'd') return 2;
    if ((one == 'r' || one == 'v') && two == 'e') return 3;
    return one == 'l' && two == 'l' ? 3 : 0;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace attend
