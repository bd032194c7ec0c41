#include "cli/draw.h"

#include <algorithm>
#include <span>

namespace attend::cli {
namespace {

constexpr const char* kShades[] = {" ", "░", "▒", "▓", "█"};
constexpr size_t kLongestLabel = 12;

// The code points of a label, each as text.
std::vector<std::string> letters(const std::string& label) {
  std::vector<std::string> all;
  for (const char c : label) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    if (continues && !all.empty()) {
      all.back() += c;
    } else {
      all.emplace_back(1, c);
    }
  }
  if (all.size() > kLongestLabel) {
    all.resize(kLongestLabel - 1);
    all.emplace_back("…");
  }
  return all;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += part;
  return text;
}

const char* shade(float weight) {
  const auto level = static_cast<size_t>(std::clamp(weight, 0.0f, 1.0f) * 4.999f);
  return kShades[level];
}

}  // namespace

std::string draw_alignment(const Tensor& weights, const std::vector<std::string>& sources,
                           const std::vector<std::string>& targets) {
  size_t margin = 0, height = 0;
  const std::span<const std::string> columns(sources.data(),
                                             std::min(sources.size(), weights.width()));
  for (const std::string& label : targets) margin = std::max(margin, letters(label).size());
  for (const std::string& label : columns) height = std::max(height, letters(label).size());
  std::string text;
  for (size_t line = 0; line < height; ++line) {
    text += std::string(margin + 2, ' ');
    for (const std::string& label : columns) {
      const auto all = letters(label);
      const size_t skipped = height - all.size();
      text += line < skipped ? " " : all[line - skipped];
      text += " ";
    }
    text += "\n";
  }
  for (size_t t = 0; t < targets.size() && t < weights.rows(); ++t) {
    const auto label = letters(targets[t]);
    text += std::string(margin - label.size(), ' ') + joined(label) + "  ";
    for (size_t s = 0; s < columns.size(); ++s) {
      const char* cell = shade(weights.data()[t * weights.stride() + s]);
      text += cell;
      text += cell;
    }
    text += "\n";
  }
  return text;
}

}  // namespace attend::cli
