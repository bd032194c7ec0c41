#include <fmt/ranges.h>
#include <algorithm>

#include "attend/base/error.h"
#include "attend/io/checkpoint.h"
#include "attend/io/config.h"
#include "attend/io/model_directory.h"
#include "attend/io/safetensors.h"
#include "attend/models/text_model.h"
#include "attend/train/average.h"
#include "attend/train/run_directory.h"
#include "attend/train/trainer.h"

namespace attend {
namespace {

// The newest that are whole, in the order of their steps.
std::vector<Checkpoint> newest_whole(const std::filesystem::path& checkpoints, size_t last) {
  std::vector<Checkpoint> found = list_checkpoints(checkpoints);
  std::erase_if(found, [](const Checkpoint& c) { return !checkpoint_damage(c.path).empty(); });
  const auto twice = std::ranges::unique(found, {}, &Checkpoint::step);
  found.erase(twice.begin(), twice.end());
  if (found.size() < last) {
    throw IoError(
        "{} has {} whole checkpoints, not {}; average fewer, or train with a larger "
        "training.keep",
        checkpoints.string(), found.size(), last);
  }
  found.erase(found.begin(), found.end() - static_cast<ptrdiff_t>(last));
  return found;
}

bool same_tokenizers(const Tokenizers& a, const Tokenizers& b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.first == other.first && one.second->fingerprint() == other.second->fingerprint();
  });
}

// Files are replaced one by one: a mixture of two models must never be loaded.
void check_same_model(const ModelDirectory& directory, const TextModel& model) {
  if (!list_checkpoints(directory.checkpoints()).empty()) {
    throw IoError("{} has a run with checkpoints; average into another directory",
                  directory.root.string());
  }
  if (!std::filesystem::exists(directory.weights())) return;
  bool same = false;
  try {
    const auto changes = differences(load_model_config(directory), model.config);
    same =
        same_tokenizers(load_tokenizers(directory, model.model->signature()), model.tokenizers) &&
        std::ranges::all_of(changes,
                            [](const Difference& d) { return d.path.ends_with("dropout"); });
  } catch (const FormatError&) {
  }
  if (same) return;
  throw IoError("{} has another model; average into another directory, or remove it",
                directory.root.string());
}

}  // namespace

std::vector<int64_t> average_checkpoints(const std::filesystem::path& run, size_t last,
                                         const std::filesystem::path& out) {
  if (last == 0) throw ConfigError("average: 0 checkpoints; average at least 1");
  if (std::filesystem::exists(out) && std::filesystem::equivalent(run, out)) {
    throw IoError("{}: write the average into another directory than the run's", out.string());
  }
  const ModelDirectory from{run};
  if (std::filesystem::exists(from.adapter_config())) {
    throw ConfigError(
        "{}: this run trains an adapter, whose checkpoints are not averaged; set training.average "
        "to keep the mean as it trains",
        run.string());
  }
  const TextModel model = TextModel::load_description(from);
  std::vector<SafetensorsFile> files;
  std::vector<int64_t> steps;
  for (const Checkpoint& checkpoint : newest_whole(from.checkpoints(), last)) {
    files.emplace_back(checkpoint.path / kTrainingTensors);
    steps.push_back(checkpoint.step);
  }
  for (const NamedTensor& parameter : parameters_and_buffers(*model.model)) {
    std::vector<double> sum;
    for (const SafetensorsFile& file : files) {
      const Tensor weights = file.read(std::string(kWeightsPrefix) + parameter.name);
      if (weights.shape() != parameter.tensor.shape()) {
        throw FormatError("{}: {} is {}, not {}", file.path().string(), parameter.name,
                          weights.shape(), parameter.tensor.shape());
      }
      sum.resize(weights.size());  // now that it fits
      for (size_t i = 0; i < sum.size(); ++i) sum[i] += double{weights.data()[i]};
    }
    parameter.tensor.allocate();
    for (size_t i = 0; i < sum.size(); ++i) {
      parameter.tensor.data()[i] = static_cast<float>(sum[i] / static_cast<double>(last));
    }
  }
  RunDirectory to({out}, [](const std::string&) {});
  check_same_model(*to, model);
  model.save_description(*to);
  model.save_weights(to->weights());
  to.keep();
  std::filesystem::remove(to->alignment());  // of the weights before
  return steps;
}

}  // namespace attend
