#include "attend/io/safetensors_header.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/io/json_scanner.h"

namespace attend {
namespace {

using Entry = SafetensorsFile::Entry;

struct Type {
  std::string_view name;
  size_t bytes;
};
constexpr Type kTypes[] = {{"F64", 8}, {"F32", 4}, {"F16", 2},  {"BF16", 2},    {"I64", 8},
                           {"I32", 4}, {"I16", 2}, {"I8", 1},   {"U64", 8},     {"U32", 4},
                           {"U16", 2}, {"U8", 1},  {"BOOL", 1}, {"F8_E5M2", 1}, {"F8_E4M3", 1}};

// Up to as many numbers as a shape has.
struct NumberList {
  std::array<size_t, Shape::kMaxRank> values{};
  size_t count = 0;
  bool given = false;

  std::span<const size_t> span() const { return {values.data(), count}; }
};

// Takes the header in as it is scanned, keeping nothing but what a header may hold: a tree of
// hostile JSON would take many times its length.
class HeaderReader {
 public:
  // There are at most so many tensors.
  HeaderReader(std::string_view text, std::string_view origin, uint64_t data_size, size_t tensors)
      : scanner_(text), origin_(origin), data_size_(data_size) {
    header_.entries.reserve(tensors);
  }

  SafetensorsHeader read() {
    if (scanner_.peek() != '{') unexpected();
    scanner_.object([&](std::string_view name) { read_member(name); });
    scanner_.end();
    return std::move(header_);
  }

 private:
  void read_member(std::string_view name) {
    entry_.name = name;
    if (name.size() > kMaxTensorName) {
      fail(fmt::format("is a name of {} bytes; at most {}", name.size(), kMaxTensorName));
    }
    if (scanner_.peek() != '{') unexpected();
    within_ = true;
    if (name == "__metadata__") {
      if (std::exchange(has_metadata_, true)) fail("is given twice");
      scanner_.object([&](std::string_view key) { read_metadata(key); });
    } else {
      shape_ = offsets_ = {};
      entry_.dtype = {};
      scanner_.object([&](std::string_view key) { read_property(key); });
      add_entry();
    }
    within_ = false;
  }

  void read_metadata(std::string_view key) {
    key_ = key;
    if (scanner_.peek() != '"') unexpected();
    if (!header_.metadata.emplace(key_, scanner_.string()).second) {
      fail(fmt::format("has '{}' twice", shown_name(key_)));
    }
    if (header_.metadata.size() > kMaxMetadata) {
      fail(fmt::format("has over {} entries", kMaxMetadata));
    }
  }

  void read_property(std::string_view key) {
    key_ = key;
    const char first = scanner_.peek();
    NumberList* const list = key == "shape" ? &shape_ : key == "data_offsets" ? &offsets_ : nullptr;
    if (first == '"' && key == "dtype" && entry_.dtype.empty()) {
      read_dtype();
    } else if (first == '[' && list != nullptr && !list->given) {
      list->given = true;
      scanner_.array([&] { read_number(*list); });
    } else {
      unexpected();
    }
  }

  void read_dtype() {
    const std::string_view text = scanner_.string();
    const auto* const type = std::ranges::find(kTypes, text, &Type::name);
    if (type == std::end(kTypes)) fail("has the unknown dtype '" + shown_name(text) + "'");
    entry_.dtype = type->name;
    element_bytes_ = type->bytes;
  }

  void read_number(NumberList& list) {
    const char first = scanner_.peek();
    if (first < '0' || first > '9') unexpected();
    const JsonScanner::Number number = scanner_.number();
    if (number.kind != JsonScanner::NumberKind::kUnsigned) unexpected(name_of(number.kind));
    if (list.count == list.values.size()) fail("has a longer shape than 5");
    list.values[list.count++] = number.value;
  }

  void add_entry() {
    if (entry_.dtype.empty() || !shape_.given || offsets_.count != 2) {
      fail("needs a dtype, a shape and two data_offsets");
    }
    const auto [begin, end] = std::pair(offsets_.values[0], offsets_.values[1]);
    size_t bytes = element_bytes_;
    for (const size_t extent : shape_.span()) {
      if (__builtin_mul_overflow(bytes, extent, &bytes)) fail("is larger than any memory");
    }
    if (!Shape::fits(shape_.span())) fail("is larger than any memory");
    if (begin > end || end > data_size_) {
      fail(fmt::format("lies at {} to {} of {} bytes of data{}", begin, end, data_size_,
                       begin > end ? "" : "; the file is cut off, copy it again"));
    }
    if (end - begin != bytes) {
      fail(fmt::format("has {} bytes, but {} of shape [{}] takes {}", end - begin, entry_.dtype,
                       fmt::join(shape_.span(), ", "), bytes));
    }
    entry_.shape = Shape(shape_.span());
    entry_.begin = begin;
    entry_.bytes = bytes;
    header_.entries.push_back(std::move(entry_));
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError("{}: in the header, '{}' {}", origin_, shown_name(entry_.name), what);
  }
  [[noreturn]] void unexpected(std::string_view what) const {
    if (!within_) {
      throw FormatError("{}: the header should describe tensors by name, not have {}", origin_,
                        what);
    }
    fail(fmt::format("should not have {} at '{}'", what, shown_name(key_)));
  }
  // Names the value that comes next, unless it is no JSON.
  [[noreturn]] void unexpected() {
    switch (const char first = scanner_.peek()) {
      case '{':
        unexpected("an object");
      case '[':
        unexpected("a list");
      case '"':
        scanner_.string();
        unexpected("text");
      case 't':
      case 'f':
      case 'n':
        scanner_.literal();
        unexpected(first == 'n' ? "null" : "a boolean");
      default:
        unexpected(name_of(scanner_.number().kind));
    }
  }
  static std::string_view name_of(JsonScanner::NumberKind kind) {
    switch (kind) {
      case JsonScanner::NumberKind::kUnsigned:
        return "a number";
      case JsonScanner::NumberKind::kNegative:
        return "a negative number";
      default:
        return "a fraction or too large a number";
    }
  }

  JsonScanner scanner_;
  SafetensorsHeader header_;
  std::string origin_;
  uint64_t data_size_;
  bool has_metadata_ = false;
  bool within_ = false;  // a tensor or the metadata
  std::string key_;
  Entry entry_;
  size_t element_bytes_ = 0;
  NumberList shape_, offsets_;
};

// At least as many as there are, before any is parsed: each has braces of its own.
size_t count_tensors(std::string_view header, std::string_view origin) {
  constexpr size_t kOthers = 2;  // around all of them, and around the metadata
  const auto braces = static_cast<size_t>(std::ranges::count(header, '{'));
  if (braces > kMaxTensors + kOthers) {
    throw FormatError("{}: more than {} tensors", origin, kMaxTensors);
  }
  return braces;
}

// No text, list or space between two quotes is longer than a text may be.
void check_texts(std::string_view header, std::string_view origin) {
  while (header.size() > kMaxHeaderText) {
    const size_t quote = header.rfind('"', kMaxHeaderText);  // the last one that may be the next
    if (quote == header.npos) {
      throw FormatError("{}: a name, text or list in the header is over {} bytes", origin,
                        kMaxHeaderText);
    }
    header.remove_prefix(quote + 1);
  }
}

}  // namespace

SafetensorsHeader parse_safetensors(std::span<const std::byte> start, size_t file_size,
                                    std::string_view origin) {
  uint64_t length = 0;
  if (file_size < sizeof length) {
    throw FormatError(
        "{}: {} bytes are too few for a safetensors file; it is cut off, copy it again", origin,
        file_size);
  }
  std::memcpy(&length, start.data(), sizeof length);
  if (length > file_size - sizeof length) {
    throw FormatError(
        "{}: announces a header of {} bytes but has {} in all; it is cut off, or no "
        "safetensors file; copy it again",
        origin, length, file_size);
  }
  if (length > kMaxHeaderBytes) {
    throw FormatError("{}: a header of {} bytes is too long; at most {}", origin, length,
                      kMaxHeaderBytes);
  }
  const std::string_view text(reinterpret_cast<const char*>(start.data()) + sizeof length, length);
  const size_t data_size = file_size - sizeof length - length;
  check_texts(text, origin);
  try {
    SafetensorsHeader header =
        HeaderReader(text, origin, data_size, count_tensors(text, origin)).read();
    check_layout(header.entries, data_size, origin);
    sort_by_name(header.entries, origin);
    header.data_begin = sizeof length + length;
    return header;
  } catch (const JsonScanner::SyntaxError& error) {
    throw FormatError("{}: the header is not JSON at byte {}", origin, sizeof length + error.byte);
  }
}

}  // namespace attend
