#include "attend/decode/labels.h"

#include <algorithm>
#include <cmath>

#include "attend/decode/text_batches.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

std::vector<double> log_softmax(std::span<const float> logits) {
  const double largest = double{*std::ranges::max_element(logits)};
  double sum = 0;
  for (const float x : logits) sum += std::exp(double{x} - largest);
  std::vector<double> found;
  found.reserve(logits.size());
  for (const float x : logits) found.push_back(double{x} - largest - std::log(sum));
  return found;
}

}  // namespace

std::vector<std::vector<double>> label_log_probabilities(const TextModel& model,
                                                         std::span<const std::string> lines,
                                                         size_t batch_tokens) {
  const NoGrad no_grad;
  const Classifier& classifier = model.classifier();
  const Tokenizer& tokenizer = model.tokenizer(model.read()->name);
  std::vector<std::vector<int32_t>> ids;
  std::vector<size_t> lengths;
  for (const std::string& line : lines)
    lengths.push_back(ids.emplace_back(tokenizer.encode(line)).size() + 1);
  std::vector<std::vector<double>> found(lines.size());
  for (const std::vector<size_t>& some : batches_by_length(lengths, batch_tokens)) {
    std::vector<std::vector<int32_t>> read;
    for (const size_t i : some) read.push_back(ids[i]);
    const Tensor logits = classifier.label_logits(model.inputs(read));
    for (size_t i = 0; i < some.size(); ++i) {
      found[some[i]] = log_softmax(logits.slice_rows(i, 1).to_vector());
    }
  }
  return found;
}

std::vector<RankedLabel> best_labels(std::span<const double> log_probabilities, size_t count) {
  std::vector<RankedLabel> all;
  for (size_t i = 0; i < log_probabilities.size(); ++i) all.push_back({i, log_probabilities[i]});
  std::ranges::stable_sort(all, std::greater{}, &RankedLabel::log_probability);
  all.resize(std::min(all.size(), count));
  return all;
}

}  // namespace attend
