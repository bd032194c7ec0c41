#include "attend/inspect/attention_pictures.h"

#include <fmt/format.h>

namespace attend {
namespace {

HeatMap labelled(const TextModel& model, const Reading& reading, AttentionPart part,
                 const std::string& title, const Tensor& values) {
  const MapLabels labels = map_labels(model, reading, part);
  HeatMap map{title, labels.rows, labels.columns, values};
  map.most = map.largest();
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
  return labelled(model, reading, layer.part, title_of(layer, head),
                  attention_map(model, reading, name, head));
}

std::vector<HeatMap> head_pictures(const TextModel& model, const Reading& reading,
                                   std::string_view name) {
  const AttentionLayer layer = attention_layer(*model.model, name);
  std::vector<HeatMap> pictures;
  for (const Tensor& weights : attention_heads(model, reading, name)) {
    const HeadChoice head{HeadChoice::Kind::kOne, pictures.size()};
    pictures.push_back(labelled(model, reading, layer.part, title_of(layer, head), weights));
  }
  share_scale(pictures);
  return pictures;
}

HeatMap graph_picture(const TextModel& model, const Reading& reading, GraphMethod method,
                      AttentionPart part) {
  attention_layers(*model.model, part);  // throws where there are none
  const AttentionGraph graph = attention_graph(model, reading);
  const bool flows = method == GraphMethod::kFlow;
  return labelled(model, reading, part, flows ? "attention flow" : "attention rollout",
                  part_of(flows ? flow(graph) : rollout(graph), part));
}

HeatMap saliency_picture(const TextModel& model, const Reading& reading,
                         const SaliencyConfig& config) {
  const bool plain = config.method == SaliencyMethod::kGradient;
  HeatMap picture = labelled(model, reading, AttentionPart::kCross,
                             plain ? "gradient x input" : "integrated gradients",
                             saliency(model, reading, config).source);
  picture.has_sign = true;
  return picture;
}

}  // namespace attend
