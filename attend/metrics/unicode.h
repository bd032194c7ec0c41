// UTF-8 text as Python's str sees it, for agreement with the reference tools, which are written in
// it. An invalid byte is a character, U+FFFD; full_lower_case leaves it alone. Not for use outside
// Attend.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// str.split(): the runs between any Unicode white space. The views point into `text`.
std::vector<std::string_view> split_words(std::string_view text);

// str.strip() and str.rstrip(): views of `text`.
std::string_view strip(std::string_view text);
std::string_view strip_end(std::string_view text);

enum class WhiteSpace { kKeep, kDrop };
std::vector<uint32_t> code_points(std::string_view text, WhiteSpace white_space);

// str.lower(): all of Unicode, where the length may change and a final sigma has a form of its own.
std::string full_lower_case(std::string_view text);

}  // namespace attend
