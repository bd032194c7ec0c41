// The character map of a SentencePiece model, looked through before the library follows it blindly.
// Not for use outside text/.
#pragma once

#include <string_view>

namespace attend {

// What is wrong with a precompiled_charsmap; empty if nothing is. A map is good when every walk
// through its trie stays inside it and ends, meets no more matches than the library has room for
// (32), and gives valid text of at most 16 times the length of what it replaces: the text that is
// read then grows at most so much.
std::string_view character_map_fault(std::string_view map);

}  // namespace attend
