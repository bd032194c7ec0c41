#include "attend/io/document.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "attend/base/error.h"
#include "attend/base/printable.h"

namespace attend {
namespace {

// Builds the tree from nlohmann's events: its own tree would drop duplicate keys.
class JsonReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonReader(std::string_view text, std::string_view origin)
      : text_(text), origin_(origin), budget_(kJsonDocument, "JSON", origin, text.size()) {}
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
    budget_.take(1);
    open_.back().keys.push_back(std::move(value));
    open_.back().key_lines.push_back(0);
    return true;
  }
  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& /*error*/) override {
    if (position > text_.size() || text_.find_first_not_of(" \t\r\n") == text_.npos) {
      throw FormatError("{}: not JSON: it is {}; copy the file again", origin_,
                        text_.empty() ? "empty" : "cut off");
    }
    const auto lines = std::ranges::count(text_.substr(0, position), '\n') + 1;
    // The end of what was read is where the mistake is.
    const std::string_view near =
        std::string_view(token).substr(token.size() - std::min<size_t>(token.size(), 20));
    throw FormatError("{}: not JSON at line {}, near '{}'; repair it or copy the file again",
                      origin_, lines, shown_name(near));
  }

 private:
  bool literal(std::string text) {
    return add({.kind = Document::Kind::kScalar,
                .style = Document::Style::kLiteral,
                .text = std::move(text)});
  }
  bool open(Document::Kind kind) {
    budget_.check_depth(open_.size() + 1);
    open_.push_back({.kind = kind});
    return true;
  }
  bool close() {
    Document done = std::move(open_.back());
    open_.pop_back();
    return add(std::move(done));
  }
  bool add(Document value) {
    budget_.take(1);
    if (open_.empty()) {
      root = std::move(value);
    } else {
      open_.back().items.push_back(std::move(value));
    }
    return true;
  }

  std::string_view text_;
  std::string origin_;
  DocumentBudget budget_;
  std::vector<Document> open_;
};

}  // namespace

Document parse_json(std::string_view text, std::string_view origin) {
  JsonReader reader(text, origin);
  nlohmann::json::sax_parse(text, &reader);
  return std::move(reader.root);
}

std::string json_quoted(const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw ConfigError("cannot write '{}': it is not UTF-8", shown_name(text));
  }
}

}  // namespace attend
