#include "attend/inspect/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "attend/base/error.h"

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

std::vector<int32_t> ids_in(const SafetensorsFile& file, const std::string& name) {
  const Tensor ids = file.read(name);
  if (ids.dtype() != DType::kInt32) {
    throw FormatError("{}: {} are no ids; it is damaged, remove the file", file.path().string(),
                      name);
  }
  const auto span = ids.index_span();
  return {span.begin(), span.end()};
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

Tensor Snapshot::map(size_t sentence, std::string_view layer, HeadChoice head) const {
  const std::string name = fmt::format("{}.{}", sentence, layer);
  if (file_.find(name) == nullptr) {
    throw ConfigError("{}: no map {}", file_.path().string(), name);
  }
  const Tensor all = file_.read(name);
  const Shape& shape = all.shape();
  if (all.dtype() != DType::kFloat32 || shape.rank() != 3 || shape[0] == 0) {
    throw FormatError("{}: {} is no map but {}; it is damaged, remove the file",
                      file_.path().string(), name, shape);
  }
  std::vector<Tensor> heads;
  for (size_t i = 0; i < shape[0]; ++i) {
    heads.push_back(Tensor::of(all.slice_rows(i, 1).to_vector(), {shape[1], shape[2]}));
  }
  return together(heads, head);
}

}  // namespace attend
