#include "attend/inspect/graph.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/linear.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

Tensor identity(size_t size) {
  Tensor eye = Tensor::zeros({size, size});
  for (size_t i = 0; i < size; ++i) eye.data()[i * size + i] = 1.0f;
  return eye;
}

Tensor half_of_each(const Tensor& a, const Tensor& b) { return scale(add(a, b), 0.5f); }

}  // namespace

AttentionGraph attention_graph(const TextModel& model, const Reading& reading) {
  const std::vector<AttentionLayer> layers = model.model->attention_layers();
  const std::vector<Tensor> maps = mean_maps(model, reading, layers);
  AttentionGraph graph{reading.source.size(), reading.target.size() + 1, {}};
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool cross = layers[i].part == AttentionPart::kCross;
    const bool source = layers[i].part == AttentionPart::kEncoder;
    if (source) graph.source_tokens = maps[i].rows();
    graph.stages.push_back({source, cross ? Tensor() : maps[i], cross ? maps[i] : Tensor()});
  }
  return graph;
}

Relevance rollout(const AttentionGraph& graph) {
  const NoGrad no_grad;
  Relevance r{identity(graph.source_tokens),
              Tensor::zeros({graph.target_tokens, graph.source_tokens}),
              identity(graph.target_tokens)};
  for (const GraphStage& stage : graph.stages) {
    if (stage.of_source) {
      r.encoder = half_of_each(r.encoder, matmul(stage.own, r.encoder));
    } else if (stage.own.defined()) {
      r.cross = half_of_each(r.cross, matmul(stage.own, r.cross));
      r.decoder = half_of_each(r.decoder, matmul(stage.own, r.decoder));
    } else {
      r.cross = half_of_each(r.cross, matmul(stage.cross, r.encoder));
      r.decoder = scale(r.decoder, 0.5f);
    }
  }
  return r;
}

const Tensor& part_of(const Relevance& relevance, AttentionPart part) {
  if (part == AttentionPart::kEncoder) return relevance.encoder;
  return part == AttentionPart::kCross ? relevance.cross : relevance.decoder;
}

}  // namespace attend
