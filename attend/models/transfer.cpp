#include "attend/models/transfer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "attend/base/counted.h"
#include "attend/base/error.h"
#include "attend/base/names.h"
#include "attend/io/checkpoint.h"
#include "attend/models/adapter.h"
#include "attend/models/encoder_places.h"
#include "attend/nn/depth.h"
#include "attend/nn/init.h"

namespace attend {
namespace {

namespace fs = std::filesystem;

constexpr Named<VocabularyTransfer> kVocabularyTransfers[] = {{VocabularyTransfer::kSame, "same"},
                                                              {VocabularyTransfer::kMatch, "match"},
                                                              {VocabularyTransfer::kNew, "new"}};

// A directory below checkpoints/ belongs to the model two levels above it.
ModelDirectory directory_of(const fs::path& path) {
  if (!fs::exists(path / kTrainingTensors)) return {path};
  return {fs::absolute(path).lexically_normal().parent_path().parent_path()};
}

// A tensor that has a row for each token or label.
struct Table {
  std::string name;
  bool square;  // and a column for each: what is known of two together
};

// The tables of these columns: the tensors that grow with their vocabularies.
std::vector<Table> tables_of(const TextModel& model, const std::vector<std::string>& columns) {
  ModelConfig grown = model.config;
  ModelConfig::Vocabularies sizes = vocabularies_of(model.tokenizers, model.model->signature());
  for (const std::string& column : columns) ++sizes.at(column);
  grown.set_vocabularies(sizes);
  const ShapesOnly no_memory;
  Rng rng(0);
  const auto larger = make_model(grown, rng);
  const auto before = parameters_and_buffers(*model.model), after = parameters_and_buffers(*larger);
  std::vector<Table> found;
  for (size_t i = 0; i < before.size(); ++i) {
    const Shape &is = before[i].tensor.shape(), &would_be = after[i].tensor.shape();
    if (is != would_be) found.push_back({before[i].name, is.rank() == 2 && is[1] != would_be[1]});
  }
  return found;
}

// The rows of a table: which id each stands for.
struct TableRows {
  const Tokenizer* tokenizer;
  size_t unused;      // rows before the first that stands for an id
  int32_t first = 0;  // the id of that one

  TableRows(const Tokenizer& of, ColumnKind kind, size_t rows)
      : tokenizer(&of), first(kind == ColumnKind::kTokens ? 0 : of.first_piece()) {
    const size_t ids = of.size() - static_cast<size_t>(first);
    unused = rows - std::min(rows, ids);
  }
  size_t row(int32_t id) const { return static_cast<size_t>(id - first) + unused; }
  // What an id means: special ones by their use, others by their text.
  std::string meaning(int32_t id) const {
    const SpecialTokens special = tokenizer->special();
    if (id == special.unknown) return "\n unknown";
    if (id == special.start) return "\n start";
    if (id == special.end) return "\n end";
    return tokenizer->piece(id);
  }
};

// A row of one table, and the row of another that means the same.
struct SameRows {
  size_t from, to;
};

std::vector<SameRows> same_rows(const Tensor& from, const TableRows& known, const Tensor& to,
                                const TableRows& wanted) {
  std::unordered_map<std::string, int32_t> ids;
  for (int32_t id = known.first; static_cast<size_t>(id) < known.tokenizer->size(); ++id) {
    if (known.row(id) < from.extent(0)) ids.emplace(known.meaning(id), id);
  }
  std::vector<SameRows> same;
  for (int32_t id = wanted.first; static_cast<size_t>(id) < wanted.tokenizer->size(); ++id) {
    const auto found = ids.find(wanted.meaning(id));
    if (found == ids.end() || wanted.row(id) >= to.extent(0)) continue;
    same.push_back({known.row(found->second), wanted.row(id)});
  }
  return same;
}

// Copies the rows of what both know; of square tables, also only the columns of that.
void copy_rows(const Tensor& from, const Tensor& to, const std::vector<SameRows>& same,
               bool square) {
  const size_t width = to.size() / to.extent(0), of_from = from.size() / from.extent(0);
  for (const SameRows& row : same) {
    const float* const source = from.data() + row.from * of_from;
    float* const target = to.data() + row.to * width;
    if (!square) {
      std::copy_n(source, width, target);
      continue;
    }
    for (const SameRows& column : same) target[column.to] = source[column.from];
  }
}

// "encoder 24, output 2": how many tensors of each part.
std::string by_part(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, size_t>> parts;
  for (const std::string& name : names) {
    const std::string part = name.substr(0, name.find('.'));
    const auto known = std::ranges::find(parts, part, &std::pair<std::string, size_t>::first);
    if (known == parts.end()) {
      parts.emplace_back(part, 1);
    } else {
      ++known->second;
    }
  }
  std::vector<std::string> texts;
  texts.reserve(parts.size());
  for (const auto& [part, count] : parts) texts.push_back(fmt::format("{} {}", part, count));
  return fmt::format("{}", fmt::join(texts, ", "));
}

class Transfer {
 public:
  Transfer(const BaseModel& base, const TextModel& to, const TransferOptions& options)
      : base_(base),
        to_(to),
        options_(options),
        base_signature_(base.model().model->signature()),
        signature_(to.model->signature()),
        base_tensors_(parameters_and_buffers(*base.model().model)),
        base_places_(encoder_places(*base.model().model)),
        places_(encoder_places(*to.model)) {
    for (const NamedTensor& t : base_tensors_) by_name_.emplace(t.name, &t);
    for (const auto& [name, place] : base_places_) by_place_.emplace(place, by_name_.at(name));
    find_tables();
    find_fresh_layers();
  }

  TransferReport run() {
    report_.from = base_.directory().string();
    report_.kind = base_.model().config.kind.name;
    for (const NamedTensor& t : parameters_and_buffers(*to_.model)) take(t);
    for (const NamedTensor& t : base_tensors_) {
      if (std::ranges::find(used_, &t) == used_.end()) report_.left.push_back(t.name);
    }
    if (report_.taken.empty() && report_.taken_in_part.empty()) {
      throw ConfigError(
          "{}: nothing of this {} model fits the {} model; start from a model of the same size, or "
          "leave out model settings to have its own",
          report_.from, report_.kind, to_.config.kind.name);
    }
    return std::move(report_);
  }

 private:
  struct Column {
    std::string name, base;
    ColumnKind kind;
  };

  // Columns that share a tokenizer grow together.
  void find_tables() {
    std::map<uint64_t, std::vector<Column>> changed;
    for (const ColumnSpec& column : signature_.columns) {
      if (!column.has_tokenizer()) continue;
      const ColumnSpec* const of_base = column_of_base(base_signature_, signature_, column);
      if (of_base == nullptr) continue;
      const Tokenizer& own = to_.tokenizer(column.name);
      if (own.fingerprint() == base_.model().tokenizer(of_base->name).fingerprint()) continue;
      changed[own.fingerprint()].push_back({column.name, of_base->name, column.kind});
    }
    for (const auto& [_, columns] : changed) {
      std::vector<std::string> names;
      for (const ColumnSpec& column : signature_.columns) {
        const bool grows =
            column.has_tokenizer() && to_.tokenizer(column.name).fingerprint() ==
                                          to_.tokenizer(columns.front().name).fingerprint();
        if (grows) names.push_back(column.name);
      }
      for (const Table& table : tables_of(to_, names)) {
        tables_.emplace(table.name, std::pair(columns.front(), table.square));
      }
    }
  }

  void find_fresh_layers() {
    SequenceEncoder* const encoder = to_.model->shared_encoder();
    if (options_.reinitialize == 0) return;
    if (encoder == nullptr) {
      throw ConfigError("train: training.reinitialize is {}, but a {} model has no encoder",
                        options_.reinitialize, to_.config.kind.name);
    }
    const std::vector<NamedTensor> all = parameters(*encoder);
    const Depths depths = depths_of(all);
    if (options_.reinitialize > depths.layers) {
      throw ConfigError("train: training.reinitialize is {}, but the encoder has {}",
                        options_.reinitialize, counted(depths.layers, "layer"));
    }
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t depth = depths.of[i];
      if (depth > depths.layers - options_.reinitialize && depth <= depths.layers) {
        fresh_places_.push_back(all[i].name);
      }
    }
  }

  // By its place in the encoder, or by its name.
  const NamedTensor* source_of(const std::string& name) const {
    const auto place = places_.find(name);
    if (place != places_.end()) {
      if (std::ranges::find(fresh_places_, place->second) != fresh_places_.end()) return nullptr;
      const auto found = by_place_.find(place->second);
      if (found != by_place_.end()) return found->second;
    }
    const auto found = by_name_.find(name);
    return found == by_name_.end() || base_places_.contains(name) ? nullptr : found->second;
  }

  void take(const NamedTensor& t) {
    const NamedTensor* const source = source_of(t.name);
    if (source == nullptr) return report_.fresh.push_back(t.name);
    const auto table = tables_.find(t.name);
    if (table != tables_.end()) {
      return take_rows(t, *source, table->second.first, table->second.second);
    }
    if (source->tensor.shape() != t.tensor.shape()) {
      report_.reshaped.push_back(t.name);
      return report_.fresh.push_back(t.name);
    }
    if (t.tensor.allocated()) std::ranges::copy(base_.read(*source).span(), t.tensor.data());
    report_.taken.push_back(t.name);
    used_.push_back(source);
  }

  void take_rows(const NamedTensor& t, const NamedTensor& source, const Column& column,
                 bool square) {
    const Shape &from = source.tensor.shape(), &to = t.tensor.shape();
    const bool fits = from.rank() == to.rank() &&
                      (square ? from[0] == from[1] : from.size() / from[0] == to.size() / to[0]);
    const bool is_new =
        options_.vocabulary == VocabularyTransfer::kNew && column.kind == ColumnKind::kTokens;
    if (!fits) report_.reshaped.push_back(t.name);
    if (!fits || is_new) return report_.fresh.push_back(t.name);
    const TableRows known(base_.model().tokenizer(column.base), column.kind, from[0]);
    const TableRows wanted(to_.tokenizer(column.name), column.kind, to[0]);
    const bool allocated = t.tensor.allocated();
    const Tensor values = allocated ? base_.read(source) : source.tensor;
    const std::vector<SameRows> same = same_rows(values, known, t.tensor, wanted);
    if (same.empty()) return report_.fresh.push_back(t.name);
    if (allocated) copy_rows(values, t.tensor, same, square);
    report_.taken_in_part.push_back({t.name, same.size(), to[0] - wanted.unused});
    used_.push_back(&source);
  }

  const BaseModel& base_;
  const TextModel& to_;
  const TransferOptions& options_;
  Signature base_signature_, signature_;
  std::vector<NamedTensor> base_tensors_;
  std::map<std::string, std::string> base_places_, places_;
  std::map<std::string, const NamedTensor*> by_name_, by_place_;
  // Whose rows have to be matched, and whether it is square.
  std::map<std::string, std::pair<Column, bool>> tables_;
  std::vector<std::string> fresh_places_;
  std::vector<const NamedTensor*> used_;
  TransferReport report_;
};

}  // namespace

std::string_view name_of(VocabularyTransfer transfer) {
  return name_from_value(kVocabularyTransfers, transfer);
}

BaseModel::BaseModel(const fs::path& directory)
    : directory_(directory),
      root_(directory_of(directory).root),
      model_(TextModel::load_description({root_})) {
  if (is_adapter({root_}) && root_ == directory) {
    model_ = TextModel::load(root_);
    return;
  }
  fs::path file = directory / kTrainingTensors;
  if (fs::exists(file)) {
    prefix_ = kWeightsPrefix;
  } else {
    file = ModelDirectory{directory}.weights();
  }
  if (!fs::exists(file)) {
    throw IoError(
        "{0}: it has no model.safetensors to start from; give a model that was trained, or a "
        "checkpoint such as {0}/checkpoints/step-500",
        directory.string());
  }
  weights_ = std::make_unique<SafetensorsFile>(file);
  if (prefix_.empty()) check_weights(*weights_, parameters_and_buffers(*model_.model));
}

Tensor BaseModel::read(const NamedTensor& tensor) const {
  if (weights_ == nullptr) return tensor.tensor;
  const SafetensorsFile::Entry* const entry = weights_->find(prefix_ + tensor.name);
  if (entry == nullptr || entry->shape != tensor.tensor.shape()) {
    throw FormatError("{}: it has no {} of shape {}; copy the whole model directory again",
                      weights_->path().string(), prefix_ + tensor.name, tensor.tensor.shape());
  }
  return weights_->read(*entry);
}

std::vector<std::string> TransferReport::lines() const {
  const size_t parts = taken.size() + taken_in_part.size();
  std::vector<std::string> names = taken;
  for (const Part& part : taken_in_part) names.push_back(part.name);
  std::vector<std::string> found = {fmt::format("start: took {} of {} of {} ({}): {}", parts,
                                                counted(parts + left.size(), "tensor"), from, kind,
                                                by_part(names))};
  for (const Part& part : taken_in_part) {
    found.back() += fmt::format("; {} of {} rows of {}", part.rows, part.of, part.name);
  }
  std::string rest;
  if (!left.empty()) rest = fmt::format("left {}: {}", left.size(), by_part(left));
  if (!fresh.empty()) {
    rest += fmt::format("{}new {}: {}", rest.empty() ? "" : "; ", fresh.size(), by_part(fresh));
  }
  if (!reshaped.empty()) {
    rest += fmt::format("; of another shape: {}", fmt::join(reshaped, ", "));
  }
  if (!rest.empty()) found.push_back("start: " + rest);
  return found;
}

const ColumnSpec* column_of_base(const Signature& base, const Signature& own,
                                 const ColumnSpec& column) {
  const auto same = std::ranges::find_if(base.columns, [&](const ColumnSpec& c) {
    return c.name == column.name && c.kind == column.kind;
  });
  if (same != base.columns.end()) return &*same;
  const auto first = [](const Signature& signature) {
    return std::ranges::find(signature.columns, ColumnKind::kTokens, &ColumnSpec::kind);
  };
  const auto mine = first(own), theirs = first(base);
  const bool reads_it = mine != own.columns.end() && mine->name == column.name;
  const bool joined = own.joined.has_value() && column.kind == ColumnKind::kTokens;
  return (reads_it || joined) && theirs != base.columns.end() ? &*theirs : nullptr;
}

void check_same_vocabularies(const BaseModel& base, const Tokenizers& tokenizers,
                             const Signature& signature) {
  const Signature of_base = base.model().model->signature();
  for (const ColumnSpec& column : signature.columns) {
    const ColumnSpec* const known = column_of_base(of_base, signature, column);
    if (known == nullptr || column.kind != ColumnKind::kTokens) continue;
    const Tokenizer& own = *tokenizers.at(column.name);
    const Tokenizer& theirs = base.model().tokenizer(known->name);
    if (own.fingerprint() == theirs.fingerprint()) continue;
    throw ConfigError(
        "train: the {} has {} tokens ({}), but {} was trained with {} ({}); use its tokenizer by "
        "leaving out vocabulary settings and tokenizers of your own, or set init_vocabulary to "
        "match, which keeps the vectors of tokens that both have, or to new",
        column.name, own.size(), name_of(own.kind()), base.directory().string(), theirs.size(),
        name_of(theirs.kind()));
  }
}

TransferReport transfer_weights(const BaseModel& base, const TextModel& to,
                                const TransferOptions& options) {
  if (options.vocabulary == VocabularyTransfer::kSame) {
    check_same_vocabularies(base, to.tokenizers, to.model->signature());
  }
  return Transfer(base, to, options).run();
}

}  // namespace attend
