#include "attend/inspect/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "attend/base/error.h"
#include "attend/base/printable.h"

namespace attend {
namespace {

constexpr std::string_view kPrefix = "step-", kEnding = ".safetensors";

std::filesystem::path file_of(const ModelDirectory& directory, int64_t step) {
  return directory.looks() / fmt::format("{}{}{}", kPrefix, step, kEnding);
}

Tensor ids_of(std::span<const int32_t> ids) { return Tensor::ids(ids, {ids.size()}); }

// Heads side by side, [heads, queries, keys].
Tensor stacked(std::span<const Tensor> heads) {
  std::vector<float> all;
  for (const Tensor& head : heads) {
    const std::vector<float> weights = head.to_vector();
    all.insert(all.end(), weights.begin(), weights.end());
  }
  return Tensor::of(all, {heads.size(), heads.front().rows(), heads.front().width()});
}

constexpr size_t kMostTokens = size_t{1} << 16, kMostHeads = 1024;

std::vector<int32_t> ids_in(const SafetensorsFile& file, const std::string& name) {
  const SafetensorsFile::Entry* const entry = file.find(name);
  if (entry == nullptr || entry->dtype != "I32" || entry->shape.rank() != 1 ||
      entry->shape[0] > kMostTokens) {
    throw FormatError("{}: {} has no ids; the file is damaged, remove it", file.path().string(),
                      shown_name(name));
  }
  const Tensor ids = file.read(*entry);
  const auto span = ids.index_span();
  return {span.begin(), span.end()};
}

// What the names of the sequences of a sentence begin with.
std::string ids_prefix(size_t s) { return fmt::format("{}.ids.", s); }

const SafetensorsFile::Entry* first_from(const SafetensorsFile& file, const std::string& prefix) {
  const auto& entries = file.entries();
  const auto found = std::ranges::lower_bound(entries, prefix, {}, &SafetensorsFile::Entry::name);
  return found != entries.end() && found->name.starts_with(prefix) ? &*found : nullptr;
}

}  // namespace

void write_snapshot(const ModelDirectory& directory, int64_t step, const TextModel& model,
                    std::span<const Trace> sentences) {
  std::filesystem::create_directories(directory.looks());
  std::vector<NamedTensor> tensors;
  for (size_t s = 0; s < sentences.size(); ++s) {
    for (const TraceSequence& sequence : sentences[s].sequences) {
      if (sequence.role == SequenceRole::kJoined) continue;
      tensors.push_back({ids_prefix(s) + sequence.name, ids_of(sequence.text_ids())});
    }
    const std::vector<AttentionLayer>& layers = sentences[s].layers;
    std::vector<std::vector<Tensor>> heads(layers.size());
    visit_heads(model, sentences[s], layers, [&](size_t layer, size_t, const Tensor& weights) {
      heads[layer].push_back(Tensor::of(weights.to_vector(), weights.shape()));
    });
    for (size_t i = 0; i < layers.size(); ++i) {
      tensors.push_back({fmt::format("{}.{}", s, layers[i].name), stacked(heads[i])});
    }
  }
  write_safetensors(file_of(directory, step), tensors);
}

std::vector<int64_t> snapshot_steps(const ModelDirectory& directory) {
  std::vector<int64_t> steps;
  std::error_code none;
  // It may change meanwhile: training goes on.
  for (std::filesystem::directory_iterator entry(directory.looks(), none), end;
       !none && entry != end; entry.increment(none)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(kPrefix) || !name.ends_with(kEnding)) continue;
    const char* const last = name.data() + name.size() - kEnding.size();
    int64_t step = 0;
    if (std::from_chars(name.data() + kPrefix.size(), last, step).ptr == last) {
      steps.push_back(step);
    }
  }
  std::ranges::sort(steps);
  return steps;
}

Snapshot::Snapshot(const ModelDirectory& directory, int64_t step)
    : file_(file_of(directory, step)), is_old_(file_.find("0.source") != nullptr) {
  const auto has = [&](size_t s) {
    return is_old_ ? file_.find(fmt::format("{}.source", s)) : first_from(file_, ids_prefix(s));
  };
  while (has(sentences_) != nullptr) ++sentences_;
}

std::vector<Snapshot::Column> Snapshot::columns(size_t sentence) const {
  if (sentence >= sentences_) {
    throw ConfigError("{}: no sentence {}; it has {}", file_.path().string(), sentence, sentences_);
  }
  if (is_old_) {
    std::vector<int32_t> source = ids_in(file_, fmt::format("{}.source", sentence));
    if (!source.empty()) source.pop_back();  // its end
    return {{"source", source}, {"target", ids_in(file_, fmt::format("{}.target", sentence))}};
  }
  std::vector<Column> found;
  const std::string prefix = ids_prefix(sentence);
  const auto& entries = file_.entries();
  for (const auto* entry = first_from(file_, prefix);
       entry != entries.data() + entries.size() && entry->name.starts_with(prefix); ++entry) {
    found.push_back({entry->name.substr(prefix.size()), ids_in(file_, entry->name)});
  }
  return found;
}

bool Snapshot::is_of_same(const Snapshot& other) const {
  if (sentences_ != other.sentences_) return false;
  for (size_t i = 0; i < sentences_; ++i) {
    const std::vector<Column> mine = columns(i), theirs = other.columns(i);
    if (!std::ranges::equal(mine, theirs, {}, &Column::ids, &Column::ids)) return false;
  }
  return true;
}

Trace Snapshot::trace(const TextModel& model, size_t sentence) const {
  const std::string file = file_.path().string();
  const std::vector<Column> stored = columns(sentence);
  Batch record(1);
  for (const ColumnSpec& column : model.model->signature().columns) {
    const bool written = column.written || column.kind == ColumnKind::kLabel;
    const std::string name = !is_old_ ? column.name : written ? "target" : "source";
    const auto found = std::ranges::find(stored, name, &Column::name);
    if (found == stored.end()) {
      throw FormatError("{}: sentence {} has no '{}'; the file is of another model, remove it",
                        file, sentence, column.name);
    }
    if (column.kind == ColumnKind::kLabel && found->ids.size() != 1) {
      throw FormatError("{}: sentence {} has {} labels; the file is damaged, remove it", file,
                        sentence, found->ids.size());
    }
    const size_t vocabulary = model.tokenizer(column.name).size();
    for (const int32_t id : found->ids) {
      if (id >= 0 && static_cast<size_t>(id) < vocabulary) continue;
      throw FormatError("{}: id {} in a vocabulary of {}; the file is damaged, remove it", file, id,
                        vocabulary);
    }
    record.add(column.name, one_sequence(found->ids));
  }
  return traces_of(model, record).front();
}

Tensor Snapshot::map(size_t sentence, std::string_view layer, HeadChoice head) const {
  const std::string name = fmt::format("{}.{}", sentence, layer);
  const SafetensorsFile::Entry* const entry = file_.find(name);
  if (entry == nullptr) {
    throw ConfigError("{}: no map {}", file_.path().string(), shown_name(name));
  }
  size_t most = 3;  // rows or columns: a start and ends, and
  for (const Column& column : columns(sentence)) most += column.ids.size();
  const Shape& shape = entry->shape;
  const auto within = [&](int axis, size_t limit) {
    return shape[axis] >= 1 && shape[axis] <= limit;
  };
  if (entry->dtype != "F32" || shape.rank() != 3 || !within(0, kMostHeads) || !within(1, most) ||
      !within(2, most)) {
    throw FormatError("{}: {} is no map but {} {}; the file is damaged, remove it",
                      file_.path().string(), shown_name(name), entry->dtype, shape);
  }
  const Tensor all = file_.read(*entry);
  std::vector<Tensor> heads;
  for (size_t i = 0; i < shape[0]; ++i) {
    heads.push_back(Tensor::of(all.slice_rows(i, 1).to_vector(), {shape[1], shape[2]}));
  }
  return together(heads, head);
}

}  // namespace attend
