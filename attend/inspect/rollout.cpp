#include <algorithm>

#include "attend/inspect/graph.h"
#include "attend/ops/elementwise.h"
#include "attend/ops/linear.h"
#include "attend/ops/softmax.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

Tensor identity(size_t size) {
  Tensor eye = Tensor::zeros({size, size});
  for (size_t i = 0; i < size; ++i) eye.data()[i * size + i] = 1.0f;
  return eye;
}

Tensor half_of_each(const Tensor& a, const Tensor& b) { return scale(add(a, b), 0.5f); }

// What a look is at: the last of what the source's stages made, or shares of all.
Tensor looked_at(std::span<const Tensor> made, std::span<const float> shares) {
  if (shares.empty()) return made.back();
  Tensor mixed = scale(made[0], shares[0]);
  for (size_t i = 1; i < made.size(); ++i) mixed = add(mixed, scale(made[i], shares[i]));
  return mixed;
}

CrossSource cross_source(const TextModel& model) {
  const bool transformer = model.config.kind == ModelKind::kTransformer;
  return transformer ? model.config.transformer.cross : CrossSource::kLast;
}

// Layer by layer, the encoder's i-th before the decoder's i-th.
std::vector<AttentionLayer> interleaved(const std::vector<AttentionLayer>& layers) {
  const auto source = layers_of(layers, AttentionPart::kEncoder),
             target = layers_of(layers, AttentionPart::kDecoder),
             looks = layers_of(layers, AttentionPart::kCross);
  std::vector<AttentionLayer> all;
  for (size_t i = 0; i < looks.size(); ++i) {
    all.insert(all.end(), {source.at(i), target.at(i), looks[i]});
  }
  return all;
}

// Decoder layer i looks at shares [i] of the encoder's inputs and layers.
void set_shares(std::vector<GraphStage>& stages, Seq2Seq& model) {
  const auto all = parameters(model);
  const Tensor shares = softmax(std::ranges::find(all, "mixture", &NamedTensor::name)->tensor);
  size_t layer = 0;
  for (GraphStage& stage : stages) {
    if (stage.cross.defined()) stage.shares = shares.slice_rows(layer++, 1).to_vector();
  }
}

}  // namespace

AttentionGraph attention_graph(const TextModel& model, const Reading& reading) {
  const NoGrad no_grad;
  std::vector<AttentionLayer> layers = model.model->attention_layers();
  const CrossSource crossing = cross_source(model);
  if (crossing == CrossSource::kSame) layers = interleaved(layers);
  const std::vector<Tensor> maps = mean_maps(model, reading, layers);
  AttentionGraph graph{reading.source.size(), reading.target.size() + 1, {}};
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool cross = layers[i].part == AttentionPart::kCross;
    const bool source = layers[i].part == AttentionPart::kEncoder;
    if (source) graph.source_tokens = maps[i].rows();
    graph.stages.push_back({source, cross ? Tensor() : maps[i], cross ? maps[i] : Tensor()});
  }
  if (crossing == CrossSource::kMix) set_shares(graph.stages, *model.model);
  return graph;
}

Relevance rollout(const AttentionGraph& graph) {
  const NoGrad no_grad;
  Relevance r{identity(graph.source_tokens),
              Tensor::zeros({graph.target_tokens, graph.source_tokens}),
              identity(graph.target_tokens)};
  std::vector<Tensor> made = {r.encoder};  // of the source, its inputs first
  for (const GraphStage& stage : graph.stages) {
    if (stage.of_source) {
      r.encoder = half_of_each(r.encoder, matmul(stage.own, r.encoder));
      made.push_back(r.encoder);
    } else if (stage.own.defined()) {
      r.cross = half_of_each(r.cross, matmul(stage.own, r.cross));
      r.decoder = half_of_each(r.decoder, matmul(stage.own, r.decoder));
    } else {
      r.cross = half_of_each(r.cross, matmul(stage.cross, looked_at(made, stage.shares)));
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
