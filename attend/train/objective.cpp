#include "attend/train/objective.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/hash.h"
#include "attend/base/printable.h"
#include "attend/data/windows.h"
#include "attend/data/words.h"
#include "attend/ops/cross_entropy.h"
#include "attend/ops/elementwise.h"
#include "attend/train/class_weights.h"
#include "attend/train/word_context.h"

namespace attend {
namespace {

template <typename Made>
std::unique_ptr<Objective> make(const RunConfig& config, const Signature& signature) {
  return std::make_unique<Made>(config, signature);
}

constexpr ObjectiveKind kObjectives[] = {
    {"teacher_forcing", "the next token of what is written", make<TeacherForcing>},
    {"label", "the label of a record", make<LabelCrossEntropy>},
    {"tags", "the tag of each word", make_tag_objective},
    {"squared_error", "the number of a record", make_squared_error},
    {"masked_tokens", "tokens that the model does not see", make_masked_tokens},
    {"both_directions", "each token, from those before it and from those after it",
     make_both_directions},
    {"span_corruption", "spans that were taken out of a text", make_span_corruption},
    {"word_context", "words from the words around them", make<WordContextLoss>},
};

// Places of tokens, once there is a start before them.
Column after_start(const Column& places, Framing framing) {
  std::vector<int32_t> moved;
  for (const int32_t place : places.values.index_span()) {
    moved.push_back(place + (framing.start ? 1 : 0));
  }
  return {Tensor::ids(moved, {moved.size()}), places.packing};
}

TeacherRows rows_of(const Batch& batch, const std::string& column, const SpecialTokens& special) {
  const std::string context = context_column(column);
  if (!batch.has(context)) return teacher_rows(batch.tokens(column), special);
  return window_rows(batch.tokens(column), batch[context].values.index_span(), kIgnoredTarget);
}

}  // namespace

std::span<const ObjectiveKind> objectives() { return kObjectives; }

const ObjectiveKind& objective_kind(std::string_view name) {
  for (const ObjectiveKind& kind : kObjectives) {
    if (kind.name == name) return kind;
  }
  throw ConfigError("unknown objective '{}'; there are: {}", shown_name(name),
                    fmt::join(objective_choices(), ", "));
}

std::vector<std::string> objective_choices() {
  std::vector<std::string> names = {"auto"};
  for (const ObjectiveKind& kind : kObjectives) names.emplace_back(kind.name);
  return names;
}

std::string written_column(const Signature& signature, ColumnKind kind,
                           std::string_view objective) {
  for (const ColumnSpec& column : signature.columns) {
    if (column.written && column.kind == kind) return column.name;
  }
  const std::string_view what = kind == ColumnKind::kTokens   ? "a sequence"
                                : kind == ColumnKind::kLabel  ? "a label"
                                : kind == ColumnKind::kLabels ? "tags"
                                                              : "a number";
  throw ConfigError(
      "train: training.objective {} needs a model that writes {}, which this one does not",
      objective, what);
}

const Tokenizer& tokenizer_of(const LossContext& context, const std::string& column) {
  const auto found = context.tokenizers.find(column);
  if (found == context.tokenizers.end()) throw ConfigError("train: {} has no tokenizer", column);
  return *found->second;
}

RandomStream stream_of_text(std::span<const int32_t> ids, const LossContext& context,
                            uint64_t purpose) {
  Hash hash;
  const uint64_t epoch = context.training ? context.epoch + 1 : 0;
  hash.add({reinterpret_cast<const char*>(&epoch), sizeof epoch});
  hash.add({reinterpret_cast<const char*>(ids.data()), ids.size_bytes()});
  return {context.seed ^ purpose, hash.value()};
}

Tensor label_numbers(const Batch& batch, const std::string& column, const LossContext& context) {
  const int32_t first = tokenizer_of(context, column).first_piece();
  std::vector<int32_t> labels;
  for (const int32_t id : batch[column].values.index_span()) {
    labels.push_back(id >= first ? id - first : kIgnoredTarget);
  }
  return Tensor::ids(labels, {labels.size()});
}

void refuse_class_weights(const RunConfig& config) {
  if (config.training.class_weights.empty()) return;
  throw ConfigError("train: training.class_weights is for models that give labels; leave it out");
}

double label_count(const Tensor& labels) {
  const auto ignored = std::ranges::count(labels.index_span(), kIgnoredTarget);
  return static_cast<double>(labels.size()) - static_cast<double>(ignored);
}

Batch training_batch(const Batch& records, const Signature& signature,
                     const Tokenizers& tokenizers) {
  Batch batch(records.size());
  batch.lines = records.lines;
  for (const ColumnSpec& column : signature.columns) {
    const bool is_framed = column.kind == ColumnKind::kTokens && !column.written;
    if (is_framed) {
      const SpecialTokens special = tokenizers.at(column.name)->special();
      batch.add(column.name, framed(records.tokens(column.name), column.framing, special));
      const std::string words = words_column(column.name);
      if (records.has(words)) batch.add(words, after_start(records[words], column.framing));
      continue;
    }
    // What is written may be made from what is read, as span corruption does.
    const bool made_later = column.kind == ColumnKind::kTokens && !records.has(column.name);
    if (made_later) continue;
    batch.add(column.name, records[column.name]);
    const std::string context = context_column(column.name);
    if (records.has(context)) batch.add(context, records[context]);
  }
  return batch;
}

size_t training_rows(const Batch& batch, const Signature& signature) {
  size_t rows = 0;
  for (const ColumnSpec& column : signature.columns) {
    if (column.kind != ColumnKind::kTokens || !batch.has(column.name)) continue;
    rows += batch[column.name].packing.rows();
    if (!column.written) continue;
    // A start is read before each sequence; a window has it, and its last token is not read.
    const bool window = batch.has(context_column(column.name));
    rows = window ? rows - std::min(rows, batch.size()) : rows + batch.size();
  }
  return rows;
}

TeacherForcing::TeacherForcing(const RunConfig& run, const Signature& signature)
    : written_(written_column(signature, ColumnKind::kTokens, "teacher_forcing")),
      label_smoothing_(run.training.label_smoothing.value_or(0.0f)) {
  const TrainingConfig& config = run.training;
  refuse_class_weights(run);
  if (config.coverage_loss > 0) {
    auxiliary_.push_back({"coverage", "training.coverage_loss", config.coverage_loss});
  }
}

Loss TeacherForcing::loss(const Model& model, const Batch& batch,
                          const LossContext& context) const {
  const TeacherRows rows = rows_of(batch, written_, tokenizer_of(context, written_).special());
  const Forced forced = model.generator()->force(batch, rows.inputs);
  Loss loss{cross_entropy(forced.logits, rows.labels,
                          {.label_smoothing = context.training ? label_smoothing_ : 0.0f,
                           .reduction = Reduction::kSum}),
            label_count(rows.labels)};
  if (!context.training) return loss;
  for (const Weighted& term : auxiliary_) {
    const auto found = std::ranges::find(forced.auxiliary, term.name, &NamedTensor::name);
    if (found == forced.auxiliary.end()) {
      throw ConfigError(
          "train: {} is {}, but the model has no {} loss; choose a model that has it, "
          "or leave out the setting",
          term.setting, term.weight, term.name);
    }
    // A mean over rows becomes a sum over labels, as the rest of the loss is.
    const Tensor sum = scale(found->tensor, static_cast<float>(loss.count));
    const auto weight = static_cast<float>(term.weight);
    const Tensor weighted = weight == 1.0f ? sum : scale(sum, weight);
    if (loss.parts.empty()) loss.parts.push_back({"cross_entropy", loss.sum.detach()});
    loss.parts.push_back({term.name, weighted.detach()});
    loss.sum = add(loss.sum, weighted);
  }
  return loss;
}

LabelCrossEntropy::LabelCrossEntropy(const RunConfig& config, const Signature& signature)
    : label_(written_column(signature, ColumnKind::kLabel, "label")),
      label_smoothing_(config.training.label_smoothing.value_or(0.0f)),
      weights_as_set_(config.training.class_weights) {
  if (config.training.coverage_loss > 0) {
    throw ConfigError(
        "train: training.coverage_loss is for models that write sequences; leave it out");
  }
}

void LabelCrossEntropy::prepare(const Corpus& corpus, const Tokenizers& tokenizers) {
  class_weights_ = class_weights(weights_as_set_, corpus, label_, *tokenizers.at(label_));
}

Loss LabelCrossEntropy::loss(const Model& model, const Batch& batch,
                             const LossContext& context) const {
  const Tensor targets = label_numbers(batch, label_, context);
  return {cross_entropy(model.classifier()->label_logits(batch), targets,
                        {.label_smoothing = context.training ? label_smoothing_ : 0.0f,
                         .reduction = Reduction::kSum,
                         .class_weights = class_weights_}),
          target_weight(targets, class_weights_)};
}

}  // namespace attend
