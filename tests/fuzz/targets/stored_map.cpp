// Maps stored along training: looks/step-N.safetensors. A model that writes, and one that labels,
// both read them.
#include "attend/inspect/snapshot.h"

#include "attend/base/error.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/small_models.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {

namespace {

void look(const Snapshot& snapshot, const TextModel& model) {
  for (size_t i = 0; i < std::min<size_t>(snapshot.sentences(), 4); ++i) {
    const Trace trace = snapshot.trace(model, i);
    for (const AttentionLayer& layer : model.model->signature().layers) {
      snapshot.map(i, layer.name, {});
      map_labels(trace, {layer.queries, layer.keys});
    }
  }
  snapshot.trace(model, snapshot.sentences());  // there is no such sentence
}

}  // namespace

void take_stored_map(std::string_view bytes) {
  static const Scratch scratch;
  static const TextModel writes = small_rnn_model("bahdanau");
  static const TextModel labels = small_label_model(LabelPooling::kMean);
  const ModelDirectory directory{scratch.path()};
  std::filesystem::create_directories(directory.looks());
  scratch.write("looks/step-3.safetensors", bytes);
  require(snapshot_steps(directory) == std::vector<int64_t>{3}, "a stored map is listed");
  const Snapshot snapshot(directory, 3);
  snapshot.is_of_same(snapshot);
  try {
    look(snapshot, labels);
  } catch (const Error&) {  // it is of another model, or damaged
  }
  look(snapshot, writes);
}

std::vector<std::string> stored_map_seeds() {
  const Scratch scratch;
  const ModelDirectory directory{scratch.path()};
  const auto stored = [&](const TextModel& model, std::span<const Trace> sentences) {
    write_snapshot(directory, 3, model, sentences);
    return contents(directory.looks() / "step-3.safetensors");
  };
  const auto written = [&](std::span<const NamedTensor> tensors) {
    write_safetensors(scratch.path() / "map", tensors);
    return contents(scratch.path() / "map");
  };
  const TextModel writes = small_rnn_model("bahdanau");
  const TextModel labels = small_label_model(LabelPooling::kMean);
  const Trace sentences[] = {given_trace(writes, "ab", "ba"), given_trace(writes, "c", "")};
  const Trace labelled[] = {given_trace(labels, "ab", "b")};
  const auto ids = [](std::initializer_list<int32_t> values) { return Tensor::ids(values); };
  const std::string layer = "0." + writes.model->signature().layers.front().name;
  // As earlier versions wrote them, damaged ones, and those of other models.
  const NamedTensor old[] = {{"0.source", ids({4, 5, 2})},
                             {"0.target", ids({5, 4})},
                             {layer, Tensor::full({1, 3, 3}, 0.5f)}};
  const NamedTensor outside[] = {{"0.ids.source", ids({4, 500})}, {"0.ids.target", ids({-1})}};
  const NamedTensor two_labels[] = {{"0.ids.text", ids({4})}, {"0.ids.label", ids({4, 5})}};
  const NamedTensor no_target[] = {{"0.ids.source", ids({4})}};
  const NamedTensor no_map[] = {{"0.ids.source", ids({4})}, {"0.ids.target", ids({4})}};
  const NamedTensor wrong_map[] = {
      {"0.ids.source", ids({4})}, {"0.ids.target", ids({4})}, {layer, Tensor::zeros({1, 9, 9})}};
  const NamedTensor no_ids[] = {{"0.ids.source", Tensor::zeros({2})}};
  return {stored(writes, sentences), stored(labels, labelled), written(old),
          written(outside),          written(two_labels),      written(no_target),
          written(no_map),           written(wrong_map),       written(no_ids)};
}

}  // namespace attend::fuzz
