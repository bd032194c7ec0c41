#include "attend/inspect/word_vectors.h"

#include <algorithm>
#include <cmath>

#include "attend/decode/embed.h"

namespace attend {

VocabularyWords first_words(const TextModel& model, std::string_view column, size_t most) {
  const std::string name = column.empty() ? embedded_column(model) : std::string(column);
  const Tensor table = token_vectors(model, name);
  const Tokenizer& tokenizer = model.tokenizer(name);
  VocabularyWords found;
  std::vector<float> values;
  const auto first = static_cast<size_t>(tokenizer.first_piece());
  for (size_t id = first; id < tokenizer.size() && found.words.size() < most; ++id) {
    if (tokenizer.special().has(static_cast<int32_t>(id))) continue;
    const float* const row = table.data() + id * table.stride();
    double squares = 0;
    for (size_t k = 0; k < table.width(); ++k) squares += double{row[k]} * double{row[k]};
    const double length = squares > 0 ? std::sqrt(squares) : 1.0;
    for (size_t k = 0; k < table.width(); ++k) {
      values.push_back(static_cast<float>(double{row[k]} / length));
    }
    found.words.push_back(tokenizer.piece(static_cast<int32_t>(id)));
  }
  found.vectors = Tensor::of(values, {found.words.size(), table.width()});
  return found;
}

}  // namespace attend
