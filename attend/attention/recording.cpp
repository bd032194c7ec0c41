#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "attend/attention/problem.h"
#include "attend/base/error.h"

namespace attend {
namespace {

bool among(const std::vector<size_t>& wanted, size_t x) {
  return wanted.empty() || std::ranges::find(wanted, x) != wanted.end();
}

// f of each row, [rows].
template <typename F>
Tensor of_rows(const Tensor& x, const F& f) {
  Tensor y = Tensor::empty({x.rows()});
  for (size_t i = 0; i < x.rows(); ++i) {
    y.data()[i] = f(std::span(x.data() + i * x.stride(), x.width()));
  }
  return y;
}

float entropy(std::span<const float> weights) {
  double sum = 0.0;
  for (const float w : weights) sum -= w > 0.0f ? double{w} * std::log(double{w}) : 0.0;
  return static_cast<float>(sum);
}

constexpr float kNothing = -std::numeric_limits<float>::infinity();

// The sink is one more score, or kNothing.
float log_sum_exp(std::span<const float> scores, float sink) {
  float largest = sink;
  for (const float s : scores) largest = std::max(largest, s);
  if (largest == kNothing) return kNothing;
  double sum = std::exp(double{sink} - largest);
  for (const float s : scores) sum += std::exp(double{s} - largest);
  return largest + static_cast<float>(std::log(sum));
}

}  // namespace

void check_earlier(const EarlierRows& earlier, size_t sequences) {
  for (const std::vector<int32_t>& rows : {earlier.queries, earlier.keys}) {
    if (rows.empty()) continue;
    if (rows.size() != sequences || std::ranges::min(rows) < 0) {
      throw ShapeError("attention: {} counts of earlier rows, the least {}, for {} sequences",
                       rows.size(), std::ranges::min(rows), sequences);
    }
  }
}

AttentionProblem problem_of_layer(const std::string& name, const Packing& queries,
                                  std::vector<int32_t> earlier) {
  AttentionProblem problem{};
  problem.options.name = name;
  problem.options.earlier.queries = std::move(earlier);
  problem.queries = queries;
  check_earlier(problem.options.earlier, queries.count());
  return problem;
}

Recording::Recording(const AttentionProblem& problem) : problem_(problem) {
  Recorder* recorder = current_recorder();
  if (recorder == nullptr) return;
  layer_ = problem.options.name.empty() ? kUnnamedLayer : problem.options.name;
  const std::optional<RecordRequest> request = recorder->wants(layer_);
  if (!request) return;
  recorder_ = recorder;
  request_ = *request;
  call_ = recorder->next_call(layer_);
}

bool Recording::wants(size_t sequence, size_t head) const {
  return among(request_.sequences, sequence) && among(request_.heads, head);
}

Recording::Span Recording::queries(size_t sequence) const {
  const size_t before = problem_.first_query(sequence);
  const size_t length = problem_.queries.length(sequence);
  const auto here = [&](size_t query) { return std::min(query - std::min(query, before), length); };
  const size_t most = SIZE_MAX - request_.first_query;
  const size_t first = here(request_.first_query);
  return {first, here(request_.first_query + std::min(request_.query_count, most)) - first};
}

void Recording::give(size_t sequence, size_t head, const Tensor& weights, const Tensor& scores,
                     std::optional<HeadParts> parts) const {
  const AttentionOptions& o = problem_.options;
  RecordedHead recorded{.layer = layer_,
                        .call = call_,
                        .sequence = sequence,
                        .head = head,
                        .first_query = problem_.first_query(sequence) + queries(sequence).first,
                        .first_key = problem_.first_key(sequence)};
  if (request_.weights) recorded.weights = weights.detach();
  if (request_.scores) recorded.scores = scores.detach();
  if (request_.lse && o.weighting == Weighting::kSoftmax) {
    const float sink = o.sinks.defined() ? o.sinks.data()[head] : kNothing;
    recorded.lse = of_rows(scores, [=](auto row) { return log_sum_exp(row, sink); });
  }
  if (request_.entropy) recorded.entropy = of_rows(weights, entropy);
  if (request_.parts) recorded.parts = std::move(parts);
  recorder_->take(std::move(recorded));
}

}  // namespace attend
