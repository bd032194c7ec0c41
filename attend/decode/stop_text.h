// Text that ends where one of some strings begins, however it is cut into pieces. Not for use
// outside decode/.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// A value: a copy goes its own way. The strings, none of them empty, must outlive it.
class StopText {
 public:
  explicit StopText(std::span<const std::string> stops) : stops_(stops) {}

  // What is certain of the text after one more piece: what may be the beginning of one of the
  // strings is held back until that is decided.
  std::string add(std::string_view piece);
  // What was held back, when nothing follows.
  std::string finish();

  bool found() const { return found_; }  // nothing more is added then

 private:
  std::span<const std::string> stops_;
  std::string held_;
  bool found_ = false;
};

}  // namespace attend
