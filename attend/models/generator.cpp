#include "attend/models/generator.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/ops/embedding.h"

namespace attend {

std::unique_ptr<Generator::State> Generator::start(const Batch& inputs) const {
  auto state = start();
  state->admit(inputs);
  return state;
}

Tensor Generator::step(State& state, std::span<const int32_t> one_each) const {
  return step(state, Tokens(one_each, Packing::even(one_each.size(), 1)));
}

void Hypotheses::admit(size_t more) {
  for (size_t i = 0; i < more; ++i) {
    record_of_.push_back(records_++);
    lengths_.push_back(0);
  }
}

void Hypotheses::reorder(std::span<const size_t> parents) {
  std::vector<size_t> records;
  std::vector<int32_t> lengths;
  records.reserve(parents.size());
  for (const size_t parent : parents) {
    if (parent >= size()) throw DataError("reorder: hypothesis {} of {}", parent, size());
    records.push_back(record_of_[parent]);
    lengths.push_back(lengths_[parent]);
  }
  if (!std::ranges::is_sorted(records)) {
    throw DataError("reorder: hypotheses must stay in the order of their records");
  }
  record_of_ = std::move(records);
  lengths_ = std::move(lengths);
}

void Hypotheses::rewind(std::span<const int32_t> lengths) {
  if (lengths.size() != size()) {
    throw DataError("rewind: {} lengths for {} hypotheses", lengths.size(), size());
  }
  for (size_t i = 0; i < size(); ++i) {
    if (lengths[i] < 0 || lengths[i] > lengths_[i]) {
      throw DataError("rewind: hypothesis {} has read {} tokens, not {}", i, lengths_[i],
                      lengths[i]);
    }
  }
  lengths_.assign(lengths.begin(), lengths.end());
}

void Hypotheses::advance(const Packing& read) {
  for (size_t i = 0; i < size(); ++i) {
    lengths_[i] += static_cast<int32_t>(read.length(i));
  }
}

Packing Hypotheses::by_record(const Packing& tokens) const {
  std::vector<int32_t> counts(records_, 0);
  for (size_t i = 0; i < size(); ++i)
    counts[record_of_[i]] += static_cast<int32_t>(tokens.length(i));
  return Packing(counts);
}

std::vector<int32_t> Hypotheses::record_lengths() const {
  std::vector<int32_t> found(records_, 0);
  for (size_t i = size(); i-- > 0;) found[record_of_[i]] = lengths_[i];
  return found;
}

std::optional<std::vector<size_t>> Hypotheses::retire() {
  std::vector<size_t> kept;
  for (const size_t record : record_of_) {
    if (kept.empty() || kept.back() != record) kept.push_back(record);
  }
  if (2 * kept.size() > records_ || records_ == 0) return std::nullopt;
  size_t number = 0, last = record_of_.empty() ? 0 : record_of_.front();
  for (size_t& record : record_of_) {
    if (record != last) last = record, ++number;
    record = number;
  }
  records_ = kept.size();
  return kept;
}

void check_step(const Generator::State& state, const Tokens& tokens) {
  if (tokens.count() != state.size()) {
    throw DataError("step: tokens of {} hypotheses, but there are {}", tokens.count(),
                    state.size());
  }
  for (size_t i = 0; i < tokens.count(); ++i) {
    if (tokens.packing.length(i) == 0) throw DataError("step: hypothesis {} reads nothing", i);
  }
}

Tensor wanted_rows(const Tensor& x, const Packing& packing, StepRows wanted) {
  if (wanted == StepRows::kAll || packing.rows() == packing.count()) return x;
  std::vector<int32_t> rows;
  for (size_t i = 0; i < packing.count(); ++i) {
    rows.push_back(static_cast<int32_t>(packing.end(i)) - 1);
  }
  return gather_rows(x, Tensor::ids(rows, {rows.size()}));
}

Batch prefixed_inputs(std::span<const int32_t> lengths) {
  Batch inputs(lengths.size());
  inputs.add(kPrefixColumn, Tokens(lengths, Packing::even(lengths.size(), 1)));
  return inputs;
}

std::vector<int32_t> prefix_lengths(const Batch& inputs) {
  if (!inputs.has(kPrefixColumn)) return {};
  const auto lengths = inputs[kPrefixColumn].values.index_span();
  return {lengths.begin(), lengths.end()};
}

Tensor rows_after_prefixes(const Tensor& x, const Packing& packing, const Batch& inputs) {
  const std::vector<int32_t> prefixes = prefix_lengths(inputs);
  if (std::ranges::all_of(prefixes, [](int32_t length) { return length == 0; })) return x;
  std::vector<int32_t> rows;
  for (size_t i = 0; i < packing.count(); ++i) {
    const auto end = static_cast<int32_t>(packing.end(i));
    for (int32_t row = static_cast<int32_t>(packing.begin(i)) + prefixes[i]; row < end; ++row) {
      rows.push_back(row);
    }
  }
  return gather_rows(x, Tensor::ids(rows, {rows.size()}));
}

void ReadTokens::add(const Tokens& tokens) {
  for (size_t i = 0; i < tokens.count(); ++i) {
    const auto ids = tokens.sequence(i);
    ids_[i].insert(ids_[i].end(), ids.begin(), ids.end());
  }
}

void ReadTokens::reorder(std::span<const size_t> parents) {
  std::vector<std::vector<int32_t>> next;
  next.reserve(parents.size());
  for (const size_t parent : parents) next.push_back(ids_[parent]);
  ids_ = std::move(next);
}

Tokens ReadTokens::rewind(std::span<const int32_t> lengths) {
  TokenLines kept;
  for (size_t i = 0; i < ids_.size(); ++i) {
    kept.add(std::span(ids_[i]).first(static_cast<size_t>(lengths[i])));
    ids_[i].clear();
  }
  return kept.tokens();
}

}  // namespace attend
