#include "attend/inspect/attention_maps.h"

#include <algorithm>
#include <charconv>

#include "attend/attention/intervention.h"
#include "attend/attention/recorder.h"
#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// `weights` as a part of a map of `keys` columns; those outside a local window are 0.
Tensor placed(const RecordedHead& head, size_t keys) {
  const Tensor& weights = head.weights;
  if (head.first_key == 0 && weights.width() == keys) return weights;
  Tensor whole = Tensor::zeros({weights.rows(), keys});
  for (size_t i = 0; i < weights.rows(); ++i) {
    std::ranges::copy(weights.slice_rows(i, 1).span(), whole.data() + i * keys + head.first_key);
  }
  return whole;
}

class HeadRecorder : public Recorder {
 public:
  HeadRecorder(const Trace& trace, std::span<const AttentionLayer> layers,
               const HeadVisitor& visitor)
      : trace_(trace), layers_(layers), visitor_(visitor) {}

  std::optional<RecordRequest> wants(const std::string& layer) override {
    if (std::ranges::find(layers_, layer, &AttentionLayer::name) == layers_.end()) {
      return std::nullopt;
    }
    return request;
  }

  void take(RecordedHead head) override {
    const auto layer = std::ranges::find(layers_, head.layer, &AttentionLayer::name);
    const size_t seen = head.first_key + head.weights.width();
    const size_t keys = std::max(trace_.sequence(layer->keys).size(), seen);
    visitor_(static_cast<size_t>(layer - layers_.begin()), head.head, placed(head, keys));
  }

 private:
  const Trace& trace_;
  std::span<const AttentionLayer> layers_;
  const HeadVisitor& visitor_;
};

Tensor copy_of(const Tensor& x) { return Tensor::of(x.to_vector(), x.shape()); }

// Adds up, or takes the larger.
void merge(Tensor& sum, const Tensor& weights, HeadChoice::Kind kind) {
  if (!sum.defined()) {
    sum = copy_of(weights);
    return;
  }
  const auto to = sum.span();
  const std::vector<float> from = weights.to_vector();
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = kind == HeadChoice::Kind::kMax ? std::max(to[i], from[i]) : to[i] + from[i];
  }
}

void divide(Tensor& sum, size_t count) {
  for (float& weight : sum.span()) weight /= static_cast<float>(count);
}

}  // namespace

HeadChoice HeadChoice::parse(std::string_view text) {
  if (text == "mean") return {Kind::kMean};
  if (text == "max") return {Kind::kMax};
  HeadChoice choice{Kind::kOne};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), choice.head);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw ConfigError("unknown head '{}'; use its number from 0, mean, or max", shown_name(text));
  }
  return choice;
}

void check_head(const AttentionLayer& layer, HeadChoice choice) {
  if (choice.kind != HeadChoice::Kind::kOne || choice.head < layer.heads) return;
  throw ConfigError("layer {} has {} heads, from 0; there is no head {}", layer.name, layer.heads,
                    choice.head);
}

void check_intervention(const Trace& trace) {
  const Intervention* const installed = current_intervention();
  if (installed == nullptr) return;
  for (const HeadsOf& heads : installed->heads()) {
    const AttentionLayer& layer = layer_named(trace.layers, heads.layer);
    if (heads.head) check_head(layer, {HeadChoice::Kind::kOne, *heads.head});
  }
}

Tensor logits_of(const TextModel& model, const Trace& trace) {
  check_intervention(trace);
  const Batch inputs = inputs_of(trace);
  const TraceSequence* const written = trace.written();
  if (written == nullptr) {
    const Encoder* const encoder = model.model->encoder();
    if (encoder == nullptr) {
      throw ConfigError("the model neither writes, labels nor encodes: there is nothing to run");
    }
    encoder->encode(inputs);
    return {};
  }
  if (const Regressor* numbers = model.model->regressor()) return numbers->standard_numbers(inputs);
  if (written->role == SequenceRole::kLabel) return model.classifier().label_logits(inputs);
  return model.generator().logits(inputs, one_sequence(written->ids));
}

Tensor visit_heads(const TextModel& model, const Trace& trace,
                   std::span<const AttentionLayer> layers, const HeadVisitor& visitor,
                   std::span<const size_t> heads) {
  const NoGrad no_grad;
  HeadRecorder recorder(trace, layers, visitor);
  recorder.request.heads.assign(heads.begin(), heads.end());
  return logits_of(model, trace);
}

Tensor attention_map(const TextModel& model, const Trace& trace, std::string_view layer,
                     HeadChoice choice) {
  return attention_maps(model, trace, {&layer_named(trace.layers, layer), 1}, choice).front();
}

std::vector<Tensor> attention_maps(const TextModel& model, const Trace& trace,
                                   std::span<const AttentionLayer> layers, HeadChoice choice) {
  for (const AttentionLayer& layer : layers) check_head(layer, choice);
  std::vector<size_t> one;
  if (choice.kind == HeadChoice::Kind::kOne) one = {choice.head};
  std::vector<Tensor> maps(layers.size());
  const auto add = [&](size_t layer, size_t, const Tensor& weights) {
    merge(maps[layer], weights, choice.kind);
  };
  visit_heads(model, trace, layers, add, one);
  for (size_t i = 0; choice.kind == HeadChoice::Kind::kMean && i < maps.size(); ++i) {
    divide(maps[i], layers[i].heads);
  }
  return maps;
}

Tensor together(std::span<const Tensor> heads, HeadChoice choice) {
  if (choice.kind == HeadChoice::Kind::kOne) {
    if (choice.head < heads.size()) return heads[choice.head];
    throw ConfigError("there is no head {} of {}", choice.head, heads.size());
  }
  Tensor merged;
  for (const Tensor& head : heads) merge(merged, head, choice.kind);
  if (choice.kind == HeadChoice::Kind::kMean) divide(merged, heads.size());
  return merged;
}

Tensor mean_map(const TextModel& model, const Trace& trace, const SequencePair& pair) {
  const std::vector<AttentionLayer> layers = layers_between(trace.layers, pair);
  return together(attention_maps(model, trace, layers), {HeadChoice::Kind::kMean});
}

}  // namespace attend
