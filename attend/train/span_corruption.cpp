#include "attend/train/span_corruption.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "attend/base/error.h"

namespace attend {
namespace {

constexpr size_t kUsualText = 128;

// Random numbers, one after another.
class Draws {
 public:
  explicit Draws(RandomStream random) : random_(random) {}

  // `count` of 0 .. from - 1, in ascending order.
  std::vector<size_t> chosen(size_t count, size_t from) {
    std::vector<size_t> found;
    for (size_t i = 0; found.size() < count; ++i) {
      if (random_.below(next_++, from - i) < count - found.size()) found.push_back(i);
    }
    return found;
  }

 private:
  RandomStream random_;
  uint64_t next_ = 0;
};

}  // namespace

size_t tokens_in_spans(size_t tokens, const SpansConfig& config) {
  if (tokens == 0) return 0;
  const auto wanted = static_cast<size_t>(std::llround(static_cast<double>(tokens) * config.share));
  return std::clamp<size_t>(wanted, 1, std::max<size_t>(1, tokens - 1));
}

// Spans do not touch, so that there is a token between any two.
size_t spans_of(size_t tokens, const SpansConfig& config) {
  const size_t taken = tokens_in_spans(tokens, config);
  if (taken == 0) return 0;
  const auto wanted = static_cast<size_t>(std::llround(static_cast<double>(taken) / config.length));
  return std::clamp<size_t>(wanted, 1, std::max<size_t>(1, std::min(taken, tokens - taken)));
}

CorruptedText corrupted_text(std::span<const int32_t> ids, const SpecialTokens& special,
                             const SpansConfig& config, RandomStream random) {
  const size_t taken = tokens_in_spans(ids.size(), config), spans = spans_of(ids.size(), config);
  if (spans == 0) return {};
  if (spans > static_cast<size_t>(special.sentinels)) {
    throw ConfigError("train: {} spans of a text of {} tokens, but the tokenizer has {} sentinels",
                      spans, ids.size(), special.sentinels);
  }
  Draws draws(random);
  // Where one span ends and the next begins among the tokens that are taken, and which of the gaps
  // beside and between the others have a span.
  std::vector<size_t> cuts = draws.chosen(spans - 1, taken - 1);
  const std::vector<size_t> gaps = draws.chosen(spans, ids.size() - taken + 1);
  CorruptedText made;
  size_t at = 0, before = 0;  // in the text; tokens that are left, so far
  for (size_t i = 0; i < spans; ++i) {
    const size_t begin = i == 0 ? 0 : cuts[i - 1] + 1;
    const size_t length = (i + 1 < spans ? cuts[i] + 1 : taken) - begin;
    const auto kept = ids.subspan(at, gaps[i] - before);
    made.source.insert(made.source.end(), kept.begin(), kept.end());
    at += kept.size();
    before = gaps[i];
    const int32_t sentinel = special.first_sentinel + static_cast<int32_t>(i);
    made.source.push_back(sentinel);
    made.target.push_back(sentinel);
    const auto span = ids.subspan(at, length);
    made.target.insert(made.target.end(), span.begin(), span.end());
    at += length;
  }
  made.source.insert(made.source.end(), ids.begin() + static_cast<ptrdiff_t>(at), ids.end());
  return made;
}

size_t longest_text(const RunConfig& config, const Signature& signature) {
  size_t most = config.data.context.value_or(kUsualText);
  for (const ColumnSpec& column : signature.columns) {
    most = std::min(most, column.longest().value_or(std::numeric_limits<size_t>::max()));
  }
  // Read as one sequence, a text takes twice as many sentinels as it has spans.
  const size_t together = signature.longest_together().value_or(std::numeric_limits<size_t>::max());
  while (most > 1 && most + 2 * spans_of(most, config.spans) > together) --most;
  return most;
}

}  // namespace attend
