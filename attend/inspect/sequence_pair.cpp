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

// The parts of the joined sequence of a trace, by number.
std::vector<size_t> parts_of(const Trace& trace) {
  std::vector<size_t> parts;
  if (trace.sequences.empty() || trace.sequences.back().role != SequenceRole::kJoined) return parts;
  for (size_t s = 0; s + 1 < trace.sequences.size(); ++s) {
    if (trace.sequences[s].role != SequenceRole::kLabel) parts.push_back(s);
  }
  return parts;
}

}  // namespace

Tensor MapBlock::of(const Tensor& map) const {
  return map.slice_rows(row, rows).slice_columns(column, columns);
}

std::optional<MapBlock> block_between(const Trace& trace, const SequencePair& parts) {
  const auto is_joined = [](const AttentionLayer& layer, const std::string& name) {
    return layer.queries == name && layer.keys == name;
  };
  const std::vector<size_t> all = parts_of(trace);
  if (all.empty()) return std::nullopt;
  const std::string& whole = trace.sequences.back().name;
  if (std::ranges::none_of(trace.layers, [&](const auto& l) { return is_joined(l, whole); })) {
    return std::nullopt;
  }
  MapBlock block{.whole = {whole, whole}};
  bool has_queries = false, has_keys = false;
  size_t first = 0;
  for (const size_t s : all) {
    const TraceSequence& part = trace.sequences[s];
    if (part.name == parts.queries) block.row = first, block.rows = part.size(), has_queries = true;
    if (part.name == parts.keys) block.column = first, block.columns = part.size(), has_keys = true;
    first += part.size();
  }
  return has_queries && has_keys ? std::optional(block) : std::nullopt;
}

std::vector<SequencePair> blocks_of(const Trace& trace) {
  std::vector<SequencePair> blocks;
  for (const bool self : {false, true}) {
    for (const size_t from : parts_of(trace)) {
      for (const size_t to : parts_of(trace)) {
        const SequencePair pair{trace.sequences[from].name, trace.sequences[to].name};
        if ((from == to) == self && block_between(trace, pair)) blocks.push_back(pair);
      }
    }
  }
  return blocks;
}

std::optional<SequencePair> chosen_block(const Trace& trace, std::string_view queries,
                                         std::string_view keys) {
  if (queries.empty() && keys.empty()) return std::nullopt;
  for (const SequencePair& block : blocks_of(trace)) {
    const bool is_meant =
        (queries.empty() || block.queries == queries) && (keys.empty() || block.keys == keys);
    if (is_meant) return block;
  }
  return std::nullopt;
}

std::vector<size_t> part_breaks(const Trace& trace, std::string_view sequence) {
  std::vector<size_t> breaks;
  const std::vector<size_t> parts = parts_of(trace);
  if (parts.empty() || trace.sequences.back().name != sequence) return breaks;
  size_t first = 0;
  for (const size_t s : parts) {
    if (first > 0) breaks.push_back(first);
    first += trace.sequences[s].size();
  }
  return breaks;
}

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
  MapLabels labels{.columns = texts_of(keys.items),
                   .column_framing = keys.framing,
                   .column_breaks = part_breaks(trace, pair.keys)};
  if (pair.is_self()) {
    labels.rows = labels.columns;
    labels.row_framing = labels.column_framing;
    labels.row_breaks = labels.column_breaks;
  } else {
    label_rows_by_next(queries, labels);
  }
  return labels;
}

MapLabels written_labels(const Trace& trace, std::string_view keys_name) {
  const TraceSequence& keys = trace.sequence(keys_name);
  MapLabels labels{.columns = texts_of(keys.items),
                   .column_framing = keys.framing,
                   .column_breaks = part_breaks(trace, keys_name)};
  if (trace.written() != nullptr) label_rows_by_next(*trace.written(), labels);
  return labels;
}

}  // namespace attend
