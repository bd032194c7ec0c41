#include "attend/models/model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "attend/base/error.h"
#include "attend/base/printable.h"

namespace attend {
namespace {

template <typename Entry>
std::string names_of(const std::vector<Entry>& entries) {
  std::vector<std::string_view> names(entries.size());
  std::ranges::transform(entries, names.begin(), &Entry::name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

size_t ColumnSpec::frame() const { return written ? 1 : framing.extra(); }

std::optional<size_t> ColumnSpec::longest() const {
  if (!positions) return std::nullopt;
  return *positions - std::min(*positions, frame());
}

std::optional<size_t> Signature::longest_together() const {
  if (!joined || !joined->positions) return std::nullopt;
  size_t frames = 0;
  for (const ColumnSpec& column : columns) frames += column.frame();
  return *joined->positions - std::min(*joined->positions, frames);
}

const ColumnSpec& Signature::column(std::string_view name) const {
  const auto found = std::ranges::find(columns, name, &ColumnSpec::name);
  if (found != columns.end()) return *found;
  throw ConfigError("the model has no {}; it reads and writes: {}", shown_name(name),
                    names_of(columns));
}

const AttentionLayer& Signature::layer(std::string_view name) const {
  const auto found = std::ranges::find(layers, name, &AttentionLayer::name);
  if (found != layers.end()) return *found;
  if (layers.empty()) throw ConfigError("the model has no attention to look at");
  throw ConfigError("no attention layer '{}'; there are: {}", shown_name(name), names_of(layers));
}

std::vector<AttentionLayer> Signature::layers_between(std::string_view queries,
                                                      std::string_view keys) const {
  std::vector<AttentionLayer> found;
  std::ranges::copy_if(layers, std::back_inserter(found), [&](const AttentionLayer& layer) {
    return layer.queries == queries && layer.keys == keys;
  });
  return found;
}

}  // namespace attend
