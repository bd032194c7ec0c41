// Heat maps to draw.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "attend/inspect/heat_map.h"

namespace attend {

inline HeatMap map_of(std::vector<std::string> rows, std::vector<std::string> columns) {
  HeatMap map;
  map.values = Tensor::zeros({rows.size(), columns.size()});
  map.rows = std::move(rows);
  map.columns = std::move(columns);
  return map;
}

// Rows that sum to one, largest along the diagonal.
inline HeatMap diagonal(std::vector<std::string> rows, std::vector<std::string> columns) {
  HeatMap map = map_of(std::move(rows), std::move(columns));
  map.title = "decoder.0.cross, mean";
  const size_t height = map.rows.size(), width = map.columns.size();
  for (size_t i = 0; i < height; ++i) {
    float* row = map.values.data() + i * width;
    float sum = 0.0f;
    for (size_t j = 0; j < width; ++j) {
      const float middle = (static_cast<float>(i) + 0.5f) / static_cast<float>(height);
      const float far = middle * static_cast<float>(width) - static_cast<float>(j) - 0.5f;
      sum += row[j] = std::exp(-far * far);
    }
    for (size_t j = 0; j < width; ++j) row[j] /= sum;
  }
  return map;
}

inline std::vector<std::string> many_labels(size_t count) {
  std::vector<std::string> labels;
  for (size_t i = 0; i < count; ++i) labels.push_back("t" + std::to_string(i));
  return labels;
}

// Right to left, wide, combining, joined emoji, control characters, bytes that are no UTF-8.
inline std::vector<std::string> hard_labels() {
  return {"שלום",    "مرحبا", "世界",   "e\u0301a\u0308", "👨\u200d👩\u200d👧x",
          "❤\ufe0f", "🇩🇪",    "\t\x01", "\xff\xfe",       "\u0301",
          "",        "한국"};
}

// Text without escape sequences.
inline std::string without_colours(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      plain += text[i];
    }
  }
  return plain;
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

// How often a part stands in a text.
inline size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++found;
  return found;
}

}  // namespace attend
