// Whether text is well-formed XML, as far as our pictures use it.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/utf8.h"

namespace attend {

// Reads elements, attributes in double quotes, text and the five entities or numbered ones.
class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : rest_(text) {}

  // "" when all is well, else what is not.
  std::string problem() {
    if (!valid_utf8(rest_)) return "not UTF-8";
    for (const unsigned char c : rest_) {
      if (c < 0x20 && c != '\n') return "a control character";
    }
    size_t elements = 0;
    while (problem_.empty() && !rest_.empty()) {
      if (rest_.starts_with("</")) {
        close();
      } else if (rest_[0] == '<') {
        if (open_.empty() && elements > 0) return "a second root";
        ++elements;
        open();
      } else {
        text_until('<');
      }
    }
    return problem_.empty() && !open_.empty() ? "open: " + open_.back() : problem_;
  }

 private:
  void fail(const std::string& what) {
    problem_ = what + " at: " + std::string(rest_.substr(0, 60));
  }

  std::string name() {
    size_t size = 0;
    while (size < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[size])) != 0 || rest_[size] == '-')) {
      ++size;
    }
    if (size == 0) fail("no name");
    return take(size);
  }

  std::string take(size_t size) {
    std::string taken(rest_.substr(0, size));
    rest_.remove_prefix(std::min(size, rest_.size()));
    return taken;
  }

  void expect(std::string_view what) {
    if (!rest_.starts_with(what)) return fail("no " + std::string(what));
    take(what.size());
  }

  void text_until(char end) {
    while (!rest_.empty() && rest_[0] != end && problem_.empty()) {
      if (rest_[0] == '<') return fail("< in an attribute");
      if (rest_[0] == '&') entity();
      take(1);
    }
  }

  void entity() {
    for (const char* known : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}) {
      if (rest_.starts_with(known)) return;
    }
    fail("a bare &");
  }

  void open() {
    take(1);
    std::string element = name();
    while (problem_.empty() && rest_.starts_with(" ")) {
      take(1);
      name();
      expect("=\"");
      text_until('"');
      expect("\"");
    }
    if (rest_.starts_with("/>")) {
      take(2);
    } else {
      expect(">");
      open_.push_back(element);
    }
  }

  void close() {
    take(2);
    const std::string element = name();
    if (open_.empty() || open_.back() != element) return fail("closes " + element);
    open_.pop_back();
    expect(">");
  }

  std::string_view rest_;
  std::vector<std::string> open_;
  std::string problem_;
};

}  // namespace attend
