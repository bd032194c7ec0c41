#include "attend/inspect/sequence_pair.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/printable.h"

namespace attend {
namespace {

[[noreturn]] void fail_without_attention() {
  throw ConfigError(
      "the model has no attention to look at; use saliency instead (attend inspect: --show "
      "gradient)");
}

std::string names_of(std::span<const SequencePair> pairs) {
  std::vector<std::string> names;
  for (const SequencePair& pair : pairs) names.push_back(name_of(pair));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> texts_of(std::span<const TraceItem> items) {
  std::vector<std::string> texts;
  for (const TraceItem& item : items) texts.push_back(item.text);
  return texts;
}

// What was written after each item, or the items where nothing was.
void label_rows_by_next(const TraceSequence& sequence, MapLabels& labels) {
  const bool written = !sequence.next.empty();
  labels.rows = texts_of(written ? sequence.next : sequence.items);
  labels.row_framing =
      written ? Framing{.end = sequence.role == SequenceRole::kWritten} : sequence.framing;
}

}  // namespace

std::string name_of(const SequencePair& pair) {
  return fmt::format("{} -> {}", pair.queries, pair.keys);
}

std::vector<SequencePair> sequence_pairs(std::span<const AttentionLayer> layers) {
  std::vector<SequencePair> pairs;
  for (const bool self : {false, true}) {
    for (const AttentionLayer& layer : layers) {
      const SequencePair pair = pair_of(layer);
      if (pair.is_self() == self && std::ranges::count(pairs, pair) == 0) pairs.push_back(pair);
    }
  }
  return pairs;
}

SequencePair chosen_pair(std::span<const AttentionLayer> layers, std::string_view queries,
                         std::string_view keys) {
  const std::vector<SequencePair> pairs = sequence_pairs(layers);
  for (const SequencePair& pair : pairs) {
    const bool is_meant =
        (queries.empty() || pair.queries == queries) && (keys.empty() || pair.keys == keys);
    if (is_meant) return pair;
  }
  if (pairs.empty()) fail_without_attention();
  const auto shown = [](std::string_view name) {
    return name.empty() ? "any sequence" : "'" + shown_name(name) + "'";
  };
  throw ConfigError("no attention layer goes from {} to {}; there are: {}", shown(queries),
                    shown(keys), names_of(pairs));
}

std::vector<AttentionLayer> layers_between(std::span<const AttentionLayer> layers,
                                           const SequencePair& pair) {
  const SequencePair known = chosen_pair(layers, pair.queries, pair.keys);
  std::vector<AttentionLayer> found;
  for (const AttentionLayer& layer : layers) {
    if (pair_of(layer) == known) found.push_back(layer);
  }
  return found;
}

const AttentionLayer& layer_named(std::span<const AttentionLayer> layers, std::string_view name) {
  const auto found = std::ranges::find(layers, name, &AttentionLayer::name);
  if (found != layers.end()) return *found;
  if (layers.empty()) fail_without_attention();
  std::vector<std::string_view> names(layers.size());
  std::ranges::transform(layers, names.begin(), &AttentionLayer::name);
  throw ConfigError("no attention layer '{}'; there are: {}", shown_name(name),
                    fmt::join(names, ", "));
}

MapLabels map_labels(const Trace& trace, const SequencePair& pair) {
  const TraceSequence &queries = trace.sequence(pair.queries), &keys = trace.sequence(pair.keys);
  MapLabels labels{.columns = texts_of(keys.items), .column_framing = keys.framing};
  if (pair.is_self()) {
    labels.rows = labels.columns;
    labels.row_framing = labels.column_framing;
  } else {
    label_rows_by_next(queries, labels);
  }
  return labels;
}

MapLabels written_labels(const Trace& trace, std::string_view keys_name) {
  const TraceSequence& keys = trace.sequence(keys_name);
  MapLabels labels{.columns = texts_of(keys.items), .column_framing = keys.framing};
  if (trace.written() != nullptr) label_rows_by_next(*trace.written(), labels);
  return labels;
}

}  // namespace attend
