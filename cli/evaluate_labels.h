// Labels, tags and numbers as `attend evaluate` reads, counts and shows them.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/names.h"
#include "attend/metrics/scores.h"

namespace attend::cli {

// What a line holds.
enum class TagFormat {
  kNone,   // a label, or a number
  kLines,  // tags of all tokens of a text, with spaces between
  kConll,  // columns of one token, the last of which is its tag; a blank line ends a text
};
inline constexpr Named<TagFormat> kTagFormats[] = {{TagFormat::kLines, "lines"},
                                                   {TagFormat::kConll, "conll"}};

// Predictions and what is right, line by line.
struct LabelLines {
  std::span<const std::string> gold, predicted;
  TagFormat format = TagFormat::kNone;
};

// Labels by their text.
struct LabelCounts {
  std::vector<std::string> names;  // by number
  Confusion confusion;

  void add(std::string_view gold, std::string_view predicted);

 private:
  size_t number(std::string_view name);
  std::map<std::string, size_t, std::less<>> numbers_;
};

// Of lines, or of tags. Throws DataError where a text has more gold tags than predicted ones, or
// fewer.
LabelCounts count_labels(const LabelLines& lines);
SpanCounts count_spans(const LabelLines& lines, TagScheme scheme);
NumberPairs number_pairs(const LabelLines& lines);  // DataError for a line that is no number
bool are_span_tags(const LabelLines& lines);        // whether all tags are those of spans

// Precision, recall, F1 and records of each class, and which labels were predicted for which: for a
// person, and for a program.
std::string class_table(const LabelCounts& labels);
std::string class_table(const SpanCounts& spans);
nlohmann::ordered_json class_json(const LabelCounts& labels);
nlohmann::ordered_json class_json(const SpanCounts& spans);
nlohmann::ordered_json confusion_json(const LabelCounts& labels);

}  // namespace attend::cli
