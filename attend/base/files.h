// Files that are read without copying and replaced without ever being half-written.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace attend {

// A whole file mapped read-only. Moves, does not copy; the span lives as long as the object.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);  // throws IoError
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // Lets go of the memory of a part, which is read from the file again if it is asked for.
  void release(std::span<const std::byte> part) const;
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Writes a temporary file beside `path`; commit() flushes, syncs and renames it into place, then
// syncs the directory. Whoever reads `path` sees the old file or the new one, whole, even after a
// power cut. Without commit() the destructor removes the temporary and `path` stays as it was;
// after a failed write nothing can be committed any more. Symbolic links are followed; what is no
// regular file, such as a pipe or a device, is written to as it is.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);  // throws IoError
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);  // throws IoError, naming the path
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void commit();

  // What a file of a directory was to be called that was never committed; empty for any other.
  static std::string unfinished(std::string_view name);

 private:
  void discard() noexcept;
  [[noreturn]] void fail(const char* what, int error_number);

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

void replace_file(const std::filesystem::path& path, std::string_view text);

// Below the system's own for temporary files; removed at the end with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace attend
