#include "attend/data/tokens.h"

namespace attend {

Tokens one_sequence(std::span<const int32_t> ids) { return {ids, Packing::even(1, ids.size())}; }

Tokens pick_sequences(const Tokens& tokens, std::span<const size_t> which) {
  TokenLines picked;
  for (const size_t i : which) picked.add(tokens.sequence(i));
  return picked.tokens();
}

std::vector<int32_t> framed(std::span<const int32_t> ids, Framing framing,
                            const SpecialTokens& special) {
  std::vector<int32_t> all;
  all.reserve(ids.size() + framing.extra());
  if (framing.start) all.push_back(special.start);
  all.insert(all.end(), ids.begin(), ids.end());
  if (framing.end) all.push_back(special.end);
  return all;
}

Tokens framed(const Tokens& tokens, Framing framing, const SpecialTokens& special) {
  if (framing.extra() == 0) return tokens;
  TokenLines lines;
  for (size_t i = 0; i < tokens.count(); ++i) {
    lines.add(framed(tokens.sequence(i), framing, special));
  }
  return lines.tokens();
}

TeacherRows teacher_rows(const Tokens& written, const SpecialTokens& special) {
  return {framed(written, {.start = true}, special), framed(written, {.end = true}, special).ids};
}

}  // namespace attend
