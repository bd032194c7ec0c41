#include "attend/models/generator.h"

#include <algorithm>
#include <iterator>

#include "attend/base/names.h"

namespace attend {
namespace {

constexpr Named<AttentionPart> kParts[] = {{AttentionPart::kEncoder, "encoder"},
                                           {AttentionPart::kDecoder, "decoder"},
                                           {AttentionPart::kCross, "cross"}};

}  // namespace

AttentionPart attention_part_from_name(std::string_view name) {
  return value_from_name(kParts, "part", name);
}

std::string_view name_of(AttentionPart part) { return name_from_value(kParts, part); }

std::vector<AttentionLayer> layers_of(std::span<const AttentionLayer> layers, AttentionPart part) {
  std::vector<AttentionLayer> found;
  std::ranges::copy_if(layers, std::back_inserter(found),
                       [&](const AttentionLayer& layer) { return layer.part == part; });
  return found;
}

Packing Hypotheses::by_source() const {
  std::vector<int32_t> counts(sources_, 0);
  for (const size_t source : source_of_) ++counts[source];
  return Packing(counts);
}

void Hypotheses::reorder(std::span<const size_t> parents) {
  std::vector<size_t> next;
  next.reserve(parents.size());
  for (const size_t parent : parents) {
    if (parent >= source_of_.size()) {
      throw DataError("reorder: hypothesis {} of {}", parent, source_of_.size());
    }
    next.push_back(source_of_[parent]);
  }
  if (!std::ranges::is_sorted(next)) {
    throw DataError("reorder: hypotheses must stay in the order of their sources");
  }
  source_of_ = std::move(next);
}

}  // namespace attend
