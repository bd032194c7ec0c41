#include "cli/evaluate_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "attend/base/counted.h"
#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/metrics/unicode.h"

namespace attend::cli {
namespace {

constexpr size_t kWidestMatrix = 12;  // labels that are shown as a matrix

using TagTexts = std::vector<std::vector<std::string_view>>;

// The tags of each text. A blank line ends a text of columns.
TagTexts tag_texts(std::span<const std::string> lines, TagFormat format) {
  TagTexts texts;
  bool open = false;
  for (const std::string& line : lines) {
    const std::vector<std::string_view> columns = split_words(line);
    if (format == TagFormat::kLines) {
      texts.push_back(columns);
      continue;
    }
    if (!columns.empty() && !open) texts.emplace_back();
    open = !columns.empty();
    if (open) texts.back().push_back(columns.back());
  }
  return texts;
}

// Calls visit(gold tags, predicted tags) for each text.
template <typename Visit>
void for_each_text(const LabelLines& lines, const Visit& visit) {
  const TagTexts gold = tag_texts(lines.gold, lines.format),
                 predicted = tag_texts(lines.predicted, lines.format);
  if (gold.size() != predicted.size()) {
    throw DataError(
        "evaluate: {} with gold tags but {} with predicted ones; do both have the same "
        "blank lines?",
        counted(gold.size(), "text"), counted(predicted.size(), "text"));
  }
  for (size_t i = 0; i < gold.size(); ++i) {
    if (gold[i].size() != predicted[i].size()) {
      throw DataError("evaluate: text {} has {} but {}; each token has one of both", i + 1,
                      counted(gold[i].size(), "gold tag"),
                      counted(predicted[i].size(), "predicted tag"));
    }
    visit(gold[i], predicted[i]);
  }
}

double number_of(const std::string& line, size_t at) {
  const std::string_view text = strip(line);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(value))
    return value;
  throw DataError("evaluate: line {}: '{}' is not a number", at + 1, shown_name(text));
}

// The numbers of the labels, by their names.
std::vector<size_t> by_name(const LabelCounts& labels) {
  std::vector<size_t> order(labels.names.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](size_t i) -> const std::string& { return labels.names[i]; });
  return order;
}

std::map<std::string, ClassCounts, std::less<>> named_classes(const LabelCounts& labels) {
  std::map<std::string, ClassCounts, std::less<>> classes;
  for (size_t i = 0; i < labels.names.size(); ++i) {
    classes[labels.names[i]] = labels.confusion.classes()[i];
  }
  return classes;
}

using ClassesByName = std::map<std::string, ClassCounts, std::less<>>;

size_t widest_name(const ClassesByName& classes, size_t least) {
  for (const auto& [name, counts] : classes) {
    least = std::max(least, fmt::formatted_size("{}", printable(name)));
  }
  return std::min<size_t>(least, 40);
}

std::string table_of(const ClassesByName& classes, std::string_view what, std::string_view units) {
  const size_t width = widest_name(classes, 21);
  std::string text = fmt::format("\n{:<{}} {:>9} {:>7} {:>7} {:>9} {:>9}\n", what, width,
                                 "precision", "recall", "F1", units, "predicted");
  for (const auto& [name, counts] : classes) {
    const ClassScore score = class_score(counts);
    text += fmt::format("{:<{}} {:>9.2f} {:>7.2f} {:>7.2f} {:>9} {:>9}\n", printable(name), width,
                        score.precision, score.recall, score.f1, counts.gold, counts.predicted);
  }
  return text;
}

nlohmann::ordered_json json_of(const ClassesByName& classes) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const auto& [name, counts] : classes) {
    const ClassScore score = class_score(counts);
    all[name] = {{"precision", score.precision},
                 {"recall", score.recall},
                 {"f1", score.f1},
                 {"gold", counts.gold},
                 {"predicted", counts.predicted},
                 {"correct", counts.correct}};
  }
  return all;
}

// A row for each gold label, a column for each predicted one.
std::string matrix(const LabelCounts& labels) {
  const std::vector<size_t> order = by_name(labels);
  const size_t width = widest_name(named_classes(labels), 21);
  std::string text = fmt::format("\n{:<{}}", "gold \\ predicted", width);
  for (const size_t i : order) text += fmt::format(" {:>9.9}", printable(labels.names[i]));
  text += "\n";
  for (const size_t gold : order) {
    text += fmt::format("{:<{}}", printable(labels.names[gold]), width);
    for (const size_t predicted : order) {
      text += fmt::format(" {:>9}", labels.confusion.count(gold, predicted));
    }
    text += "\n";
  }
  return text;
}

struct Mistaken {
  uint64_t records;
  size_t gold, predicted;
};

// The pairs of labels that are mistaken most often.
std::string frequent_mistakes(const LabelCounts& labels) {
  std::vector<Mistaken> mistakes;
  for (const auto& [pair, records] : labels.confusion.cells()) {
    if (pair.first != pair.second) mistakes.push_back({records, pair.first, pair.second});
  }
  std::ranges::stable_sort(mistakes, std::greater{}, &Mistaken::records);
  if (mistakes.size() > 20) mistakes.resize(20);
  const size_t width = widest_name(named_classes(labels), 21);
  std::string text = fmt::format("\n{:<{}} {:<{}} {:>9}\n", "gold", width, "predicted", width, "");
  for (const Mistaken& m : mistakes) {
    text += fmt::format("{:<{}} {:<{}} {:>9}\n", printable(labels.names[m.gold]), width,
                        printable(labels.names[m.predicted]), width, m.records);
  }
  return text;
}

}  // namespace

void LabelCounts::add(std::string_view gold, std::string_view predicted) {
  const size_t right = number(gold);
  confusion.add(right, number(predicted));
}

size_t LabelCounts::number(std::string_view name) {
  const auto found = numbers_.find(name);
  if (found != numbers_.end()) return found->second;
  names.emplace_back(name);
  return numbers_[names.back()] = names.size() - 1;
}

LabelCounts count_labels(const LabelLines& lines) {
  LabelCounts counts;
  if (lines.format == TagFormat::kNone) {
    for (size_t i = 0; i < lines.gold.size(); ++i) {
      counts.add(strip(lines.gold[i]), strip(lines.predicted[i]));
    }
    return counts;
  }
  for_each_text(lines, [&](const auto& gold, const auto& predicted) {
    for (size_t i = 0; i < gold.size(); ++i) counts.add(gold[i], predicted[i]);
  });
  return counts;
}

SpanCounts count_spans(const LabelLines& lines, TagScheme scheme) {
  SpanCounts counts;
  size_t text = 0;
  for_each_text(lines, [&](const auto& gold, const auto& predicted) {
    ++text;
    try {
      counts += attend::count_spans(gold, predicted, scheme);
    } catch (const DataError& error) {
      throw DataError("evaluate: text {}: {}{}", text, error.what(),
                      lines.format == TagFormat::kLines
                          ? "; if lines are columns of one token, give --tag-format conll"
                          : "");
    }
  });
  return counts;
}

NumberPairs number_pairs(const LabelLines& lines) {
  NumberPairs pairs;
  for (size_t i = 0; i < lines.gold.size(); ++i) {
    pairs.gold.push_back(number_of(lines.gold[i], i));
    pairs.predicted.push_back(number_of(lines.predicted[i], i));
  }
  return pairs;
}

bool are_span_tags(const LabelLines& lines) {
  const auto all = [&](std::span<const std::string> some) {
    return std::ranges::all_of(tag_texts(some, lines.format), [](const auto& tags) {
      return std::ranges::all_of(tags,
                                 [](std::string_view tag) { return span_tag(tag).has_value(); });
    });
  };
  return all(lines.gold) && all(lines.predicted);
}

std::string class_table(const LabelCounts& labels) {
  return table_of(named_classes(labels), "label", "records") +
         (labels.names.size() <= kWidestMatrix ? matrix(labels) : frequent_mistakes(labels));
}

std::string class_table(const SpanCounts& spans) { return table_of(spans.types, "spans", "gold"); }

nlohmann::ordered_json class_json(const LabelCounts& labels) {
  return json_of(named_classes(labels));
}

nlohmann::ordered_json class_json(const SpanCounts& spans) { return json_of(spans.types); }

nlohmann::ordered_json confusion_json(const LabelCounts& labels) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const auto& [pair, records] : labels.confusion.cells()) {
    all[labels.names[pair.first]][labels.names[pair.second]] = records;
  }
  return all;
}

}  // namespace attend::cli
