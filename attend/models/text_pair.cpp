#include "attend/models/text_pair.h"

#include "attend/ops/embedding.h"

namespace attend {

JoinedTexts joined_texts(const Batch& inputs) {
  const Tokens first = inputs.tokens(kTextColumn);
  if (!inputs.has(kPairColumn)) return {first, {}};
  const Tokens second = inputs.tokens(kPairColumn);
  TokenLines joined;
  std::vector<int32_t> segments, line;
  for (size_t i = 0; i < first.count(); ++i) {
    const auto a = first.sequence(i), b = second.sequence(i);
    line.assign(a.begin(), a.end());
    line.insert(line.end(), b.begin(), b.end());
    joined.add(line);
    segments.insert(segments.end(), a.size(), 0);
    segments.insert(segments.end(), b.size(), 1);
  }
  return {joined.tokens(), Tensor::ids(segments, {segments.size()})};
}

Signature text_signature(bool pair, bool start, std::optional<size_t> positions) {
  Signature signature;
  signature.columns.push_back(
      {.name = kTextColumn, .framing = {.start = start, .end = true}, .positions = positions});
  if (!pair) return signature;
  signature.columns.push_back(
      {.name = kPairColumn, .framing = {.end = true}, .positions = positions});
  signature.joined = {.name = text_sequence(pair), .positions = positions};
  return signature;
}

std::string text_sequence(bool pair) { return pair ? "texts" : kTextColumn; }

Tensor first_rows(const Tensor& x, const Packing& packing) {
  std::vector<int32_t> first;
  for (size_t i = 0; i < packing.count(); ++i) {
    first.push_back(static_cast<int32_t>(packing.begin(i)));
  }
  return gather_rows(x, Tensor::ids(first, {first.size()}));
}

}  // namespace attend
