// Maps stored along training: looks/step-N.safetensors.
#include "attend/inspect/snapshot.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/small_models.h"
#include "tests/fuzz/target.h"
#include "tests/fuzz/targets/all.h"

namespace attend::fuzz {

void take_stored_map(std::string_view bytes) {
  static const Scratch scratch;
  static const TextModel model = small_rnn_model("bahdanau");
  const ModelDirectory directory{scratch.path()};
  std::filesystem::create_directories(directory.looks());
  scratch.write("looks/step-3.safetensors", bytes);
  const Snapshot snapshot(directory, 3);
  snapshot.is_of_same(snapshot);
  for (size_t i = 0; i < std::min<size_t>(snapshot.sentences(), 4); ++i) {
    const Trace trace = snapshot.trace(model, i);
    for (const AttentionLayer& layer : model.model->signature().layers) {
      snapshot.map(i, layer.name, {});
      map_labels(trace, {layer.queries, layer.keys});
    }
  }
}

std::vector<std::string> stored_map_seeds() {
  const Scratch scratch;
  const ModelDirectory directory{scratch.path()};
  const TextModel model = small_rnn_model("bahdanau");
  const Trace sentences[] = {given_trace(model, "ab", "ba"), given_trace(model, "c", "")};
  write_snapshot(directory, 3, model, sentences);
  return {contents(directory.looks() / "step-3.safetensors")};
}

}  // namespace attend::fuzz
