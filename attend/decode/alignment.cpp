#include "attend/decode/alignment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "attend/attention/recorder.h"
#include "attend/base/error.h"
#include "attend/base/printable.h"
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

// Without the columns of the frame; rows sum to what they summed to before.
Tensor without_frame(const Tensor& weights, Framing framing) {
  const size_t first = framing.start ? 1 : 0, extra = framing.extra();
  if (extra == 0 || weights.width() < extra) return weights;
  const size_t rows = weights.rows(), columns = weights.width() - extra;
  Tensor kept = Tensor::zeros({rows, columns});
  for (size_t r = 0; r < rows; ++r) {
    const float* const all = weights.data() + r * weights.width();
    const float* const from = all + first;
    float sum = 0, frame = 0;
    for (size_t c = 0; c < columns; ++c) sum += from[c];
    if (framing.start) frame += all[0];
    if (framing.end) frame += from[columns];
    const float factor = sum > 0 ? (sum + frame) / sum : 0.0f;
    for (size_t c = 0; c < columns; ++c) kept.data()[r * columns + c] = from[c] * factor;
  }
  return kept;
}

// Of weights of a whole sequence, those of what comes after the first `read` items at them; rows
// sum to what they summed to before.
Tensor of_what_was_read(const Tensor& weights, size_t read) {
  const size_t rows = weights.rows() - read;
  Tensor kept = Tensor::zeros({rows, read});
  for (size_t r = 0; r < rows; ++r) {
    const auto all = weights.slice_rows(read + r, 1).span();
    float sum = 0, whole = 0;
    for (size_t c = 0; c < all.size(); ++c) (c < read ? sum : whole) += all[c];
    const float factor = sum > 0 ? (sum + whole) / sum : 0.0f;
    for (size_t c = 0; c < read; ++c) kept.data()[r * read + c] = all[c] * factor;
  }
  return kept;
}

// The first sequence of tokens that is only read, or that is written; null where there is none.
const ColumnSpec* first_column(const Signature& signature, bool written) {
  const auto found = std::ranges::find_if(signature.columns, [written](const ColumnSpec& column) {
    return column.kind == ColumnKind::kTokens && column.written == written;
  });
  return found == signature.columns.end() ? nullptr : &*found;
}

std::vector<std::string> chosen_layers(const Signature& signature, const AlignmentConfig& config) {
  std::vector<std::string> known;
  for (const AttentionLayer& layer : alignment_layers(signature)) known.push_back(layer.name);
  const ColumnSpec* const read = first_column(signature, false);
  if (read == nullptr || first_column(signature, true) == nullptr) {
    throw ConfigError(
        "alignments: they are between what a model reads and what it writes, and this one does not "
        "do both");
  }
  if (known.empty()) {
    throw ConfigError("alignments: the model has no attention to its {}", read->name);
  }
  if (config.layer.empty()) return known;
  if (std::ranges::find(known, config.layer) == known.end()) {
    throw ConfigError("alignments: no layer '{}' looks at the {}; there are: {}",
                      shown_name(config.layer), read->name, fmt::join(known, ", "));
  }
  return {config.layer};
}

[[noreturn]] void fail_without_head(const Signature& signature, std::span<const std::string> layers,
                                    size_t head) {
  size_t most = 0;
  for (const std::string& name : layers) most = std::max(most, signature.layer(name).heads);
  throw ConfigError("alignments: there is no head {}; the model has {}, from 0", head, most);
}

}  // namespace

std::vector<AttentionLayer> alignment_layers(const Signature& signature) {
  const ColumnSpec* const read = first_column(signature, false);
  const ColumnSpec* const written = first_column(signature, true);
  if (read == nullptr || written == nullptr) return {};
  if (signature.joined) {
    return signature.layers_between(signature.joined->name, signature.joined->name);
  }
  return signature.layers_between(written->name, read->name);
}

std::vector<Tensor> alignments(const Model& model, const Batch& inputs, const Tokens& written,
                               const SpecialTokens& special, const AlignmentConfig& config) {
  const NoGrad no_grad;
  const Signature signature = model.signature();
  const std::vector<std::string> layers = chosen_layers(signature, config);
  if (inputs.size() != written.count()) {
    throw DataError("alignments: {} records but {} sequences", inputs.size(), written.count());
  }
  Collector collector(layers, config.head, inputs.size());
  model.generator()->force(inputs, teacher_rows(written, special).inputs);
  std::vector<Tensor> all = collector.means();
  for (size_t i = 0; i < all.size(); ++i) {
    Tensor& map = all[i];
    if (!map.defined()) fail_without_head(signature, layers, config.head.value_or(0));
    if (signature.joined) {
      const Column& source = inputs[first_column(signature, false)->name];
      map = of_what_was_read(map, source.packing.length(i));
    }
    if (config.leave_out_ends) map = without_frame(map, first_column(signature, false)->framing);
  }
  return all;
}

std::vector<std::vector<Tensor>> alignments(const Model& model, const Batch& inputs,
                                            const SequencesOfRecords& all,
                                            const SpecialTokens& special,
                                            const AlignmentConfig& config) {
  TokenLines written;
  std::vector<size_t> records;
  for (size_t i = 0; i < all.size(); ++i) {
    for (const std::vector<int32_t>& sequence : all[i]) {
      written.add(sequence);
      records.push_back(i);
    }
  }
  std::vector<Tensor> found =
      alignments(model, inputs.pick(records), written.tokens(), special, config);
  std::vector<std::vector<Tensor>> weights(all.size());
  for (size_t i = 0; i < found.size(); ++i) weights[records[i]].push_back(std::move(found[i]));
  return weights;
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
