#include "attend/data/records.h"

#include <algorithm>
#include <utility>

#include "attend/base/error.h"
#include "attend/base/hash.h"
#include "attend/base/rng.h"

namespace attend {
namespace {

constexpr RandomStream kHeldOutRecords(0x68656c64, 1);

bool blank_field(std::string_view text) { return text.find_first_not_of(" \t\v\f\r") == text.npos; }

}  // namespace

std::vector<TextColumn> two_columns(std::string first, std::string second,
                                    const std::filesystem::path& first_file,
                                    const std::filesystem::path& second_file) {
  if (second_file.empty()) {
    return {{std::move(first), first_file, 1}, {std::move(second), first_file, 2}};
  }
  return {{std::move(first), first_file}, {std::move(second), second_file}};
}

RecordCounts& RecordCounts::operator+=(const RecordCounts& other) {
  text += other.text;
  records += other.records;
  empty += other.empty;
  too_long += other.too_long;
  return *this;
}

RecordReader::RecordReader(std::vector<TextColumn> columns, size_t longest, HeldOut held_out)
    : columns_(std::move(columns)), held_out_(held_out), texts_(columns_.size()) {
  std::vector<std::filesystem::path> paths;
  const auto is_input = [](const auto& path) { return file_column(path).file == "-"; };
  for (const TextColumn& column : columns_) {
    const auto found = std::ranges::find(paths, column.file);
    const bool again =
        found == paths.end() ? std::ranges::any_of(paths, is_input) : column.place == 0;
    if (again && is_input(column.file)) {
      throw ConfigError(
          "standard input cannot be {} as well as another column; give one of them as a file, or "
          "both as columns with a tab between them",
          column.name);
    }
    file_of_.push_back(static_cast<size_t>(found - paths.begin()));
    if (found != paths.end()) continue;
    paths.push_back(column.file);
    files_.push_back(std::make_unique<LineReader>(column.file, longest));
  }
  if (files_.empty()) throw ConfigError("records of no columns; name at least one file");
}

bool RecordReader::next() {
  while (next_lines()) {
    if (any_too_long()) {
      ++counts_.too_long;
      continue;
    }
    split();
    if (has_gaps()) {
      ++counts_.empty;
    } else if (wanted()) {
      ++counts_.records;
      return true;
    }
  }
  return false;
}

RecordCounts RecordReader::counts() const {
  RecordCounts counts = counts_;
  for (const auto& file : files_) counts.text += file->counts();
  return counts;
}

std::string RecordReader::place_of(size_t column, size_t line) const {
  const LineReader& first = *files_.front();
  return place_of_line(columns_[column].file, line - (first.number() - first.lines_of_text()));
}

bool RecordReader::next_lines() {
  const bool more = files_.front()->next();
  for (size_t i = 1; i < files_.size(); ++i) {
    if (files_[i]->next() != more) fail_unequal();
  }
  return more;
}

bool RecordReader::any_too_long() const {
  return std::ranges::any_of(files_, [](const auto& file) { return file->too_long(); });
}

bool RecordReader::wanted() const {
  if (held_out_.part == TextPart::kAll || held_out_.share == 0) {
    return held_out_.part != TextPart::kHeldOut;
  }
  Hash hash;
  hash.add(texts_.front());
  const bool kept = double{kHeldOutRecords.uniform(hash.value())} >= held_out_.share;
  return kept == (held_out_.part == TextPart::kKept);
}

// A record without any text is none, whatever may be empty.
bool RecordReader::has_gaps() const {
  bool any_text = false;
  for (size_t i = 0; i < columns_.size(); ++i) {
    const bool empty = blank_field(texts_[i]);
    if (empty && !columns_[i].may_be_empty) return true;
    any_text |= !empty;
  }
  return !any_text;
}

void RecordReader::split() {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const LineReader& file = *files_[file_of_[i]];
    const size_t place = columns_[i].place;
    texts_[i] = place == 0 ? file.line() : part(file, place);
  }
}

// A blank line has no columns, and need not: its record is left out.
std::string_view RecordReader::part(const LineReader& file, size_t place) const {
  std::string_view rest = file.line();
  if (blank_field(rest)) return {};
  for (size_t i = 1; i < place; ++i) {
    const size_t tab = rest.find('\t');
    if (tab == rest.npos) {
      throw DataError(
          "{}:{}: it has {} column{}, but column {} is needed; put tabs between columns",
          file.name(), file.number(), i, i == 1 ? "" : "s", place);
    }
    rest.remove_prefix(tab + 1);
  }
  return rest.substr(0, rest.find('\t'));
}

void RecordReader::fail_unequal() {
  for (const auto& file : files_) {
    while (file->next()) continue;
  }
  const LineReader& first = *files_.front();
  const auto other = std::ranges::find_if(
      files_, [&](const auto& file) { return file->lines_of_text() != first.lines_of_text(); });
  const LineReader& second = other == files_.end() ? first : **other;
  throw DataError("{} has {} lines but {} has {}; line n of one must belong to line n of the other",
                  first.name(), first.lines_of_text(), second.name(), second.lines_of_text());
}

CorporaReader::CorporaReader(TextCorpora corpora, size_t longest, HeldOut held_out)
    : corpora_(std::move(corpora)), longest_(longest), held_out_(held_out) {
  if (corpora_.empty()) throw ConfigError("records of no corpus; name at least one file");
  reader_.emplace(corpora_.front(), longest_, held_out_);
}

bool CorporaReader::next() {
  while (!reader_->next()) {
    if (corpus_ + 1 == corpora_.size()) return false;
    reader_.emplace(corpora_[++corpus_], longest_, held_out_);
  }
  return true;
}

}  // namespace attend
