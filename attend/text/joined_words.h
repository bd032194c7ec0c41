// Text of WordPiece's pieces, as a person writes it. Not for use outside text/.
#pragma once

#include <string>
#include <string_view>

namespace attend {

// Appends a piece to the text; `before` is the piece before it, empty for the first. Whether a
// space comes between depends on these two alone. "##ing" continues a word; closing punctuation has
// no space before it, opening punctuation and Chinese characters none after it; "don't", "3.5" and
// "well-known" are joined, whether or not they were; straight quotes stand alone.
void join_piece(std::string& text, std::string_view before, std::string_view piece);

}  // namespace attend
