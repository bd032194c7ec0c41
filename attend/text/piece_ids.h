// A JSON object of texts with whole numbers, which is all that encoder.json is. Not for use outside
// text/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace attend {

// Reads one entry after another, and takes no memory but that of a text. Throws FormatError that
// names the file and the line.
class PieceIds {
 public:
  PieceIds(std::string_view json, const std::string& name);

  // A text, in UTF-8, and its number; nullopt after the last one.
  std::optional<std::pair<std::string, uint32_t>> next();
  [[noreturn]] void fail(std::string_view what) const;

 private:
  char skip_space();  // the next character; NUL at the end
  void expect(char c, std::string_view what);
  std::string text();
  char32_t unicode_escape();
  uint32_t number();

  std::string_view json_;
  const std::string& name_;
  size_t at_ = 0;
  bool first_ = true;
};

}  // namespace attend
