#include "attend/text/text_stream.h"

#include <algorithm>

#include "attend/base/utf8.h"

namespace attend {
namespace {

constexpr size_t kMostMissing = 3;  // bytes that a character may still lack

// Bytes at the end that may be the beginning of a character.
size_t unfinished_bytes(std::string_view text) {
  for (size_t count = 1; count <= std::min(kMostMissing, text.size()); ++count) {
    const std::string_view end = text.substr(text.size() - count);
    const auto first = static_cast<unsigned char>(end.front());
    const CodePoint c = first_code_point(end);
    if (first >= 0xC2 && first <= 0xF4 && !c.valid && c.bytes == count) return count;
  }
  return 0;
}

// How much of a text no further id can change. A tokenizer gives bytes as they are, or U+FFFD for
// each of those that are no character yet.
size_t certain_bytes(std::string_view text) {
  const size_t size = text.size();
  text.remove_suffix(unfinished_bytes(text));
  if (text.size() < size) return text.size();
  for (size_t i = 0; i < kMostMissing && text.ends_with(kReplacementText); ++i) {
    text.remove_suffix(kReplacementText.size());
  }
  return text.size();
}

std::string repaired(std::string_view text) {
  size_t replaced = 0;
  return repair_utf8(text, replaced);
}

}  // namespace

TextStream::TextStream(const Tokenizer& tokenizer, std::span<const int32_t> before)
    : tokenizer_(&tokenizer), ids_(before.begin(), before.end()) {
  take(true);
}

std::string TextStream::add(int32_t id) {
  ids_.push_back(id);
  return take(false);
}

std::string TextStream::finish() { return take(true); }

std::string TextStream::take(bool all) {
  const std::string bytes = tokenizer_->decode(ids_);
  const size_t certain = all ? bytes.size() : certain_bytes(bytes);
  const std::string text = repaired(std::string_view(bytes).substr(0, certain));
  if (text.size() <= given_) return {};
  std::string more = text.substr(given_);
  given_ = text.size();
  if (certain < bytes.size()) return more;
  // From an id that says something, what follows is written as in the middle of a text.
  size_t kept = 1;
  std::string said;
  while (kept < ids_.size()) {
    said = tokenizer_->decode(std::span(ids_).last(kept));
    if (!said.empty()) break;
    ++kept;
  }
  if (kept < ids_.size()) {
    ids_.erase(ids_.begin(), ids_.end() - static_cast<ptrdiff_t>(kept));
    given_ = repaired(said).size();
  }
  return more;
}

}  // namespace attend
