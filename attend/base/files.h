// Reading files that may change meanwhile, replacing files without ever leaving half of one, and
// making directories that survive a power cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attend {

// A regular file, read in pieces. If it is truncated meanwhile, read() throws, where a mapped file
// would end the process with SIGBUS. Can be moved, not copied.
class FileReader {
 public:
  explicit FileReader(std::filesystem::path path);  // throws IoError
  ~FileReader();
  FileReader(FileReader&& other) noexcept;
  FileReader& operator=(FileReader&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }  // as it was given
  size_t size() const { return size_; }                        // when it was opened
  // Fills `bytes` from `offset` on. May be called from several threads at once. Throws IoError.
  void read(size_t offset, std::span<std::byte> bytes) const;
  void sync() const;  // waits until what was written is safe from a power cut; throws IoError

 private:
  std::filesystem::path path_;
  size_t size_ = 0;
  int descriptor_ = -1;
};

// The contents of a regular file. Throws IoError, or FormatError if it is larger than `most` bytes.
std::string file_contents(const std::filesystem::path& path, size_t most = SIZE_MAX);

// Writes a temporary file beside `path`; commit() flushes, syncs and renames it into place, then
// syncs the directory. A reader of `path` sees the whole old file or the whole new one, even after
// a power cut. Without commit() the destructor removes the temporary file and leaves `path`
// unchanged; after a failed write, commit() fails too. A new file gets the mode that the user's
// mask allows; a replaced one keeps its mode, and its owner and group where the system permits.
// Symbolic links are followed; a pipe or a device is written to directly.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);  // throws IoError
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);  // throws IoError, naming the path
  // The same for text.
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  // Puts the new file in place. Throws IoError, with the old file as it was.
  void commit();

  // For the name of a temporary file that was never committed, the name it was meant to get; empty
  // for any other name.
  static std::string unfinished(std::string_view name);

 private:
  void discard() noexcept;
  [[noreturn]] void fail(const char* what, int error_number);

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

// Replaces a file by `text` through an AtomicFile. Throws IoError.
void replace_file(const std::filesystem::path& path, std::string_view text);

// Makes a directory and its missing parents, synced so that they survive a power cut. Returns those
// it made, outermost first. Throws IoError.
std::vector<std::filesystem::path> make_directories(const std::filesystem::path& path);

// Waits until files created, renamed or removed in a directory are safe from a power cut. Throws
// IoError; does nothing where the file system cannot sync directories.
void sync_directory(const std::filesystem::path& directory);

// A new directory under the system's directory for temporary files, removed with its contents by
// the destructor.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }  // of the directory

 private:
  std::filesystem::path path_;
};

}  // namespace attend
