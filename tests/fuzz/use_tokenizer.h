// What people do with a tokenizer, whoever made it.
#pragma once

#include <string>
#include <vector>

#include "attend/base/utf8.h"
#include "attend/text/tokenizer.h"
#include "tests/fuzz/target.h"

namespace attend::fuzz {

inline const std::vector<std::string>& sample_lines() {
  static const std::vector<std::string> lines = {
      "the dog läuft über die Straße", "a cat, a 猫, a 🐈", "the cat walked under the tree",
      "un été à la mer ﬁﬂ ㍿ Å",       "  a\tb  ",         "abc ABC xyz"};
  return lines;
}

inline void use(const Tokenizer& tokenizer) {
  for (const std::string& line : sample_lines()) {
    const std::vector<int32_t> ids = tokenizer.encode(line);
    for (const int32_t id : ids) {
      require(id >= 0 && static_cast<size_t>(id) < tokenizer.size(), "ids are in the vocabulary");
    }
    require(tokenizer.pieces(line).size() == ids.size(), "an id has a piece");
    require(valid_utf8(tokenizer.decode(ids)), "text is UTF-8");
  }
  for (size_t id = 0; id < std::min<size_t>(tokenizer.size(), 8); ++id) {
    tokenizer.piece(static_cast<int32_t>(id));
  }
  const auto again = parse_tokenizer(tokenizer.serialized(), "written");
  require(again->fingerprint() == tokenizer.fingerprint(),
          "what is written reads back as the same");
}

}  // namespace attend::fuzz
