// The words that WordPiece splits, as BERT finds them (Devlin et al., 2019): control characters are
// dropped; white space, Chinese characters and punctuation end words; lower-casing strips accents.
// Not for use outside text/.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "attend/base/utf8.h"

namespace attend {

enum class BasicUse : uint8_t { kDropped, kSpace, kAlone, kInWord };

// What becomes of a character.
struct BasicCharacter {
  // Canonical decompositions have at most 4 code points; without those that are stripped, fewer.
  struct Part {
    char32_t character = 0;
    BasicUse use = BasicUse::kDropped;
  };
  std::array<Part, 4> parts;
};
BasicCharacter basic_character(char32_t c, bool lowercase);

class BasicWords {
 public:
  static constexpr size_t kLongest = 100;  // characters; BERT does not know longer words
  static constexpr size_t kReadable = 24;  // bytes from the start of a word that may be read

  explicit BasicWords(bool lowercase) : lowercase_(lowercase) {}

  // Calls use(word, too_long) for each word of the line, in order. The word is UTF-8 and valid
  // until the call returns; of one that is too long it is the beginning.
  template <typename Use>
  void each(std::string_view line, const Use& use) {
    const AsciiTable& table = ascii_table(lowercase_);
    const char *at = line.data(), *const end = at + line.size();
    while (at < end) {
      const AsciiEntry entry = table[static_cast<unsigned char>(*at)];
      if (entry.use == BasicUse::kInWord) {
        put(entry.character);
        ++at;
      } else if (entry.use == BasicUse::kSpace) {
        finish(use);
        ++at;
      } else if (entry.use == BasicUse::kAlone) {
        finish(use);
        put(entry.character);
        finish(use);
        ++at;
      } else if (static_cast<unsigned char>(*at) < 0x80) {
        ++at;
      } else {
        const CodePoint c = first_code_point({at, static_cast<size_t>(end - at)});
        at += c.bytes;
        if (c.valid) add(c.value, use);
      }
    }
    finish(use);
  }

 private:
  struct AsciiEntry {
    BasicUse use = BasicUse::kDropped;  // also of what is not ASCII
    char character = 0;
  };
  using AsciiTable = std::array<AsciiEntry, 256>;
  static const AsciiTable& ascii_table(bool lowercase);

  template <typename Use>
  void add(char32_t c, const Use& use) {
    for (const BasicCharacter::Part& part : basic_character(c, lowercase_).parts) {
      if (part.use == BasicUse::kDropped) continue;
      if (part.use != BasicUse::kInWord) finish(use);
      if (part.use == BasicUse::kSpace) continue;
      put_character(part.character);
      if (part.use == BasicUse::kAlone) finish(use);
    }
  }

  void put(char c) {
    if (++characters_ <= kLongest) bytes_[size_++] = c;
  }
  void put_character(char32_t c);

  template <typename Use>
  void finish(const Use& use) {
    if (size_ == 0) return;
    use(std::string_view(bytes_.data(), size_), characters_ > kLongest);
    size_ = characters_ = 0;
  }

  bool lowercase_;
  size_t size_ = 0, characters_ = 0;
  std::array<char, 4 * kLongest + kReadable> bytes_ = {};
};

}  // namespace attend
