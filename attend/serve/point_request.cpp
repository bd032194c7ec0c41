#include "attend/serve/point_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/data/corpus.h"
#include "attend/decode/embed.h"
#include "attend/io/bounded_json.h"

namespace attend {
namespace {

using Json = nlohmann::ordered_json;

constexpr Named<PointSource> kPointSources[] = {
    {PointSource::kTexts, "texts"}, {PointSource::kWords, "words"}, {PointSource::kLines, "lines"}};
constexpr size_t kLongestPointText = 256;             // tokens of a text from a corpus
constexpr uintmax_t kLargestPointCorpus = 256 << 20;  // bytes
constexpr size_t kShownIterations = 750;              // of t-SNE

size_t whole_number_in(const Json& json, const char* name, size_t otherwise, Range range) {
  if (!json.contains(name)) return otherwise;
  const Json& value = json[name];
  const bool good = value.is_number_unsigned() &&
                    value.get<size_t>() >= static_cast<size_t>(range.low) &&
                    value.get<size_t>() <= static_cast<size_t>(range.high);
  if (good) return value.get<size_t>();
  throw ConfigError("points: {} is not a whole number from {} to {}", name, range.low, range.high);
}

std::string text_in(const Json& json, const char* name, const char* otherwise) {
  if (!json.contains(name)) return otherwise;
  if (json[name].is_string()) return json[name].get<std::string>();
  throw ConfigError("points: {} is not a string", name);
}

// "a text\tits label", a line each. Blank lines are left out.
void split_lines(std::string_view all, PointRequest& request) {
  bool has_labels = false;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find('\n', begin), all.size());
    std::string_view line = all.substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == line.npos) continue;
    const size_t tab = line.rfind('\t');
    request.texts.emplace_back(line.substr(0, tab));
    request.labels.emplace_back(tab == line.npos ? "" : line.substr(tab + 1));
    has_labels |= tab != line.npos;
  }
  if (!has_labels) request.labels.clear();
  if (request.texts.size() <= kMostShownPoints) return;
  throw DataError(
      "points: {} lines; the page shows at most {}. `attend embed --picture` draws more",
      request.texts.size(), kMostShownPoints);
}

// What a column of labels or numbers says about a record; empty for none.
class CorpusLabels {
 public:
  CorpusLabels(const Corpus& corpus, const TextModel& model) : corpus_(corpus), model_(model) {
    for (size_t c = 0; c < corpus.columns().size(); ++c) {
      const ColumnKind kind = corpus.columns()[c].kind();
      const bool known =
          kind != ColumnKind::kLabel || model.tokenizers.contains(corpus.columns()[c].name());
      if ((kind == ColumnKind::kLabel || kind == ColumnKind::kNumber) && known) column_ = c;
    }
  }

  bool has_any() const { return column_.has_value(); }

  std::string of(size_t record) const {
    if (!column_) return "";
    const ColumnDescriptor& column = corpus_.columns()[*column_];
    std::vector<int32_t> ids;
    corpus_.append(record, *column_, ids);
    if (ids.empty()) return "";
    if (column.kind() == ColumnKind::kNumber) {
      return fmt::format("{:.4g}", std::bit_cast<float>(ids.front()));
    }
    const Tokenizer& tokenizer = model_.tokenizer(column.name());
    return tokenizer.decode({ids.data(), 1});
  }

 private:
  const Corpus& corpus_;
  const TextModel& model_;
  std::optional<size_t> column_;
};

LabelledTexts read_corpus(const std::filesystem::path& file, const TextModel& model, size_t most) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return {};
  if (std::filesystem::file_size(file, none) > kLargestPointCorpus || none) return {};
  LabelledTexts found;
  try {
    const Corpus corpus(file);
    const std::string name = embedded_column(model);
    const Tokenizer& tokenizer = model.tokenizer(name);
    const size_t column = corpus.column(name);
    if (corpus.columns()[column].vocabulary != tokenizer.size()) return {};
    const CorpusLabels labels(corpus, model);
    const std::optional<size_t> longest = model.model->signature().column(name).longest();
    const size_t cut = std::min(kLongestPointText, longest.value_or(kLongestPointText));
    const size_t count = std::min(most, corpus.size());
    for (size_t i = 0; i < count; ++i) {
      const size_t record = i * corpus.size() / count;
      std::vector<int32_t> ids;
      corpus.append(record, column, ids);
      ids.resize(std::min(ids.size(), cut));
      std::string text = tokenizer.decode(ids);
      // What is written as text may be read as more tokens.
      while (longest && !ids.empty() && tokenizer.encode(text).size() > *longest) {
        ids.resize(ids.size() / 2);
        text = tokenizer.decode(ids);
      }
      found.texts.push_back(std::move(text));
      if (labels.has_any()) found.labels.push_back(labels.of(record));
    }
  } catch (const Error&) {  // the page does without
    return {};
  }
  return found;
}

}  // namespace

PointRequest PointRequest::parse(std::string_view text) {
  Json json;
  try {
    json = parse_bounded_json(text, "the request",
                              {.bytes = size_t{1} << 20, .values = 64, .depth = 4});
  } catch (const FormatError& error) {
    throw DataError("points: {}", error.what());
  }
  if (!json.is_object()) throw DataError("points: the request is not a JSON object");
  PointRequest request;
  request.model = whole_number_in(json, "model", 0, {0, 1'000'000});
  request.source = value_from_name(kPointSources, "of", text_in(json, "of", "texts"));
  request.most = whole_number_in(json, "most", request.most, {2, kMostShownPoints});
  request.projection.method = projection_from_name(text_in(json, "method", "pca"));
  TsneConfig& tsne = request.projection.tsne;
  tsne.iterations = kShownIterations;
  tsne.perplexity = static_cast<double>(whole_number_in(json, "perplexity", 30, {1, 1000}));
  tsne.seed = whole_number_in(json, "seed", 1, {0, 1'000'000'000});
  if (request.source == PointSource::kLines) {
    split_lines(text_in(json, "lines", ""), request);
  }
  return request;
}

LabelledTexts texts_of_corpus(const ModelDirectory& directory, const TextModel& model,
                              size_t most) {
  LabelledTexts found = read_corpus(directory.root / "valid.corpus", model, most);
  if (found.texts.size() >= most) return found;
  LabelledTexts more =
      read_corpus(directory.root / "train.corpus", model, most - found.texts.size());
  if (found.texts.empty()) return more;
  if (found.labels.empty() != more.labels.empty() && !more.texts.empty()) return found;
  std::ranges::move(more.texts, std::back_inserter(found.texts));
  std::ranges::move(more.labels, std::back_inserter(found.labels));
  return found;
}

}  // namespace attend
