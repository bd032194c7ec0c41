// Text from ids that arrive one by one, as whole characters. The pieces together have the bytes
// that decoding all ids at once gives.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attend/text/tokenizer.h"

namespace attend {

// A value type: copies are independent. The tokenizer must outlive it.
class TextStream {
 public:
  // Continues the text of these ids, which is not repeated. They may change how a piece is written:
  // a word has a space before it unless it is the first.
  explicit TextStream(const Tokenizer& tokenizer, std::span<const int32_t> before = {});

  // The text that is certain after one more id. Bytes that may begin a character are held back;
  // invalid ones become U+FFFD.
  std::string add(int32_t id);
  // At the end: what was held back.
  std::string finish();

 private:
  std::string take(bool all);

  const Tokenizer* tokenizer_;
  std::vector<int32_t> ids_;  // since the text was last certain
  size_t given_ = 0;          // bytes of their text that were returned
};

}  // namespace attend
