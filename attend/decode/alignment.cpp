#include "attend/decode/alignment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attend/attention/recorder.h"
#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/decode/score.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

// Adds up the weights of the layers and heads that are wanted.
class Collector : public Recorder {
 public:
  Collector(std::vector<std::string> layers, std::optional<size_t> head, size_t sequences)
      : layers_(std::move(layers)), sums_(sequences), counts_(sequences, 0) {
    if (head) request.heads = {*head};
  }

  std::optional<RecordRequest> wants(const std::string& layer) override {
    if (std::ranges::find(layers_, layer) == layers_.end()) return std::nullopt;
    return request;
  }

  void take(RecordedHead head) override {
    Tensor& sum = sums_[head.sequence];
    ++counts_[head.sequence];
    if (!sum.defined()) {
      sum = Tensor::of(head.weights.to_vector(), head.weights.shape());
      return;
    }
    for (size_t i = 0; i < sum.size(); ++i) sum.span()[i] += head.weights.span()[i];
  }

  std::vector<Tensor> means() {
    for (size_t s = 0; s < sums_.size(); ++s) {
      if (!sums_[s].defined()) continue;
      for (float& weight : sums_[s].span()) weight /= static_cast<float>(counts_[s]);
    }
    return std::move(sums_);
  }

 private:
  std::vector<std::string> layers_;
  std::vector<Tensor> sums_;
  std::vector<size_t> counts_;
};

// Without the last column, rows sum to what they summed to before.
Tensor without_end(const Tensor& weights) {
  const size_t rows = weights.rows(), columns = weights.width() - 1;
  Tensor kept = Tensor::zeros({rows, columns});
  for (size_t r = 0; r < rows; ++r) {
    const float* from = weights.data() + r * (columns + 1);
    float sum = 0;
    for (size_t c = 0; c < columns; ++c) sum += from[c];
    const float factor = sum > 0 ? (sum + from[columns]) / sum : 0.0f;
    for (size_t c = 0; c < columns; ++c) kept.data()[r * columns + c] = from[c] * factor;
  }
  return kept;
}

std::vector<std::string> chosen_layers(const Seq2Seq& model, const AlignmentConfig& config) {
  std::vector<std::string> known;
  for (const AttentionLayer& layer : layers_of(model.attention_layers(), AttentionPart::kCross)) {
    known.push_back(layer.name);
  }
  if (known.empty()) throw ConfigError("alignments: the model has no attention to its source");
  if (config.layer.empty()) return known;
  if (std::ranges::find(known, config.layer) == known.end()) {
    throw ConfigError("alignments: no layer '{}' looks at the source; there are: {}",
                      shown_name(config.layer), fmt::join(known, ", "));
  }
  return {config.layer};
}

}  // namespace

std::vector<Tensor> alignments(const Seq2Seq& model, const Tokens& sources, const Tokens& targets,
                               const AlignmentConfig& config) {
  const NoGrad no_grad;
  const std::vector<std::string> layers = chosen_layers(model, config);
  Collector collector(layers, config.head, sources.packing.count());
  model.logits(sources, decoder_rows(targets).inputs);
  std::vector<Tensor> all = collector.means();
  for (Tensor& map : all) {
    if (!map.defined()) {
      size_t most = 0;
      for (const AttentionLayer& layer : model.attention_layers()) {
        if (std::ranges::count(layers, layer.name) > 0) most = std::max(most, layer.heads);
      }
      throw ConfigError("alignments: there is no head {}; the model has {}, from 0",
                        config.head.value_or(0), most);
    }
    if (config.leave_out_ends && map.width() > 0) map = without_end(map);
  }
  return all;
}

std::vector<Link> strongest_links(const Tensor& weights) {
  return weights.rows() == 0 ? std::vector<Link>()
                             : row_links(weights.slice_rows(0, weights.rows() - 1));
}

std::vector<Link> row_links(const Tensor& weights) {
  std::vector<Link> links;
  for (size_t t = 0; t < weights.rows() && weights.width() > 0; ++t) {
    const auto row = weights.slice_rows(t, 1).span();
    const auto best = std::ranges::max_element(row) - row.begin();
    links.push_back({static_cast<uint32_t>(best), static_cast<uint32_t>(t)});
  }
  return links;
}

}  // namespace attend
