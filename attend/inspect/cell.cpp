#include "attend/inspect/cell.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "attend/attention/recorder.h"
#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// Takes the row of one query in one head.
class RowRecorder : public Recorder {
 public:
  explicit RowRecorder(const CellPlace& place) : layer_(place.layer) {
    request = {.heads = {place.head},
               .first_query = place.query,
               .query_count = 1,
               .scores = true,
               .parts = true};
  }

  std::optional<RecordRequest> wants(const std::string& layer) override {
    return layer == layer_ ? std::optional(request) : std::nullopt;
  }
  void take(RecordedHead head) override {
    if (head.weights.rows() > 0) row = std::move(head);
  }

  std::optional<RecordedHead> row;

 private:
  std::string layer_;
};

std::vector<float> row_of(const Tensor& x, size_t row) {
  return x.defined() ? x.slice_rows(row, 1).to_vector() : std::vector<float>();
}

std::string_view reason_for(MaskedBy reason) {
  switch (reason) {
    case MaskedBy::kNothing:
      return "";
    case MaskedBy::kCausal:
      return "causal mask: a query does not see what comes after it";
    case MaskedBy::kWindow:
      return "window: the key is too far from the query";
    case MaskedBy::kDocument:
      return "document mask: the key is in another document";
    case MaskedBy::kTable:
      return "mask of pairs";
  }
  return "";
}

// The arithmetic of one row, from its parts.
class Row {
 public:
  explicit Row(const HeadParts& parts) : parts_(parts) {}

  size_t keys() const { return parts_.v.rows(); }

  // By dimension; they sum to the score of the core.
  std::vector<float> products(size_t key) const {
    const std::vector<float> q = row_of(parts_.q, 0);
    if (parts_.core == ScoreCore::kPlace) return {q[key]};
    std::vector<float> k = row_of(parts_.k, key);
    const std::vector<float> term = row_of(parts_.key_terms, key);
    for (size_t d = 0; d < term.size(); ++d) k[d] += term[d];
    const std::vector<float> vector =
        parts_.vector.defined() ? parts_.vector.to_vector() : std::vector<float>();
    std::vector<float> all(q.size());
    for (size_t d = 0; d < q.size(); ++d) {
      switch (parts_.core) {
        case ScoreCore::kAdditive:
          all[d] = vector[d] * std::tanh(q[d] + k[d]);
          break;
        case ScoreCore::kDistance:
          all[d] = -(q[d] - k[d]) * (q[d] - k[d]);
          break;
        default:
          all[d] = q[d] * k[d];
      }
    }
    return all;
  }

  MaskedBy masked(size_t key) const {
    return parts_.masked.empty() ? MaskedBy::kNothing : parts_.masked[key];
  }

  // From the sum of the products to the score, whatever masks say.
  std::vector<CellStep> steps_to_score(size_t key) const {
    const std::vector<float> all = products(key);
    double value = std::accumulate(all.begin(), all.end(), 0.0);
    std::vector<CellStep> steps;
    const auto add = [&](std::string_view name, std::optional<float> operand, double next) {
      value = next;
      steps.push_back({std::string(name), operand, static_cast<float>(next)});
    };
    add(core_name(), std::nullopt, value);
    if (parts_.scale != 1.0f) add("× scale", parts_.scale, value * double{parts_.scale});
    if (parts_.softcap != 0.0f) {
      const double cap{parts_.softcap};
      add("softcap", parts_.softcap, cap * std::tanh(value / cap));
    }
    if (parts_.relative.defined()) {
      const float bias = parts_.relative.to_vector()[key];
      add("+ position bias", bias, value + double{bias});
    }
    if (parts_.bias.defined()) {
      const float bias = parts_.bias.to_vector()[key];
      add("+ bias", bias, value + double{bias});
    }
    if (parts_.temperature != 1.0f) {
      add("÷ temperature", parts_.temperature, value / double{parts_.temperature});
    }
    return steps;
  }

  // Of all keys, from the parts.
  std::vector<float> scores() const {
    std::vector<float> all(keys(), kNever);
    for (size_t key = 0; key < keys(); ++key) {
      if (masked(key) == MaskedBy::kNothing) all[key] = steps_to_score(key).back().value;
    }
    return all;
  }

  // What the weighting makes of scores.
  std::vector<float> weighed(std::vector<float> scores) const {
    if (parts_.sink) scores.push_back(*parts_.sink);
    const NoGrad no_grad;
    const Tensor row = Tensor::of(scores, {1, scores.size()});
    std::vector<float> weights = weigh(row, {parts_.weighting, parts_.top_k}).weights.to_vector();
    weights.resize(keys());
    return weights;
  }

  // Whether a row's weights follow from its scores alone.
  bool is_weighed_alone() const {
    const WeightingTraits& traits = traits_of(parts_.weighting);
    return !traits.ordered_keys && !traits.sampled;
  }

  float factor(size_t key) const {
    return parts_.factors.defined() ? parts_.factors.to_vector()[key] : 1.0f;
  }

  // The value of a key, with what the pair adds to it.
  std::vector<float> value(size_t key) const {
    std::vector<float> v = row_of(parts_.v, key);
    const std::vector<float> term = row_of(parts_.value_terms, key);
    for (size_t d = 0; d < term.size(); ++d) v[d] += term[d];
    return v;
  }

  const HeadParts& parts() const { return parts_; }

 private:
  std::string_view core_name() const {
    const bool terms = parts_.key_terms.defined();
    switch (parts_.core) {
      case ScoreCore::kDot:
        return terms ? "q · (k + a)" : "q · k";
      case ScoreCore::kAdditive:
        return terms ? "v · tanh(q + k + f)" : "v · tanh(q + k)";
      case ScoreCore::kDistance:
        return "−|q − k|²";
      case ScoreCore::kPlace:
        return "q at the key's position";
    }
    return "";
  }

  const HeadParts& parts_;
};

// The steps from the score to the weight that was used.
void add_weight_steps(AttentionCell& cell, const Row& row) {
  const size_t key = cell.place.key;
  const auto add = [&](std::string name, std::optional<float> operand, float value) {
    cell.steps.push_back({std::move(name), operand, value});
  };
  if (!cell.masked.empty()) add("mask", std::nullopt, kNever);
  if (!row.is_weighed_alone()) {
    add(fmt::format("{}, with the rows before", cell.weighting), std::nullopt, cell.weight);
    return;
  }
  float weight = row.weighed(cell.scores)[key];
  add(cell.weighting, cell.log_sum_exp, weight);
  if (row.parts().factors.defined()) {
    weight *= row.factor(key);
    add("× nearness to the centre", row.factor(key), weight);
  }
  constexpr float kClose = 1e-4f;
  if (std::abs(weight - cell.weight) > kClose) {
    const bool nothing = std::ranges::all_of(cell.weights, [](float w) { return w == 0.0f; });
    add(nothing ? "knocked out" : "changed by an intervention", std::nullopt, cell.weight);
  }
}

void add_output(AttentionCell& cell, const Row& row, const std::vector<std::string>& labels,
                size_t most) {
  std::vector<std::vector<float>> parts;
  cell.output.assign(row.parts().v.width(), 0.0f);
  for (size_t key = 0; key < row.keys(); ++key) {
    std::vector<float> part = row.value(key);
    for (size_t d = 0; d < part.size(); ++d) {
      part[d] *= cell.weights[key];
      cell.output[d] += part[d];
    }
    parts.push_back(std::move(part));
  }
  const auto dot = [](const std::vector<float>& a, const std::vector<float>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  const double whole = dot(cell.output, cell.output);
  for (size_t key = 0; key < parts.size(); ++key) {
    cell.contributions.push_back(
        {key, labels[key], cell.weights[key],
         static_cast<float>(std::sqrt(dot(parts[key], parts[key]))),
         whole > 0 ? static_cast<float>(dot(parts[key], cell.output) / whole) : 0.0f});
  }
  std::ranges::stable_sort(cell.contributions, std::greater<>(), &CellContribution::length);
  if (cell.contributions.size() > most) cell.contributions.resize(most);
  cell.v = row.value(cell.place.key);
  cell.weighted = parts[cell.place.key];
}

void check_cell(const Trace& trace, const AttentionLayer& layer, size_t query, size_t key) {
  const size_t queries = trace.sequence(layer.queries).size();
  const size_t keys = trace.sequence(layer.keys).size();
  if (query < queries && key < keys) return;
  throw ConfigError("layer {} has {} queries and {} keys here, from 0; there is no cell {}, {}",
                    layer.name, queries, keys, query, key);
}

}  // namespace

CellPlace CellPlace::parse(std::string_view text) {
  const auto wrong = [&] {
    throw ConfigError("'{}' is no cell; use LAYER:HEAD:QUERY:KEY, such as decoder.1.cross:0:2:5",
                      shown_name(text));
  };
  CellPlace place;
  std::string_view rest = text;
  for (size_t* const number : {&place.key, &place.query, &place.head}) {
    const size_t colon = rest.rfind(':');
    if (colon == rest.npos) wrong();
    const std::string_view digits = rest.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), *number);
    if (error != std::errc() || end != digits.data() + digits.size()) wrong();
    rest = rest.substr(0, colon);
  }
  if (rest.empty()) wrong();
  place.layer = rest;
  return place;
}

AttentionCell attention_cell(const TextModel& model, const Trace& trace, const CellPlace& place,
                             size_t contributions) {
  const AttentionLayer& layer = layer_named(trace.layers, place.layer);
  check_head(layer, {HeadChoice::Kind::kOne, place.head});
  check_cell(trace, layer, place.query, place.key);
  const NoGrad no_grad;
  RowRecorder recorder(place);
  logits_of(model, trace);
  if (!recorder.row || !recorder.row->parts) {
    throw ConfigError("layer {} keeps no queries, keys and values to show", layer.name);
  }
  const HeadParts& parts = *recorder.row->parts;
  const Row row(parts);
  const MapLabels labels = map_labels(trace, pair_of(layer));
  AttentionCell cell{.place = place,
                     .query = labels.rows[place.query],
                     .key = labels.columns[place.key],
                     .score = std::string(name_of(parts.score)),
                     .weighting = std::string(name_of(parts.weighting))};
  cell.q = row_of(parts.q, 0);
  if (parts.k.defined()) cell.k = row_of(parts.k, place.key);
  cell.term = row_of(parts.key_terms, place.key);
  if (parts.vector.defined()) cell.vector = parts.vector.to_vector();
  cell.products = row.products(place.key);
  cell.steps = row.steps_to_score(place.key);
  cell.masked = reason_for(row.masked(place.key));
  cell.scores = row.scores();
  cell.weights = row_of(recorder.row->weights, 0);
  cell.weight = cell.weights[place.key];
  cell.largest = std::ranges::max(cell.scores);
  cell.sink = parts.sink;
  if (parts.weighting == Weighting::kSoftmax && cell.largest != kNever) {
    const double most = std::max(cell.largest, parts.sink.value_or(kNever));
    double sum = parts.sink ? std::exp(double{*parts.sink} - most) : 0.0;
    for (const float score : cell.scores) sum += std::exp(double{score} - most);
    cell.log_sum_exp = static_cast<float>(most + std::log(sum));
  }
  add_weight_steps(cell, row);
  add_output(cell, row, labels.columns, contributions);
  return cell;
}

std::vector<HeadWeight> cell_of_heads(const TextModel& model, const Trace& trace,
                                      std::span<const AttentionLayer> layers, size_t query,
                                      size_t key) {
  for (const AttentionLayer& layer : layers) check_cell(trace, layer, query, key);
  std::vector<HeadWeight> all;
  visit_heads(model, trace, layers, [&](size_t layer, size_t head, const Tensor& weights) {
    all.push_back({layers[layer].name, head, weights.slice_rows(query, 1).to_vector()[key]});
  });
  return all;
}

}  // namespace attend
