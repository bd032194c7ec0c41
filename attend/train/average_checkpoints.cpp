#include <fmt/ranges.h>
#include <algorithm>

#include "attend/base/error.h"
#include "attend/io/checkpoint.h"
#include "attend/io/safetensors.h"
#include "attend/models/text_model.h"
#include "attend/train/average.h"
#include "attend/train/leftovers.h"
#include "attend/train/trainer.h"

namespace attend {
namespace {

// The newest that are whole, in the order of their steps.
std::vector<Checkpoint> newest_whole(const std::filesystem::path& checkpoints, size_t last) {
  std::vector<Checkpoint> found = list_checkpoints(checkpoints);
  std::erase_if(found, [](const Checkpoint& c) { return !checkpoint_damage(c.path).empty(); });
  if (found.size() < last) {
    throw IoError(
        "{}: there are {} whole checkpoints, not {}; ask for fewer, or train with a larger "
        "training.keep",
        checkpoints.string(), found.size(), last);
  }
  found.erase(found.begin(), found.end() - static_cast<ptrdiff_t>(last));
  return found;
}

}  // namespace

std::vector<int64_t> average_checkpoints(const std::filesystem::path& run, size_t last,
                                         const std::filesystem::path& out) {
  if (last == 0) throw ConfigError("average: of 0 checkpoints; take at least 1");
  if (std::filesystem::exists(out) && std::filesystem::equivalent(run, out)) {
    throw IoError("{}: the mean goes into a directory of its own", out.string());
  }
  const ModelDirectory from{run}, to{out};
  const TextModel model = TextModel::load_description(from);
  std::vector<SafetensorsFile> files;
  std::vector<int64_t> steps;
  for (const Checkpoint& checkpoint : newest_whole(from.checkpoints(), last)) {
    files.emplace_back(checkpoint.path / kTrainingTensors);
    steps.push_back(checkpoint.step);
  }
  for (const NamedTensor& parameter : parameters(*model.model)) {
    std::vector<double> sum(parameter.tensor.size(), 0.0);
    for (const SafetensorsFile& file : files) {
      const Tensor weights = file.read(kWeightsPrefix + parameter.name);
      if (weights.shape() != parameter.tensor.shape()) {
        throw FormatError("{}: {} is {}, not {}", file.path().string(), parameter.name,
                          weights.shape(), parameter.tensor.shape());
      }
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += double{weights.data()[i]};
    }
    for (size_t i = 0; i < sum.size(); ++i) {
      parameter.tensor.data()[i] = static_cast<float>(sum[i] / static_cast<double>(last));
    }
  }
  to.create();
  const DirectoryLock lock(to.root);
  clean_leftovers(to);
  std::filesystem::remove(to.alignment());  // of what was there before
  model.save_description(to);
  model.save_weights(to.weights());
  return steps;
}

}  // namespace attend
