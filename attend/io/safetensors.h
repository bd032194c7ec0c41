// Tensors in one file, in the safetensors format:
//
//   8 bytes   length of the header, little-endian
//   header    JSON: {"__metadata__": {"key": "text"},
//                    "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
//   data      the values, without gaps; offsets count from here
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/files.h"
#include "attend/tensor/named.h"

namespace attend {

// Text by key, stored beside the tensors.
using Metadata = std::map<std::string, std::string>;

// A file open for reading. The header is checked completely before any memory is allocated; values
// are read on request. Throws IoError if the file is truncated or fails meanwhile. May be read by
// several threads at once.
class SafetensorsFile {
 public:
  // A tensor in the file.
  struct Entry {
    std::string name;
    std::string_view dtype;  // as in the file: "F32", "BF16", ...
    Shape shape;
    size_t begin = 0, bytes = 0;  // begin counts from the start of the data
  };

  explicit SafetensorsFile(std::filesystem::path path);  // throws IoError, FormatError

  // The file, its tensors, and its metadata.
  const std::filesystem::path& path() const { return file_.path(); }
  const std::vector<Entry>& entries() const { return entries_; }  // sorted by name
  const Metadata& metadata() const { return metadata_; }
  const Entry* find(std::string_view name) const;  // nullptr if there is none

  // A new tensor: float32 from F32, F16 and BF16, int32 from I32; other types throw FormatError.
  Tensor read(const Entry& entry) const;
  Tensor read(std::string_view name) const;  // throws FormatError if there is none
  void read_into(const Entry& entry,
                 const Tensor& tensor) const;  // which has the same shape and type

 private:
  FileReader file_;
  std::vector<Entry> entries_;
  Metadata metadata_;
  size_t data_begin_ = 0;
};

// Writes a file, replacing `path` atomically. Tensors are sorted by name, so the same tensors give
// the same bytes. Throws IoError.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const Metadata& metadata = {});

// Throws FormatError, which lists the differences, unless the file and the tensors of a model have
// the same names, shapes and types. The tensors need no memory.
void check_weights(const SafetensorsFile& file, std::span<const NamedTensor> tensors);

// Copies the values of the file into the tensors of a model, and allocates tensors that have no
// memory (ShapesOnly in attend/nn/init.h). Changes nothing if check_weights() throws.
void load_weights(const SafetensorsFile& file, std::span<const NamedTensor> tensors);
void load_weights(const std::filesystem::path& path, std::span<const NamedTensor> tensors);

}  // namespace attend
