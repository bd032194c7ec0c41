// Text from ids that come one by one, as a person reads along: whole characters, in the order and
// with the bytes that decoding all ids at once gives.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attend/text/tokenizer.h"

namespace attend {

// A value: a copy goes its own way. The tokenizer must outlive it.
class TextStream {
 public:
  // Continues what these ids say, which is not given again. How a piece is written may depend on
  // them: a space before a word is, unless the word is the first.
  explicit TextStream(const Tokenizer& tokenizer, std::span<const int32_t> before = {});

  // What is certain after one more id. Bytes that may be the beginning of a character are held
  // back; those that cannot be one become U+FFFD.
  std::string add(int32_t id);
  // What was held back, when nothing follows.
  std::string finish();

 private:
  std::string take(bool all);

  const Tokenizer* tokenizer_;
  std::vector<int32_t> ids_;  // from the last one on at which the text was certain
  size_t given_ = 0;          // bytes of their text, as repair_utf8 gives it
};

}  // namespace attend
