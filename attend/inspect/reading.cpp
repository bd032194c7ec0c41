#include "attend/inspect/reading.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "attend/attention/recorder.h"
#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/base/special_tokens.h"
#include "attend/decode/covering.h"
#include "attend/decode/line_limit.h"
#include "attend/decode/score.h"
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
  HeadRecorder(std::span<const AttentionLayer> layers, const HeadVisitor& visitor,
               size_t source_tokens)
      : layers_(layers), visitor_(visitor), source_tokens_(source_tokens) {}

  std::optional<RecordRequest> wants(const std::string& layer) override {
    if (std::ranges::find(layers_, layer, &AttentionLayer::name) == layers_.end()) {
      return std::nullopt;
    }
    return request;
  }

  void take(RecordedHead head) override {
    const auto layer = std::ranges::find(layers_, head.layer, &AttentionLayer::name);
    const bool cross = layer->part == AttentionPart::kCross;
    const size_t keys = cross ? std::max(source_tokens_, head.weights.width())
                              : head.first_key + head.weights.width();
    visitor_(static_cast<size_t>(layer - layers_.begin()), head.head, placed(head, keys));
  }

 private:
  std::span<const AttentionLayer> layers_;
  const HeadVisitor& visitor_;
  size_t source_tokens_;
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

Tokens one_sequence(std::span<const int32_t> ids) { return {ids, Packing::even(1, ids.size())}; }

Reading given_reading(const TextModel& model, std::string_view source, std::string_view target) {
  Reading reading{model.source->encode(source), model.target->encode(target),
                  model.source->pieces(source), model.target->pieces(target)};
  reading.source.push_back(kEnd);
  return reading;
}

Reading written_reading(const TextModel& model, std::string_view source,
                        const SearchConfig& config) {
  Reading reading = given_reading(model, source, "");
  SearchConfig fitting = config;
  fitting.places = learned_positions(model.config).value_or(0);
  const Tokens one = one_sequence(reading.source);
  const auto found = search_covering(*model.model, *model.model, one, fitting);
  reading.target = found[0].front().tokens;
  return reading;
}

MapLabels map_labels(const TextModel& model, const Reading& reading, AttentionPart part) {
  // `known` stands for the first ids, if for any.
  const auto pieces = [](const Tokenizer& tokenizer, std::span<const int32_t> ids,
                         std::vector<std::string> known) {
    for (size_t i = known.size(); i < ids.size(); ++i) known.push_back(tokenizer.piece(ids[i]));
    return known;
  };
  std::vector<std::string> source = pieces(*model.source, reading.source, reading.source_pieces);
  if (part == AttentionPart::kEncoder && model.config.kind == ModelKind::kLabel &&
      model.config.label.pooling == LabelPooling::kFirst) {
    source.insert(source.begin(), model.source->piece(kStart));
  }
  if (part == AttentionPart::kEncoder) return {source, source};
  std::vector<std::string> target = pieces(*model.target, reading.target, reading.target_pieces);
  if (part == AttentionPart::kDecoder) {
    target.insert(target.begin(), model.target->piece(kStart));
    return {target, target};
  }
  target.push_back(model.target->piece(kEnd));
  return {target, source};
}

HeadChoice HeadChoice::parse(std::string_view text) {
  if (text == "mean") return {Kind::kMean};
  if (text == "max") return {Kind::kMax};
  HeadChoice choice{Kind::kOne};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), choice.head);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw ConfigError("unknown head '{}'; give its number from 0, mean, or max", shown_name(text));
  }
  return choice;
}

AttentionLayer attention_layer(const Seq2Seq& model, std::string_view name) {
  const std::vector<AttentionLayer> layers = model.attention_layers();
  const auto found = std::ranges::find(layers, name, &AttentionLayer::name);
  if (found != layers.end()) return *found;
  if (layers.empty()) throw ConfigError("the model has no attention to look at");
  std::vector<std::string_view> names(layers.size());
  std::ranges::transform(layers, names.begin(), &AttentionLayer::name);
  throw ConfigError("no attention layer '{}'; there are: {}", shown_name(name),
                    fmt::join(names, ", "));
}

std::vector<AttentionLayer> attention_layers(const Seq2Seq& model, AttentionPart part) {
  std::vector<AttentionLayer> found = layers_of(model.attention_layers(), part);
  if (!found.empty()) return found;
  std::vector<std::string_view> others;
  for (const AttentionLayer& layer : model.attention_layers()) {
    if (std::ranges::count(others, name_of(layer.part)) == 0) others.push_back(name_of(layer.part));
  }
  if (others.empty()) {
    throw ConfigError(
        "the model has no {} attention, nor any other; ask for gradients instead (attend inspect: "
        "--show gradient)",
        name_of(part));
  }
  throw ConfigError("the model has no {} attention; it has: {}", name_of(part),
                    fmt::join(others, ", "));
}

Tensor visit_heads(const TextModel& model, const Reading& reading,
                   std::span<const AttentionLayer> layers, const HeadVisitor& visitor,
                   std::span<const size_t> heads) {
  const NoGrad no_grad;
  HeadRecorder recorder(layers, visitor, reading.source.size());
  recorder.request.heads.assign(heads.begin(), heads.end());
  return model.model->logits(one_sequence(reading.source),
                             decoder_rows(one_sequence(reading.target)).inputs);
}

Tensor attention_map(const TextModel& model, const Reading& reading, std::string_view layer,
                     HeadChoice choice) {
  const AttentionLayer found = attention_layer(*model.model, layer);
  return attention_maps(model, reading, {&found, 1}, choice).front();
}

void check_head(const AttentionLayer& layer, HeadChoice choice) {
  if (choice.kind != HeadChoice::Kind::kOne || choice.head < layer.heads) return;
  throw ConfigError("layer {} has {} heads, from 0; there is no head {}", layer.name, layer.heads,
                    choice.head);
}

std::vector<Tensor> attention_maps(const TextModel& model, const Reading& reading,
                                   std::span<const AttentionLayer> layers, HeadChoice choice) {
  for (const AttentionLayer& layer : layers) check_head(layer, choice);
  std::vector<size_t> one;
  if (choice.kind == HeadChoice::Kind::kOne) one = {choice.head};
  std::vector<Tensor> maps(layers.size());
  const auto add = [&](size_t layer, size_t, const Tensor& weights) {
    merge(maps[layer], weights, choice.kind);
  };
  visit_heads(model, reading, layers, add, one);
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

std::vector<Tensor> mean_maps(const TextModel& model, const Reading& reading,
                              std::span<const AttentionLayer> layers) {
  return attention_maps(model, reading, layers, {HeadChoice::Kind::kMean});
}

Tensor mean_map(const TextModel& model, const Reading& reading, AttentionPart part) {
  return together(mean_maps(model, reading, attention_layers(*model.model, part)),
                  {HeadChoice::Kind::kMean});
}

}  // namespace attend
