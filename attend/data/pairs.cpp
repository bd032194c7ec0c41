#include "attend/data/pairs.h"

#include <utility>

#include "attend/base/error.h"

namespace attend {
namespace {

bool blank(std::string_view text) { return text.find_first_not_of(" \t\v\f\r") == text.npos; }

}  // namespace

PairReader::PairReader(PairFiles files, size_t longest)
    : files_(std::move(files)), source_(files_.source, longest) {
  if (!files_.target.empty()) {
    if (files_.source == "-" && files_.target == "-") {
      throw ConfigError("standard input cannot be both source and target; give it as columns");
    }
    target_ = std::make_unique<LineReader>(files_.target, longest);
  } else if (files_.source_column == 0 || files_.target_column == 0) {
    throw ConfigError("{}: columns are counted from 1", source_.name());
  }
}

bool PairReader::next() {
  while (next_lines()) {
    if (source_.too_long() || (target_ && target_->too_long())) {
      ++counts_.too_long;
      continue;
    }
    if (target_) {
      source_text_ = source_.line();
      target_text_ = target_->line();
    } else if (!blank(source_.line())) {
      source_text_ = column(files_.source_column);
      target_text_ = column(files_.target_column);
    } else {
      source_text_ = target_text_ = {};
    }
    if (!blank(source_text_) && !blank(target_text_)) {
      ++counts_.pairs;
      return true;
    }
    ++counts_.empty;
  }
  return false;
}

PairCounts PairReader::counts() const {
  PairCounts counts = counts_;
  counts.text = source_.counts();
  if (target_) counts.text += target_->counts();
  return counts;
}

bool PairReader::next_lines() {
  const bool more = source_.next();
  if (target_ && target_->next() != more) fail_unequal();
  return more;
}

std::string_view PairReader::column(size_t number) const {
  std::string_view rest = source_.line();
  for (size_t i = 1; i < number; ++i) {
    const size_t tab = rest.find('\t');
    if (tab == rest.npos) {
      throw DataError("{}:{}: {} columns, but column {} is wanted; put tabs between them",
                      source_.name(), source_.number(), i, number);
    }
    rest.remove_prefix(tab + 1);
  }
  return rest.substr(0, rest.find('\t'));
}

void PairReader::fail_unequal() {
  while (source_.next()) continue;
  while (target_->next()) continue;
  throw DataError(
      "{} has {} lines but {} has {}; line n of the one must belong to line n of the other",
      source_.name(), source_.number(), target_->name(), target_->number());
}

}  // namespace attend
