// The tokenisations of BLEU. 13a is mteval-v13a's, as sacreBLEU reads it: regular expressions that
// run one after the other. They name only ASCII, so that bytes of UTF-8 serve as well as
// characters.
#include <fmt/format.h>

#include "attend/metrics/bleu.h"
#include "attend/metrics/unicode.h"

namespace attend {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_stop(char c) { return c == '.' || c == ','; }

// ASCII punctuation but ' , - . and the space.
bool is_symbol(char c) {
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// s/(first)(second)/before\1 \2after/g: pairs from left to right that do not overlap.
template <typename First, typename Second>
std::string part(std::string_view text, First first, Second second, std::string_view before,
                 std::string_view after) {
  std::string result;
  result.reserve(text.size() * 2);
  size_t i = 0;
  while (i + 1 < text.size()) {
    if (first(text[i]) && second(text[i + 1])) {
      result.append(before).append({text[i], ' ', text[i + 1]}).append(after);
      i += 2;
    } else {
      result += text[i++];
    }
  }
  return result.append(text.substr(i));
}

std::string part_symbols(std::string_view text) {
  std::string result;
  result.reserve(text.size() * 2);
  for (const char c : text) {
    if (is_symbol(c)) {
      result.append({' ', c, ' '});
    } else {
      result += c;
    }
  }
  return result;
}

std::string tokenize_13a(std::string_view line) {
  std::string text(strip_end(line));
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  if (text.find('&') != std::string::npos) {
    replace_all(text, "&quot;", "\"");
    replace_all(text, "&amp;", "&");
    replace_all(text, "&lt;", "<");
    replace_all(text, "&gt;", ">");
  }
  text = part_symbols(" " + text + " ");
  const auto no_digit = [](char c) { return !is_digit(c); };
  text = part(text, no_digit, is_stop, "", " ");
  text = part(text, is_stop, no_digit, " ", "");
  return part(
      text, is_digit, [](char c) { return c == '-'; }, "", " ");
}

std::string separate_characters(std::string_view line) {
  std::string text;
  text.reserve(line.size() * 2);
  for (const char c : line) {
    const bool continues = (c & 0xc0) == 0x80;  // inside a character of several bytes
    if (!continues && !text.empty()) text += ' ';
    text += c;
  }
  return text;
}

}  // namespace

std::string bleu_tokenize(std::string_view line, const BleuOptions& options) {
  std::string lower;
  if (options.lower_case) line = lower = full_lower_case(line);
  const std::string text = options.tokens == BleuTokens::k13a    ? tokenize_13a(line)
                           : options.tokens == BleuTokens::kChar ? separate_characters(line)
                                                                 : std::string(line);
  return fmt::format("{}", fmt::join(split_words(text), " "));
}

}  // namespace attend
