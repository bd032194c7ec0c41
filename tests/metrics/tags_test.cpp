#include "attend/metrics/tags.h"

#include "attend/base/error.h"
#include "attend/metrics/scores.h"
#include "attend/metrics/unicode.h"
#include "tests/metrics/label_fixtures.h"

namespace attend {
namespace {

std::vector<std::string_view> split_tags(const std::string& line) { return split_words(line); }

nlohmann::json spans_json(const std::string& line, TagScheme scheme) {
  nlohmann::json all = nlohmann::json::array();
  for (const TagSpan& span : spans_of(span_tags(split_tags(line)), scheme)) {
    all.push_back({span.type, span.begin, span.end});
  }
  return all;
}

TEST(Tags, SpansAreThoseOfSeqeval) {
  size_t compared = 0;
  const nlohmann::json all = label_fixtures();
  for (const nlohmann::json& one : all["tags"]) {
    const std::string gold = one["gold"], predicted = one["predicted"];
    for (const auto& [name, spans] : one["spans"].items()) {
      SCOPED_TRACE(name);
      const TagScheme scheme = value_from_name(kTagSchemes, "scheme", name);
      EXPECT_EQ(spans_json(gold, scheme), spans[0]) << gold;
      EXPECT_EQ(spans_json(predicted, scheme), spans[1]) << predicted;
      ++compared;
    }
  }
  EXPECT_GT(compared, 900u);
}

TEST(Tags, ScoresAreThoseOfSeqeval) {
  const nlohmann::json all = label_fixtures();
  for (const nlohmann::json& report : all["tag_reports"]) {
    const std::string name = report["scheme"];
    SCOPED_TRACE(name);
    SpanCounts counts;
    size_t sequences = 0;
    for (const nlohmann::json& one : all["tags"]) {
      if (!one["spans"].contains(name)) continue;
      const std::string gold = one["gold"], predicted = one["predicted"];
      counts += count_spans(split_tags(gold), split_tags(predicted),
                            value_from_name(kTagSchemes, "scheme", name));
      ++sequences;
    }
    EXPECT_EQ(sequences, report["sequences"].get<size_t>());
    EXPECT_EQ(counts.types.size() + 3, report["rows"].size());
    for (const auto& [kind, row] : report["rows"].items()) {
      SCOPED_TRACE(kind);
      const ClassScore score = kind == "micro avg"      ? counts.score(ClassAverage::kMicro)
                               : kind == "macro avg"    ? counts.score(ClassAverage::kMacro)
                               : kind == "weighted avg" ? counts.score(ClassAverage::kWeighted)
                                                        : class_score(counts.types.at(kind));
      expect_close(score.precision, row[0]);
      expect_close(score.recall, row[1]);
      expect_close(score.f1, row[2]);
      const auto type = counts.types.find(kind);
      EXPECT_TRUE(type == counts.types.end() || type->second.gold == row[3].get<uint64_t>());
    }
  }
}

TEST(Tags, OfNothingScoreZero) {
  for (const SpanMetric& metric : span_metrics()) {
    EXPECT_EQ(metric.measure({}), 0) << metric.name;
    EXPECT_EQ(metric.measure(count_spans(split_tags("O O"), split_tags("O O"))), 0) << metric.name;
  }
  EXPECT_TRUE(spans_of({}, TagScheme::kIobes).empty());
}

TEST(Tags, OfBilouAreThoseOfIobes) {
  EXPECT_EQ(spans_json("B-X I-X L-X U-Y U-Y O", TagScheme::kIobes),
            spans_json("B-X I-X E-X S-Y S-Y O", TagScheme::kIobes));
}

TEST(Tags, OfOtherKindsAreRefused) {
  for (const char* tag : {"NN", "", "b-PER", "BPER", "O-PER", "Ox", "-PER"}) {
    EXPECT_EQ(span_tag(tag), std::nullopt) << tag;
  }
  EXPECT_THROW(count_spans(split_tags("NN"), split_tags("NN")), DataError);
  EXPECT_THROW(count_spans(split_tags("O O"), split_tags("O")), DataError);
  EXPECT_THROW(count_spans(split_tags("O B-X"), split_tags("O E-X"), TagScheme::kIob2), DataError);
  EXPECT_EQ(span_tag("B-A-B")->type, "A-B");
  EXPECT_EQ(span_tag("B")->type, "_");
  EXPECT_EQ(span_tag("B-")->type, "_");
}

// A sequence of which each step is allowed keeps all its tags in spans, and none that are not.
TEST(Tags, MayFollowAllowsWhatMakesWholeSpans) {
  const std::vector<std::string_view> names = {"O",   "B-X", "I-X", "E-X",
                                               "S-X", "B-Y", "I-Y", "E-Y"};
  const std::vector<SpanTag> tags = span_tags(names);
  for (const TagScheme scheme : {TagScheme::kIob1, TagScheme::kIob2, TagScheme::kIobes}) {
    SCOPED_TRACE(name_from_value(kTagSchemes, scheme));
    const auto has = [&](const SpanTag& tag) {
      return scheme == TagScheme::kIobes ||
             (tag.part != TagPart::kLast && tag.part != TagPart::kSingle);
    };
    size_t allowed = 0;
    for (size_t number = 0; number < 8 * 8 * 8; ++number) {
      const std::vector<SpanTag> some = {tags[number / 64], tags[number / 8 % 8], tags[number % 8]};
      const bool may =
          may_follow(scheme, nullptr, &some[0]) && may_follow(scheme, &some[0], &some[1]) &&
          may_follow(scheme, &some[1], &some[2]) && may_follow(scheme, &some[2], nullptr);
      if (!std::ranges::all_of(some, has)) {
        EXPECT_FALSE(may) << number;
        continue;
      }
      size_t marked = 0, covered = 0;
      for (const SpanTag& tag : some) marked += tag.part == TagPart::kOutside ? 0 : 1;
      for (const TagSpan& span : spans_of(some, scheme)) covered += span.end - span.begin;
      EXPECT_EQ(may, marked == covered) << number;
      allowed += may ? 1 : 0;
      EXPECT_TRUE(may_follow(TagScheme::kAny, &some[0], &some[1]));
    }
    EXPECT_GT(allowed, 10u);
  }
}

}  // namespace
}  // namespace attend
