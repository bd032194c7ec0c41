#include "attend/nn/depth.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace attend {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

// The layer's name: "encoder.0" of "encoder.0.self.query.weight", "layers_l1" of
// "layers.weight_ih_l1_reverse"; empty for a parameter that belongs to none.
std::string layer_of(std::string_view name) {
  for (size_t begin = 0; begin < name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    if (is_number(name.substr(begin, end - begin))) return std::string(name.substr(0, end));
    begin = end + 1;
  }
  const size_t last = name.rfind('.') + 1;  // 0 where there is no dot
  std::string_view own = name.substr(last);
  constexpr std::string_view kReverse = "_reverse";
  if (own.ends_with(kReverse)) own.remove_suffix(kReverse.size());
  const size_t suffix = own.rfind("_l");
  if (suffix == own.npos || !is_number(own.substr(suffix + 2))) return "";
  return std::string(name.substr(0, last)) + std::string(own.substr(suffix));
}

}  // namespace

Depths depths_of(std::span<const NamedTensor> parameters) {
  Depths found;
  std::vector<std::string> layers;
  size_t last = 0;  // parameters up to the last that belongs to a layer
  for (const NamedTensor& p : parameters) {
    const std::string layer = layer_of(p.name);
    if (!layer.empty()) {
      const auto known = std::ranges::find(layers, layer);
      const size_t depth = static_cast<size_t>(known - layers.begin()) + 1;
      if (known == layers.end()) layers.push_back(layer);
      found.of.push_back(depth);
      last = found.of.size();
    } else {
      found.of.push_back(layers.size());
    }
  }
  found.layers = layers.size();
  for (size_t i = last; i < found.of.size(); ++i) found.of[i] = found.layers + 1;
  return found;
}

}  // namespace attend
