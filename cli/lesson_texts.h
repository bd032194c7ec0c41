// Texts that the models of lessons are trained on. They are generated: the same on every machine,
// without a file. Not for use outside cli/.
#pragma once

#include <string>

namespace attend::cli {

// Each gives all lines of a text. Pairs have a tab between what is read and what is written.
std::string dates_text();            // "the 3rd of May 2026\t2026-05-03", in a dozen spellings
std::string backwards_text();        // random letters, 1 to 20 of them, and the same backwards
std::string short_backwards_text();  // the same of 1 to 12 letters
std::string colours_text();    // "red=4 blue=7 blue\t7": a dictionary, and a key to look up in it
std::string animals_text();    // "dog sleeps\ta dog sleeps": two ways to say it, of which one
                               // goes on in six ways
std::string senses_text();     // "I arrived at the bank after crossing the river\tnature": what is
                               // told decides which bank it is
std::string sentences_text();  // "the keys beside the boat are lost .": verbs agree with subjects

}  // namespace attend::cli
