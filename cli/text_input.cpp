#include "cli/text_input.h"

#include <fmt/format.h>

#include <limits>

#include "attend/base/error.h"

namespace attend::cli {
namespace {

constexpr size_t kAll = std::numeric_limits<size_t>::max();

// Leaving a line out would move those after it: every line must be usable.
void require_whole(const LineReader& reader) {
  if (!reader.too_long()) return;
  throw DataError("{}:{}: the line is over {} bytes; break it into sentences", reader.name(),
                  reader.number(), kLongestLine);
}

bool next_whole(LineReader& reader) {
  if (!reader.next()) return false;
  require_whole(reader);
  return true;
}

void tell_repairs(const LineReader& reader) {
  const LineCounts& counts = reader.counts();
  if (counts.invalid_utf8 > 0) {
    fmt::print(stderr, "attend: {}: {} pieces of invalid UTF-8 replaced\n", reader.name(),
               counts.invalid_utf8);
  }
  if (counts.nul_bytes > 0) {
    fmt::print(stderr, "attend: {}: {} NUL bytes removed\n", reader.name(), counts.nul_bytes);
  }
}

LinePairs checked(LinePairs pairs, const std::filesystem::path& file) {
  if (pairs.sources.empty()) throw DataError("{}: the file has no lines", file.string());
  return pairs;
}

}  // namespace

std::vector<std::string> read_window(LineReader& reader, size_t most) {
  require_whole(reader);  // the line at which the window before ended
  std::vector<std::string> lines;
  while (lines.size() < most && (lines.empty() || reader.ready())) {
    if (!reader.next()) {
      if (lines.empty()) tell_repairs(reader);
      break;
    }
    if (reader.too_long() && !lines.empty()) break;
    require_whole(reader);
    lines.emplace_back(reader.line());
  }
  return lines;
}

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  LineReader reader(file);
  std::vector<std::string> lines;
  while (next_whole(reader)) lines.emplace_back(reader.line());
  tell_repairs(reader);
  if (lines.empty()) throw DataError("{}: the file has no lines", reader.name());
  return lines;
}

PairedLines::PairedLines(const std::filesystem::path& source, const std::filesystem::path& target)
    : source_(source) {
  if (target.empty()) return;
  if (source == "-" && target == "-") {
    throw ConfigError("standard input cannot be both source and target; give it as columns");
  }
  target_ = std::make_unique<LineReader>(target);
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
      throw DataError("{}:{}: no tab parts source and target; give the targets with --target",
                      source_.name(), first + pairs.targets.size());
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
      source_.name(), source_.number(), target_->name(), target_->number());
}

LinePairs read_pairs(const std::filesystem::path& source, const std::filesystem::path& target) {
  PairedLines reader(source, target);
  LinePairs all;
  while (true) {
    LinePairs some = reader.read_window(kAll);
    if (some.sources.empty()) return checked(std::move(all), source);
    std::ranges::move(some.sources, std::back_inserter(all.sources));
    std::ranges::move(some.targets, std::back_inserter(all.targets));
  }
}

}  // namespace attend::cli
