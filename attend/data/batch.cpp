#include "attend/data/batch.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "attend/base/error.h"
#include "attend/base/names.h"

namespace attend {
namespace {

constexpr Named<ColumnKind> kColumnKinds[] = {{ColumnKind::kTokens, "tokens"},
                                              {ColumnKind::kLabel, "label"},
                                              {ColumnKind::kLabels, "labels"},
                                              {ColumnKind::kNumber, "number"}};

// Values of one record, whatever their type: both have four bytes.
size_t values_in_row(const Column& column) {
  const size_t rows = column.packing.rows();
  return rows == 0 ? 0 : column.values.size() / rows;
}

void copy_rows(const Column& from, size_t row, size_t count, const Tensor& to, size_t to_row) {
  static_assert(sizeof(float) == sizeof(int32_t));
  const size_t width = values_in_row(from);
  if (count * width == 0) return;
  const auto copy = [&](auto* target, const auto* source) {
    std::memcpy(target + to_row * width, source + row * width, count * width * sizeof(float));
  };
  if (from.values.dtype() == DType::kInt32) {
    copy(to.indices(), from.values.indices());
  } else {
    copy(to.data(), from.values.data());
  }
}

Column pick(const Column& column, std::span<const size_t> which) {
  std::vector<int32_t> lengths;
  for (const size_t i : which) lengths.push_back(static_cast<int32_t>(column.packing.length(i)));
  const Packing packing(lengths);
  std::vector<size_t> extents = {packing.rows()};
  for (size_t axis = 1; axis < column.values.rank(); ++axis) {
    extents.push_back(column.values.extent(static_cast<int>(axis)));
  }
  const Tensor values = Tensor::empty(Shape(extents), column.values.dtype());
  for (size_t i = 0; i < which.size(); ++i) {
    const size_t from = which[i];
    copy_rows(column, column.packing.begin(from), column.packing.length(from), values,
              packing.begin(i));
  }
  return {values, packing};
}

}  // namespace

std::string_view name_of(ColumnKind kind) { return name_from_value(kColumnKinds, kind); }

Batch::Batch(std::string name, const Tokens& tokens) : records_(tokens.count()) {
  add(std::move(name), tokens);
}

size_t Batch::rows() const {
  size_t sum = 0;
  for (const auto& [_, column] : columns_) sum += column.packing.rows();
  return sum;
}

Batch& Batch::add(std::string name, Column column) {
  if (column.packing.count() != records_) {
    throw DataError("batch: column {} has {} records, but there are {}", name,
                    column.packing.count(), records_);
  }
  if (has(name)) throw DataError("batch: there is a column {} already", name);
  columns_.emplace_back(std::move(name), std::move(column));
  return *this;
}

Batch& Batch::add(std::string name, const Tokens& tokens) {
  return add(std::move(name), Column{tokens.ids, tokens.packing});
}

bool Batch::has(std::string_view name) const {
  return std::ranges::any_of(columns_, [&](const auto& column) { return column.first == name; });
}

const Column& Batch::operator[](std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& [known, column] : columns_) {
    if (known == name) return column;
    names.push_back(known);
  }
  throw DataError("batch: there is no column {}; there {}: {}", name,
                  names.size() == 1 ? "is" : "are", fmt::join(names, ", "));
}

Tokens Batch::tokens(std::string_view name) const {
  const Column& column = (*this)[name];
  return {column.values, column.packing};
}

Batch Batch::pick(std::span<const size_t> which) const {
  Batch picked(which.size());
  for (const auto& [name, column] : columns_) picked.add(name, attend::pick(column, which));
  for (const size_t i : which) {
    if (!lines.empty()) picked.lines.push_back(lines[i]);
  }
  return picked;
}

}  // namespace attend
