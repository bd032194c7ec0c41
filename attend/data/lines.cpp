#include "attend/data/lines.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/printable.h"
#include "attend/base/utf8.h"

namespace attend {
namespace {

constexpr size_t kReadBytes = size_t{1} << 16;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string name_of_input(const std::filesystem::path& file) {
  return file == "-" ? "standard input" : file.string();
}

}  // namespace

FileColumn file_column(const std::filesystem::path& path) {
  const std::string text = path.string();
  const size_t colon = text.rfind(':');
  std::error_code none;
  if (colon == text.npos || colon == 0 || colon + 1 == text.size() ||
      text.find('/', colon) != text.npos || std::filesystem::exists(path, none)) {
    return {path};
  }
  const std::string_view which = std::string_view(text).substr(colon + 1);
  size_t place = 0;
  const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), place);
  const bool is_place = error == std::errc() && end == which.data() + which.size() && place > 0;
  FileColumn column{text.substr(0, colon)};
  if (is_place) column.place = place;
  if (!is_place) column.name = which;
  return column;
}

std::string place_of_line(const std::filesystem::path& path, size_t n) {
  const FileColumn column = file_column(path);
  return fmt::format("{}:{}", name_of_input(column.file), n + (column.name.empty() ? 0 : 1));
}

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
    : column_(file_column(path)),
      name_(name_of_input(column_.file)),
      longest_(longest),
      long_lines_(long_lines),
      ends_(ends),
      bytes_(open_bytes(column_.file)),
      buffer_(kReadBytes) {
  if (!column_.name.empty()) find_column();
}

bool LineReader::next() {
  const bool ended = too_long_ && long_lines_ == LongLines::kEndThere;
  if (ended || !take_line()) return false;
  ++counts_.lines;
  if (too_long_) {
    ++counts_.too_long;
    line_ = {};
  } else {
    clean();
    if (column_.place > 0) take_column();
  }
  return true;
}

// The line of names is no line of the text, but it counts where lines are numbered.
void LineReader::find_column() {
  const std::string wanted = std::exchange(column_.name, {});
  std::vector<std::string> names;
  if (next()) {
    std::string_view rest = line_;
    while (rest.ends_with('\n') || rest.ends_with('\r')) rest.remove_suffix(1);
    for (;;) {
      const size_t tab = rest.find('\t');
      names.push_back(shown_name(rest.substr(0, tab)));
      if (rest.substr(0, tab) == wanted) {
        column_.place = names.size();
        named_ = true;
        return;
      }
      if (tab == rest.npos) break;
      rest.remove_prefix(tab + 1);
    }
  }
  throw DataError("{}: it has no column '{}'; its first line names: {}", name_, shown_name(wanted),
                  fmt::join(names, ", "));
}

// Where lines keep their ends, a column has that of its line.
void LineReader::take_column() {
  const size_t text = line_.find_last_not_of("\r\n") + 1;
  const std::string_view end = ends_ == LineEnds::kKept ? line_.substr(text) : std::string_view();
  const std::string_view column = column_of(line_.substr(0, line_.size() - end.size()));
  if (end.empty() || column.data() + column.size() == end.data()) {
    line_ = {column.data(), column.size() + end.size()};
    return;
  }
  std::string kept(column);
  kept += end;
  joined_ = std::move(kept);
  line_ = joined_;
}

// A blank line has no columns, and need not.
std::string_view LineReader::column_of(std::string_view line) const {
  if (line.find_first_not_of(" \t\v\f\r\n") == line.npos) return {};
  for (size_t i = 1; i < column_.place; ++i) {
    const size_t tab = line.find('\t');
    if (tab == line.npos) {
      throw DataError(
          "{}:{}: it has {} column{}, but column {} is needed; put tabs between columns", name_,
          counts_.lines, i, i == 1 ? "" : "s", column_.place);
    }
    line.remove_prefix(tab + 1);
  }
  return line.substr(0, line.find('\t'));
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
