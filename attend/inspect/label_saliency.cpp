#include "attend/inspect/label_saliency.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/inspect/sequence_pair.h"
#include "attend/io/json_text.h"
#include "attend/ops/softmax.h"
#include "attend/tensor/tape.h"

namespace attend {
namespace {

constexpr Named<LabelMethod> kLabelMethods[] = {{LabelMethod::kGradient, "gradient"},
                                                {LabelMethod::kIntegrated, "integrated"},
                                                {LabelMethod::kLeaveOut, "leave-out"}};

// One token of one sequence; none: the whole text.
struct LeftOut {
  size_t sequence = 0, item = 0;
  bool is_whole = true;
};

// The texts, each without a token.
Batch texts_without(const Trace& trace, std::span<const LeftOut> left_out) {
  Batch inputs(left_out.size());
  for (size_t s = 0; s < trace.sequences.size(); ++s) {
    const TraceSequence& sequence = trace.sequences[s];
    if (sequence.role != SequenceRole::kRead) continue;
    TokenLines lines;
    for (const LeftOut& one : left_out) {
      std::vector<int32_t> ids = sequence.ids;
      if (!one.is_whole && one.sequence == s) {
        ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(one.item));
      }
      lines.add(ids);
    }
    inputs.add(sequence.name, lines.tokens());
  }
  return inputs;
}

// [texts, labels]
Tensor log_probabilities(const TextModel& model, const Batch& inputs) {
  const NoGrad no_grad;
  return log_softmax(model.classifier().label_logits(inputs));
}

// Where items of a sequence stand in the joined one.
size_t first_in_joined(const Trace& trace, size_t sequence) {
  size_t first = 0;
  for (size_t s = 0; s < sequence; ++s) {
    if (trace.sequences[s].role == SequenceRole::kRead) first += trace.sequences[s].size();
  }
  return first;
}

Saliency left_out(const TextModel& model, const Trace& trace, std::span<const int32_t> numbers,
                  const LabelSaliencyConfig& config) {
  std::vector<LeftOut> probes = {{}};
  size_t whole = 0;
  Saliency found;
  for (size_t s = 0; s < trace.sequences.size(); ++s) {
    const TraceSequence& sequence = trace.sequences[s];
    const bool is_label = sequence.role == SequenceRole::kLabel;
    found.push_back(is_label ? Tensor() : Tensor::zeros({numbers.size(), sequence.size()}));
    if (sequence.role != SequenceRole::kRead) continue;
    whole += sequence.size();
    const size_t first = sequence.framing.start ? 1 : 0;
    for (size_t i = 0; i < sequence.text_ids().size(); ++i) probes.push_back({s, first + i, false});
  }
  if (probes.size() * whole > kMostSaliencyRows) {
    throw DataError(
        "saliency: a text of {} tokens, read without each of them, takes too long; use "
        "a shorter text, or the gradient",
        probes.size() - 1);
  }
  const bool is_joined = trace.sequences.back().role == SequenceRole::kJoined;
  std::vector<float> of_whole;
  const size_t copies = std::max<size_t>(1, config.most_rows / std::max<size_t>(whole, 1));
  for (size_t begin = 0; begin < probes.size(); begin += copies) {
    const auto some = std::span(probes).subspan(begin, std::min(copies, probes.size() - begin));
    const Tensor all = log_probabilities(model, texts_without(trace, some));
    if (begin == 0) of_whole = all.slice_rows(0, 1).to_vector();
    for (size_t p = 0; p < some.size(); ++p) {
      if (some[p].is_whole) continue;
      const std::span<const float> row = all.slice_rows(p, 1).span();
      for (size_t label = 0; label < numbers.size(); ++label) {
        const auto number = static_cast<size_t>(numbers[label]);
        const auto set = [&](const Tensor& map, size_t column) {
          map.data()[label * map.width() + column] = of_whole[number] - row[number];
        };
        set(found[some[p].sequence], some[p].item);
        if (is_joined) {
          set(found.back(), first_in_joined(trace, some[p].sequence) + some[p].item);
        }
      }
    }
    if (config.on_pass) config.on_pass();
  }
  return found;
}

// The trace of a classifier with several labels in place of one, a row of saliency each.
Trace with_labels(const TextModel& model, Trace trace, std::span<const int32_t> ids) {
  for (TraceSequence& sequence : trace.sequences) {
    if (sequence.role != SequenceRole::kLabel) continue;
    sequence.written.assign(ids.begin(), ids.end());
    sequence.next.clear();
    for (const int32_t id : ids) {
      sequence.next.push_back({model.tokenizer(sequence.name).piece(id)});
    }
  }
  return trace;
}

// As "good 93 %".
std::string row_name(const std::string& label, float probability) {
  return fmt::format("{} {:.3g} %", label, 100 * probability);
}

}  // namespace

LabelMethod label_method_from_name(std::string_view name) {
  return value_from_name(kLabelMethods, "labels", name);
}

std::vector<std::string> label_method_names() {
  std::vector<std::string> names;
  for (const auto& method : kLabelMethods) names.emplace_back(method.name);
  return names;
}

LabelSaliency label_saliency(const TextModel& model, const Trace& trace,
                             const LabelSaliencyConfig& config) {
  const size_t count = model.classifier().labels();  // throws where there are none
  check_intervention(trace);
  const std::vector<float> all = log_probabilities(model, inputs_of(trace)).to_vector();
  std::vector<int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::ranges::stable_sort(numbers, [&](int32_t a, int32_t b) {
    return all[static_cast<size_t>(a)] > all[static_cast<size_t>(b)];
  });
  numbers.resize(std::min(count, std::max<size_t>(config.labels, 1)));
  const TraceSequence& label = *trace.written();
  for (const int32_t id : label.written) {
    const int32_t own = label_number(model, label, id);
    if (std::ranges::find(numbers, own) == numbers.end()) numbers.push_back(own);
  }
  LabelSaliency found;
  std::vector<int32_t> ids;
  for (const int32_t number : numbers) {
    ids.push_back(model.tokenizer(label.name).first_piece() + number);
    found.labels.push_back(model.label(static_cast<size_t>(number)));
    found.probabilities.push_back(std::exp(all[static_cast<size_t>(number)]));
  }
  if (config.method == LabelMethod::kLeaveOut) {
    found.contributions = left_out(model, trace, numbers, config);
  } else {
    const bool integrated = config.method == LabelMethod::kIntegrated;
    found.contributions =
        saliency(model, with_labels(model, trace, ids),
                 {.method = integrated ? SaliencyMethod::kIntegrated : SaliencyMethod::kGradient,
                  .most_rows = config.most_rows},
                 [&](const Saliency&, size_t) {
                   if (config.on_pass) config.on_pass();
                   return true;
                 });
  }
  return found;
}

HeatMap label_saliency_picture(const TextModel& model, const Trace& trace, std::string_view keys,
                               const LabelSaliencyConfig& config) {
  const LabelSaliency found = label_saliency(model, trace, config);
  const std::string of = saliency_keys(trace, keys);
  MapLabels labels = written_labels(trace, of);
  HeatMap map{.title = fmt::format("labels by {}", name_from_value(kLabelMethods, config.method)),
              .columns = std::move(labels.columns),
              .values = found.contributions[trace.index_of(of)]};
  for (size_t i = 0; i < found.labels.size(); ++i) {
    map.rows.push_back(row_name(found.labels[i], found.probabilities[i]));
  }
  map.column_framing = labels.column_framing;
  map.column_breaks = std::move(labels.column_breaks);
  map.row_axis = trace.written()->name;
  map.column_axis = of;
  map.has_sign = true;
  map.note = kLabelSaliencyNote;
  scale_by_row(map);
  return map;
}

std::string label_saliency_json(const LabelSaliency& found, const Trace& trace,
                                std::string_view keys) {
  const std::string of = saliency_keys(trace, keys);
  const Tensor& map = found.contributions[trace.index_of(of)];
  nlohmann::ordered_json labels = nlohmann::ordered_json::array();
  nlohmann::ordered_json values = nlohmann::ordered_json::array();
  for (size_t i = 0; i < found.labels.size(); ++i) {
    labels.push_back(
        {{"label", found.labels[i]}, {"probability", shortest(found.probabilities[i])}});
    nlohmann::ordered_json row = nlohmann::ordered_json::array();
    for (const float value : map.slice_rows(i, 1).span()) row.push_back(shortest(value));
    values.push_back(std::move(row));
  }
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  for (const TraceItem& item : trace.sequence(of).items) items.push_back(item.text);
  return json_text(
      {{"labels", labels}, {"sequence", of}, {"items", items}, {"values", std::move(values)}});
}

}  // namespace attend
