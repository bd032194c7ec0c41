// JSON (RFC 8259) token by token, straight from its text, for readers that know what they expect
// and build no tree. Not for use outside io/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace attend {

// The text outlives the scanner. Whatever is no JSON throws a SyntaxError. Takes no memory but for
// the longest string that has escapes.
class JsonScanner {
 public:
  struct SyntaxError {
    size_t byte;  // where it was met, from 1; one past the text where that ends too soon
  };
  enum class NumberKind { kUnsigned, kNegative, kOther };  // kOther: a fraction, or too large
  struct Number {
    NumberKind kind = NumberKind::kOther;
    uint64_t value = 0;  // of kUnsigned
  };

  explicit JsonScanner(std::string_view text) : begin_(text.data()), at_(begin_) {
    end_ = begin_ + text.size();
  }

  // What the next value begins with, behind white space: '{', '[', '"', '-', a digit, or the first
  // letter of true, false and null.
  char peek() {
    skip_space();
    if (at_ == end_) fail();
    return *at_;
  }

  // Takes a string in. The view is valid until the next string is taken.
  std::string_view string();
  Number number();
  void literal();  // true, false or null
  void end();      // there is nothing more

  // Calls member(name) for each member of an object, which takes in the value. The name is a view
  // as of string().
  template <typename Member>
  void object(const Member& member) {
    take('{');
    if (take_if('}')) return;
    do {
      const std::string_view name = string();
      take(':');
      member(name);
    } while (take_if(','));
    take('}');
  }

  // Calls element() for each element of an array, which takes it in.
  template <typename Element>
  void array(const Element& element) {
    take('[');
    if (take_if(']')) return;
    do {
      element();
    } while (take_if(','));
    take(']');
  }

 private:
  [[noreturn]] void fail() const { throw SyntaxError{static_cast<size_t>(at_ - begin_) + 1}; }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  bool take_if(char expected) {
    skip_space();
    if (at_ == end_ || *at_ != expected) return false;
    ++at_;
    return true;
  }
  void take(char expected) {
    if (!take_if(expected)) fail();
  }
  void digits();
  std::string_view unescaped(const char* begin);
  char32_t escaped_character();
  char32_t four_digits();

  const char* begin_;
  const char* at_;
  const char* end_;
  std::string buffer_;  // the last string that had escapes
};

}  // namespace attend
