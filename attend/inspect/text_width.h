// How much room text takes: grapheme clusters, what a reader takes for one character, and the
// columns of a terminal that each fills. Text is UTF-8. Not for use outside Attend.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

struct Cluster {
  std::string_view text;  // of the text that was given
  size_t columns = 0;     // 2: East Asian wide characters and emoji; 0: only marks; else 1
};

std::vector<Cluster> clusters_of(std::string_view text);
size_t columns_of(std::string_view text);

// The same text when it fits in so many columns, else its start with "…" at its end. Clusters stay
// whole.
std::string cut_to(std::string_view text, size_t columns);
// Else its end, with "…" before it.
std::string cut_front_to(std::string_view text, size_t columns);

// Words with a space between them, in lines of at most so many columns where no word is wider; all
// lines but the first begin with `indent` spaces.
std::vector<std::string> wrapped(std::span<const std::string> words, size_t columns,
                                 size_t indent = 0);
// The words of a text.
std::vector<std::string> wrapped(std::string_view text, size_t columns);

// Text that can stand in a line: valid, control characters shown by their pictures ("␉"), others
// that would disturb it (bytes that are no characters, marks that turn the direction of writing) as
// U+FFFD, and a mark that has nothing to stand on, on a dotted circle. Has no character that XML
// forbids.
std::string visible(std::string_view text);

// Within U+2068 and U+2069 where a letter is written from right to left, so that what follows in
// the line stays to its right.
std::string isolated(std::string_view text);

}  // namespace attend
