#include "attend/io/document.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"

namespace attend {
namespace {

constexpr size_t kMaxDepth = 64;

// Builds the tree from nlohmann's events: its own tree would drop duplicate keys.
class JsonReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonReader(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}
  Document root;

  bool null() override { return add({}); }
  bool boolean(bool value) override { return literal(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return literal(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return literal(std::to_string(value)); }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return literal(text);
  }
  bool string(string_t& value) override {
    return add({.kind = Document::Kind::kScalar,
                .style = Document::Style::kQuoted,
                .text = std::move(value)});
  }
  bool binary(binary_t& /*value*/) override { return false; }  // never in JSON text
  bool start_object(size_t /*size*/) override { return open(Document::Kind::kMap); }
  bool start_array(size_t /*size*/) override { return open(Document::Kind::kList); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& value) override {
    open_.back().keys.push_back(std::move(value));
    open_.back().key_lines.push_back(0);
    return true;
  }
  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& /*error*/) override {
    if (position > text_.size() || text_.find_first_not_of(" \t\r\n") == text_.npos) {
      throw FormatError("{}: not JSON: it is {}; copy the file anew", origin_,
                        text_.empty() ? "empty" : "cut off");
    }
    const auto lines = std::ranges::count(text_.substr(0, position), '\n') + 1;
    throw FormatError("{}: not JSON at line {}, near '{}'; mend it or copy the file anew", origin_,
                      lines, shown(token));
  }

 private:
  // The end of what was read, which is where the mistake is, as a line of ASCII.
  static std::string shown(std::string_view token) {
    std::string text(token.substr(token.size() - std::min<size_t>(token.size(), 20)));
    std::ranges::replace_if(
        text, [](char c) { return c < 0x20 || c > 0x7E; }, '?');
    return text;
  }

  bool literal(std::string text) {
    return add({.kind = Document::Kind::kScalar,
                .style = Document::Style::kLiteral,
                .text = std::move(text)});
  }
  bool open(Document::Kind kind) {
    if (open_.size() == kMaxDepth) {
      throw FormatError("{}: JSON nested deeper than {}", origin_, kMaxDepth);
    }
    open_.push_back({.kind = kind});
    return true;
  }
  bool close() {
    Document done = std::move(open_.back());
    open_.pop_back();
    return add(std::move(done));
  }
  bool add(Document value) {
    if (open_.empty()) {
      root = std::move(value);
    } else {
      open_.back().items.push_back(std::move(value));
    }
    return true;
  }

  std::string_view text_;
  std::string origin_;
  std::vector<Document> open_;
};

// Aliases make a small file stand for a large tree, hence the limit on nodes.
class YamlReader {
 public:
  explicit YamlReader(std::string_view origin) : origin_(origin) {}

  Document read(const YAML::Node& node, size_t depth = 0) {
    if (depth == kMaxDepth || ++nodes_ > kMaxNodes) {
      throw FormatError("{}: too deep or too large for a config", origin_);
    }
    Document made{.line = line_of(node)};
    if (node.IsScalar()) {
      made.kind = Document::Kind::kScalar;
      if (node.Tag() == "!") made.style = Document::Style::kQuoted;
      made.text = node.Scalar();
    } else if (node.IsSequence()) {
      made.kind = Document::Kind::kList;
      for (const YAML::Node& item : node) made.items.push_back(read(item, depth + 1));
    } else if (node.IsMap()) {
      made.kind = Document::Kind::kMap;
      for (const auto& entry : node) {
        const YAML::Node& key = entry.first;
        if (!key.IsScalar()) {
          throw FormatError("{}:{}: a key must be a plain word", origin_, line_of(key));
        }
        made.keys.push_back(key.Scalar());
        made.key_lines.push_back(line_of(key));
        made.items.push_back(read(entry.second, depth + 1));
      }
    }
    return made;
  }

 private:
  static constexpr size_t kMaxNodes = 100'000;

  static size_t line_of(const YAML::Node& node) {
    return static_cast<size_t>(node.Mark().line + 1);
  }

  std::string origin_;
  size_t nodes_ = 0;
};

}  // namespace

Document parse_json(std::string_view text, std::string_view origin) {
  JsonReader reader(text, origin);
  nlohmann::json::sax_parse(text, &reader);
  return std::move(reader.root);
}

Document parse_yaml(std::string_view text, std::string_view origin) {
  try {
    return YamlReader(origin).read(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& error) {
    throw FormatError("{}:{}: not YAML: {}", origin, error.mark.line + 1, error.msg);
  }
}

std::string json_quoted(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw ConfigError("cannot write '{}': it is not UTF-8", text);
  }
}

}  // namespace attend
