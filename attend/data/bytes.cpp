#include "attend/data/bytes.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "attend/base/error.h"

namespace attend {
namespace {

constexpr size_t kCompressedBytes = size_t{1} << 16;
constexpr std::string_view kGzipMagic = "\x1F\x8B";

// A file as it is. What was looked at in front can be given back.
class PlainBytes : public ByteSource {
 public:
  explicit PlainBytes(const std::filesystem::path& path) : name_(path.string()) {
    if (name_ == "-") {
      name_ = "standard input";
      descriptor_ = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    } else {
      descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    }
    if (descriptor_ < 0) throw IoError("cannot open {}: {}", name_, std::strerror(errno));
  }
  ~PlainBytes() override { ::close(descriptor_); }
  PlainBytes(const PlainBytes&) = delete;
  PlainBytes& operator=(const PlainBytes&) = delete;

  size_t read(std::span<char> out) override {
    if (!front_.empty()) {
      const size_t size = front_.copy(out.data(), out.size());
      front_.erase(0, size);
      return size;
    }
    ssize_t size = 0;
    do {
      size = ::read(descriptor_, out.data(), out.size());
    } while (size < 0 && errno == EINTR);
    if (size < 0) throw IoError("cannot read {}: {}", name_, std::strerror(errno));
    return static_cast<size_t>(size);
  }

  // Whether these are the first bytes. Looks no further than where it knows; read() gives them
  // again.
  bool starts_with(std::string_view text) {
    std::string seen;
    char next = 0;
    while (seen.size() < text.size() && text.starts_with(seen) && read({&next, 1}) > 0) {
      seen += next;
    }
    front_ = seen;
    return front_ == text;
  }

  const std::string& name() const { return name_; }

 private:
  std::string name_, front_;
  int descriptor_ = -1;
};

// One gzip member after another.
class GzipBytes : public ByteSource {
 public:
  explicit GzipBytes(std::unique_ptr<PlainBytes> file)
      : file_(std::move(file)), input_(kCompressedBytes) {
    constexpr int kGzipOnly = 16;
    if (::inflateInit2(&stream_, kGzipOnly + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~GzipBytes() override { ::inflateEnd(&stream_); }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;

  size_t read(std::span<char> out) override {
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(std::min(out.size(), kCompressedBytes));
    const uInt room = stream_.avail_out;
    while (stream_.avail_out == room) {
      if (stream_.avail_in == 0 && !refill()) {
        if (between_members_) return 0;
        throw FormatError("{}: the compressed data is cut off at byte {}; copy the file again",
                          file_->name(), position_);
      }
      if (between_members_) ::inflateReset(&stream_);
      const uInt before = stream_.avail_in;
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      position_ += before - stream_.avail_in;
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
        throw FormatError("{}: the compressed data is damaged at byte {} ({}); copy the file again",
                          file_->name(), position_, stream_.msg ? stream_.msg : "unknown");
      }
      between_members_ = result == Z_STREAM_END;
    }
    return room - stream_.avail_out;
  }

 private:
  bool refill() {
    const size_t size = file_->read(input_);
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(size);
    return size > 0;
  }

  std::unique_ptr<PlainBytes> file_;
  std::vector<char> input_;
  z_stream stream_{};
  size_t position_ = 0;  // in the compressed file
  bool between_members_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& path) {
  auto file = std::make_unique<PlainBytes>(path);
  if (file->starts_with(kGzipMagic)) return std::make_unique<GzipBytes>(std::move(file));
  if (path.extension() == ".gz") {
    throw FormatError("{}: not compressed by gzip, as its name says; rename it or copy it again",
                      file->name());
  }
  return file;
}

}  // namespace attend
