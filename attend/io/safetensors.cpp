#include "attend/io/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/io/document.h"
#include "attend/io/safetensors_header.h"

namespace attend {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors is little-endian");

float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

float from_f16(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t magnitude = bits & 0x7fff;
  if (magnitude >= 0x7c00) {  // infinity, NaN
    return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  }
  // The exponent's bias grows by 112; as a product, subnormals come out right.
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(scaled));
}

// F16 or BF16 as fp32, piece by piece.
void read_halves(const FileReader& file, size_t at, bool f16, std::span<float> to) {
  constexpr size_t kPiece = size_t{1} << 16;
  std::vector<uint16_t> piece(std::min(kPiece, to.size()));
  while (!to.empty()) {
    const std::span<uint16_t> bits = std::span(piece).first(std::min(piece.size(), to.size()));
    file.read(at, std::as_writable_bytes(bits));
    for (size_t i = 0; i < bits.size(); ++i) to[i] = f16 ? from_f16(bits[i]) : from_bf16(bits[i]);
    at += bits.size_bytes();
    to = to.subspan(bits.size());
  }
}

bool readable_as(std::string_view dtype, DType type) {
  if (type == DType::kInt32) return dtype == "I32";
  return dtype == "F32" || dtype == "F16" || dtype == "BF16";
}

std::byte* row_of(const Tensor& tensor, size_t row) {
  void* const first = tensor.dtype() == DType::kInt32 ? static_cast<void*>(tensor.indices())
                                                      : static_cast<void*>(tensor.data());
  return static_cast<std::byte*>(first) + 4 * row * tensor.stride();
}

std::string header_of(std::span<const NamedTensor> tensors, const Metadata& metadata) {
  std::string header = "{";
  const auto start = [&](const std::string& name) {
    header += (header.size() > 1 ? "," : "") + json_quoted(name) + ":";
  };
  if (!metadata.empty()) {
    std::vector<std::string> lines;
    for (const auto& [key, value] : metadata) {
      lines.push_back(json_quoted(key) + ":" + json_quoted(value));
    }
    start("__metadata__");
    header += fmt::format("{{{}}}", fmt::join(lines, ","));
  }
  size_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    std::vector<size_t> shape(tensor.rank());
    for (size_t i = 0; i < shape.size(); ++i) shape[i] = tensor.extent(static_cast<int>(i));
    const size_t begin = end;
    end += 4 * tensor.size();
    start(name);
    header += fmt::format(R"({{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                          tensor.dtype() == DType::kInt32 ? "I32" : "F32", fmt::join(shape, ","),
                          begin, end);
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');  // the data starts at a multiple of 8
  return header;
}

// The first few of any number of things, for a message.
struct Listed {
  std::vector<std::string> shown;
  size_t count = 0;

  // A file may have tens of thousands that nobody sees: their text is not made.
  template <typename Text>
  void add(const Text& text) {
    constexpr size_t kShown = 5;
    if (count++ < kShown) shown.push_back(text());
  }
};

// "missing: a, b, c and 4 more; "
void list(std::string& text, std::string_view what, const Listed& things) {
  if (things.count == 0) return;
  text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", what, fmt::join(things.shown, ", "));
  const size_t more = things.count - things.shown.size();
  if (more > 0) text += fmt::format(" and {} more", more);
}

}  // namespace

SafetensorsFile::SafetensorsFile(std::filesystem::path path) : file_(std::move(path)) {
  uint64_t length = 0;
  if (file_.size() >= sizeof length) file_.read(0, std::as_writable_bytes(std::span(&length, 1)));
  std::vector<std::byte> start(
      std::min<size_t>(file_.size(), sizeof length + std::min<uint64_t>(length, kMaxHeaderBytes)));
  file_.read(0, start);
  SafetensorsHeader header = parse_safetensors(start, file_.size(), this->path().string());
  entries_ = std::move(header.entries);
  metadata_ = std::move(header.metadata);
  data_begin_ = header.data_begin;
}

const SafetensorsFile::Entry* SafetensorsFile::find(std::string_view name) const {
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), name,
                       [](const Entry& a, std::string_view b) { return a.name < b; });
  return found != entries_.end() && found->name == name ? &*found : nullptr;
}

Tensor SafetensorsFile::read(const Entry& entry) const {
  const DType type = entry.dtype == "I32" ? DType::kInt32 : DType::kFloat32;
  if (!readable_as(entry.dtype, type)) {
    throw FormatError("{}: '{}' is of dtype {}; F32, F16, BF16 and I32 can be read",
                      path().string(), shown_name(entry.name), entry.dtype);
  }
  Tensor tensor = Tensor::empty(entry.shape, type);
  read_into(entry, tensor);
  return tensor;
}

Tensor SafetensorsFile::read(std::string_view name) const {
  const Entry* const entry = find(name);
  if (entry == nullptr) throw FormatError("{}: there is no tensor '{}'", path().string(), name);
  return read(*entry);
}

void SafetensorsFile::read_into(const Entry& entry, const Tensor& tensor) const {
  if (entry.shape != tensor.shape() || !readable_as(entry.dtype, tensor.dtype())) {
    throw FormatError("{}: '{}' is {} {}, which does not fit a tensor of shape {}", path().string(),
                      shown_name(entry.name), entry.dtype, entry.shape, tensor.shape());
  }
  const size_t width = tensor.contiguous() ? tensor.size() : tensor.width();
  const size_t rows = width == 0 ? 0 : tensor.size() / width;
  size_t at = data_begin_ + entry.begin;
  for (size_t row = 0; row < rows; ++row, at += entry.bytes / rows) {
    const std::span<std::byte> to(row_of(tensor, row), 4 * width);
    if (entry.dtype == "F32" || entry.dtype == "I32") {
      file_.read(at, to);
    } else {
      read_halves(file_, at, entry.dtype == "F16", {reinterpret_cast<float*>(to.data()), width});
    }
  }
}

void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const Metadata& metadata) {
  std::vector<NamedTensor> sorted(tensors.begin(), tensors.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const NamedTensor& a, const NamedTensor& b) { return a.name < b.name; });
  for (size_t i = 0; i < sorted.size(); ++i) {
    const bool taken = i > 0 && sorted[i].name == sorted[i - 1].name;
    if (taken || sorted[i].name == "__metadata__") {
      throw FormatError("{}: two things are named '{}'", path.string(), sorted[i].name);
    }
  }
  const std::string header = header_of(sorted, metadata);
  const uint64_t length = header.size();
  if (sorted.size() > kMaxTensors || length > kMaxHeaderBytes) {
    throw FormatError("{}: {} tensors, with a header of {} bytes, are too many; at most {} and {}",
                      path.string(), sorted.size(), length, kMaxTensors, kMaxHeaderBytes);
  }
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const NamedTensor& entry : sorted) {
    const Tensor& tensor = entry.tensor;
    const size_t width = tensor.contiguous() ? tensor.size() : tensor.width();
    const size_t rows = width == 0 ? 0 : tensor.size() / width;
    for (size_t row = 0; row < rows; ++row) {
      file.write(std::span<const std::byte>(row_of(tensor, row), 4 * width));
    }
  }
  file.commit();
}

void check_weights(const SafetensorsFile& file, std::span<const NamedTensor> tensors) {
  Listed missing, different, left_over;
  std::vector<std::string_view> wanted;
  for (const NamedTensor& each : tensors) {
    const Tensor& tensor = each.tensor;
    wanted.push_back(each.name);
    const SafetensorsFile::Entry* const entry = file.find(each.name);
    if (entry == nullptr) {
      missing.add([&] { return fmt::format("{} {}", each.name, tensor.shape()); });
    } else if (entry->shape != tensor.shape() || !readable_as(entry->dtype, tensor.dtype())) {
      different.add([&] {
        return fmt::format("{} is {} {} in the file and {} {} in the model", each.name,
                           entry->dtype, entry->shape,
                           tensor.dtype() == DType::kInt32 ? "I32" : "F32", tensor.shape());
      });
    }
  }
  std::sort(wanted.begin(), wanted.end());
  auto next = wanted.begin();  // both are sorted
  for (const SafetensorsFile::Entry& entry : file.entries()) {
    while (next != wanted.end() && *next < entry.name) ++next;
    if (next == wanted.end() || *next != entry.name) {
      left_over.add([&] { return fmt::format("{} {}", shown_name(entry.name), entry.shape); });
    }
  }
  std::string text;
  list(text, "missing", missing);
  list(text, "different", different);
  list(text, "not in the model", left_over);
  if (!text.empty()) {
    throw FormatError("{} does not fit the model. {}. Was it saved with other settings?",
                      file.path().string(), text);
  }
}

void load_weights(const SafetensorsFile& file, std::span<const NamedTensor> tensors) {
  check_weights(file, tensors);
  for (const auto& [name, tensor] : tensors) {
    tensor.allocate();
    file.read_into(*file.find(name), tensor);
  }
}

void load_weights(const std::filesystem::path& path, std::span<const NamedTensor> tensors) {
  load_weights(SafetensorsFile(path), tensors);
}

}  // namespace attend
