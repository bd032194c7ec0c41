#include "attend/inspect/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/decode/embed.h"
#include "attend/inspect/attention_pictures.h"
#include "attend/inspect/stage_rows.h"
#include "attend/io/json_text.h"
#include "attend/models/encoder_places.h"
#include "attend/models/transfer.h"
#include "attend/nn/depth.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// What the rows of layers are of: all that is read as one, or what is written, or what is read.
const TraceSequence& main_sequence(const Trace& trace) {
  if (trace.sequences.back().role == SequenceRole::kJoined) return trace.sequences.back();
  const TraceSequence* const written = trace.written();
  if (written != nullptr && written->role == SequenceRole::kWritten) return *written;
  return trace.sequences.front();
}

void check_tokens(const TextModel& base, const TextModel& tuned) {
  const Signature theirs = base.model->signature(), own = tuned.model->signature();
  for (const ColumnSpec& column : own.columns) {
    if (column.kind != ColumnKind::kTokens) continue;
    const ColumnSpec* const known = column_of_base(theirs, own, column);
    if (known == nullptr) continue;
    if (base.tokenizer(known->name).fingerprint() == tuned.tokenizer(column.name).fingerprint()) {
      continue;
    }
    throw ConfigError(
        "base: it reads other tokens than the model ('{}'), so their rows cannot be compared; give "
        "the model that this one was trained from",
        column.name);
  }
}

// A sequence as another column, of the same tokens.
TraceSequence as_column(const TraceSequence& sequence, const ColumnSpec& column,
                        const TextModel& model) {
  TraceSequence made = sequence;
  made.name = column.name;
  made.role = column.written ? SequenceRole::kWritten : SequenceRole::kRead;
  made.written.clear();
  made.next.clear();
  if (!column.written) return made;
  made.written.assign(made.ids.begin() + 1, made.ids.end());
  made.written.push_back(model.tokenizer(column.name).special().end);
  for (const int32_t id : made.written) {
    made.next.push_back({model.tokenizer(column.name).piece(id)});
  }
  return made;
}

// A second text that is not there.
TraceSequence empty_sequence(const ColumnSpec& column, const TextModel& model) {
  TraceSequence made{.name = column.name, .framing = column.framing};
  const Tokenizer& tokenizer = model.tokenizer(column.name);
  made.ids = framed(std::span<const int32_t>(), column.framing, tokenizer.special());
  for (const int32_t id : made.ids) made.items.push_back({tokenizer.piece(id)});
  return made;
}

struct MatchedTensors {
  std::vector<NamedTensor> base, tuned;  // alike, in the order of the tuned model
  size_t fresh = 0, left = 0;
};

MatchedTensors matched_tensors(Model& base, Model& tuned) {
  const auto theirs = encoder_places(base), own = encoder_places(tuned);
  const std::vector<NamedTensor> all = parameters(base);
  const auto key = [](const auto& places, const std::string& name) {
    const auto place = places.find(name);
    return place == places.end() ? "/" + name : place->second;  // no path begins with "/"
  };
  std::map<std::string, const NamedTensor*> by_key;
  for (const NamedTensor& t : all) by_key.emplace(key(theirs, t.name), &t);
  MatchedTensors matched;
  for (const NamedTensor& t : parameters(tuned)) {
    const auto found = by_key.find(key(own, t.name));
    if (found == by_key.end() || found->second->tensor.shape() != t.tensor.shape()) {
      ++matched.fresh;
      continue;
    }
    // Within the encoder, both have its names.
    const auto place = own.find(t.name);
    const std::string& name = place == own.end() ? t.name : place->second;
    matched.base.push_back({name, found->second->tensor});
    matched.tuned.push_back({name, t.tensor});
  }
  matched.left = all.size() - matched.base.size();
  return matched;
}

// "layers.0" of "layers.0.self.query.weight".
std::string layer_name(const std::string& parameter) {
  const size_t digit = parameter.find_first_of("0123456789");
  return parameter.substr(0, parameter.find('.', digit));
}

std::vector<LayerChange> layer_changes(const MatchedTensors& matched) {
  const Depths depths = depths_of(matched.tuned);
  std::vector<LayerChange> layers(depths.layers + 2);
  std::vector<double> changes(layers.size()), lengths(layers.size());
  layers.front().name = "embedding";
  layers.back().name = "output";
  for (size_t i = 0; i < matched.tuned.size(); ++i) {
    const size_t depth = depths.of[i];
    LayerChange& layer = layers[depth];
    if (layer.name.empty()) layer.name = layer_name(matched.tuned[i].name);
    const std::vector<float> before = matched.base[i].tensor.to_vector();
    const std::vector<float> after = matched.tuned[i].tensor.to_vector();
    layer.parameters += before.size();
    for (size_t k = 0; k < before.size(); ++k) {
      const double change = double{after[k]} - double{before[k]};
      changes[depth] += change * change;
      lengths[depth] += double{before[k]} * double{before[k]};
    }
  }
  for (size_t depth = 0; depth < layers.size(); ++depth) {
    if (lengths[depth] > 0) layers[depth].weights = std::sqrt(changes[depth] / lengths[depth]);
  }
  std::erase_if(layers, [](const LayerChange& layer) { return layer.parameters == 0; });
  return layers;
}

void compare_rows(const TextModel& base, const TextModel& tuned, const Trace& trace,
                  TuningChange& change) {
  const NoGrad no_grad;
  const TraceSequence& main = main_sequence(trace);
  const std::vector<Stage> before = stages_of(base, trace_of_base(base, tuned, trace));
  for (const Stage& stage : stages_of(tuned, trace)) {
    const auto theirs = std::ranges::find(before, stage.name, &Stage::name);
    const bool fits = theirs != before.end() && stage.rows.rows() == main.size() &&
                      theirs->rows.rows() >= main.size() &&
                      theirs->rows.width() == stage.rows.width();
    if (!fits) continue;
    change.stages.push_back(stage.name);
    for (size_t i = 0; i < main.size(); ++i) {
      change.cosines.push_back(static_cast<float>(
          cosine(theirs->rows.slice_rows(i, 1).span(), stage.rows.slice_rows(i, 1).span())));
    }
  }
  for (const TraceItem& item : main.items) change.items.push_back(item.text);
}

// The layers of a model in which a sequence looks at itself.
std::vector<AttentionLayer> self_layers(const Trace& trace, const std::string& sequence) {
  std::vector<AttentionLayer> found;
  for (const AttentionLayer& layer : trace.layers) {
    if (layer.queries == sequence && layer.keys == sequence) found.push_back(layer);
  }
  return found;
}

// The layer of the base that is at the same place among its kind.
AttentionLayer layer_of_base(const Trace& of_base, const Trace& trace,
                             const AttentionLayer& layer) {
  const auto named = std::ranges::find_if(of_base.layers, [&](const AttentionLayer& other) {
    return other.queries == layer.queries && other.keys == layer.keys && other.name == layer.name;
  });
  if (named != of_base.layers.end()) return *named;
  const std::vector<AttentionLayer> own = self_layers(trace, main_sequence(trace).name);
  const std::vector<AttentionLayer> theirs = self_layers(of_base, main_sequence(of_base).name);
  const auto place =
      static_cast<size_t>(std::ranges::find(own, layer.name, &AttentionLayer::name) - own.begin());
  if (place < own.size() && place < theirs.size()) return theirs[place];
  throw ConfigError("base: it has no layer that corresponds to {}; choose another with --layer",
                    layer.name);
}

}  // namespace

Trace trace_of_base(const TextModel& base, const TextModel& tuned, const Trace& trace) {
  check_tokens(base, tuned);
  const Signature theirs = base.model->signature();
  Trace made{.sequences = {}, .layers = theirs.layers};
  std::vector<const ColumnSpec*> columns;
  for (const ColumnSpec& column : theirs.columns) {
    if (column.kind == ColumnKind::kTokens) columns.push_back(&column);
  }
  const bool is_pair = columns.size() == 2 && theirs.joined && !columns[1]->written;
  const auto has = [&](const ColumnSpec* column) {
    return std::ranges::count(trace.sequences, column->name, &TraceSequence::name) > 0;
  };
  for (const ColumnSpec* column : columns) {
    if (columns.size() == 1) {
      made.sequences.push_back(as_column(main_sequence(trace), *column, base));
    } else if (has(column)) {
      made.sequences.push_back(as_column(trace.sequence(column->name), *column, base));
    } else if (is_pair && column == columns[1]) {
      made.sequences.push_back(empty_sequence(*column, base));
    } else {
      throw ConfigError(
          "base: it reads '{}', which the model has not; give the model that this one "
          "was trained from",
          column->name);
    }
  }
  if (theirs.joined) {
    TraceSequence all{.name = theirs.joined->name, .role = SequenceRole::kJoined};
    for (const TraceSequence& part : made.sequences) {
      all.ids.insert(all.ids.end(), part.ids.begin(), part.ids.end());
      all.items.insert(all.items.end(), part.items.begin(), part.items.end());
    }
    made.sequences.push_back(std::move(all));
  }
  for (const ColumnSpec& column : theirs.columns) {
    if (column.kind != ColumnKind::kLabel && column.kind != ColumnKind::kNumber) continue;
    TraceSequence label{.name = column.name, .role = SequenceRole::kLabel};
    label.items = {{column.name}};
    made.sequences.insert(made.sequences.begin() + static_cast<std::ptrdiff_t>(columns.size()),
                          std::move(label));
  }
  return made;
}

TuningChange tuning_change(const TextModel& base, const TextModel& tuned, const Trace& trace) {
  const MatchedTensors matched = matched_tensors(*base.model, *tuned.model);
  if (matched.base.empty()) {
    throw ConfigError(
        "base: none of its weights belongs to the same part of the model in the same shape; give "
        "the model that this one was trained from");
  }
  TuningChange change{
      .layers = layer_changes(matched), .fresh = matched.fresh, .left = matched.left};
  compare_rows(base, tuned, trace, change);
  return change;
}

HeatMap tuning_picture(const TuningChange& change) {
  HeatMap map{.title = "change of token vectors: 1 - cosine", .columns = change.items};
  std::vector<float> values;
  for (size_t stage = change.stages.size(); stage-- > 0;) {
    const std::string& name = change.stages[stage];
    const auto layer = std::ranges::find(change.layers, name, &LayerChange::name);
    map.rows.push_back(layer == change.layers.end()
                           ? name
                           : fmt::format("{}, weights {:.2g} %", name, 100 * layer->weights));
    for (size_t i = 0; i < change.items.size(); ++i) {
      values.push_back(std::max(0.0f, 1.0f - change.cosine_at(stage, i)));
    }
  }
  map.values = Tensor::of(values, {map.rows.size(), map.columns.size()});
  map.most = map.largest();
  map.note = kTuningNote;
  return map;
}

std::string tuning_json(const TuningChange& change) {
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (const LayerChange& layer : change.layers) {
    layers.push_back({{"name", layer.name},
                      {"parameters", layer.parameters},
                      {"weights", shortest(static_cast<float>(layer.weights))}});
  }
  nlohmann::ordered_json cosines = nlohmann::ordered_json::array();
  for (size_t stage = 0; stage < change.stages.size(); ++stage) {
    nlohmann::ordered_json row = nlohmann::ordered_json::array();
    for (size_t i = 0; i < change.items.size(); ++i) {
      row.push_back(shortest(change.cosine_at(stage, i)));
    }
    cosines.push_back(std::move(row));
  }
  return json_text({{"layers", layers},
                    {"fresh", change.fresh},
                    {"left", change.left},
                    {"stages", change.stages},
                    {"items", change.items},
                    {"cosines", std::move(cosines)}});
}

std::vector<HeatMap> compared_attention(const TextModel& base, const TextModel& tuned,
                                        const Trace& trace, std::span<const AttentionLayer> layers,
                                        HeadChoice head) {
  const Trace of_base = trace_of_base(base, tuned, trace);
  const std::vector<HeatMap> after = attention_pictures(tuned, trace, layers, head);
  std::vector<HeatMap> maps;
  for (size_t i = 0; i < layers.size(); ++i) {
    const AttentionLayer layer = layer_of_base(of_base, trace, layers[i]);
    check_head(layer, head);
    const Tensor whole = attention_map(base, of_base, layer.name, head);
    const HeatMap& second = after[i];
    const size_t rows = second.rows.size(), columns = second.columns.size();
    if (whole.rows() < rows || whole.width() < columns) {
      throw ConfigError("base: its map of {} is {}, not {} x {}", layer.name, whole.shape(), rows,
                        columns);
    }
    HeatMap first = second, difference = second;
    first.title = "base: " + second.title;
    first.values = whole.slice_rows(0, rows).slice_columns(0, columns);
    difference.title = "difference: " + second.title;
    difference.values = Tensor::zeros({rows, columns});
    for (size_t row = 0; row < rows; ++row) {
      for (size_t column = 0; column < columns; ++column) {
        difference.values.data()[row * columns + column] =
            second.at(row, column) - first.at(row, column);
      }
    }
    difference.has_sign = true;
    difference.most = difference.largest();
    maps.push_back(std::move(first));
    maps.push_back(second);
    maps.back().title = "tuned: " + second.title;
    share_scale({maps.data() + maps.size() - 2, 2});
    maps.push_back(std::move(difference));
  }
  return maps;
}

}  // namespace attend
