// The file of WordPiece: see vocabulary.h.
#include <unordered_set>

#include "attend/base/printable.h"
#include "attend/text/vocabulary_file.h"
#include "attend/text/wordpiece.h"

namespace attend {

std::shared_ptr<const Tokenizer> parse_wordpiece(VocabularyReader& reader, std::string_view first) {
  const bool lowercase = VocabularyReader::take(first, "lowercase ");
  const size_t size = reader.announced(first);
  std::vector<std::string> pieces;
  std::unordered_set<std::string> seen;
  while (!reader.done()) {
    reader.check_announced(size, pieces.size());
    pieces.push_back(reader.next_piece("piece of a word", is_wordpiece));
    if (!seen.insert(pieces.back()).second) {
      reader.fail("'{}' is there twice", shown_name(reader.line()));
    }
  }
  if (pieces.size() != size) {
    reader.fail("{} tokens are announced and {} whole lines follow", size, pieces.size());
  }
  try {
    return make_wordpiece(lowercase, std::move(pieces));
  } catch (const DataError& error) {
    reader.fail("{}", error.what());
  }
}

}  // namespace attend
