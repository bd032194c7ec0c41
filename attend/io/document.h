// JSON or YAML as one small tree, from which configs are read. Neither library shows through. Not
// for use outside Attend.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attend/io/document_limits.h"

namespace attend {

struct Document {
  enum class Kind { kNull, kScalar, kList, kMap };
  // A JSON number is never text and a quoted one never a number; plain YAML may be either.
  enum class Style { kPlain, kQuoted, kLiteral };

  Kind kind = Kind::kNull;
  Style style = Style::kPlain;
  std::string text;               // of a scalar
  size_t line = 0;                // counted from 1; 0 if not known
  std::vector<std::string> keys;  // of a map, beside `items`
  std::vector<size_t> key_lines;  // the same
  std::vector<Document> items;    // of a list or a map
};

// Configs have a few hundred values. The scanner of YAML holds a list in brackets as tokens of
// hundreds of bytes until it ends, hence fewer bytes of it.
inline constexpr DocumentLimits kJsonDocument{};
inline constexpr DocumentLimits kYamlDocument{.bytes = size_t{1} << 16};

// Both throw FormatError that names `origin`, which is most often a path, where the text cannot be
// parsed or passes a limit. Duplicate keys stay: who reads the tree refuses them.
Document parse_json(std::string_view text, std::string_view origin);
Document parse_yaml(std::string_view text, std::string_view origin);

std::string json_quoted(const std::string& text);  // throws ConfigError unless it is UTF-8

}  // namespace attend
