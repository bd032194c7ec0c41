// Files that are read without trusting that they stay as they are, and replaced without ever being
// half-written; directories whose names survive a power cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// A regular file, read piece by piece. If it is cut off meanwhile, read() throws, where a mapped
// file would end the process with SIGBUS. Moves, does not copy.
class FileReader {
 public:
  explicit FileReader(std::filesystem::path path);  // throws IoError
  ~FileReader();
  FileReader(FileReader&& other) noexcept;
  FileReader& operator=(FileReader&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }
  size_t size() const { return size_; }  // when it was opened
  // Fills `bytes` from `offset` on. Any number of threads may call it. Throws IoError.
  void read(size_t offset, std::span<std::byte> bytes) const;
  void sync() const;  // until this returns, a power cut may undo what was written; throws IoError

 private:
  std::filesystem::path path_;
  size_t size_ = 0;
  int descriptor_ = -1;
};

// All of a regular file. Throws IoError, and FormatError if it is larger than `most` bytes.
std::string file_contents(const std::filesystem::path& path, size_t most = SIZE_MAX);

// Writes a temporary file beside `path`; commit() flushes, syncs and renames it into place, then
// syncs the directory. Whoever reads `path` sees the old file or the new one, whole, even after a
// power cut. Without commit() the destructor removes the temporary and `path` stays as it was;
// after a failed write nothing can be committed any more. A new file gets the mode that the user's
// mask allows; a replaced one keeps its mode, and its owner and group where the system permits.
// Symbolic links are followed; what is no regular file, such as a pipe or a device, is written to
// as it is.
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

// Makes a directory, and those above it that are missing, so that a power cut takes none of them
// away. Returns what it made, the outermost first. Throws IoError.
std::vector<std::filesystem::path> make_directories(const std::filesystem::path& path);

// Until this returns, a power cut may undo what was created, renamed or removed in a directory.
// Throws IoError; does nothing where the file system cannot sync directories.
void sync_directory(const std::filesystem::path& directory);

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
