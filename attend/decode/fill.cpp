#include "attend/decode/fill.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/decode/line_limit.h"
#include "attend/models/text_pair.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// A text as ids, and where its masks are.
struct MaskedLine {
  std::vector<int32_t> ids;
  std::vector<size_t> masks;  // places among the ids
};

// The text is encoded piece by piece, because text never encodes to a mask.
MaskedLine masked_line(const Tokenizer& tokenizer, std::string_view text) {
  const std::vector<std::string> names = mask_names(tokenizer);
  MaskedLine line;
  for (;;) {
    size_t at = text.npos, length = 0;
    for (const std::string& name : names) {
      if (const size_t found = text.find(name); found < at) at = found, length = name.size();
    }
    const std::vector<int32_t> ids = tokenizer.encode(text.substr(0, at));
    line.ids.insert(line.ids.end(), ids.begin(), ids.end());
    if (at == text.npos) return line;
    line.masks.push_back(line.ids.size());
    line.ids.push_back(tokenizer.special().mask);
    text.remove_prefix(at + length);
  }
}

std::vector<FilledToken> best_tokens(const Tokenizer& tokenizer, std::span<const float> logits,
                                     size_t count) {
  const float largest = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float x : logits) sum += std::exp(double{x} - double{largest});
  std::vector<int32_t> order;
  for (size_t id = 0; id < logits.size(); ++id) {
    if (!tokenizer.special().has(static_cast<int32_t>(id))) {
      order.push_back(static_cast<int32_t>(id));
    }
  }
  const auto logit = [&](int32_t id) { return logits[static_cast<size_t>(id)]; };
  count = std::min(count, order.size());
  const auto better = [&](int32_t a, int32_t b) {
    return logit(a) > logit(b) || (logit(a) == logit(b) && a < b);
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(count), order.end(),
                    better);
  std::vector<FilledToken> best;
  for (size_t i = 0; i < count; ++i) {
    const double probability = std::exp(double{logit(order[i])} - double{largest}) / sum;
    best.push_back(
        {.id = order[i], .piece = tokenizer.piece(order[i]), .probability = probability});
  }
  return best;
}

// A model of pairs has a second text that is empty, and both share its positions.
LineLimit fill_limit(const Signature& signature) {
  const LineLimit limit = line_limit(signature.column(kTextColumn), 0);
  if (!signature.joined || !signature.longest_together()) return limit;
  return stricter(limit, {std::max<size_t>(*signature.longest_together(), 1), true});
}

}  // namespace

std::vector<std::string> mask_names(const Tokenizer& tokenizer) {
  std::vector<std::string> names = {"[MASK]"};
  const int32_t mask = tokenizer.special().mask;
  if (mask >= 0 && tokenizer.piece(mask) != names.front()) names.push_back(tokenizer.piece(mask));
  return names;
}

std::vector<FilledMasks> fill_masks(const TextModel& model, std::span<const std::string> texts,
                                    size_t count) {
  const NoGrad no_grad;
  const MaskedPredictor& predictor = model.masked_predictor();
  const Signature signature = model.model->signature();
  const ColumnSpec& column = signature.column(kTextColumn);
  const Tokenizer& tokenizer = model.tokenizer(kTextColumn);
  const LineLimit limit = fill_limit(signature);
  std::vector<FilledMasks> all;
  for (const std::string& text : texts) {
    FilledMasks& filled = all.emplace_back();
    const MaskedLine line = masked_line(tokenizer, text);
    if (line.masks.empty()) continue;
    if (!limit.allows(line.ids.size())) limit.fail("fill", line.ids.size());
    Batch inputs(kTextColumn, one_sequence(framed(line.ids, column.framing, tokenizer.special())));
    for (const ColumnSpec& other : signature.columns) {  // a model of pairs reads an empty one
      if (other.name == kTextColumn) continue;
      inputs.add(other.name, one_sequence(framed(std::span<const int32_t>(), other.framing,
                                                 tokenizer.special())));
    }
    std::vector<int32_t> rows;
    for (const size_t place : line.masks) {
      rows.push_back(static_cast<int32_t>(place + (column.framing.start ? 1 : 0)));
    }
    const Tensor logits = predictor.predict(inputs, Tensor::ids(rows, {rows.size()})).tokens;
    for (size_t i = 0; i < rows.size(); ++i) {
      filled.push_back(best_tokens(tokenizer, logits.slice_rows(i, 1).span(), count));
      for (FilledToken& token : filled.back()) {
        std::vector<int32_t> ids = line.ids;
        ids[line.masks[i]] = token.id;
        token.text = tokenizer.decode(ids);
      }
    }
  }
  return all;
}

}  // namespace attend
