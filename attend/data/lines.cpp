#include "attend/data/lines.h"

#include <algorithm>
#include <cstring>

#include "attend/base/error.h"
#include "attend/base/utf8.h"

namespace attend {
namespace {

constexpr size_t kReadBytes = size_t{1} << 16;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

LineCounts& LineCounts::operator+=(const LineCounts& other) {
  lines += other.lines;
  invalid_utf8 += other.invalid_utf8;
  nul_bytes += other.nul_bytes;
  carriage_returns += other.carriage_returns;
  byte_order_marks += other.byte_order_marks;
  too_long += other.too_long;
  return *this;
}

LineReader::LineReader(const std::filesystem::path& path, size_t longest, LongLines long_lines,
                       LineEnds ends)
    : name_(path == "-" ? "standard input" : path.string()),
      longest_(longest),
      long_lines_(long_lines),
      ends_(ends),
      bytes_(open_bytes(path)),
      buffer_(kReadBytes) {}

bool LineReader::next() {
  const bool ended = too_long_ && long_lines_ == LongLines::kEndThere;
  if (ended || !take_line()) return false;
  ++counts_.lines;
  if (too_long_) {
    ++counts_.too_long;
    line_ = {};
  } else {
    clean();
  }
  return true;
}

bool LineReader::ready() const {
  return std::memchr(buffer_.data() + begin_, '\n', end_ - begin_) != nullptr;
}

bool LineReader::fill() {
  begin_ = 0;
  end_ = bytes_->read(buffer_);
  return end_ > 0;
}

// The bytes up to the next end of line, into line_: a view of the buffer unless it crosses its end.
bool LineReader::take_line() {
  joined_.clear();
  too_long_ = false;
  bool any = false, ended = false;
  const auto enough = [&] { return too_long_ && long_lines_ == LongLines::kEndThere; };
  while (!ended && !enough() && (begin_ < end_ || fill())) {
    const char* start = buffer_.data() + begin_;
    const void* newline = std::memchr(start, '\n', end_ - begin_);
    ended = newline != nullptr;
    const size_t size = ended ? static_cast<const char*>(newline) - start : end_ - begin_;
    begin_ += size + (ended ? 1 : 0);
    too_long_ = too_long_ || joined_.size() + size > longest_;
    const size_t kept = size + (ended && ends_ == LineEnds::kKept ? 1 : 0);
    if (ended && !any && !too_long_) {
      line_ = {start, kept};
      return true;
    }
    if (!too_long_) joined_.append(start, kept);
    any = true;
  }
  line_ = joined_;
  return any;
}

void LineReader::clean() {
  if (counts_.lines == 1) {
    if (line_.starts_with("\xFF\xFE") || line_.starts_with("\xFE\xFF")) {
      throw DataError("{}: UTF-16; make it UTF-8 with iconv -f UTF-16 -t UTF-8", name_);
    }
    if (line_.starts_with(kByteOrderMark)) {
      line_.remove_prefix(kByteOrderMark.size());
      ++counts_.byte_order_marks;
    }
  }
  if (ends_ == LineEnds::kRemoved && line_.ends_with('\r')) {
    line_.remove_suffix(1);
    ++counts_.carriage_returns;
  }
  if (line_.find('\0') != line_.npos) {
    std::string kept(line_);
    counts_.nul_bytes += std::erase(kept, '\0');
    joined_ = std::move(kept);
    line_ = joined_;
  }
  if (!valid_utf8(line_)) {
    size_t replaced = 0;
    joined_ = repair_utf8(line_, replaced);
    counts_.invalid_utf8 += replaced;
    line_ = joined_;
  }
}

}  // namespace attend
