#include "attend/inspect/attention_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "attend/inspect/overview.h"

namespace attend {
namespace {

HeatMap labelled(const TextModel& model, const Reading& reading, AttentionPart part,
                 const std::string& title, const Tensor& values) {
  const MapLabels labels = map_labels(model, reading, part);
  HeatMap map{title, labels.rows, labels.columns, values};
  map.most = map.largest();
  const std::vector<float> weights = values.to_vector();
  map.has_sign = std::ranges::any_of(weights, [](float weight) { return weight < 0.0f; });
  return map;
}

std::string title_of(const AttentionLayer& layer, HeadChoice choice) {
  if (layer.heads == 1) return layer.name;
  if (choice.kind == HeadChoice::Kind::kOne) {
    return fmt::format("{}, head {}", layer.name, choice.head);
  }
  return layer.name + (choice.kind == HeadChoice::Kind::kMax ? ", max" : ", mean");
}

}  // namespace

HeatMap attention_picture(const TextModel& model, const Reading& reading, std::string_view name,
                          HeadChoice head) {
  const AttentionLayer layer = attention_layer(*model.model, name);
  return attention_pictures(model, reading, {&layer, 1}, head).front();
}

std::vector<HeatMap> attention_pictures(const TextModel& model, const Reading& reading,
                                        std::span<const AttentionLayer> layers, HeadChoice head) {
  const std::vector<Tensor> maps = attention_maps(model, reading, layers, head);
  std::vector<HeatMap> pictures;
  for (size_t i = 0; i < maps.size(); ++i) {
    const AttentionLayer& layer = layers[i];
    pictures.push_back(labelled(model, reading, layer.part, title_of(layer, head), maps[i]));
  }
  share_scale(pictures);
  return pictures;
}

std::vector<HeatMap> head_pictures(const TextModel& model, const Reading& reading,
                                   std::string_view name) {
  const AttentionLayer layer = attention_layer(*model.model, name);
  return head_pictures(model, reading, {&layer, 1});
}

std::vector<HeatMap> head_pictures(const TextModel& model, const Reading& reading,
                                   std::span<const AttentionLayer> layers) {
  std::vector<size_t> first = {0};  // picture of each layer
  for (const AttentionLayer& layer : layers) first.push_back(first.back() + layer.heads);
  std::vector<HeatMap> pictures(first.back());
  visit_heads(model, reading, layers, [&](size_t i, size_t head, const Tensor& weights) {
    const std::string title = title_of(layers[i], {HeadChoice::Kind::kOne, head});
    const Tensor copy = Tensor::of(weights.to_vector(), weights.shape());
    pictures.at(first[i] + head) = labelled(model, reading, layers[i].part, title, copy);
  });
  share_scale(pictures);
  return pictures;
}

HeatMap entropy_picture(const TextModel& model, const Reading& reading,
                        std::span<const AttentionLayer> layers) {
  HeatMap map{.title = "entropy of each head, in nats"};
  size_t most = 0;
  for (const AttentionLayer& layer : layers) {
    map.rows.push_back(layer.name);
    most = std::max(most, layer.heads);
  }
  for (size_t head = 0; head < most; ++head) map.columns.push_back(fmt::format("{}", head));
  std::vector<float> values;
  for (std::vector<float>& heads : entropies(model, reading, layers)) {
    heads.resize(most, std::numeric_limits<float>::quiet_NaN());
    values.insert(values.end(), heads.begin(), heads.end());
  }
  map.values = Tensor::of(values, {layers.size(), most});
  map.most = map.largest();
  return map;
}

HeatMap graph_picture(const TextModel& model, const Reading& reading, GraphMethod method,
                      AttentionPart part) {
  attention_layers(*model.model, part);  // throws where there are none
  return labelled(model, reading, part,
                  method == GraphMethod::kFlow ? "attention flow" : "attention rollout",
                  part_of(relevance(model, reading, method), part));
}

HeatMap saliency_picture(const TextModel& model, const Reading& reading,
                         const SaliencyConfig& config, const SaliencyListener& listener) {
  const bool plain = config.method == SaliencyMethod::kGradient;
  HeatMap picture = labelled(model, reading, AttentionPart::kCross,
                             plain ? "gradient x input" : "integrated gradients",
                             saliency(model, reading, config, listener).source);
  picture.has_sign = true;
  picture.note = kSaliencyNote;
  return picture;
}

}  // namespace attend
