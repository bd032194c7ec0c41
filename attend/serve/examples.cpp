#include "attend/serve/examples.h"

#include <algorithm>

#include "attend/base/error.h"
#include "attend/base/utf8.h"
#include "attend/data/corpus.h"

namespace attend {
namespace {

constexpr size_t kMost = 6;                               // examples
constexpr size_t kTried = 300;                            // records that are looked at
constexpr size_t kLongestInput = 90, kLongestStart = 30;  // bytes
constexpr uintmax_t kLargestCorpus = 256 << 20;           // bytes; opening one reads its tables
constexpr std::string_view kSpace = " \t\r\n";

// Up to the end of a line, at most so many bytes, cut between words. Empty where it is no text.
std::string shortened(std::string_view text, size_t most) {
  text = text.substr(0, text.find_first_of("\r\n"));
  if (text.size() > most) {
    const size_t space = text.substr(0, most + 1).find_last_of(kSpace);
    text = text.substr(0, space == text.npos ? most : space);
  }
  const size_t last = text.find_last_not_of(kSpace);
  size_t replaced = 0;
  std::string whole = repair_utf8(text.substr(0, last == text.npos ? 0 : last + 1), replaced);
  return replaced > 0 ? "" : whole;
}

// A window of a long document may begin inside a word.
std::string beginning(std::string_view text, bool whole_words) {
  if (!whole_words) text.remove_prefix(std::min(text.size(), text.find_first_of(kSpace)));
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(kSpace)));
  return shortened(text, kLongestStart);
}

// The examples of a corpus; with `cut`, also those that are too long to be shown whole.
class Finder {
 public:
  Finder(const Corpus& corpus, const TextModel& model) : corpus_(corpus), model_(model) {
    for (const ColumnSpec& column : model.model->signature().columns) {
      if (column.kind != ColumnKind::kTokens) continue;
      (column.written ? written_ : read_).push_back(column.name);
    }
  }

  std::vector<ExampleInput> find(bool cut) const {
    std::vector<ExampleInput> found;
    const size_t tried = std::min(kTried, corpus_.size());
    for (size_t record = 0; record < tried && found.size() < kMost; ++record) {
      const ExampleInput input = read_.empty() ? start(record) : read(record, cut);
      const bool is_whole = !input.empty() && std::ranges::none_of(input, &std::string::empty);
      if (is_whole && std::ranges::find(found, input) == found.end()) found.push_back(input);
    }
    return found;
  }

 private:
  // What the model continues.
  ExampleInput start(size_t record) const {
    const std::vector<int32_t> all = ids(record, written_.front());
    if (all.empty()) return {};
    const Tokenizer& tokenizer = model_.tokenizer(written_.front());
    const bool whole_words = all.front() == tokenizer.special().start;
    return {beginning(tokenizer.decode(all), whole_words)};
  }

  ExampleInput read(size_t record, bool cut) const {
    ExampleInput input;
    for (const std::string& name : read_) {
      const std::string text = model_.tokenizer(name).decode(ids(record, name));
      if (!cut && text.size() > kLongestInput) return {};
      input.push_back(shortened(text, kLongestInput));
    }
    return input;
  }

  // None where the text cannot be had back: some of it is not in the vocabulary.
  std::vector<int32_t> ids(size_t record, const std::string& name) const {
    std::vector<int32_t> all;
    const size_t column = corpus_.column(name);
    const Tokenizer& tokenizer = model_.tokenizer(name);
    if (corpus_.columns()[column].vocabulary != tokenizer.size()) return {};
    corpus_.append(record, column, all);
    const bool known = std::ranges::find(all, tokenizer.special().unknown) == all.end();
    return known ? all : std::vector<int32_t>();
  }

  const Corpus& corpus_;
  const TextModel& model_;
  std::vector<std::string> read_, written_;
};

std::vector<ExampleInput> examples_of(const std::filesystem::path& file, const TextModel& model) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return {};
  if (std::filesystem::file_size(file, none) > kLargestCorpus || none) return {};
  try {
    const Corpus corpus(file);
    const Finder finder(corpus, model);
    const std::vector<ExampleInput> whole = finder.find(false);
    return whole.empty() ? finder.find(true) : whole;
  } catch (const Error&) {  // the page does without
    return {};
  }
}

}  // namespace

std::vector<ExampleInput> example_inputs(const ModelDirectory& directory, const TextModel& model) {
  std::vector<ExampleInput> found = examples_of(directory.root / "valid.corpus", model);
  return found.empty() ? examples_of(directory.root / "train.corpus", model) : found;
}

}  // namespace attend
