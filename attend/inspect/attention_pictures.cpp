#include "attend/inspect/attention_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "attend/base/error.h"
#include "attend/inspect/overview.h"

namespace attend {
namespace {

HeatMap labelled(MapLabels labels, const SequencePair& axes, const std::string& title,
                 const Tensor& values) {
  HeatMap map{title, std::move(labels.rows), std::move(labels.columns), values};
  map.row_axis = axes.queries;
  map.column_axis = axes.keys;
  map.row_framing = labels.row_framing;
  map.column_framing = labels.column_framing;
  map.row_breaks = std::move(labels.row_breaks);
  map.column_breaks = std::move(labels.column_breaks);
  map.most = map.largest();
  const std::vector<float> weights = values.to_vector();
  map.has_sign = std::ranges::any_of(weights, [](float weight) { return weight < 0.0f; });
  return map;
}

// What saliency explains: what was written, or a label.
std::string written_name(const Trace& trace) {
  const TraceSequence* const written = trace.written();
  return written != nullptr ? written->name : "label";
}

std::string title_of(const AttentionLayer& layer, HeadChoice choice) {
  if (layer.heads == 1) return layer.name;
  if (choice.kind == HeadChoice::Kind::kOne) {
    return fmt::format("{}, head {}", layer.name, choice.head);
  }
  return layer.name + (choice.kind == HeadChoice::Kind::kMax ? ", max" : ", mean");
}

}  // namespace

HeatMap attention_picture(const TextModel& model, const Trace& trace, std::string_view name,
                          HeadChoice head) {
  return attention_pictures(model, trace, {&layer_named(trace.layers, name), 1}, head).front();
}

std::vector<HeatMap> attention_pictures(const TextModel& model, const Trace& trace,
                                        std::span<const AttentionLayer> layers, HeadChoice head) {
  const std::vector<Tensor> maps = attention_maps(model, trace, layers, head);
  std::vector<HeatMap> pictures;
  for (size_t i = 0; i < maps.size(); ++i) {
    const AttentionLayer& layer = layers[i];
    pictures.push_back(labelled(map_labels(trace, pair_of(layer)), pair_of(layer),
                                title_of(layer, head), maps[i]));
  }
  share_scale(pictures);
  return pictures;
}

HeatMap mean_picture(const TextModel& model, const Trace& trace, const SequencePair& pair) {
  const std::vector<AttentionLayer> layers = layers_between(trace.layers, pair);
  if (layers.size() == 1) return attention_pictures(model, trace, layers).front();
  return labelled(map_labels(trace, pair), pair,
                  fmt::format("{}, mean of {} layers", name_of(pair), layers.size()),
                  mean_map(model, trace, pair));
}

std::vector<HeatMap> head_pictures(const TextModel& model, const Trace& trace,
                                   std::string_view name) {
  return head_pictures(model, trace, {&layer_named(trace.layers, name), 1});
}

std::vector<HeatMap> head_pictures(const TextModel& model, const Trace& trace,
                                   std::span<const AttentionLayer> layers) {
  std::vector<size_t> first = {0};  // picture of each layer
  for (const AttentionLayer& layer : layers) first.push_back(first.back() + layer.heads);
  std::vector<HeatMap> pictures(first.back());
  visit_heads(model, trace, layers, [&](size_t i, size_t head, const Tensor& weights) {
    const std::string title = title_of(layers[i], {HeadChoice::Kind::kOne, head});
    const Tensor copy = Tensor::of(weights.to_vector(), weights.shape());
    pictures.at(first[i] + head) =
        labelled(map_labels(trace, pair_of(layers[i])), pair_of(layers[i]), title, copy);
  });
  share_scale(pictures);
  return pictures;
}

void cut_to_block(std::span<HeatMap> pictures, const Trace& trace, const SequencePair& parts) {
  const std::optional<MapBlock> block = block_between(trace, parts);
  if (!block) throw ConfigError("'{}' is no block of the model's maps", name_of(parts));
  for (HeatMap& picture : pictures) {
    const std::string title = fmt::format("{}, {}", picture.title, name_of(parts));
    picture = labelled(map_labels(trace, parts), parts, title, block->of(picture.values));
  }
  share_scale(pictures);
}

HeatMap entropy_picture(const TextModel& model, const Trace& trace,
                        std::span<const AttentionLayer> layers) {
  HeatMap map{.title = "entropy of each head, in nats"};
  size_t most = 0;
  for (const AttentionLayer& layer : layers) {
    map.rows.push_back(layer.name);
    most = std::max(most, layer.heads);
  }
  for (size_t head = 0; head < most; ++head) map.columns.push_back(fmt::format("{}", head));
  std::vector<float> values;
  for (std::vector<float>& heads : entropies(model, trace, layers)) {
    heads.resize(most, std::numeric_limits<float>::quiet_NaN());
    values.insert(values.end(), heads.begin(), heads.end());
  }
  map.values = Tensor::of(values, {layers.size(), most});
  map.most = map.largest();
  return map;
}

HeatMap graph_picture(const TextModel& model, const Trace& trace, GraphMethod method,
                      const SequencePair& pair) {
  const Tensor values = relevance(model, trace, method, pair);
  return labelled(map_labels(trace, pair), pair,
                  method == GraphMethod::kFlow ? "attention flow" : "attention rollout", values);
}

HeatMap saliency_picture(const TextModel& model, const Trace& trace, std::string_view keys,
                         const SaliencyConfig& config, const SaliencyListener& listener) {
  const std::string of = saliency_keys(trace, keys);
  const bool plain = config.method == SaliencyMethod::kGradient;
  HeatMap picture = labelled(written_labels(trace, of), {written_name(trace), of},
                             plain ? "gradient x input" : "integrated gradients",
                             saliency(model, trace, config, listener)[trace.index_of(of)]);
  picture.has_sign = true;
  picture.note = kSaliencyNote;
  return picture;
}

}  // namespace attend
