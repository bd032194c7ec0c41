// Tensors in one file, in the safetensors format that the field shares:
//
//   8 bytes   length of the header, little-endian
//   header    JSON: {"__metadata__": {"key": "text"},
//                    "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
//   data      the values, without holes; offsets count from here
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

using Metadata = std::map<std::string, std::string>;

// A file opened for reading. It is checked whole, with sizes that cannot overflow, before memory is
// taken for any of it; values are read when asked for. If the file is cut off or fails meanwhile,
// that is an IoError.
class SafetensorsFile {
 public:
  struct Entry {
    std::string name;
    std::string_view dtype;  // as in the file: "F32", "BF16", ...
    Shape shape;
    size_t begin = 0, bytes = 0;  // begin counts from the start of the data
  };

  explicit SafetensorsFile(std::filesystem::path path);  // throws IoError, FormatError

  const std::filesystem::path& path() const { return file_.path(); }
  const std::vector<Entry>& entries() const { return entries_; }  // by name
  const Metadata& metadata() const { return metadata_; }
  const Entry* find(std::string_view name) const;  // nullptr if there is none

  // F32, F16 and BF16 become fp32 tensors and I32 int32 ones; others throw FormatError.
  Tensor read(const Entry& entry) const;
  Tensor read(std::string_view name) const;                        // FormatError if there is none
  void read_into(const Entry& entry, const Tensor& tensor) const;  // of the same shape and type

 private:
  FileReader file_;
  std::vector<Entry> entries_;
  Metadata metadata_;
  size_t data_begin_ = 0;
};

// Replaces `path` atomically. Tensors are sorted by name: the same tensors give the same bytes.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const Metadata& metadata = {});

// Throws FormatError unless the file and the tensors of a model have the same names, shapes and
// types: it lists what is missing, left over or different. The tensors need no memory.
void check_weights(const SafetensorsFile& file, std::span<const NamedTensor> tensors);

// Copies the values of the file into the tensors of a model, which are allocated where they are
// not (ShapesOnly in attend/nn/init.h). Where check_weights() throws nothing is changed.
void load_weights(const SafetensorsFile& file, std::span<const NamedTensor> tensors);
void load_weights(const std::filesystem::path& path, std::span<const NamedTensor> tensors);

}  // namespace attend
