#include "attend/io/safetensors_header.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "attend/base/error.h"
#include "attend/base/printable.h"

namespace attend {
namespace {

using Entry = SafetensorsFile::Entry;

constexpr struct {
  std::string_view name;
  size_t bytes;
} kTypes[] = {{"F64", 8}, {"F32", 4}, {"F16", 2},  {"BF16", 2},    {"I64", 8},
              {"I32", 4}, {"I16", 2}, {"I8", 1},   {"U64", 8},     {"U32", 4},
              {"U16", 2}, {"U8", 1},  {"BOOL", 1}, {"F8_E5M2", 1}, {"F8_E4M3", 1}};

// Takes the header in as it is parsed, keeping nothing but what a header may hold: a tree of
// hostile JSON would take many times its length.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  // There are at most so many tensors.
  HeaderReader(std::string_view origin, uint64_t data_size, size_t tensors)
      : origin_(origin), data_size_(data_size) {
    header.entries.reserve(tensors);
  }
  SafetensorsHeader header;

  bool start_object(size_t /*size*/) override {
    if (depth_ == 2 || in_array()) unexpected("an object");
    if (++depth_ == 2) start_entry();
    return true;
  }
  bool end_object() override {
    if (depth_-- == 2 && !in_metadata_) end_entry();
    return true;
  }
  bool key(string_t& text) override {
    (depth_ == 1 ? name_ : key_) = std::move(text);
    if (depth_ == 1 && name_.size() > kMaxTensorName) {
      fail(fmt::format("is a name of {} bytes; at most {}", name_.size(), kMaxTensorName));
    }
    return true;
  }
  bool string(string_t& text) override {
    if (depth_ == 2 && in_metadata_) {
      if (!header.metadata.emplace(key_, std::move(text)).second) fail("is given twice");
      if (header.metadata.size() > kMaxMetadata)
        fail(fmt::format("has over {} entries", kMaxMetadata));
    } else if (depth_ == 2 && key_ == "dtype" && entry_.dtype.empty() && !in_array()) {
      const auto type = std::find_if(std::begin(kTypes), std::end(kTypes),
                                     [&](const auto& known) { return known.name == text; });
      if (type == std::end(kTypes)) fail("has the unknown dtype '" + shown_name(text) + "'");
      entry_.dtype = type->name;
      element_bytes_ = type->bytes;
    } else {
      unexpected("text");
    }
    return true;
  }
  bool start_array(size_t /*size*/) override {
    if (depth_ != 2 || in_metadata_ || in_array()) unexpected("a list");
    std::optional<std::vector<size_t>>* const list = key_ == "shape"          ? &shape_
                                                     : key_ == "data_offsets" ? &offsets_
                                                                              : nullptr;
    if (list == nullptr || list->has_value()) unexpected("a list");
    array_ = &list->emplace();
    return true;
  }
  bool end_array() override {
    array_ = nullptr;
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (!in_array()) unexpected("a number");
    if (array_->size() == Shape::kMaxRank) fail("has a longer shape than 5");
    array_->push_back(value);
    return true;
  }

  bool null() override { unexpected("null"); }
  bool boolean(bool /*value*/) override { unexpected("a boolean"); }
  bool number_integer(number_integer_t /*value*/) override { unexpected("a negative number"); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override {
    unexpected("a fraction or too large a number");
  }
  bool binary(binary_t& /*value*/) override { unexpected("binary"); }
  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    throw FormatError("{}: the header is not JSON at byte {}", origin_, position + 8);
  }

 private:
  bool in_array() const { return array_ != nullptr; }

  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError("{}: in the header, '{}' {}", origin_, shown_name(name_), what);
  }
  [[noreturn]] void unexpected(const char* what) const {
    if (depth_ < 2) {
      throw FormatError("{}: the header should describe tensors by name, not have {}", origin_,
                        what);
    }
    fail(fmt::format("should not have {} at '{}'", what, shown_name(key_)));
  }

  void start_entry() {
    in_metadata_ = name_ == "__metadata__";
    key_.clear();
    entry_ = Entry();
    shape_.reset();
    offsets_.reset();
  }

  void end_entry() {
    if (entry_.dtype.empty() || !shape_ || !offsets_ || offsets_->size() != 2) {
      fail("needs a dtype, a shape and two data_offsets");
    }
    const auto [begin, end] = std::pair((*offsets_)[0], (*offsets_)[1]);
    size_t bytes = element_bytes_;
    for (const size_t extent : *shape_) {
      if (__builtin_mul_overflow(bytes, extent, &bytes)) fail("is larger than any memory");
    }
    if (!Shape::fits(*shape_)) fail("is larger than any memory");
    if (begin > end || end > data_size_) {
      fail(fmt::format("lies at {} to {} of {} bytes of data{}", begin, end, data_size_,
                       begin > end ? "" : "; the file is cut off, copy it anew"));
    }
    if (end - begin != bytes) {
      fail(fmt::format("has {} bytes, but {} of shape [{}] takes {}", end - begin, entry_.dtype,
                       fmt::join(*shape_, ", "), bytes));
    }
    entry_.name = name_;
    entry_.shape = Shape(*shape_);
    entry_.begin = begin;
    entry_.bytes = bytes;
    header.entries.push_back(std::move(entry_));
  }

  std::string origin_;
  uint64_t data_size_;
  int depth_ = 0;  // 1: names, 2: within a tensor or the metadata
  bool in_metadata_ = false;
  std::string name_, key_;
  Entry entry_;
  size_t element_bytes_ = 0;
  std::optional<std::vector<size_t>> shape_, offsets_;
  std::vector<size_t>* array_ = nullptr;
};

// Every byte of the data belongs to one tensor.
void check_layout(std::vector<Entry>& entries, size_t data_size, std::string_view origin) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.bytes) < std::pair(b.begin, b.bytes);
  });
  size_t end = 0;
  for (const Entry& entry : entries) {
    if (entry.begin < end)
      throw FormatError("{}: '{}' overlaps another tensor", origin, shown_name(entry.name));
    if (entry.begin > end) {
      throw FormatError("{}: bytes {} to {} of the data belong to no tensor", origin, end,
                        entry.begin);
    }
    end = entry.begin + entry.bytes;
  }
  if (end != data_size) {
    throw FormatError("{}: has {} bytes of data, but its tensors take {}", origin, data_size, end);
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.name < b.name; });
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].name == entries[i - 1].name) {
      throw FormatError("{}: '{}' is there twice", origin, shown_name(entries[i].name));
    }
  }
}

// At least as many as there are, before any is parsed: each has braces of its own.
size_t count_tensors(std::string_view header, std::string_view origin) {
  constexpr size_t kOthers = 2;  // around all of them, and around the metadata
  const auto braces = static_cast<size_t>(std::ranges::count(header, '{'));
  if (braces > kMaxTensors + kOthers) {
    throw FormatError("{}: more than {} tensors", origin, kMaxTensors);
  }
  return braces;
}

// The parser holds a text several times over.
void check_texts(std::string_view header, std::string_view origin) {
  for (size_t begin = 0, end = 0; begin < header.size(); begin = end + 1) {
    end = std::min(header.find('"', begin), header.size());
    if (end - begin > kMaxHeaderText) {
      throw FormatError("{}: a name, text or list in the header is over {} bytes", origin,
                        kMaxHeaderText);
    }
  }
}

}  // namespace

SafetensorsHeader parse_safetensors(std::span<const std::byte> start, size_t file_size,
                                    std::string_view origin) {
  uint64_t length = 0;
  if (file_size < sizeof length) {
    throw FormatError(
        "{}: {} bytes are too few for a safetensors file; it is cut off, copy it anew", origin,
        file_size);
  }
  std::memcpy(&length, start.data(), sizeof length);
  if (length > file_size - sizeof length) {
    throw FormatError(
        "{}: announces a header of {} bytes but has {} in all; it is cut off, or no "
        "safetensors file; copy it anew",
        origin, length, file_size);
  }
  if (length > kMaxHeaderBytes) {
    throw FormatError("{}: a header of {} bytes is too long; at most {}", origin, length,
                      kMaxHeaderBytes);
  }
  const std::string_view text(reinterpret_cast<const char*>(start.data()) + sizeof length, length);
  const size_t data_size = file_size - sizeof length - length;
  check_texts(text, origin);
  HeaderReader reader(origin, data_size, count_tensors(text, origin));
  nlohmann::json::sax_parse(text, &reader);
  check_layout(reader.header.entries, data_size, origin);
  reader.header.data_begin = sizeof length + length;
  return std::move(reader.header);
}

}  // namespace attend
