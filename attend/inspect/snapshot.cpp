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
    throw FormatError("{}: {} are no ids; it is damaged, remove the file", file.path().string(),
                      name);
  }
  const Tensor ids = file.read(*entry);
  const auto span = ids.index_span();
  return {span.begin(), span.end()};
}

void check_ids(std::span<const int32_t> ids, size_t vocabulary, std::string_view file) {
  for (const int32_t id : ids) {
    if (id >= 0 && static_cast<size_t>(id) < vocabulary) continue;
    throw FormatError("{}: id {} in a vocabulary of {}; it is damaged, remove the file", file, id,
                      vocabulary);
  }
}

}  // namespace

void write_snapshot(const ModelDirectory& directory, int64_t step, const TextModel& model,
                    std::span<const Reading> sentences) {
  std::filesystem::create_directories(directory.looks());
  const std::vector<AttentionLayer> layers = model.model->attention_layers();
  std::vector<NamedTensor> tensors;
  for (size_t s = 0; s < sentences.size(); ++s) {
    tensors.push_back({fmt::format("{}.source", s), ids_of(sentences[s].source)});
    tensors.push_back({fmt::format("{}.target", s), ids_of(sentences[s].target)});
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
    : file_(file_of(directory, step)) {
  while (file_.find(fmt::format("{}.source", sentences_)) != nullptr) ++sentences_;
}

Reading Snapshot::reading(size_t sentence) const {
  if (sentence >= sentences_) {
    throw ConfigError("{}: no sentence {}; it has {}", file_.path().string(), sentence, sentences_);
  }
  return {ids_in(file_, fmt::format("{}.source", sentence)),
          ids_in(file_, fmt::format("{}.target", sentence))};
}

bool Snapshot::is_of_same(const Snapshot& other) const {
  if (sentences_ != other.sentences_) return false;
  for (size_t i = 0; i < sentences_; ++i) {
    const Reading mine = reading(i), theirs = other.reading(i);
    if (mine.source != theirs.source || mine.target != theirs.target) return false;
  }
  return true;
}

void Snapshot::check_ids(const TextModel& model) const {
  for (size_t i = 0; i < sentences_; ++i) {
    const Reading ids = reading(i);
    attend::check_ids(ids.source, model.source->size(), file_.path().string());
    attend::check_ids(ids.target, model.target->size(), file_.path().string());
  }
}

Tensor Snapshot::map(size_t sentence, std::string_view layer, HeadChoice head) const {
  const std::string name = fmt::format("{}.{}", sentence, layer);
  const SafetensorsFile::Entry* const entry = file_.find(name);
  if (entry == nullptr) {
    throw ConfigError("{}: no map {}", file_.path().string(), shown_name(name));
  }
  const Reading of = reading(sentence);
  const size_t most = of.source.size() + of.target.size() + 2;  // rows or columns, with both ends
  const Shape& shape = entry->shape;
  const auto within = [&](int axis, size_t limit) {
    return shape[axis] >= 1 && shape[axis] <= limit;
  };
  if (entry->dtype != "F32" || shape.rank() != 3 || !within(0, kMostHeads) || !within(1, most) ||
      !within(2, most)) {
    throw FormatError("{}: {} is no map but {} {}; it is damaged, remove the file",
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
