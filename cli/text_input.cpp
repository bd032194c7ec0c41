#include "cli/text_input.h"

#include <fmt/format.h>
#include <unistd.h>

#include "attend/base/counted.h"
#include "attend/base/error.h"
#include "attend/base/utf8.h"

namespace attend::cli {
namespace {

constexpr size_t kPairsAtOnce = 1024;
constexpr size_t kWindowBytes = size_t{4} << 20;

void require_whole(const LineReader& reader) {
  if (!reader.too_long()) return;
  throw DataError("{}:{}: the line is over {} bytes; break it into sentences", reader.name(),
                  reader.number(), kLongestLine);
}

void tell_repairs(const LineReader& reader) { cli::tell_repairs(reader.counts(), reader.name()); }

// Counts the memory of lines that are all kept.
class Kept {
 public:
  Kept(const std::string& name, size_t most) : name_(name), most_(most) {}

  void add(const std::string& line) {
    bytes_ += line.size() + sizeof line;
    if (bytes_ <= most_) return;
    throw DataError("{}: over {} MB of text, which is taken in whole; split it, and give a part",
                    name_, most_ >> 20);
  }

 private:
  std::string name_;
  size_t most_, bytes_ = 0;
};

}  // namespace

bool next_whole(LineReader& reader) {
  if (!reader.next()) return false;
  require_whole(reader);
  return true;
}

std::vector<std::string> read_window(LineReader& reader, size_t most) {
  require_whole(reader);  // the line at which the window before ended
  std::vector<std::string> lines;
  size_t bytes = 0;
  while (lines.size() < most && bytes < kWindowBytes && (lines.empty() || reader.ready())) {
    if (!reader.next()) {
      if (lines.empty()) tell_repairs(reader);
      break;
    }
    if (reader.too_long() && !lines.empty()) break;
    require_whole(reader);
    bytes += lines.emplace_back(reader.line()).size();
  }
  return lines;
}

LineReader open_text(const std::filesystem::path& file, std::string_view expected) {
  const bool standard_input = file == "-" || file.string().starts_with("-:");
  if (standard_input && !expected.empty() && isatty(STDIN_FILENO) != 0) {
    fmt::print(stderr, "attend: reading standard input, {}; Ctrl-D ends.\n", expected);
  }
  return LineReader(file, kLongestLine, LongLines::kEndThere);
}

std::optional<size_t> count_lines(const std::filesystem::path& file) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return std::nullopt;
  LineReader reader(file, kLongestLine, LongLines::kEndThere);
  size_t count = 0;
  while (reader.next()) ++count;
  return count;
}

std::vector<std::string> read_lines(const std::filesystem::path& file, size_t most) {
  LineReader reader = open_text(file);
  Kept kept(reader.name(), most);
  std::vector<std::string> lines;
  while (next_whole(reader)) kept.add(lines.emplace_back(reader.line()));
  tell_repairs(reader);
  if (lines.empty()) throw DataError("{}: the file has no lines", reader.name());
  return lines;
}

std::string read_document(const std::filesystem::path& file, size_t most) {
  LineReader reader(file, most, LongLines::kEndThere, LineEnds::kKept);
  std::string text;
  while (reader.next()) {
    text += reader.line();
    if (!reader.too_long() && text.size() <= most) continue;
    throw DataError("{}: over {} MB of text, which is taken in whole; use a part of it",
                    reader.name(), most >> 20);
  }
  tell_repairs(reader);
  return text;
}

std::string repaired(std::string_view text, std::string_view name) {
  size_t replaced = 0;
  std::string whole = repair_utf8(text, replaced);
  tell_repairs({.invalid_utf8 = replaced}, name);
  return whole;
}

void tell_repairs(const LineCounts& counts, std::string_view name) {
  const auto tell = [&](uint64_t count, const char* what, std::string_view done) {
    if (count > 0) fmt::print(stderr, "attend: {}: {} {}\n", name, counted(count, what), done);
  };
  tell(counts.invalid_utf8, "piece", "of invalid UTF-8 replaced");
  tell(counts.nul_bytes, "NUL byte", "removed");
  tell(counts.too_long, "line", "over 1 MB left out");
}

PairedLines::PairedLines(const std::filesystem::path& source, const std::filesystem::path& target,
                         PairNames names)
    : names_(names),
      source_(open_text(source,
                        target.empty() ? "two texts a line with a tab between" : "line by line")) {
  if (target.empty()) return;
  if (source == "-" && target == "-") {
    throw ConfigError("standard input cannot be both source and target; give it as columns");
  }
  target_ = std::make_unique<LineReader>(open_text(target));
}

LinePairs PairedLines::read_window(size_t most) {
  if (failed_) std::rethrow_exception(failed_);
  LinePairs pairs;
  const size_t first = source_.number() + 1;
  pairs.sources = cli::read_window(source_, most);
  try {
    target_ ? add_targets(pairs) : split(pairs, first);
  } catch (const DataError&) {
    if (pairs.targets.empty()) throw;
    failed_ = std::current_exception();
    pairs.sources.resize(pairs.targets.size());
  }
  return pairs;
}

void PairedLines::add_targets(LinePairs& pairs) {
  while (pairs.targets.size() < pairs.sources.size() && next_whole(*target_)) {
    pairs.targets.emplace_back(target_->line());
  }
  const bool more = pairs.sources.empty() && next_whole(*target_);
  if (more || pairs.targets.size() < pairs.sources.size()) fail_unequal();
  if (pairs.sources.empty()) tell_repairs(*target_);
}

void PairedLines::split(LinePairs& pairs, size_t first) {
  for (std::string& line : pairs.sources) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) {
      throw DataError("{}:{}: no tab parts {} and {}; give the {}s with {}", source_.name(),
                      first + pairs.targets.size(), names_.first, names_.second, names_.second,
                      names_.option);
    }
    pairs.targets.push_back(line.substr(tab + 1, line.find('\t', tab + 1) - tab - 1));
    line.resize(tab);
  }
}

void PairedLines::fail_unequal() {
  while (source_.next()) continue;
  while (target_->next()) continue;
  throw DataError(
      "{} has {} lines but {} has {}; line n of the one must belong to line n of the other",
      source_.name(), source_.lines_of_text(), target_->name(), target_->lines_of_text());
}

LinePairs read_pairs(const std::filesystem::path& source, const std::filesystem::path& target,
                     PairNames names, size_t most) {
  PairedLines reader(source, target, names);
  Kept sources(reader.source_name(), most), targets(reader.target_name(), most);
  LinePairs all;
  while (true) {
    LinePairs some = reader.read_window(kPairsAtOnce);
    if (some.sources.empty()) break;
    for (std::string& line : some.sources) sources.add(all.sources.emplace_back(std::move(line)));
    for (std::string& line : some.targets) targets.add(all.targets.emplace_back(std::move(line)));
  }
  if (all.sources.empty()) throw DataError("{}: the file has no lines", source.string());
  return all;
}

}  // namespace attend::cli
