// The scanner of JSON, against another reader: both take the same texts, and find the same in them.
#include "attend/io/json_scanner.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {
namespace {

std::string text_event(char kind, std::string_view text) {
  return fmt::format("{}{}:{}", kind, text.size(), text);
}

// What is in a text, as one line: "{k1:au5}" for {"a": 5}. Numbers that are no whole ones from 0
// are all alike.
class Other : public nlohmann::json_sax<nlohmann::json> {
 public:
  std::string events;
  bool out_of_range = false;  // a number past a double's range: JSON, but nothing it can hold

  bool null() override { return add("n"); }
  bool boolean(bool /*value*/) override { return add("b"); }
  bool number_integer(number_integer_t /*value*/) override { return add("o"); }
  bool number_unsigned(number_unsigned_t value) override { return add(fmt::format("u{}", value)); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override {
    return add("o");
  }
  bool string(string_t& text) override { return add(text_event('s', text)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(size_t /*size*/) override { return add("{"); }
  bool key(string_t& text) override { return add(text_event('k', text)); }
  bool end_object() override { return add("}"); }
  bool start_array(size_t /*size*/) override { return add("["); }
  bool end_array() override { return add("]"); }
  bool parse_error(size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    constexpr int kNumberOverflow = 406;
    out_of_range = error.id == kNumberOverflow;
    return false;
  }

 private:
  bool add(const std::string& event) {
    events += event;
    return true;
  }
};

void scan(JsonScanner& scanner, std::string& events) {
  switch (const char first = scanner.peek()) {
    case '{':
      events += '{';
      scanner.object([&](std::string_view name) {
        events += text_event('k', name);
        scan(scanner, events);
      });
      events += '}';
      return;
    case '[':
      events += '[';
      scanner.array([&] { scan(scanner, events); });
      events += ']';
      return;
    case '"':
      events += text_event('s', scanner.string());
      return;
    case 't':
    case 'f':
    case 'n':
      scanner.literal();
      events += first == 'n' ? 'n' : 'b';
      return;
    default: {
      const JsonScanner::Number number = scanner.number();
      const bool whole = number.kind == JsonScanner::NumberKind::kUnsigned;
      events += whole ? fmt::format("u{}", number.value) : "o";
    }
  }
}

}  // namespace

void take_json(std::string_view bytes) {
  std::string events;
  bool accepted = true;
  try {
    JsonScanner scanner(bytes);
    scan(scanner, events);
    scanner.end();
  } catch (const JsonScanner::SyntaxError& error) {
    accepted = false;
    require(error.byte >= 1 && error.byte <= bytes.size() + 1, "a mistake lies within the text");
  }
  // The other reader ends at a zero and skips a mark of byte order.
  if (bytes.find('\0') != bytes.npos || bytes.starts_with('\xEF')) return;
  Other other;
  const bool taken = nlohmann::json::sax_parse(bytes, &other);
  if (other.out_of_range) return;
  require(accepted == taken, "the scanner takes what is JSON, and nothing else");
  require(!accepted || events == other.events, "the scanner finds what is in the text");
}

std::vector<std::string> json_seeds() {
  return {
      R"({"a": [1, -2, 3.5e+7, 0, -0.1E-2], "b": {"c": true, "d": false}, "e": null})",
      R"(["\"\\\/\b\f\n\r\t\u00e4\uD83D\uDE00", "ä猫", "\u0000"])",
      " \t\r\n[ ] ",
      "18446744073709551615",
      "18446744073709551616",
      "01",
      "-",
      "1.",
      "1e",
      "tru",
      "nul1",
      "[1,]",
      "{\"a\" 1}",
      "{1:2}",
      "\"\\ud800\\u0041\"",
      "\"\\udc00\"",
      "\"\\u12g4\"",
      "\"\\x\"",
      "\"\\n\x01\"",
      "\"\xC0\x80\"",
      "\"\\n\xED\xA0\x80\"",
      "\"cut off",
      "\"cut off\\",
      "{} {}",
      "",
  };
}

}  // namespace attend::fuzz
