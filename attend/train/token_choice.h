// What a token of some text should be, by a look at it. Not for use outside train/.
#pragma once

#include <string>

#include "attend/data/text_profile.h"
#include "attend/text/tokenizer.h"

namespace attend {

struct VocabularyChoice {
  TokenizerKind kind = TokenizerKind::kBpe;
  size_t vocabulary = 0;  // of subwords
  std::string reason;     // for a person
};

// For a column of a text that has so many characters in all the columns that share a vocabulary.
VocabularyChoice tokens_of(const TextProfile& profile, size_t column, double characters);
// For the text of a language model, which is one long line.
VocabularyChoice tokens_of_book(const TextProfile& profile, double characters);

// Whether a column has a few lines again and again, each the name of a class.
bool has_labels(const TextProfile& profile, size_t column);

// So many subwords that each is seen often enough to be learned.
size_t fitting_vocabulary(double characters, const ColumnProfile& column);
// Characters that one of so many subwords stands for, on average.
double characters_of_subword(size_t vocabulary);

size_t rounded(double value);     // to two digits: 3300, 12000
std::string about(double count);  // "950", "22 thousand", "3.6 million"

}  // namespace attend
