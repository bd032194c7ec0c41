// Tags that mark spans: a scheme, then lines of gold and of predicted tags.
#include "attend/metrics/tags.h"

#include "attend/metrics/scores.h"
#include "attend/metrics/unicode.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {

void take_tags(std::string_view bytes) {
  const size_t first = std::min(bytes.find('\n'), bytes.size());
  const std::string_view rest = bytes.substr(std::min(first + 1, bytes.size()));
  const size_t second = std::min(rest.find('\n'), rest.size());
  const TagScheme scheme = value_from_name(kTagSchemes, "scheme", bytes.substr(0, first));
  const auto gold = split_words(rest.substr(0, second)),
             predicted = split_words(rest.substr(second));
  const std::vector<SpanTag> tags = span_tags(gold);
  size_t end = 0, covered = 0;
  for (const TagSpan& span : spans_of(tags, scheme)) {
    require(span.begin >= end && span.end > span.begin, "spans do not overlap");
    end = span.end;
    covered += span.end - span.begin;
  }
  require(end <= tags.size() && covered <= tags.size(), "spans are within the text");
  SpanCounts counts = count_spans(gold, predicted, scheme);
  counts += count_spans(predicted, gold, scheme);
  for (const SpanMetric& metric : span_metrics()) {
    const double score = metric.measure(counts);
    require(score >= 0 && score <= 100, "a score is a percentage");
  }
}

std::vector<std::string> tags_seeds() {
  return {"any\nB-PER I-PER O B-LOC\nB-PER O O I-LOC", "iob1\nI-X B-X\nI-X I-X",
          "iobes\nB-A-B E-A-B S U-Y L\nO O O O O", "iob2\nNN\nO", ""};
}

}  // namespace attend::fuzz
