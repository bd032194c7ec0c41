#include "attend/train/class_weights.h"

#include <algorithm>
#include <cmath>

#include "attend/base/error.h"
#include "attend/base/fields.h"
#include "attend/base/printable.h"

namespace attend {
namespace {

constexpr std::string_view kAuto = "auto";

struct ClassWeight {
  std::string_view label;
  double weight = -1;
};

// The last = is the one before the weight: a label may have others.
ClassWeight class_weight_of(std::string_view text) {
  const size_t sign = text.rfind('=');
  ClassWeight found{text.substr(0, sign)};
  const bool known = sign != text.npos && sign > 0 &&
                     detail::parse_field(text.substr(sign + 1), found.weight) &&
                     std::isfinite(found.weight) && found.weight >= 0;
  if (known) return found;
  throw ConfigError(
      "train: training.class_weights has '{}'; give auto, or a label, = and a weight of 0 or more, "
      "such as spam=3",
      shown_name(text));
}

bool is_auto(std::span<const std::string> texts) { return texts.size() == 1 && texts[0] == kAuto; }

std::vector<double> label_counts(const Corpus& corpus, std::string_view column,
                                 const Tokenizer& labels) {
  std::vector<double> counts(labels.size() - static_cast<size_t>(labels.first_piece()), 0.0);
  const size_t number = corpus.column(column);
  const RecordLengths lengths = corpus.lengths();
  std::vector<int32_t> ids;
  for (size_t record = 0; record < corpus.size(); ++record) {
    ids.clear();
    corpus.append(record, number, ids);
    for (const int32_t id : ids) {
      if (id < labels.first_piece()) continue;
      counts.at(static_cast<size_t>(id - labels.first_piece())) += lengths.weight(record);
    }
  }
  return counts;
}

}  // namespace

void check_class_weights(std::span<const std::string> texts) {
  if (is_auto(texts)) return;
  for (const std::string& text : texts) class_weight_of(text);
}

Tensor class_weights(std::span<const std::string> texts, const Corpus& corpus,
                     std::string_view column, const Tokenizer& labels) {
  if (texts.empty()) return {};
  const std::vector<double> counts = label_counts(corpus, column, labels);
  const Tensor weights = Tensor::full({counts.size()}, 1.0f);
  if (is_auto(texts)) {
    double all = 0, different = 0;
    for (const double count : counts) all += count, different += count > 0 ? 1 : 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0) weights.data()[i] = static_cast<float>(all / (different * counts[i]));
    }
    return weights;
  }
  for (const std::string& text : texts) {
    const auto [label, weight] = class_weight_of(text);
    const std::vector<int32_t> ids = labels.encode(label);
    if (ids.size() != 1 || ids[0] < labels.first_piece()) {
      throw ConfigError(
          "train: training.class_weights names '{}', but the training text has no such {}",
          shown_name(label), column);
    }
    weights.data()[ids[0] - labels.first_piece()] = static_cast<float>(weight);
  }
  return weights;
}

}  // namespace attend
