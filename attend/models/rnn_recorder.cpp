#include "attend/models/rnn_recorder.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "attend/ops/shape.h"
#include "attend/tensor/tape.h"

namespace attend {

class WalkRecorder::Steps : public Recorder {
 public:
  Steps(Recorder& outer, std::span<const int32_t> order)
      : outer_(outer), order_(order.begin(), order.end()) {}

  // Sequences of the batch are asked for; the walk has them in another order.
  std::optional<RecordRequest> wants(const std::string& layer) override {
    std::optional<RecordRequest> asked = outer_.wants(layer);
    if (!asked) return asked;
    for (size_t& sequence : asked->sequences) {
      const auto at = std::ranges::find(order_, static_cast<int32_t>(sequence));
      sequence = static_cast<size_t>(at - order_.begin());
    }
    return asked;
  }

  // Keyed by (layer, sequence of the batch, head), in which order they are handed on.
  void take(RecordedHead head) override {
    head.sequence = static_cast<size_t>(order_[head.sequence]);
    parts_[{head.layer, head.sequence, head.head}].push_back(std::move(head));
  }

  void finish() {
    const NoGrad no_grad;
    std::map<std::string, size_t> calls;
    for (auto& [key, parts] : parts_) {
      const std::string& layer = std::get<0>(key);
      if (!calls.contains(layer)) calls[layer] = outer_.next_call(layer);
      RecordedHead whole = parts.front();
      whole.call = calls[layer];
      for (const auto part : {&RecordedHead::weights, &RecordedHead::scores, &RecordedHead::lse,
                              &RecordedHead::entropy}) {
        whole.*part = together(parts, part);
      }
      if (whole.parts) whole.parts = parts_together(parts);
      outer_.take(std::move(whole));
    }
  }

 private:
  // Queries of all steps; keys and values are those of the last.
  static HeadParts parts_together(const std::vector<RecordedHead>& steps) {
    HeadParts whole = *steps.back().parts;
    for (const auto part : {&HeadParts::q, &HeadParts::key_terms, &HeadParts::value_terms,
                            &HeadParts::relative, &HeadParts::bias, &HeadParts::factors}) {
      if (!(whole.*part).defined()) continue;
      std::vector<Tensor> rows;
      for (const RecordedHead& step : steps) rows.push_back(*step.parts.*part);
      whole.*part = concat(rows, 0);
    }
    whole.masked.clear();
    // A step whose query sees all keys has no reasons.
    for (const RecordedHead& step : steps) {
      const HeadParts& one = *step.parts;
      const size_t pairs = one.q.rows() * one.v.rows();
      if (one.masked.empty()) {
        whole.masked.resize(whole.masked.size() + pairs, MaskedBy::kNothing);
      } else {
        whole.masked.insert(whole.masked.end(), one.masked.begin(), one.masked.end());
      }
    }
    return whole;
  }

  static Tensor together(const std::vector<RecordedHead>& parts, Tensor RecordedHead::*part) {
    if (!(parts.front().*part).defined()) return {};
    std::vector<Tensor> rows(parts.size());
    std::ranges::transform(parts, rows.begin(), part);
    return concat(rows, 0);
  }

  Recorder& outer_;
  std::vector<int32_t> order_;
  std::map<std::tuple<std::string, size_t, size_t>, std::vector<RecordedHead>> parts_;
};

WalkRecorder::WalkRecorder(std::span<const int32_t> order) {
  Recorder* outer = current_recorder();
  if (outer != nullptr) steps_ = std::make_unique<Steps>(*outer, order);
}

WalkRecorder::~WalkRecorder() = default;

void WalkRecorder::finish() {
  if (steps_ != nullptr) steps_->finish();
}

}  // namespace attend
